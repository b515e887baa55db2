//go:build linux && (amd64 || arm64) && !nocuda

package nvrtc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ebitengine/purego"
)

// api is the part of libnvrtc that is used. The names are the library's without their prefix; results other than 0
// are failures, except of getErrorString.
type api struct {
	version           func(major, minor *int32) int32
	numSupportedArchs func(n *int32) int32
	supportedArchs    func(archs *int32) int32
	createProgram     func(prog *uintptr, src, name string, numHeaders int32, headers, names uintptr) int32
	destroyProgram    func(prog *uintptr) int32
	compileProgram    func(prog uintptr, numOptions int32, options **byte) int32
	logSize           func(prog uintptr, n *uint64) int32
	log               func(prog uintptr, buf *byte) int32
	ptxSize           func(prog uintptr, n *uint64) int32
	ptx               func(prog uintptr, buf *byte) int32
	cubinSize         func(prog uintptr, n *uint64) int32
	cubin             func(prog uintptr, buf *byte) int32
	errorString       func(code int32) string
}

// functions pairs each symbol with the variable that holds it.
func (a *api) functions() map[string]any {
	return map[string]any{
		"nvrtcVersion":              &a.version,
		"nvrtcGetNumSupportedArchs": &a.numSupportedArchs,
		"nvrtcGetSupportedArchs":    &a.supportedArchs,
		"nvrtcCreateProgram":        &a.createProgram,
		"nvrtcDestroyProgram":       &a.destroyProgram,
		"nvrtcCompileProgram":       &a.compileProgram,
		"nvrtcGetProgramLogSize":    &a.logSize,
		"nvrtcGetProgramLog":        &a.log,
		"nvrtcGetPTXSize":           &a.ptxSize,
		"nvrtcGetPTX":               &a.ptx,
		"nvrtcGetCUBINSize":         &a.cubinSize,
		"nvrtcGetCUBIN":             &a.cubin,
		"nvrtcGetErrorString":       &a.errorString,
	}
}

// Open opens libnvrtc: the file at path if that is not empty, else the one that GOTILE_NVRTC names, else the first
// that is found by the system's loader, in CUDA toolkits, or where pip installs the wheel nvidia-cuda-nvrtc.
// Where none can be opened the error wraps ErrNotFound, and says why each file was refused and where files were sought.
func Open(path string) (*Library, error) {
	glob := func(pattern string) []string {
		files, _ := filepath.Glob(pattern) // the only error is a malformed pattern
		return files
	}
	files, folders := candidates(path, os.Getenv, glob)
	var tried []string
	for _, p := range files {
		l, err := open(p)
		if err == nil {
			return l, nil
		}
		tried = append(tried, fmt.Sprintf("%s: %v", p, err))
	}
	return nil, notFound(tried, folders)
}

func open(path string) (*Library, error) {
	// dlerror, which gives the reason of a failure, is of the thread that failed.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	l := &Library{path: path}
	for name, f := range l.api.functions() {
		sym, err := purego.Dlsym(h, name)
		if err != nil {
			return nil, err
		}
		purego.RegisterFunc(f, sym)
	}
	var major, minor, n int32
	if code := l.api.version(&major, &minor); code != 0 {
		return nil, errors.New(l.api.errorString(code))
	}
	l.major, l.minor = int(major), int(minor)
	if err := openBuiltins(path, l.major, l.minor); err != nil {
		return nil, err
	}
	if code := l.api.numSupportedArchs(&n); code != 0 {
		return nil, errors.New(l.api.errorString(code))
	}
	archs := make([]int32, max(n, 1))
	if code := l.api.supportedArchs(&archs[0]); code != 0 {
		return nil, errors.New(l.api.errorString(code))
	}
	for _, a := range archs[:n] {
		l.targets = append(l.targets, int(a))
	}
	slices.Sort(l.targets)
	return l, nil
}

// openBuiltins opens the library's companion. libnvrtc asks the loader for it by name at the first compilation, and
// outside the loader's folders (a wheel) that fails unless it is in the process already, globally. Where the system's
// loader found libnvrtc, it finds the companion too.
func openBuiltins(path string, major, minor int) error {
	if !strings.ContainsRune(path, '/') {
		return nil
	}
	b := filepath.Join(filepath.Dir(path), fmt.Sprintf("libnvrtc-builtins.so.%d.%d", major, minor))
	if _, err := os.Stat(b); err != nil {
		return nil // linked in, or in the loader's folders; otherwise compiling says so
	}
	_, err := purego.Dlopen(b, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	return err
}

// compile runs one program. code is NVRTC's name for a failed compilation, with the log in the result.
func (l *Library) compile(src, name string, options []string) (r *Result, code string, err error) {
	a := &l.api
	var prog uintptr
	if c := a.createProgram(&prog, src, name, 0, 0, 0); c != 0 {
		return nil, "", fmt.Errorf("nvrtc: creating %s: %s", name, a.errorString(c))
	}
	defer a.destroyProgram(&prog)

	opts := make([]*byte, len(options))
	for i, o := range options {
		opts[i] = &append([]byte(o), 0)[0]
	}
	c := a.compileProgram(prog, int32(len(opts)), &opts[0])
	runtime.KeepAlive(opts)

	r = &Result{}
	log, err := l.bytes("log", prog, a.logSize, a.log)
	if err != nil {
		return nil, "", err
	}
	r.Log = strings.TrimRight(string(log), "\x00")
	if c != 0 {
		// Where the assembler failed there is PTX, of which its messages give the line.
		if ptx, err := l.bytes("PTX", prog, a.ptxSize, a.ptx); err == nil {
			r.PTX = strings.TrimRight(string(ptx), "\x00")
		}
		return r, a.errorString(c), nil
	}
	ptx, err := l.bytes("PTX", prog, a.ptxSize, a.ptx)
	if err != nil {
		return nil, "", err
	}
	r.PTX = strings.TrimRight(string(ptx), "\x00")
	r.CUBIN, err = l.bytes("cubin", prog, a.cubinSize, a.cubin)
	return r, "", err
}

// bytes fetches one of a program's outputs.
func (l *Library) bytes(what string, prog uintptr, size func(uintptr, *uint64) int32, get func(uintptr, *byte) int32) ([]byte, error) {
	var n uint64
	c := size(prog, &n)
	if c == 0 && n == 0 {
		return nil, nil
	}
	buf := make([]byte, n)
	if c == 0 {
		c = get(prog, &buf[0])
	}
	if c != 0 {
		return nil, fmt.Errorf("nvrtc: reading the %s: %s", what, l.api.errorString(c))
	}
	return buf, nil
}
