//go:build unix

// Bounded runs test binaries at the same time, each in the folder of its package, and fails where one of them fails, where
// they take longer than they may on two cores, or more memory. Too long is processor time of more than two cores have, and
// the clock, of which what their threads stood in line for a processor is taken off: so a test that sleeps or waits is late
// on every machine, and one that others keep from running is not. Linux tells the time in line; elsewhere the clock counts.
//
//	go run .ci/bounded.go -seconds 60 -mib 1024 runtime/sim=.ci/out/sim.test internal/optest=.ci/out/optest.test
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
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
	var spent, left time.Duration
	failed := false
	start := time.Now()
	for _, arg := range flag.Args() {
		all.Go(func() {
			folder, name, _ := strings.Cut(arg, "=")
			state, inLine, out, err := run(folder, name)
			wall := time.Since(start)
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
			left = max(left, wall-inLine, processor/cores)
			peak := peakBytes(state) >> 20
			fmt.Printf("%s: %.1f s of processor time, %d MiB resident at most\n", folder, processor.Seconds(), peak)
			if peak > *mib {
				fmt.Printf("%s: more than %d MiB\n", folder, *mib)
				failed = true
			}
		})
	}
	all.Wait()
	left = max(left, spent/cores)
	fmt.Printf("%.1f s by the clock, %.1f s of it at least without the waits for a processor, %.1f s of processor time\n", time.Since(start).Seconds(), left.Seconds(), spent.Seconds())
	if left.Seconds() > *seconds || spent.Seconds() > cores**seconds {
		fmt.Printf("more than %.0f s on %d cores\n", *seconds, cores)
		failed = true
	}
	if failed {
		os.Exit(1)
	}
}

// delays sums up how long the threads of a process stood in line for a processor, until done: by thread, since those that
// have ended are no longer listed. 0 where the system does not say.
func delays(pid int, done <-chan struct{}) (sum time.Duration) {
	each := map[string]time.Duration{}
	for tick := time.NewTicker(250 * time.Millisecond); ; {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, file := range files {
			text, _ := os.ReadFile(file) // ns on a processor, ns in line, turns
			if f := strings.Fields(string(text)); len(f) == 3 {
				ns, _ := strconv.Atoi(f[1])
				each[file] = time.Duration(ns)
			}
		}
		select {
		case <-tick.C:
		case <-done:
			tick.Stop()
			for _, d := range each {
				sum += d
			}
			return sum
		}
	}
}

func run(folder, name string) (state *os.ProcessState, inLine time.Duration, out []byte, err error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, 0, nil, err
	}
	var text bytes.Buffer
	cmd := exec.Command(path, "-test.timeout=20m", "-test.skip="+skip)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		return nil, 0, nil, err
	}
	done, sum := make(chan struct{}), make(chan time.Duration)
	go func() { sum <- delays(cmd.Process.Pid, done) }()
	err = cmd.Wait()
	close(done)
	return cmd.ProcessState, <-sum, text.Bytes(), err
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
