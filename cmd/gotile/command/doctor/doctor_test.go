package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// compiler is an NVRTC that the test describes.
type compiler struct {
	major, minor int
	targets      []int
	err          error
}

func (c compiler) Path() string        { return "libnvrtc.so.13" }
func (c compiler) Version() (int, int) { return c.major, c.minor }
func (c compiler) Targets() []int      { return c.targets }
func (c compiler) Compile(string, string, nvrtc.Options) (*nvrtc.Result, error) {
	return &nvrtc.Result{}, c.err
}

var allTargets = []int{75, 80, 86, 89, 90, 100, 103, 120, 121}

// card is the fake H200 with as much memory as one has.
var card = func() fake.Device {
	d := fake.H200
	d.Memory = 140 << 30
	return d
}()

// files are those of a fake machine.
type files map[string]string

func (f files) glob(pattern string) (out []string) {
	for path := range f {
		if ok, _ := filepath.Match(pattern, path); ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func (f files) read(path string) ([]byte, error) {
	if text, ok := f[path]; ok {
		return []byte(text), nil
	}
	return nil, os.ErrNotExist
}

// healthy is a machine with everything, and its files and programs to take away from. Programs are by their command
// line; what is not there does not run.
func healthy(t *testing.T) (m *Machine, f files, programs map[string]string) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GOTILE_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	for _, name := range []string{"CUDA_VISIBLE_DEVICES", "CGO_CFLAGS", "CPATH", "C_INCLUDE_PATH", "CUDA_HOME", "CUDA_PATH", "XDG_DATA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", "/home/u")
	t.Setenv(env.Cache, t.TempDir())
	f = files{
		"/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n",
		"/sys/bus/pci/devices/0000:01:00.0/class":  "0x030200\n",
		"/proc/driver/nvidia/version":              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Wed Aug 27 2025\n",
		"/etc/os-release":                          "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n",
		"/usr/local/cuda/include/cuda.h":           "#define CUDA_VERSION 13000\n",
	}
	programs = map[string]string{
		"go env GOVERSION":           "go1.26.8\n",
		"go list -m":                 "example.com/user\n",
		"go list -m -json " + gotile: `{"Version": "v0.1.0"}`,
	}
	m = &Machine{
		OS: "linux", Arch: "amd64",
		Driver:   func() (driver.Driver, error) { return fake.New(nil, card), nil },
		NVRTC:    func() (Compiler, error) { return compiler{13, 0, allTargets, nil}, nil },
		Loaded:   func(library string) string { return "/lib/" + library },
		Glob:     func(pattern string) []string { return f.glob(pattern) },
		ReadFile: func(path string) ([]byte, error) { return f.read(path) },
		Output: func(_ context.Context, name string, args ...string) ([]byte, error) {
			if out, ok := programs[name+" "+strings.Join(args, " ")]; ok {
				return []byte(out), nil
			}
			return nil, errors.New(name + ": no such program")
		},
	}
	return m, f, programs
}

func text(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.TrimRight(line, " \n")+"\n" != line {
			t.Errorf("a line ends in blanks: %q", line)
		}
	}
	return b.String()
}

func TestHealthy(t *testing.T) {
	m, _, _ := healthy(t)
	r := Examine(t.Context(), m)
	dir := os.Getenv(env.Cache)
	want := `go         go1.26.8
module     example.com/user, with gotile v0.1.0
driver     580.82.07, for CUDA 13.0, /lib/libcuda.so
gpus       cuda:0  NVIDIA H200, compute capability 9.0, sm_90a, 150 GB
nvrtc      13.0, /lib/libnvrtc.so
           compiles for sm_80 sm_86 sm_89 sm_90a sm_100a sm_103a sm_120a sm_121a
cache      ` + dir + `: 0 kernels, 0 bytes of 512 MB
headers    CUDA 13.0, /usr/local/cuda/include/cuda.h
variables  GOTILE_CACHE=` + dir + `

works      gen, sim, check, verify, bench
`
	if got := text(t, r); got != want || !r.MainJob() {
		t.Errorf("main job %v, got:\n%s", r.MainJob(), got)
	}
}

// bound is a driver that a build tag brings.
type bound struct{ driver.Driver }

func (bound) Binding() string { return "gorgonia" }

func TestBinding(t *testing.T) {
	m, _, _ := healthy(t)
	m.Driver = func() (driver.Driver, error) { return bound{fake.New(nil, fake.H200)}, nil }
	want := "driver     580.82.07, for CUDA 13.0, /lib/libcuda.so\n           by the tag gorgonia\ngpus "
	if got := text(t, Examine(t.Context(), m)); !strings.Contains(got, want) {
		t.Errorf("no %q in:\n%s", want, got)
	}
}

// Each thing that is missing, or of no use: what is said of it, the command that mends it, and what works without it.
func TestMissing(t *testing.T) {
	none := fmt.Errorf("driver: %w: libcuda.so.1: cannot open", driver.ErrNoLibrary)
	fails := func(code driver.Result) func(*Machine, files, map[string]string) {
		return func(m *Machine, _ files, _ map[string]string) {
			m.Driver = func() (driver.Driver, error) { return nil, &driver.Error{Call: "cuInit", Code: code} }
		}
	}
	noLibrary := func(m *Machine) { m.Driver = func() (driver.Driver, error) { return nil, none } }
	type change = func(m *Machine, f files, programs map[string]string)
	const pip = "python3 -m pip install --upgrade --target ~/.local/share/gotile/"
	for name, c := range map[string]struct {
		change  change
		words   []string // of the report
		command string   // that it names; empty: none but the main list
		works   string
		fails   bool // the main job
	}{
		"no go": {func(_ *Machine, _ files, p map[string]string) { delete(p, "go env GOVERSION") },
			[]string{"go         missing: the go command does not run"}, "open https://go.dev/dl and install Go 1.26 or newer", "", true},
		"old go": {func(_ *Machine, _ files, p map[string]string) { p["go env GOVERSION"] = "go1.25.1\n" },
			[]string{"go1.25.1 is too old"}, "go env -w GOTOOLCHAIN=go1.26.0+auto", "", true},
		"no module": {func(_ *Machine, _ files, p map[string]string) { delete(p, "go list -m") },
			[]string{"module     missing: the current directory is in no Go module"}, "gotile init DIR", "gen, sim, check, verify, bench", false},
		"module without gotile": {func(_ *Machine, _ files, p map[string]string) { delete(p, "go list -m -json "+gotile) },
			[]string{"problem: module example.com/user does not require gotile"}, "go get -tool " + tool, "", true},
		"no card": {func(m *Machine, f files, _ map[string]string) {
			noLibrary(m)
			delete(f, "/sys/bus/pci/devices/0000:01:00.0/vendor")
		}, []string{"driver     missing: no NVIDIA driver: libcuda.so.1: cannot open", "this machine shows no NVIDIA GPU", "kernels run on the simulator"},
			"gotile verify -c FILE PACKAGE", "gen, sim, check", false},
		"no driver, ubuntu": {func(m *Machine, _ files, _ map[string]string) { noLibrary(m) }, nil, "sudo ubuntu-drivers install", "gen, sim, check", false},
		"no driver, debian": {func(m *Machine, f files, _ map[string]string) { noLibrary(m); f["/etc/os-release"] = "ID=debian\n" },
			nil, "sudo apt-get install nvidia-driver", "gen, sim, check", false},
		"no driver, arch": {func(m *Machine, f files, _ map[string]string) { noLibrary(m); f["/etc/os-release"] = "ID=arch\n" },
			nil, "sudo pacman -S nvidia", "gen, sim, check", false},
		"no driver, another system": {func(m *Machine, f files, _ map[string]string) { noLibrary(m); delete(f, "/etc/os-release") },
			nil, "open https://www.nvidia.com/drivers", "gen, sim, check", false},
		"no driver, WSL": {func(m *Machine, f files, _ map[string]string) {
			noLibrary(m)
			f["/proc/version"], f["/dev/dxg"] = "Linux version 5.15-microsoft-standard-WSL2", ""
		}, nil, "install NVIDIA's driver in Windows, then run there: wsl --update", "gen, sim, check", false},
		"container": {func(m *Machine, f files, _ map[string]string) { noLibrary(m); f["/.dockerenv"] = "" },
			[]string{"the container was started without its GPUs"}, "docker run --gpus all IMAGE", "gen, sim, check", false},
		"stub":                {fails(driver.StubLibrary), []string{"a toolkit's stub was opened"}, "sudo ubuntu-drivers install", "gen, sim, check", false},
		"driver just updated": {fails(803), []string{"the driver was updated while the system was running"}, "sudo reboot", "gen, sim, check", false},
		"module not loaded":   {fails(driver.NoDevice), nil, "sudo modprobe nvidia", "gen, sim, check", false},
		"hidden GPUs": {func(m *Machine, _ files, _ map[string]string) {
			m.Driver = func() (driver.Driver, error) { return fake.New(nil), nil }
			os.Setenv("CUDA_VISIBLE_DEVICES", "-1") // set for the test by healthy
		}, []string{"CUDA_VISIBLE_DEVICES=-1 hides the GPUs"}, "unset CUDA_VISIBLE_DEVICES", "gen, sim, check", false},
		"another platform": {func(m *Machine, _ files, _ map[string]string) {
			m.Driver = func() (driver.Driver, error) { return nil, errors.ErrUnsupported }
			m.NVRTC = func() (Compiler, error) { return nil, errors.ErrUnsupported }
		}, []string{"nvrtc      missing: unsupported operation", "driver     missing: unsupported operation"}, "", "gen, sim", false},
		"an old GPU": {func(m *Machine, _ files, _ map[string]string) {
			m.Driver = func() (driver.Driver, error) {
				return fake.New(nil, fake.Device{Name: "NVIDIA T4", Major: 7, Minor: 5}), nil
			}
		}, []string{"cuda:0  NVIDIA T4, compute capability 7.5, no target", "gotile has no target for compute capability 7.5"}, "gotile caps", "gen, sim, check", false},
		"no NVRTC": {func(m *Machine, _ files, _ map[string]string) {
			m.NVRTC = func() (Compiler, error) { return nil, nvrtc.ErrNotFound }
		},
			[]string{"nvrtc      missing: libnvrtc is not in"}, pip + "nvrtc 'nvidia-cuda-nvrtc==13.0.*'", "gen, sim", false},
		"NVRTC named wrongly": {func(m *Machine, _ files, _ map[string]string) {
			m.NVRTC = func() (Compiler, error) { return nil, nvrtc.ErrNotFound }
			os.Setenv(env.NVRTC, "/no/such")
		}, []string{"GOTILE_NVRTC=/no/such cannot be opened"}, "unset GOTILE_NVRTC", "gen, sim", false},
		"NVRTC without its companion": {func(m *Machine, _ files, _ map[string]string) {
			m.NVRTC = func() (Compiler, error) { return compiler{13, 0, allTargets, errors.New("no builtins\nand more")}, nil }
		}, []string{"it does not compile: no builtins\n"}, pip + "nvrtc 'nvidia-cuda-nvrtc==13.0.*'", "gen, sim", false},
		"NVRTC too new for the driver": {func(m *Machine, _ files, _ map[string]string) {
			m.NVRTC = func() (Compiler, error) { return compiler{14, 0, allTargets, nil}, nil }
		}, []string{"its code does not load: the driver is for CUDA 13.0"}, pip + "nvrtc 'nvidia-cuda-nvrtc==13.0.*'", "gen, sim", false},
		"NVRTC too old for the GPU": {func(m *Machine, _ files, _ map[string]string) {
			m.NVRTC = func() (Compiler, error) { return compiler{11, 5, []int{75, 80, 86}, nil}, nil }
		}, []string{"not for sm_89 sm_90a", "it is too old for cuda:0, which is sm_90a"}, pip + "nvrtc 'nvidia-cuda-nvrtc==13.0.*'", "gen, sim", false},
		"cache off": {func(*Machine, files, map[string]string) { os.Setenv(env.Cache, "off") },
			[]string{"cache      missing: GOTILE_CACHE=off: kernels are compiled in every process"}, "unset GOTILE_CACHE", "gen, sim, check, verify, bench", false},
		"cache is a file": {func(*Machine, files, map[string]string) {
			path := filepath.Join(os.Getenv(env.Cache), "file")
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				panic(err)
			}
			os.Setenv(env.Cache, path)
		}, []string{"is no directory", "kernels are compiled in every process"}, "export GOTILE_CACHE=DIR", "gen, sim, check, verify, bench", false},
		"cache is to be made": {func(*Machine, files, map[string]string) {
			os.Setenv(env.Cache, filepath.Join(os.Getenv(env.Cache), "a", "b"))
		}, []string{"/a/b: 0 kernels, 0 bytes of 512 MB"}, "", "gen, sim, check, verify, bench", false},
		"cache below a file": {func(*Machine, files, map[string]string) {
			path := filepath.Join(os.Getenv(env.Cache), "file")
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				panic(err)
			}
			os.Setenv(env.Cache, filepath.Join(path, "a"))
		}, []string{"not a directory", "kernels are compiled in every process"}, "export GOTILE_CACHE=DIR", "gen, sim, check, verify, bench", false},
		"release among other words": {func(_ *Machine, f files, _ map[string]string) {
			f["/proc/driver/nvidia/version"] = "NVRM v1.x of gcc. NVIDIA UNIX Open Kernel Module for x86_64  590.44.01  Release\n"
		}, []string{"driver     590.44.01, for CUDA 13.0"}, "", "gen, sim, check, verify, bench", false},
		"no headers": {func(_ *Machine, f files, _ map[string]string) { delete(f, "/usr/local/cuda/include/cuda.h") },
			[]string{"only builds with -tags gorgonia need it"}, `eval "$(bash "$(go list -m -f '{{.Dir}}' github.com/gotile/gotile)"/runtime/driver/gorgonia/prepare.sh ~/.local/share/gotile/cuda)"`, "gen, sim, check, verify, bench", false},
		"no variables": {func(*Machine, files, map[string]string) { os.Unsetenv(env.Cache) },
			[]string{"variables  none of gotile's is set\n"}, "", "gen, sim, check, verify, bench", false},
		"headers without a module": {func(_ *Machine, f files, p map[string]string) {
			delete(f, "/usr/local/cuda/include/cuda.h")
			delete(p, "go list -m")
		}, []string{"headers    missing: cuda.h is in no include folder"}, "gotile init DIR", "gen, sim, check, verify, bench", false},
		"headers named for cgo": {func(_ *Machine, f files, _ map[string]string) {
			delete(f, "/usr/local/cuda/include/cuda.h")
			f["/x/cuda.h"] = "#define CUDA_VERSION 12090\n"
			os.Setenv("CPATH", ":/x")
		}, []string{"headers    CUDA 12.9, /x/cuda.h\n"}, "", "gen, sim, check, verify, bench", false},
		"unknown variable": {func(*Machine, files, map[string]string) { os.Setenv("GOTILE_TYPO", "1") },
			[]string{"GOTILE_TYPO: gotile has no such variable"}, "unset GOTILE_TYPO", "gen, sim, check, verify, bench", false},
		"device of no name": {func(*Machine, files, map[string]string) { os.Setenv(env.Device, "gpu0") },
			[]string{"GOTILE_DEVICE=gpu0 names no device", "there are sim and cuda:N"}, "unset GOTILE_DEVICE", "gen, sim, check, verify, bench", false},
		"device that is not": {func(*Machine, files, map[string]string) { os.Setenv(env.Device, "cuda:9") },
			[]string{"GOTILE_DEVICE=cuda:9: of GPUs there are "}, "unset GOTILE_DEVICE", "gen, sim, check, verify, bench", false},
		"watchdog without a unit": {func(*Machine, files, map[string]string) { os.Setenv(env.Watchdog, "2") },
			[]string{"GOTILE_WATCHDOG=2 is neither 0 nor a duration"}, "unset GOTILE_WATCHDOG", "gen, sim, check, verify, bench", false},
		"no conformance data": {func(*Machine, files, map[string]string) { os.Setenv(env.Conformance, "/no/such") },
			[]string{"GOTILE_CONFORMANCE=/no/such is no directory"}, "unset GOTILE_CONFORMANCE", "gen, sim, check, verify, bench", false},
		"dumps into a file": {func(*Machine, files, map[string]string) { os.Setenv(env.Dump, os.Args[0]) },
			[]string{" is no directory"}, "unset GOTILE_DUMP", "gen, sim, check, verify, bench", false},
		"right values": {func(*Machine, files, map[string]string) {
			os.Setenv(env.Device, "cuda:0")
			os.Setenv(env.Watchdog, "500ms")
			os.Setenv(env.Dump, "/no/such")
		}, []string{"variables  GOTILE_CACHE=", "GOTILE_WATCHDOG=500ms\n"}, "", "gen, sim, check, verify, bench", false},
		"no home": {func(m *Machine, _ files, _ map[string]string) {
			m.NVRTC = func() (Compiler, error) { return nil, nvrtc.ErrNotFound }
			os.Unsetenv("HOME")
		}, nil, "python3 -m pip install --upgrade 'nvidia-cuda-nvrtc==13.0.*'", "gen, sim", false},
	} {
		t.Run(name, func(t *testing.T) {
			m, f, programs := healthy(t)
			t.Cleanup(func() { os.Unsetenv("GOTILE_TYPO"); os.Unsetenv(env.NVRTC) })
			c.change(m, f, programs)
			r := Examine(t.Context(), m)
			got := text(t, r)
			for _, w := range c.words {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in:\n%s", w, got)
				}
			}
			if c.command != "" && !strings.Contains(got, "run: "+c.command+"\n") {
				t.Errorf("the command %q is not in:\n%s", c.command, got)
			}
			if c.works != "" && !strings.Contains(got, "\nworks      "+c.works+"\n") || c.works == "" && strings.Contains(got, "\nworks ") {
				t.Errorf("want working: %q, got:\n%s", c.works, got)
			}
			if r.MainJob() == c.fails {
				t.Errorf("the main job works: %v", r.MainJob())
			}
		})
	}
}

func TestProcesses(t *testing.T) {
	m, _, programs := healthy(t)
	m.Driver = func() (driver.Driver, error) { return fake.New(nil, fake.H200, card), nil }
	t.Setenv("CUDA_VISIBLE_DEVICES", "1,3")
	programs["nvidia-smi --id=3 --format=csv,noheader --query-compute-apps=pid,process_name,used_gpu_memory"] =
		fmt.Sprintf("4711, python3, 1024 MiB\n%d, doctor, 10 MiB\n[not found]\n", os.Getpid())
	r := Examine(t.Context(), m)
	if len(r.GPUs) != 2 || r.GPUs[0].Processes != nil || !slices.Equal(r.GPUs[1].Processes, []Process{{4711, "python3", "1024 MiB"}}) {
		t.Errorf("GPUs %+v", r.GPUs)
	}
	if got := text(t, r); !strings.Contains(got, "cuda:1  NVIDIA H200, compute capability 9.0, sm_90a, 150 GB\n                   in use by process 4711, python3, 1024 MiB:") {
		t.Errorf("got:\n%s", got)
	}
}

func TestCacheReport(t *testing.T) {
	m, _, _ := healthy(t)
	dir := os.Getenv(env.Cache)
	at := time.Unix(1_700_000_000, 0)
	for i, l := range []cache.Lookup{
		{Outcome: cache.Miss, Key: "a", Kernel: "softmax", Arch: "sm_90a", NVRTC: "13.0", Source: "1", Options: "o"},
		{Outcome: cache.Hit, Key: "a", Kernel: "softmax", Arch: "sm_90a", NVRTC: "13.0", Source: "1", Options: "o"},
		{Outcome: cache.Miss, Key: "b", Kernel: "other", Arch: "sm_90a", NVRTC: "13.0", Source: "3", Options: "o"},
		{Outcome: cache.Miss, Key: "c", Kernel: "softmax", Arch: "sm_90a", NVRTC: "13.5", Source: "1", Options: "o"},
		{Outcome: cache.Evicted, Key: "a"},
	} {
		l.Time = at.Add(time.Duration(i) * time.Hour)
		if err := cache.Note(dir, l); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c"+cache.Suffix), make([]byte, 5000), 0o666); err != nil {
		t.Fatal(err)
	}
	r := Examine(t.Context(), m)
	c := r.Cache
	if c.Entries != 1 || c.Size != 5000 || c.Hits != 1 || c.Misses != 3 || !c.Since.Equal(at) || c.Last == nil || c.Last.Why != "NVRTC is 13.5, it was 13.0" {
		t.Errorf("%+v", c)
	}
	for _, words := range []string{": 1 kernel, 4 KB of 512 MB\n", "1 hit and 3 missed since ", "softmax for sm_90a by NVRTC 13.5: miss, NVRTC is 13.5, it was 13.0\n", "gotile doctor -why softmax "} {
		if got := text(t, r); !strings.Contains(got, words) {
			t.Errorf("no %q in:\n%s", words, got)
		}
	}
	all, err := Lookups("softmax")
	if err != nil || len(all) != 3 || all[0].Hit || !all[1].Hit || all[2].Hit {
		t.Errorf("%v, %v", all, err)
	}
}

// Programs read what people read.
func TestJSON(t *testing.T) {
	m, _, _ := healthy(t)
	m.NVRTC = func() (Compiler, error) { return nil, nvrtc.ErrNotFound }
	r := Examine(t.Context(), m)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.NVRTC.State != Missing || back.NVRTC.Command == "" || back.GPUs[0].Target != "sm_90a" || text(t, &back) != text(t, r) {
		t.Errorf("%s", data)
	}
}

// This machine, whatever it has: a report without an error, and the main job works, since Go runs this test.
func TestThis(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	r := Examine(t.Context(), This())
	if !r.MainJob() {
		t.Errorf("the main job does not work here:\n%s", text(t, r))
	}
	if r.Module.Path != gotile || !strings.HasPrefix(r.Go.Version, "go1.") && !strings.HasPrefix(r.Go.Version, "devel") {
		t.Errorf("%+v %+v", r.Go, r.Module)
	}
}
