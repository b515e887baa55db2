package doctor

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/target"
)

// NVRTC is the compiler of CUDA C.
type NVRTC struct {
	Check
	Library string   `json:"library,omitempty"`
	Version string   `json:"version,omitempty"` // 13.0
	Targets []string `json:"targets,omitempty"` // of gotile's, those that it compiles for
	Lacks   []string `json:"lacks,omitempty"`   // and those that it does not
}

// probe is a kernel without headers.
const probe = "extern \"C\" __global__ void probe(int* x) { *x = 1; }\n"

func (m *Machine) nvrtc(d Driver, gpus []GPU) NVRTC {
	lib, err := m.NVRTC()
	if err != nil {
		return NVRTC{Check: m.noNVRTC(err, d)}
	}
	major, minor := lib.Version()
	n := NVRTC{Check: Check{State: OK}, Library: lib.Path(), Version: fmt.Sprintf("%d.%d", major, minor)}
	if !strings.ContainsRune(n.Library, '/') {
		if path := m.Loaded("libnvrtc.so"); path != "" {
			n.Library = path // the loader found it by name
		}
	}
	var arch string
	for _, t := range target.Select(func(*target.Target) bool { return true }) {
		c, err := target.Lookup(t)
		if err == nil && slices.Contains(lib.Targets(), c.CC) {
			n.Targets, arch = append(n.Targets, t), c.Arch
		} else {
			n.Lacks = append(n.Lacks, t)
		}
	}
	if arch != "" {
		if _, err := lib.Compile(probe, "probe.cu", nvrtc.Options{Arch: arch}); err != nil {
			n.Check = Check{Problem, "it does not compile: " + message(err), installNVRTC(d)}
			return n
		}
	}
	switch {
	case d.major > 0 && major > d.major:
		n.Check = Check{Problem, fmt.Sprintf("its code does not load: the driver is for CUDA %s", d.CUDA), installNVRTC(d)}
	default:
		for _, g := range gpus {
			if slices.Contains(n.Lacks, g.Target) {
				n.Check = Check{Problem, fmt.Sprintf("it is too old for %s, which is %s", g.Device, g.Target), installNVRTC(d)}
			}
		}
	}
	return n
}

// noNVRTC says why there is none. One that a variable names is not replaced by another.
func (m *Machine) noNVRTC(err error, d Driver) Check {
	if errors.Is(err, errors.ErrUnsupported) {
		return Check{State: Missing, Why: message(err)}
	}
	if path := env.Get(env.NVRTC); path != "" {
		return Check{Problem, fmt.Sprintf("%s=%s cannot be opened", env.NVRTC, path), "unset " + env.NVRTC}
	}
	return Check{Missing, "libnvrtc is not in the loader's folders, in a CUDA toolkit or in a Python environment", installNVRTC(d)}
}

// installNVRTC is the command that brings the version for a driver; without one, that which the receipts are of.
func installNVRTC(d Driver) string {
	pip := "python3 -m pip install --upgrade "
	if dir := wheelDir("nvrtc"); dir != "" {
		pip += "--target " + dir + " "
	}
	switch {
	case d.major == 12:
		return pip + "nvidia-cuda-nvrtc-cu12"
	case d.major > 13:
		return pip + fmt.Sprintf("'nvidia-cuda-nvrtc==%d.*'", d.major)
	}
	return pip + "'nvidia-cuda-nvrtc==13.0.*'"
}

// wheelDir is a folder where gotile looks for a wheel, as the user would write it; empty for a user without a home.
func wheelDir(name string) string {
	dir := nvrtc.WheelDir(os.Getenv)
	if dir == "" {
		return ""
	}
	dir += "/" + name
	if home := os.Getenv("HOME"); home != "" && strings.HasPrefix(dir, home+"/") {
		return "~" + strings.TrimPrefix(dir, home)
	}
	return dir
}
