package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/driver"
)

// Driver is NVIDIA's.
type Driver struct {
	Check
	Library string `json:"library,omitempty"` // where libcuda was found
	Release string `json:"release,omitempty"` // 580.82.07
	CUDA    string `json:"cuda,omitempty"`    // the newest version it supports: 13.0
	Binding string `json:"binding,omitempty"` // what calls it, where that is not dlopen: gorgonia

	major int
}

// GPU is one that the driver shows.
type GPU struct {
	Check
	Device     string    `json:"device"` // cuda:0
	Name       string    `json:"name"`
	Capability string    `json:"capability"` // 9.0
	Target     string    `json:"target,omitempty"`
	Memory     int64     `json:"memory"` // bytes
	Processes  []Process `json:"processes,omitempty"`
}

// Process is another program that computes on a GPU.
type Process struct {
	PID    int    `json:"pid"`
	Name   string `json:"name"`
	Memory string `json:"memory,omitempty"` // as nvidia-smi writes it
}

func (m *Machine) driver(ctx context.Context) (Driver, []GPU) {
	d := Driver{Check: Check{State: OK}}
	drv, err := m.Driver()
	if err != nil {
		d.Check = m.noDriver(err)
		return d, nil
	}
	d.Library, d.Release = m.Loaded("libcuda.so"), m.release()
	if b, ok := drv.(interface{ Binding() string }); ok {
		d.Binding = b.Binding()
	}
	version, err := drv.Version()
	if err != nil {
		d.Check = m.noDriver(err)
		return d, nil
	}
	d.major, d.CUDA = version/1000, fmt.Sprintf("%d.%d", version/1000, version%1000/10)
	n, err := drv.DeviceCount()
	if err != nil || n == 0 {
		if err == nil {
			err = &driver.Error{Call: "cuDeviceGetCount", Code: driver.NoDevice}
		}
		d.Check = m.noDriver(err)
		return d, nil
	}
	var gpus []GPU
	for i := range n {
		gpus = append(gpus, m.gpu(ctx, drv, i))
	}
	return d, gpus
}

// release is the driver's own version, which the kernel module reports.
func (m *Machine) release() string {
	text, err := m.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	for _, word := range strings.Fields(firstLine(string(text))) {
		if a, b, ok := strings.Cut(word, "."); ok && isNumber(a) && isNumber(strings.ReplaceAll(b, ".", "")) {
			return word
		}
	}
	return ""
}

func isNumber(s string) bool { _, err := strconv.Atoi(s); return err == nil }

// mismatch is CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: library and kernel module are of different releases.
const mismatch driver.Result = 803

// noDriver says why no GPU can be used, and what brings one.
func (m *Machine) noDriver(err error) Check {
	why := message(err)
	code := driver.CodeOf(err)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return Check{State: Missing, Why: why}
	case !m.hasCard():
		return Check{State: Missing, Why: why + "; this machine shows no NVIDIA GPU"}
	case m.container():
		return Check{Missing, why + "; the container was started without its GPUs", "docker run --gpus all IMAGE"}
	case errors.Is(err, driver.ErrNoLibrary):
		return Check{Missing, why, m.installDriver()}
	case code == mismatch:
		return Check{Problem, why + "; the driver was updated while the system was running", "sudo reboot"}
	case code == driver.NoDevice && os.Getenv("CUDA_VISIBLE_DEVICES") != "":
		return Check{Problem, why + "; CUDA_VISIBLE_DEVICES=" + os.Getenv("CUDA_VISIBLE_DEVICES") + " hides the GPUs", "unset CUDA_VISIBLE_DEVICES"}
	case code == driver.StubLibrary:
		return Check{Problem, why + "; a toolkit's stub was opened in place of the driver", m.installDriver()}
	}
	return Check{Problem, why, "sudo modprobe nvidia"}
}

// hasCard reports whether the machine has an NVIDIA GPU, driver or not.
func (m *Machine) hasCard() bool {
	if m.wsl() {
		return len(m.Glob("/dev/dxg")) > 0
	}
	for _, path := range m.Glob("/sys/bus/pci/devices/*/vendor") {
		vendor, _ := m.ReadFile(path)
		class, _ := m.ReadFile(strings.TrimSuffix(path, "vendor") + "class")
		if strings.TrimSpace(string(vendor)) == "0x10de" && strings.HasPrefix(string(class), "0x03") { // a display controller
			return true
		}
	}
	return len(m.Glob("/dev/nvidia[0-9]*")) > 0
}

func (m *Machine) wsl() bool {
	text, _ := m.ReadFile("/proc/version")
	return strings.Contains(strings.ToLower(string(text)), "microsoft")
}

func (m *Machine) container() bool {
	return len(m.Glob("/.dockerenv"))+len(m.Glob("/run/.containerenv")) > 0
}

// installDriver is the command of this system.
func (m *Machine) installDriver() string {
	if m.wsl() {
		return "install NVIDIA's driver in Windows, then run there: wsl --update"
	}
	text, _ := m.ReadFile("/etc/os-release")
	ids := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name == "ID" || name == "ID_LIKE" {
			for _, id := range strings.Fields(strings.Trim(value, `"`)) {
				ids[id] = true
			}
		}
	}
	switch {
	case ids["ubuntu"]:
		return "sudo ubuntu-drivers install"
	case ids["debian"]:
		return "sudo apt-get install nvidia-driver"
	case ids["arch"]:
		return "sudo pacman -S nvidia"
	}
	return "open https://www.nvidia.com/drivers"
}

// gpu describes a device.
func (m *Machine) gpu(ctx context.Context, drv driver.Driver, i int) GPU {
	g := GPU{Check: Check{State: OK}, Device: fmt.Sprintf("cuda:%d", i)}
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	var err error
	g.Name, err = drv.DeviceName(i)
	note(err)
	g.Memory, err = drv.DeviceMemory(i)
	note(err)
	major, err := drv.DeviceAttribute(i, driver.ComputeCapabilityMajor)
	note(err)
	minor, err := drv.DeviceAttribute(i, driver.ComputeCapabilityMinor)
	note(err)
	if err := errors.Join(errs...); err != nil {
		g.Check = Check{State: Problem, Why: message(err)}
		return g
	}
	g.Capability = fmt.Sprintf("%d.%d", major, minor)
	if t := target.For(major, minor); t == nil {
		g.Check = Check{State: Problem, Why: "gotile has no target for compute capability " + g.Capability, Command: "gotile caps"}
	} else {
		g.Target = t.Name
	}
	g.Processes = m.processes(ctx, i)
	return g
}

// processes asks nvidia-smi, which numbers the GPUs that the process may see otherwise where CUDA_VISIBLE_DEVICES says so.
func (m *Machine) processes(ctx context.Context, i int) []Process {
	id := strconv.Itoa(i)
	if visible := strings.Split(os.Getenv("CUDA_VISIBLE_DEVICES"), ","); visible[0] != "" && i < len(visible) {
		id = strings.TrimSpace(visible[i])
	}
	out, err := m.Output(ctx, "nvidia-smi", "--id="+id, "--format=csv,noheader", "--query-compute-apps=pid,process_name,used_gpu_memory")
	if err != nil {
		return nil
	}
	var all []Process
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), ", ")
		pid, err := strconv.Atoi(f[0])
		if err != nil || pid == os.Getpid() || len(f) != 3 {
			continue
		}
		all = append(all, Process{pid, f[1], f[2]})
	}
	return all
}
