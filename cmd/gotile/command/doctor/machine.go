package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/driver"
)

// Machine is where the doctor looks; tests replace what is in it. Environment variables, and the cache's directory, are
// the process's.
type Machine struct {
	OS, Arch string // as GOOS and GOARCH
	Driver   func() (driver.Driver, error)
	NVRTC    func() (Compiler, error)
	Loaded   func(library string) string // the path of a library that this process has loaded, by the start of its name
	Glob     func(pattern string) []string
	ReadFile func(path string) ([]byte, error)
	// Output runs a program and gives what it prints.
	Output func(ctx context.Context, name string, args ...string) ([]byte, error)
}

// Compiler is what is asked of NVRTC.
type Compiler interface {
	Path() string
	Version() (major, minor int)
	Targets() []int
	Compile(src, name string, o nvrtc.Options) (*nvrtc.Result, error)
}

// outputTime bounds a program: nvidia-smi hangs where the driver does.
const outputTime = 10 * time.Second

// This is the machine that the process runs on.
func This() *Machine {
	return &Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH,
		Driver: device.OpenDriver,
		NVRTC: func() (Compiler, error) {
			l, err := nvrtc.Open("")
			if err != nil {
				return nil, err
			}
			return l, nil
		},
		Loaded:   loaded,
		Glob:     func(pattern string) []string { files, _ := filepath.Glob(pattern); return files },
		ReadFile: os.ReadFile,
		Output: func(ctx context.Context, name string, args ...string) ([]byte, error) {
			ctx, cancel := context.WithTimeout(ctx, outputTime)
			defer cancel()
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.WaitDelay = time.Second
			return cmd.Output()
		},
	}
}

// loaded finds a library among the files that the process has mapped; empty where the system does not tell.
func loaded(library string) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(maps)) {
		if i := strings.IndexByte(line, '/'); i >= 0 {
			if path := strings.TrimSpace(line[i:]); strings.HasPrefix(filepath.Base(path), library) {
				return path
			}
		}
	}
	return ""
}
