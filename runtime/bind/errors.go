package bind

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// What a launch can refuse, beside device's ErrShape, ErrDType, ErrTarget, ErrClosed and ErrWrongDevice.
var (
	// ErrStride: a last stride that is not 1, or elements of an output that share memory.
	ErrStride = errors.New("unsupported stride")
	// ErrAlign: an address that is no multiple of the element's size, or of 16 bytes where all kernels want that.
	ErrAlign = errors.New("unaligned address")
	// ErrLimit: sizes that no generated kernel holds. Other sizes of the same arguments work.
	ErrLimit = errors.New("too large")
	// ErrValue: a number that the operation does not take.
	ErrValue = errors.New("bad value")
)

// Error says what is wrong with the arguments of a launch, with the numbers and a way out. Err is a sentinel of this
// package or of device.
type Error struct {
	Launch string // the launch function
	Field  string // the parameter, if one is to blame
	Err    error
	Detail string
}

// Error is "launchAxpy: Y: rows (dimension 0) is 3, but X has rows = 4".
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Launch + ": " + e.Detail
	}
	return e.Launch + ": " + e.Field + ": " + e.Detail
}

// Unwrap gives the sentinel.
func (e *Error) Unwrap() error { return e.Err }

func (f *Family) errorf(sentinel error, field, format string, args ...any) *Error {
	return &Error{f.Name, field, sentinel, fmt.Sprintf(format, args...)}
}

func (f *Family) shapeText(field *Field) string {
	var s []string
	for _, d := range field.Dims {
		if d.Symbol < 0 {
			s = append(s, fmt.Sprint(d.Size))
		} else {
			s = append(s, f.Symbols[d.Symbol])
		}
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// having names the fields with a symbol.
func (f *Family) having(symbol int) string {
	var s []string
	for _, field := range f.Fields {
		if slices.ContainsFunc(field.Dims, func(d Dim) bool { return d.Symbol == symbol }) {
			s = append(s, field.Name)
		}
	}
	return strings.Join(s, ", ")
}

// firstWith names the field whose size a symbol took.
func (f *Family) firstWith(symbol int, tensors []device.Tensor) string {
	for i, field := range f.Fields {
		if tensors[i].DType() != dtype.Invalid && slices.ContainsFunc(field.Dims, func(d Dim) bool { return d.Symbol == symbol }) {
			return field.Name
		}
	}
	return "?"
}

func (f *Family) noTarget(target string) *Error {
	var have []string
	for _, c := range f.Configs {
		for _, t := range c.Kernel.Targets {
			if !slices.Contains(have, t) {
				have = append(have, t)
			}
		}
	}
	return f.errorf(device.ErrTarget, "", "the device's target is %s; the kernels are generated for %s: add it to tile.Targets and run gotile gen", target, strings.Join(have, ", "))
}

func (f *Family) noTypes(target string, tensors []device.Tensor) *Error {
	var got []string
	for i, t := range tensors {
		if t.DType() != dtype.Invalid {
			got = append(got, f.Fields[i].Name+" "+t.DType().String())
		}
	}
	var have []string
	for _, c := range f.on(target) {
		var types []string
		for i, t := range c.DTypes {
			types = append(types, f.Fields[i].Name+" "+t.String())
		}
		if s := strings.Join(types, ", "); !slices.Contains(have, s) {
			have = append(have, s)
		}
	}
	return f.errorf(device.ErrDType, "", "no kernel takes %s; the generated ones take %s", strings.Join(got, ", "), strings.Join(have, "; or "))
}

// noRoom names the first symbol that keeps the roomiest of the kernels with matching types from running.
func (f *Family) noRoom(target string, tensors []device.Tensor, dims []int32) *Error {
	for i, name := range f.Symbols {
		most, kernel := 0, ""
		for _, c := range f.on(target) {
			if !c.takes(tensors) {
				continue
			}
			if c.Max[i] == 0 {
				most = 0
				break
			}
			if c.Max[i] > most {
				most, kernel = c.Max[i], c.Kernel.Name
			}
		}
		if most > 0 && int(dims[i]) > most {
			return f.errorf(ErrLimit, f.firstWith(i, tensors), "%s is %d; the largest kernel for these types, %s, holds %d: split it, or add a config with a larger capacity and run gotile gen",
				name, dims[i], kernel, most)
		}
	}
	var sizes []string
	for i, name := range f.Symbols {
		sizes = append(sizes, fmt.Sprintf("%s = %d", name, dims[i]))
	}
	return f.errorf(ErrLimit, "", "no one kernel holds %s together; add a config that does and run gotile gen", strings.Join(sizes, ", "))
}

// notWhole says why tensors that a kernel has the types and the room for are not whole vectors.
func (f *Family) notWhole(target string, tensors []device.Tensor, dims []int32) *Error {
	const way = "or add a config without tile.WholeVectors and run gotile gen"
	for _, c := range f.on(target) {
		if !c.takes(tensors) || !c.holds(dims) {
			continue
		}
		for i, n := range c.Multiple {
			if dims[i] > 0 && int(dims[i])%n != 0 { // not of one that BindKnown does not know
				way := way
				if slices.ContainsFunc(c.Kernel.Maps, func(m device.TensorMap) bool { return !m.Optional }) {
					way = "or add a config without tensor copies and run gotile gen"
				}
				return f.errorf(device.ErrShape, f.firstWith(i, tensors), "%s is %d; %s takes multiples of %d, whole vectors of 16 bytes: pad it, %s", f.Symbols[i], dims[i], c.Kernel.Name, n, way)
			}
		}
		for _, i := range c.Aligned {
			if tensors[i].DType() != dtype.Invalid && !aligned(&tensors[i]) {
				if slices.ContainsFunc(c.Kernel.Maps, func(m device.TensorMap) bool { return m.Tensor == i }) {
					return f.errorf(ErrAlign, f.Fields[i].Name, "its address or a stride is no multiple of 16 bytes, as the tensor copies of %s need: pad it, or add a config without tensor copies and run gotile gen", c.Kernel.Name)
				}
				return f.errorf(ErrAlign, f.Fields[i].Name, "its address or a stride is no multiple of 16 bytes, as %s needs: pad it, %s", c.Kernel.Name, way)
			}
		}
	}
	return f.errorf(ErrAlign, "", "no kernel takes tensors that are no whole vectors of 16 bytes; %s", way)
}

// unmapped says why a tensor has no tensor map. Address and strides were looked at when the kernel was chosen.
func (f *Family) unmapped(field int, err error) *Error {
	sentinel := err
	if errors.Is(err, device.ErrShape) {
		sentinel = device.ErrShape
	}
	return f.errorf(sentinel, f.Fields[field].Name, "%v", err)
}

// noBlocks says that an exact grid is empty although there is work.
func (f *Family) noBlocks(c *Config, dims []int32, work int) *Error {
	var sizes []string
	for _, i := range c.Work {
		sizes = append(sizes, fmt.Sprintf("%s = %d", f.Symbols[i], dims[i]))
	}
	why := ""
	if sizes != nil {
		why = " (" + strings.Join(sizes, ", ") + ")"
	}
	first, _, _ := strings.Cut(f.having(c.Blocks), ", ")
	symbol := f.Symbols[c.Blocks]
	return f.errorf(device.ErrShape, first, "%s is 0, so the grid has no blocks, but there is work for %d%s: make %s at least 1; the family's grid function says how many are resident at once",
		symbol, work, why, symbol)
}

func (f *Family) on(target string) []Config {
	var out []Config
	for _, c := range f.Configs {
		if slices.Contains(c.Kernel.Targets, target) {
			out = append(out, c)
		}
	}
	return out
}

// apart names a device in an error, beside another that may have the same name: one that was opened twice is two.
func apart(d, other *device.Device) string {
	if d.Name() == other.Name() {
		return "another that was opened as " + d.Name()
	}
	return d.Name()
}
