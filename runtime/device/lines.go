package device

import (
	"errors"
	"fmt"
	"strings"

	printer "github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// lined is a kernel whose source is printed with the lines of Go, named as the Go compiler knows their files: by their
// whole paths, or by module in a program built with -trimpath. But for the markers it is the same text: a generated file
// that is stale is refused, since its launch would be another kernel's.
func lined(k *Kernel, target string) (*Kernel, error) {
	low, err := lower(k, target, "WithLines", env.Lines)
	if err != nil {
		return nil, err
	}
	text, err := printer.Print(low, printer.Options{Lines: true, Path: wholePath})
	if err != nil {
		return nil, err
	}
	if body(printer.WithoutLines(text)) != body(k.Source) {
		return nil, errStale
	}
	out := *k
	out.Source = text
	return &out, nil
}

// lower builds a kernel again, for what an option and a variable ask for.
func lower(k *Kernel, target, option, variable string) (*thr.Kernel, error) {
	if k.Build == nil {
		return nil, fmt.Errorf("it has no Build function, from which its lines could be known; open the device without %s, and unset %s", option, variable)
	}
	p, err := k.Build()
	if err != nil {
		return nil, err
	}
	return p.Lower(target)
}

var errStale = errors.New("the generated file is stale: it is not what the kernel prints now; run go generate")

// wholePath names a Go file as the Go compiler knows it.
func wholePath(file string) string { return file }

// body is a source without the targets in its heading: a kernel does not know which of its targets share a text.
func body(source string) string {
	before, rest, _ := strings.Cut(source, "\n// Targets: ")
	_, after, _ := strings.Cut(rest, "\n")
	return before + "\n" + after
}

// locate makes an error of NVRTC's one at the line of Go that the text comes from: that of the printing with lines, if
// it is rejected too.
func locate(err error, n compiler, k *Kernel, t *target.Target) error {
	var rejected *nvrtc.CompileError
	if !errors.As(err, &rejected) {
		return err
	}
	if lk, e := lined(k, t.Name); e == nil {
		if _, e := n.withLines().compile(lk, t.Arch); errors.As(e, &rejected) {
			return e
		}
	}
	return err
}
