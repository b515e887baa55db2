package progen

import (
	"errors"
	"flag"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/target"
)

var compile = flag.String("progen.compile", "sample", "which fixed programs to compile with NVRTC: a `sample`, each for one of its targets (each), or each for all of them (all)")

// sampled is one program in how many TestCompile compiles by default.
const sampled = 25

// TestCompile: the fixed programs compile for the targets that they claim, without warnings that mean slow code.
func TestCompile(t *testing.T) {
	lib, err := nvrtc.Open("")
	if errors.Is(err, nvrtc.ErrNotFound) && os.Getenv("CI") == "" || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("NVRTC is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	limit := make(chan bool, runtime.NumCPU())
	var running sync.WaitGroup
	for i := range Count {
		p := Fixed(i)
		to := claimed(t, p, lib)
		switch {
		case *compile == "sample" && i%sampled != 0:
			continue
		case *compile != "all":
			to = to[i/sampled%len(to):][:1]
		}
		for _, target := range to {
			limit <- true
			running.Go(func() {
				compiles(t, lib, i, p, target)
				<-limit
			})
		}
	}
	running.Wait()
}

// claimed are the targets of a program that the compiler knows.
func claimed(t *testing.T, p Program, lib *nvrtc.Library) []*target.Target {
	t.Helper()
	var out []*target.Target
	for _, name := range target.Names() {
		to, err := target.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if to.Proxy == "" && slices.Contains(lib.Targets(), to.CC) && p.Claims(to) {
			out = append(out, to)
		}
	}
	if out == nil {
		t.Fatalf("NVRTC compiles for none of the targets of %v", p)
	}
	return out
}

func compiles(t *testing.T, lib *nvrtc.Library, number int, p Program, to *target.Target) {
	k, err := p.Kernel()
	if err != nil {
		t.Errorf("program %d: %+v\n%v", number, err, p)
		return
	}
	text, err := Text(k, to.Name)
	if err != nil {
		t.Errorf("program %d for %s: %v\n%v", number, to.Name, err, p)
		return
	}
	r, err := lib.Compile(text, Name+".cu", nvrtc.Options{Arch: to.Arch})
	if err != nil {
		t.Errorf("program %d for %s: %+v\n%v", number, to.Name, err, p)
		return
	}
	for _, w := range nvrtc.Fatal(r.Log) {
		t.Errorf("program %d for %s: %s\n%v", number, to.Name, w, p)
	}
}
