// Skips reads the events of `go test -json`, prints go test's own lines and the output of what failed, and fails where
// a test failed, or was skipped for a reason that is not in the list below: in CI a missing tool is a failure. With
// -cover it prints the coverage of each package in the end.
//
//	go test -json ./... | go run .ci/skips.go
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// allowed are the reasons for skipping a test that no tool could remove on a machine without a GPU.
var allowed = regexp.MustCompile(strings.Join([]string{
	`no GPU`, // the same cases run on the simulator
	`no CUDA device`,
	`testing\.AllocsPerRun is wrong under -race`,
	`the race detector's allocations would be counted`,
	`the counters of coverage would be measured`,    // .ci/run runs such a test without -cover too
	`root writes to read-only directories`,          // containers run as root
	`other systems find the user's cache directory`, // not linux
	`a constant offset past the end is refused`,     // rows of a table that make no sense
	`no kernel of it is for`,                        // cases of other targets
	`GOTILE_CONFORMANCE is not set`,                 // lists of public tests, which the repository does not hold
	`once, on linux, is enough`,                     // not linux
	`needs gigabytes of memory and minutes of`,      // tensors beyond 2^31 elements: verify runs them on GPUs
	`would take the simulator minutes`,              // the same, by length of rows and number of runs
	`a simulator takes seconds for the whole table`, // of matrix products: each kernel in some form and type, the rest on GPUs
	`runs it with x and w in bf16`,                  // long rows in every type pair: one pair on the simulator
	`no file system may be mounted here`,            // a container's rule; the failing write is tested without
	`fails on purpose`,                              // a test that another test runs in a process of its own
}, "|"))

// event is what test2json prints.
type event struct {
	Action, Package, Test, Output string
}

// key is a test of a package.
type key struct{ pkg, test string }

// summary is what the events amount to.
type summary struct {
	output                  map[key][]string
	passed, failed, skipped int
	broken                  bool // a package failed, perhaps without a test
	bad                     []string
	coverage                map[string]string // of statements, by package, as go test prints it
}

func main() {
	s := summary{output: map[key][]string{}, coverage: map[string]string{}}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Println(in.Text()) // what is not an event is the go command's own complaint
			continue
		}
		s.add(e)
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	}
	if s.passed == 0 {
		s.bad = append(s.bad, "no test passed")
	}
	for _, p := range slices.Sorted(maps.Keys(s.coverage)) {
		fmt.Printf("coverage %6s  %s\n", s.coverage[p], p)
	}
	for _, b := range s.bad {
		fmt.Println(b)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	if s.failed > 0 || s.broken || len(s.bad) > 0 {
		os.Exit(1)
	}
}

func (s *summary) add(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "output":
		if e.Test == "" {
			if c := covered.FindStringSubmatch(e.Output); c != nil {
				s.coverage[e.Package] = c[1]
			}
			if packageLine(e.Output) {
				fmt.Print(e.Output)
			}
			return
		}
		s.output[k] = append(s.output[k], e.Output)
	case "build-output":
		fmt.Print(e.Output)
	case "build-fail":
		s.broken = true
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.broken = s.broken || e.Action == "fail"
			return
		}
		s.end(k, e.Action)
		delete(s.output, k)
	}
}

var covered = regexp.MustCompile(`coverage: ([0-9.]+%) of statements`)

// packageLine reports whether a package's output is its result, or a panic outside a test.
func packageLine(line string) bool {
	return slices.ContainsFunc([]string{"ok ", "ok\t", "FAIL", "?", "panic:"}, func(p string) bool { return strings.HasPrefix(line, p) })
}

// end counts a test.
func (s *summary) end(k key, action string) {
	switch action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		fmt.Printf("%s %s failed:\n%s", k.pkg, k.test, strings.Join(s.output[k], ""))
	case "skip":
		s.skipped++
		if why := strings.Join(s.output[k], ""); !allowed.MatchString(why) {
			s.bad = append(s.bad, fmt.Sprintf("%s %s was skipped; install what it misses, or allow the reason in .ci/skips.go:\n%s", k.pkg, k.test, why))
		}
	}
}
