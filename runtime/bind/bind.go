// Package bind is what generated launch wrappers share: it checks the tensors of a launch against the shape contract
// of a family of kernels, reads the dimensions off them, picks the kernel and sizes the grid. A generated z-file is a
// table for this package and the few lines that must be typed.
//
// Two arguments may be one tensor, of the same address and strides, where the kernel reads each element before the
// same thread writes it: y = f(x) element by element, or row by row by the threads that hold the row, may run in place.
// Whether a kernel does so is between its author and its callers: a launch does not check it. Distinct tensors of
// which one is written must not overlap in memory; that is not checked either. Within one output no two elements may
// share memory, which is checked.
//
// Nothing here allocates unless it fails.
package bind

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Family is the kernels of one Args type.
type Family struct {
	Name    string // of the launch function, for errors
	Symbols []string
	Fields  []Field  // the tensors, in the order of the Args struct
	Configs []Config // in the order of preference
}

// Field is the contract of a tensor.
type Field struct {
	Name    string
	Dims    []Dim
	Strided bool // the last stride need not be 1
	Written bool
}

// Dim is one dimension: a symbol's number, or -1 and a fixed size.
type Dim struct{ Symbol, Size int }

// Config is a kernel and what it takes.
type Config struct {
	Kernel *device.Kernel // whose Targets name all that it is for
	DTypes []dtype.Type   // by field
	Max    []int          // by symbol, 0: no limit
	// Of a kernel for whole vectors of 16 bytes: the fields whose addresses and strides, and what the symbols' values, are
	// multiples of them.
	Aligned  []int
	Multiple []int
	Step     int  // iterations a block, or a cluster, takes at a time
	Exact    bool // the grid is exactly as many blocks, or clusters, as the symbol Blocks
	Blocks   int
	Each     bool  // the grid is one block, or cluster, an iteration, however many are resident
	Work     []int // symbols that the number of iterations depends on
}

const unknown = -1

// Bind checks tensors, one for each field, fills dims, one for each symbol, and returns the number of the first
// config that takes them on the target of the stream's device. What the launch to come writes to counts as changed
// (device.Buffer.Changes). Errors are of type *Error.
func (f *Family) Bind(s *device.Stream, tensors []device.Tensor, dims []int32) (int, error) {
	config, err := f.bind(s, tensors, dims, false)
	if err != nil {
		return 0, err
	}
	for i := range f.Fields {
		if f.Fields[i].Written {
			tensors[i].Buffer().NoteLaunch()
		}
	}
	return config, nil
}

// BindKnown is Bind where tensors may be unset: their types are not asked for, and symbols that no other tensor has
// become 0. The symbols that the grid depends on must be known.
func (f *Family) BindKnown(s *device.Stream, tensors []device.Tensor, dims []int32) (int, error) {
	config, err := f.bind(s, tensors, dims, true)
	if err != nil {
		return 0, err
	}
	for _, i := range f.Configs[config].Work {
		if dims[i] == unknown {
			return 0, f.errorf(device.ErrShape, "", "the size of the grid depends on %s: set one of %s", f.Symbols[i], f.having(i))
		}
	}
	for i := range dims {
		dims[i] = max(dims[i], 0)
	}
	return config, nil
}

func (f *Family) bind(s *device.Stream, tensors []device.Tensor, dims []int32, partial bool) (int, error) {
	if s == nil {
		return 0, f.errorf(device.ErrWrongDevice, "", "the stream is nil; use Device.Stream")
	}
	for i := range dims {
		dims[i] = unknown
	}
	for i := range f.Fields {
		if tensors[i].DType() == dtype.Invalid { // the zero Tensor
			if partial {
				continue
			}
			return 0, f.errorf(device.ErrShape, f.Fields[i].Name, "the tensor is not set")
		}
		if err := f.place(s, &f.Fields[i], &tensors[i]); err != nil {
			return 0, err
		}
		if err := f.shape(i, tensors, dims); err != nil {
			return 0, err
		}
		if err := f.strides(&f.Fields[i], &tensors[i]); err != nil {
			return 0, err
		}
	}
	return f.pick(s, tensors, dims)
}

// place checks where a tensor lives. Tensors are passed by address on the way to a launch: copies of their descriptions
// take as long as the checks.
func (f *Family) place(s *device.Stream, field *Field, t *device.Tensor) error {
	b := t.Buffer()
	switch {
	case b == nil:
		return f.errorf(device.ErrClosed, field.Name, "the tensor has no buffer; make it with device.NewTensor or device.View")
	case b.Closed():
		return f.errorf(device.ErrClosed, field.Name, "the tensor's buffer is closed")
	case b.Device() != s.Device():
		return f.errorf(device.ErrWrongDevice, field.Name, "the tensor is on device %s, the stream on %s; copy it over", b.Device().Name(), apart(s.Device(), b.Device()))
	}
	if size := uint64(t.DType().Size()); t.Addr()%size != 0 {
		return f.errorf(ErrAlign, field.Name, "the address %#x is not a multiple of %d, the size of %v; start the view at a whole element", t.Addr(), size, t.DType())
	}
	return nil
}

// shape checks rank and sizes of field i and notes the symbols it is the first to have.
func (f *Family) shape(i int, tensors []device.Tensor, dims []int32) error {
	field, t := &f.Fields[i], &tensors[i]
	if t.Rank() != len(field.Dims) {
		return f.errorf(device.ErrShape, field.Name, "the tensor has rank %d, not %d: its shape is %s", t.Rank(), len(field.Dims), f.shapeText(field))
	}
	for axis, d := range field.Dims {
		n := t.Dim(axis)
		switch {
		case n > maxDim:
			return f.errorf(ErrLimit, field.Name, "dimension %d is %d; a dimension holds at most %d: split the launch", axis, n, maxDim)
		case d.Symbol < 0 && n != d.Size:
			return f.errorf(device.ErrShape, field.Name, "dimension %d is %d, not %d: its shape is %s", axis, n, d.Size, f.shapeText(field))
		case d.Symbol < 0:
		case dims[d.Symbol] == unknown:
			dims[d.Symbol] = int32(n)
		case dims[d.Symbol] != int32(n):
			return f.errorf(device.ErrShape, field.Name, "%s (dimension %d) is %d, but %s has %s = %d", f.Symbols[d.Symbol], axis, n,
				f.firstWith(d.Symbol, tensors), f.Symbols[d.Symbol], dims[d.Symbol])
		}
	}
	return nil
}

// strides checks that elements are where the kernel looks, and that no two elements of an output are one.
func (f *Family) strides(field *Field, t *device.Tensor) error {
	if t.Contiguous() {
		return nil
	}
	last := t.Rank() - 1
	if last >= 0 && !field.Strided && t.Dim(last) > 1 && t.Stride(last) != 1 {
		return f.errorf(ErrStride, field.Name, "the last stride is %d, not 1; copy it, or tag the argument strided", t.Stride(last))
	}
	if !field.Written {
		return nil
	}
	for axis := range t.Rank() {
		if t.Dim(axis) == 1 {
			continue
		}
		if t.Stride(axis) == 0 {
			return f.errorf(ErrStride, field.Name, "stride %d of an output is 0: its elements would overlap", axis)
		}
		if inner := reach(t, axis); t.Stride(axis) <= inner {
			return f.errorf(ErrStride, field.Name, "stride %d of an output is %d, but the dimensions inside it reach %d elements far: its elements would overlap; make the stride at least %d",
				axis, t.Stride(axis), inner, inner+1)
		}
	}
	return nil
}

// reach is the largest offset, in elements, within the dimensions that have smaller strides than an axis has, or the
// same and stand behind it. Where each stride is larger than that, no two elements are one. Interleaved layouts, such
// as sizes (2, 3) with strides (3, 2), may be free of overlaps too; they are not worth telling apart.
func reach(t *device.Tensor, axis int) int {
	n := 0
	for i := range t.Rank() {
		if t.Dim(i) > 1 && (t.Stride(i) < t.Stride(axis) || t.Stride(i) == t.Stride(axis) && i > axis) {
			n += (t.Dim(i) - 1) * t.Stride(i)
		}
	}
	return n
}

// maxDim bounds every dimension: a loop of the kernel may count over it by steps of up to 65,536, and its variable, an
// i32, goes one step past the end.
const maxDim = math.MaxInt32 - 1<<16

// maxWork bounds the dimensions that the grid's loop counts over: its variable, an i32, goes one grid's step past them.
const maxWork = 1 << 30

// uncountable says that the bound of a loop over the grid, computed from dimensions, passes what its variable can count.
func (f *Family) uncountable(c *Config, dims []int32) error {
	var sizes []string
	for _, i := range c.Work {
		sizes = append(sizes, fmt.Sprintf("%s = %d", f.Symbols[i], dims[i]))
	}
	return f.errorf(ErrLimit, "", "the loop over the grid would count past %d (%s): split the launch", maxWork, strings.Join(sizes, ", "))
}

func (f *Family) countable(c *Config, dims []int32) error {
	for _, i := range c.Work {
		if dims[i] > maxWork {
			return f.errorf(ErrLimit, "", "%s is %d; a loop over the grid counts to %d: split the launch", f.Symbols[i], dims[i], maxWork)
		}
	}
	return nil
}

// pick chooses the first config that the target, the types and the sizes allow.
func (f *Family) pick(s *device.Stream, tensors []device.Tensor, dims []int32) (int, error) {
	target := s.Device().Target().Name
	for i := range f.Configs {
		c := &f.Configs[i]
		if c.takes(tensors) && c.holds(dims) && c.whole(tensors, dims) && slices.Contains(c.Kernel.Targets, target) {
			return i, f.countable(c, dims)
		}
	}
	return 0, f.none(target, tensors, dims)
}

// none says why no config takes the tensors: what the nearest one lacks.
func (f *Family) none(target string, tensors []device.Tensor, dims []int32) error {
	runs, typed, roomy := false, false, false
	for i := range f.Configs {
		if c := &f.Configs[i]; slices.Contains(c.Kernel.Targets, target) {
			fits := c.takes(tensors)
			runs, typed, roomy = true, typed || fits, roomy || fits && c.holds(dims)
		}
	}
	switch {
	case !runs:
		return f.noTarget(target)
	case !typed:
		return f.noTypes(target, tensors)
	case roomy:
		return f.notWhole(target, tensors, dims)
	}
	return f.noRoom(target, tensors, dims)
}

// takes reports whether the types fit; unset tensors have none.
func (c *Config) takes(tensors []device.Tensor) bool {
	for i := range tensors {
		if t := tensors[i].DType(); t != c.DTypes[i] && t != dtype.Invalid {
			return false
		}
	}
	return true
}

// holds reports whether the sizes are within the capacity.
func (c *Config) holds(dims []int32) bool {
	for i, most := range c.Max {
		if most > 0 && int(dims[i]) > most {
			return false
		}
	}
	return true
}

// TensorMaps fills in the tensor maps of a launch's argument struct, in their order, from its tensors. One that the kernel
// does without, of a tensor that allows none, is all zeros.
func (f *Family) TensorMaps(fn *device.Func, tensors []device.Tensor, to ...*[16]uint64) error {
	for n, m := range fn.Kernel().Maps {
		if m.Optional && !m.Takes(&tensors[m.Tensor]) {
			*to[n] = [16]uint64{}
			continue
		}
		made, err := fn.TensorMap(n, &tensors[m.Tensor])
		if err != nil {
			return f.unmapped(m.Tensor, err)
		}
		*to[n] = made
	}
	return nil
}

const vectorBytes = 16

// whole reports whether the tensors are whole vectors where the kernel has no other form; unset ones are taken to be.
func (c *Config) whole(tensors []device.Tensor, dims []int32) bool {
	for i, n := range c.Multiple {
		if dims[i] > 0 && int(dims[i])%n != 0 {
			return false
		}
	}
	for _, i := range c.Aligned {
		if tensors[i].DType() != dtype.Invalid && !aligned(&tensors[i]) {
			return false
		}
	}
	return true
}

// aligned reports whether all rows of a tensor begin on 16 bytes.
func aligned(t *device.Tensor) bool {
	if t.Addr()%vectorBytes != 0 {
		return false
	}
	for axis := range t.Rank() - 1 {
		if t.Dim(axis) > 1 && t.Stride(axis)*t.DType().Size()%vectorBytes != 0 {
			return false
		}
	}
	return true
}
