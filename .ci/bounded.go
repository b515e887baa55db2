//go:build unix

// Bounded runs test binaries at the same time, each in the folder of its package, and fails where one of them fails, where
// they take longer than they may, or more memory. On a machine that others use the clock says little: what does not take
// the processor time that two cores have passes, however late it ends.
//
//	go run .ci/bounded.go -seconds 60 -mib 1024 runtime/sim=.ci/out/sim.test internal/optest=.ci/out/optest.test
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cores is what GOMAXPROCS allows each, and the machine has.
const cores = 2

// skip are the tests that are left out.
var skip string

func main() {
	seconds := flag.Float64("seconds", 60, "that all of them may take together")
	mib := flag.Int64("mib", 1024, "of memory that each may have resident")
	flag.StringVar(&skip, "skip", "", "regexp of tests that are left out")
	flag.Parse()
	var mu sync.Mutex
	var all sync.WaitGroup
	var spent time.Duration
	failed := false
	start := time.Now()
	for _, arg := range flag.Args() {
		all.Go(func() {
			folder, name, _ := strings.Cut(arg, "=")
			state, out, err := run(folder, name)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				fmt.Printf("%s: %v\n%s", folder, err, out)
				failed = true
			}
			if state == nil {
				return
			}
			processor := state.UserTime() + state.SystemTime()
			spent += processor
			peak := peakBytes(state) >> 20
			fmt.Printf("%s: %.1f s of processor time, %d MiB resident at most\n", folder, processor.Seconds(), peak)
			if peak > *mib {
				fmt.Printf("%s: more than %d MiB\n", folder, *mib)
				failed = true
			}
		})
	}
	all.Wait()
	wall := time.Since(start)
	fmt.Printf("%.1f s by the clock, %.1f s of processor time\n", wall.Seconds(), spent.Seconds())
	if wall.Seconds() > *seconds && spent.Seconds() > cores**seconds {
		fmt.Printf("more than %.0f s\n", *seconds)
		failed = true
	}
	if failed {
		os.Exit(1)
	}
}

func run(folder, name string) (*os.ProcessState, []byte, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(path, "-test.timeout=20m", "-test.skip="+skip)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	out, err := cmd.CombinedOutput()
	return cmd.ProcessState, out, err
}

// peakBytes is the most memory that a process had resident: Linux counts KiB, macOS bytes.
func peakBytes(p *os.ProcessState) int64 {
	r, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) << 10
}
