// Spills reads what `gotile check` prints, and fails where a kernel spills registers that .ci/spills does not name.
//
//	gotile check ./... | go run .ci/spills.go .ci/spills
package main

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"strings"
)

// known is a line of the list: kernels and targets, as patterns of path.Match. The reason follows.
type known struct {
	kernel, target string
	used           bool
}

func main() {
	list, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		f := strings.Fields(in.Text())
		if len(f) < 8 || f[len(f)-1] != "spills" {
			continue
		}
		found := false
		for _, k := range list {
			if match(k.kernel, f[0]) && match(k.target, f[1]) {
				found, k.used = true, true
			}
		}
		if !found {
			failed = true
			fmt.Printf("%s for %s spills %s bytes, and %s does not name it\n", f[0], f[1], f[5], os.Args[1])
		}
	}
	for _, k := range list {
		if !k.used {
			fmt.Printf("nothing spills any more of %s for %s\n", k.kernel, k.target) // another NVRTC's may
		}
	}
	if failed {
		os.Exit(1)
	}
}

func read(file string) ([]*known, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []*known
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 3 {
			return nil, fmt.Errorf("%s: no kernel, target and reason in %q", file, line)
		}
		out = append(out, &known{kernel: f[0], target: f[1]})
	}
	return out, nil
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
