// Opgen writes what derives from the op table of internal/ir: the one-line methods of package tile and docs/ops.md.
//
//	go run ./internal/opgen [-root DIR]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outputs are the generated files, by path in the module.
var outputs = []struct {
	path string
	text func() ([]byte, error)
}{
	{"tile/zops.go", methods},
	{"docs/ops.md", docs},
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "opgen:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, args []string) error {
	fs := flag.NewFlagSet("opgen", flag.ContinueOnError)
	fs.SetOutput(stdout)
	root := fs.String("root", ".", "the module's root `directory`")
	if err := fs.Parse(args); err != nil {
		return err
	}
	for _, o := range outputs {
		text, err := o.text()
		if err != nil {
			return err
		}
		path := filepath.Join(*root, o.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
