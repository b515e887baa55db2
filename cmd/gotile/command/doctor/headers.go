package doctor

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/env"
)

// Headers is cuda.h, which builds with -tags gorgonia need and nothing else. The script that brings it brings the rest
// of what they need, and sets the variables of cgo.
type Headers struct {
	Check
	File    string `json:"file,omitempty"`
	Version string `json:"version,omitempty"` // of CUDA: 13.0
}

var cudaVersion = regexp.MustCompile(`(?m)^#define\s+CUDA_VERSION\s+(\d+)`)

func (m *Machine) headers(mod Module) Headers {
	for _, dir := range includeDirs() {
		for _, file := range m.Glob(dir + "/cuda.h") {
			text, err := m.ReadFile(file)
			v := cudaVersion.FindSubmatch(text)
			if err != nil || v == nil {
				continue
			}
			n, _ := strconv.Atoi(string(v[1]))
			return Headers{Check{State: OK}, file, fmt.Sprintf("%d.%d", n/1000, n%1000/10)}
		}
	}
	h := Headers{Check: Check{State: Missing, Why: "cuda.h is in no include folder; only builds with -tags gorgonia need it"}}
	if mod.State == OK { // otherwise the script is not at hand
		h.Command = fmt.Sprintf(`eval "$(bash "$(go list -m -f '{{.Dir}}' %s)"/runtime/driver/gorgonia/prepare.sh %s)"`, gotile, cmp.Or(wheelDir("cuda"), "cuda"))
	}
	return h
}

// includeDirs are the folders, as patterns: what the C compiler is told, toolkits, wheels, the system's.
func includeDirs() []string {
	var out []string
	for _, f := range strings.Fields(os.Getenv("CGO_CFLAGS")) {
		if dir, ok := strings.CutPrefix(f, "-I"); ok {
			out = append(out, dir)
		}
	}
	for _, v := range []string{"CPATH", "C_INCLUDE_PATH"} {
		for _, dir := range strings.Split(os.Getenv(v), ":") {
			if dir != "" {
				out = append(out, dir)
			}
		}
	}
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if dir := os.Getenv(v); dir != "" {
			out = append(out, dir+"/include", dir+"/targets/*/include")
		}
	}
	out = append(out, "/usr/local/cuda/include", "/usr/local/cuda-*/include", "/opt/cuda/include", "/usr/include")
	for _, site := range nvrtc.Wheels(os.Getenv) {
		out = append(out, site+"/nvidia/cu*/include", site+"/nvidia/cuda_runtime/include")
	}
	return out
}

// Variables are gotile's environment variables that are set.
type Variables struct {
	Check
	Set     map[string]string `json:"set,omitempty"`
	Unknown []string          `json:"unknown,omitempty"`
}

// variables finds those that gotile does not have, and values that are none; programs refuse the latter, or fail at them.
func (m *Machine) variables(gpus []GPU) Variables {
	v := Variables{Check: Check{State: OK}, Set: map[string]string{}, Unknown: env.Unknown()}
	for _, row := range env.All() {
		if value := env.Get(row.Name); value != "" {
			v.Set[row.Name] = value
			if why := badValue(row.Name, value, len(gpus)); why != "" && v.State == OK {
				v.Check = Check{Problem, why, "unset " + row.Name}
			}
		}
	}
	if len(v.Unknown) > 0 {
		v.Check = Check{Problem, strings.Join(v.Unknown, ", ") + ": gotile has no such variable; gotile help lists those it has", "unset " + strings.Join(v.Unknown, " ")}
	}
	return v
}

// badValue says what is wrong with a variable's value, but for those of NVRTC and of the cache, which have parts of
// their own.
func badValue(name, value string, gpus int) string {
	switch name {
	case env.Device:
		n, err := strconv.Atoi(strings.TrimPrefix(value, "cuda:"))
		if value != "sim" && (err != nil || n < 0 || value != "cuda:"+strconv.Itoa(n)) {
			return name + "=" + value + " names no device; there are sim and cuda:N"
		}
		if value != "sim" && n >= gpus {
			return fmt.Sprintf("%s=%s: of GPUs there are %d", name, value, gpus)
		}
	case env.Watchdog:
		if d, err := time.ParseDuration(value); err != nil || d < 0 || d > 0 && d < time.Millisecond {
			return name + "=" + value + " is neither 0 nor a duration of at least 1 ms, such as 2s"
		}
	case env.Conformance, env.Dump:
		info, err := os.Stat(value)
		if err == nil && !info.IsDir() || err != nil && name == env.Conformance {
			return name + "=" + value + " is no directory"
		}
	}
	return ""
}
