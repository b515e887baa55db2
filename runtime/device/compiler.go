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
}

// nvrtcCompiler is NVIDIA's run-time compiler.
type nvrtcCompiler struct{ lib *nvrtc.Library }

func openNVRTC() (compiler, error) {
	lib, err := nvrtc.Open("")
	if err != nil {
		return nil, err
	}
	return nvrtcCompiler{lib}, nil
}

func (c nvrtcCompiler) version() string {
	major, minor := c.lib.Version()
	return fmt.Sprintf("%d.%d", major, minor)
}

func (c nvrtcCompiler) options() string { return nvrtc.Options{}.Text() }

func (c nvrtcCompiler) compile(k *Kernel, arch string) ([]byte, error) {
	r, err := c.lib.Compile(k.Source, k.Name+".cu", nvrtc.Options{Arch: arch})
	if err != nil {
		return nil, err
	}
	return r.CUBIN, nil
}
