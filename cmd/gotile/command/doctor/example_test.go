package doctor_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gotile/gotile/cmd/gotile/command/doctor"
	"github.com/gotile/gotile/internal/cache"
)

// Where Go runs, kernels can be generated and simulated; what else works depends on the machine.
func ExampleExamine() {
	report := doctor.Examine(context.Background(), doctor.This())
	for _, c := range report.Commands[:2] {
		fmt.Println(c.Name, c.Works)
	}
	// Output:
	// gen true
	// sim true
}

// Why a kernel was compiled again follows from the lookups that the cache has noted.
func ExampleLookups() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("GOTILE_CACHE", dir)
	defer os.Unsetenv("GOTILE_CACHE")
	for _, source := range []string{"a", "b"} { // package device notes these
		cache.Note(dir, cache.Lookup{Outcome: cache.Miss, Key: source, Kernel: "softmax", Arch: "sm_90a", NVRTC: "13.0", Source: source, Options: "o"})
	}
	all, err := doctor.Lookups("softmax")
	for _, l := range all {
		fmt.Println(l.Kernel, l.Hit, l.Why)
	}
	fmt.Println(err)
	// Output:
	// softmax false it had not been compiled before
	// softmax false its CUDA text has changed
	// <nil>
}
