//go:build !gotilegen

package worker_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gotile/gotile/codegen/tool/worker"
	"github.com/gotile/gotile/examples/softmax"
)

// The program that gotile builds for a package is this call in a main, with what the package exports.
func ExampleRun() {
	sources, err := worker.HashSources("../../../examples/softmax")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := worker.Package{Command: "sim", Path: "github.com/gotile/gotile/examples/softmax", Name: "softmax",
		Kernels: softmax.Kernels, Cases: softmax.Cases, Sources: sources}
	code := worker.Run(context.Background(), p, []string{"-run", "^f32/1x100$"}, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// 1 cases passed on sim
	// exit code 0
}

// A row of the table of commands says what a package must export for it.
func ExampleLookup() {
	verify, _ := worker.Lookup("verify")
	bench, _ := worker.Lookup("bench")
	fmt.Println(verify.Exports())
	fmt.Println(bench.Exports())
	// Output:
	// Kernels() tile.Set
	// Suite() bench.Suite
}
