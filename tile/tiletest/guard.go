package tiletest

import (
	"bytes"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Role says what a kernel may do with a tensor.
type Role uint8

// The roles.
const (
	Input  Role = iota // read only: every byte must stay
	Output             // poisoned: every element must be written
	Both               // given and changed
)

// Spec describes a tensor to place.
type Spec struct {
	Name    string // in failures; empty: its role and number, such as "output 2 of the case"
	Role    Role
	DType   dtype.Type
	Shape   []int
	Strides []int     // in elements, none negative; nil: contiguous
	Offset  int       // elements by which the tensor starts past a 256-byte boundary
	Values  []float64 // row-major, as many as Shape has; nil for an Output
	Bits    []uint64  // instead of Values: bit patterns, for NaN payloads and for int64 that float64 does not hold
}

// guardBytes is the size of each guard band. It keeps a tensor without offset on a 256-byte boundary, as cuMemAlloc
// gives it.
const guardBytes = 256

// block is a placed tensor: a buffer, what it held before the launch, and what it was last seen to hold.
type block struct {
	Spec
	label     string // what failures call it
	buffer    *device.Buffer
	tensor    device.Tensor
	start     int // element number of the tensor's first element
	image     []byte
	seen      []byte
	unwritten bool // already reported
}

func (r *Run) place(s Spec) (*block, error) {
	if s.Strides == nil {
		s.Strides = contiguous(s.Shape)
	}
	if len(s.Strides) != len(s.Shape) {
		return nil, fmt.Errorf("%d strides for %d dimensions", len(s.Strides), len(s.Shape))
	}
	count, extent := 1, 1
	for i, n := range s.Shape {
		if n < 0 || s.Strides[i] < 0 {
			return nil, fmt.Errorf("dimension %d has size %d and stride %d", i, n, s.Strides[i])
		}
		count *= n
		extent += (n - 1) * s.Strides[i]
	}
	if count == 0 {
		extent = 0
	}
	if n := len(s.Values) + len(s.Bits); s.Role != Output && n != count {
		return nil, fmt.Errorf("%d values for %d elements", n, count)
	}
	size := s.DType.Size()
	b := &block{Spec: s, label: r.label(s), start: guardBytes/size + s.Offset}
	b.image = make([]byte, (b.start+extent)*size+guardBytes)
	fillPoison(b.image, s.DType)
	if s.Role != Output {
		i := 0
		b.walk(func(at int) {
			if s.Bits != nil {
				putBits(b.image[at:], s.DType, s.Bits[i])
			} else {
				put(b.image[at:], s.DType, s.Values[i])
			}
			i++
		})
	}
	var err error
	if b.buffer, err = r.Device.Alloc(len(b.image)); err != nil {
		return nil, err
	}
	if b.tensor, err = device.View(b.buffer, b.start, s.DType, s.Shape, s.Strides); err == nil {
		err = r.Stream.CopyIn(b.buffer, 0, b.image)
	}
	if err != nil {
		b.buffer.Close()
		return nil, err
	}
	return b, nil
}

// label is what failures call a tensor about to be placed: its name, or its number among the case's tensors of its
// role.
func (r *Run) label(s Spec) string {
	role := [...]string{Input: "input", Output: "output", Both: "in-out tensor"}[s.Role]
	if s.Name != "" {
		return role + " " + s.Name
	}
	n := 1
	for _, b := range r.blocks {
		if b.Role == s.Role {
			n++
		}
	}
	return fmt.Sprintf("%s %d of the case", role, n)
}

func contiguous(shape []int) []int {
	strides := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= max(1, shape[i])
	}
	return strides
}

// walk calls f with the byte offset of each element of the tensor, in row-major order.
func (b *block) walk(f func(at int)) {
	size := b.DType.Size()
	var axis func(i, at int)
	axis = func(i, at int) {
		if i == len(b.Shape) {
			f(at * size)
			return
		}
		if i == len(b.Shape)-1 { // most of the time
			for range b.Shape[i] {
				f(at * size)
				at += b.Strides[i]
			}
			return
		}
		for k := range b.Shape[i] {
			axis(i+1, at+k*b.Strides[i])
		}
	}
	axis(0, b.start)
}

// elems is the number of elements that walk visits.
func (b *block) elems() int {
	n := 1
	for _, size := range b.Shape {
		n *= size
	}
	return n
}

func (r *Run) find(t device.Tensor) *block {
	for _, b := range r.blocks {
		if b.buffer == t.Buffer() {
			return b
		}
	}
	return nil
}

// fetch reads the whole buffer back, guards included.
func (r *Run) fetch(b *block) error {
	b.seen = make([]byte, len(b.image))
	if err := r.Stream.CopyOut(b.seen, b.buffer, 0); err != nil {
		return err
	}
	return r.Stream.Sync(r.ctx)
}

func (b *block) floats() []float64 {
	x := make([]float64, 0, b.elems())
	b.walk(func(at int) { x = append(x, get(b.seen[at:], b.DType)) })
	return x
}

func (b *block) bits() []uint64 {
	x := make([]uint64, 0, b.elems())
	b.walk(func(at int) { x = append(x, getBits(b.seen[at:], b.DType)) })
	return x
}

// checkWritten reports, once, elements of an output that still hold poison.
func (b *block) checkWritten(r *Run) {
	if b.Role != Output || b.unwritten {
		return
	}
	i, first, missing := 0, -1, 0
	b.walk(func(at int) {
		if isPoison(b.seen[at:], b.DType) {
			if missing++; first < 0 {
				first = i
			}
		}
		i++
	})
	if missing > 0 {
		b.unwritten = true
		r.Errorf("%s, of shape %v %v: %d of %d elements not written, the first at [%d]", b.label, b.Shape, b.DType, missing, i, first)
	}
}

// checkGuards reports bytes changed outside the tensor, and inside an input.
func (b *block) checkGuards(r *Run) {
	want := bytes.Clone(b.image)
	size := b.DType.Size()
	if b.Role != Input {
		b.walk(func(at int) { copy(want[at:at+size], b.seen[at:at+size]) })
	}
	if bytes.Equal(want, b.seen) {
		return
	}
	for i := range want {
		if want[i] != b.seen[i] {
			r.Errorf("%s, of shape %v, strides %v, %v: memory that is not an output was written, first at element %d counted from the tensor's start",
				b.label, b.Shape, b.Strides, b.DType, i/size-b.start)
			return
		}
	}
}
