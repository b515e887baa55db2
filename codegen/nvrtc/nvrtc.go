// Package nvrtc compiles CUDA C with NVIDIA's run-time compiler. The library is opened with dlopen, so a program that
// imports this package needs neither cgo nor a toolkit nor a GPU to be built; where the library is absent Open says
// how to get it.
package nvrtc

import "strings"

// Options are the choices of one compilation.
type Options struct {
	Arch  string   // the real architecture: sm_90a
	Lines bool     // a line table for profilers; embeds the working directory: keep such a cubin out of anything committed
	Extra []string // further options of NVRTC, after ours
}

// args are the options that NVRTC gets. --fmad=false: fused multiply-adds are formed in thread IR, so that the
// simulator and the GPU round alike. ptxas -v prints the statistics of Result.
func (o Options) args() []string {
	a := []string{"--gpu-architecture=" + o.Arch, "--std=c++17", "--fmad=false", "--ptxas-options=-v"}
	if o.Lines {
		a = append(a, "--generate-line-info")
	}
	return append(a, o.Extra...)
}

// Result is what a compilation gives. The numbers are the largest over the kernels of the source.
type Result struct {
	CUBIN []byte
	PTX   string
	Log   string // the compiler's and the assembler's whole log

	Registers    int // a thread
	SharedStatic int // bytes a block; dynamic shared memory is the launch's
	Spill        int // bytes of spill stores and spill loads a thread
	Stack        int // bytes of stack frame a thread
}

// Library is an open libnvrtc. It is safe for concurrent use and stays open until the process ends.
type Library struct {
	path         string
	major, minor int
	targets      []int
	api          api
}

// Path is the file that was opened, or the name that the system's loader resolved.
func (l *Library) Path() string { return l.path }

// Version is the library's version, 13 and 0 for CUDA 13.0. Compiled code depends on it.
func (l *Library) Version() (major, minor int) { return l.major, l.minor }

// Targets are the compute capabilities the library compiles for, times ten and ascending: 75, 80, ...
func (l *Library) Targets() []int { return append([]int(nil), l.targets...) }

// Compile compiles one source. The name stands in messages for the source, rmsnorm.cu. A rejected source gives a
// *CompileError with the whole log; warnings do not fail here: see Fatal.
func (l *Library) Compile(src, name string, o Options) (*Result, error) {
	for _, s := range append([]string{src, name, o.Arch}, o.Extra...) {
		if strings.ContainsRune(s, 0) {
			return nil, &CompileError{Name: name, Arch: o.Arch, Log: "the source, its name or an option has a zero byte"}
		}
	}
	r, code, err := l.compile(src, name, o.args())
	if err != nil {
		return nil, err
	}
	if code != "" {
		return nil, newCompileError(name, o.Arch, code, r.Log, r.PTX)
	}
	r.parseStatistics()
	return r, nil
}
