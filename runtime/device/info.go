package device

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gotile/gotile/internal/target"
)

// Info describes a device.
type Info struct {
	Name           string // the vendor's: "NVIDIA H200"; "gotile simulator"
	GPU            string // short, lower case, for file names: "h200", "rtx5090"; "sim"
	Major, Minor   int    // compute capability: 9, 0; on the simulator the target's
	SMs            int
	Memory         int64  // bytes
	L2             int    // bytes of the cache that all SMs share; 0 on the simulator
	SharedPerBlock int    // bytes of shared memory a block can have on the device's target
	CUDA           string // newest CUDA version the driver supports: "13.0"; empty on the simulator
	Driver         string // the driver's release: "580.82.07"; empty where unknown
	NVRTC          string // the compiler's version: "13.0"; empty where there is none
	Binding        string // what calls the driver, where that is not the default: "gorgonia" (-tags gorgonia)
}

// Info describes the device. The first call opens the compiler to ask for its version.
func (d *Device) Info() Info {
	i := d.info
	i.NVRTC = d.back.compiler()
	return i
}

// Label names the device in files: "h200"; "h200-gorgonia" where another binding drives it.
func (i Info) Label() string {
	if i.Binding == "" {
		return i.GPU
	}
	return i.GPU + "-" + i.Binding
}

// shortName makes "h200" of "NVIDIA H200", "rtx5070ti" of "NVIDIA GeForce RTX 5070 Ti": without the makers' words, up to
// the word with the number, with the suffixes that name another chip.
func shortName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !('a' <= r && r <= 'z' || unicode.IsDigit(r))
	})
	var out strings.Builder
	number := false
	for _, w := range words {
		switch {
		case number && !slices.Contains([]string{"ti", "super", "ada", "d"}, w):
			return out.String()
		case slices.Contains([]string{"nvidia", "geforce", "tesla", "quadro"}, w):
		default:
			out.WriteString(w)
			number = number || strings.ContainsFunc(w, unicode.IsDigit)
		}
	}
	if out.Len() == 0 {
		return "gpu"
	}
	return out.String()
}

// targetFor is the target whose code a compute capability runs.
func targetFor(major, minor int) (*target.Target, error) {
	t := target.For(major, minor)
	if t == nil {
		return nil, fmt.Errorf("no target for compute capability %d.%d; gotile has %s: %w", major, minor, strings.Join(target.Names(), ", "), ErrTarget)
	}
	return t, nil
}

// chooseTarget is the target named, or the device's own.
func chooseTarget(name string, major, minor int) (*target.Target, error) {
	if name == "" {
		return targetFor(major, minor)
	}
	t, err := target.Lookup(name)
	if err != nil {
		return nil, err
	}
	if !t.RunsOn(major, minor) {
		return nil, fmt.Errorf("code for %s does not run on compute capability %d.%d: %w", t.Arch, major, minor, ErrTarget)
	}
	return t, nil
}
