package device

import (
	"fmt"

	"github.com/gotile/gotile/codegen/nvrtc"
)

// compiler turns CUDA C into code for one architecture.
type compiler interface {
	version() string // "13.0"
	// options are what the result depends on besides source, architecture and version.
	options() string
	compile(k *Kernel, arch string) ([]byte, error)
	// withLines is the compiler that adds a table of lines.
	withLines() compiler
}

// nvrtcCompiler is NVIDIA's run-time compiler.
type nvrtcCompiler struct {
	lib   *nvrtc.Library
	lines bool
}

func openNVRTC() (compiler, error) {
	lib, err := nvrtc.Open("")
	if err != nil {
		return nil, err
	}
	return nvrtcCompiler{lib: lib}, nil
}

func (c nvrtcCompiler) version() string {
	major, minor := c.lib.Version()
	return fmt.Sprintf("%d.%d", major, minor)
}

func (c nvrtcCompiler) options() string { return nvrtc.Options{Lines: c.lines}.Text() }

func (c nvrtcCompiler) compile(k *Kernel, arch string) ([]byte, error) {
	r, err := c.lib.Compile(k.Source, k.Name+".cu", nvrtc.Options{Arch: arch, Lines: c.lines})
	if err != nil {
		return nil, err
	}
	return r.CUBIN, nil
}

func (c nvrtcCompiler) withLines() compiler { return nvrtcCompiler{c.lib, true} }
