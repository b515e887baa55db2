package device

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
)

// MaxRank is the most dimensions a tensor can have, as many as a TMA tensor map describes.
const MaxRank = 5

// Tensor is a view of a buffer: an element type, a shape and strides in elements. It is a value; copies see the same
// memory. The zero Tensor is no tensor: its type is dtype.Invalid.
type Tensor struct {
	buf    *Buffer
	offset int // bytes
	dt     dtype.Type
	rank   int8
	dim    [MaxRank]int
	stride [MaxRank]int
}

// NewTensor allocates a contiguous tensor; without dimensions it has rank 0 and one element. Any dimension may be 0.
func NewTensor(d *Device, dt dtype.Type, shape ...int) (Tensor, error) {
	return newTensor(d, d.Alloc, dt, shape)
}

// NewTensor is the function NewTensor for a tensor that is used on this stream only, or on others in order with it:
// its memory is Stream.Alloc's.
func (s *Stream) NewTensor(dt dtype.Type, shape ...int) (Tensor, error) {
	return newTensor(s.d, s.Alloc, dt, shape)
}

func newTensor(d *Device, alloc func(bytes int) (*Buffer, error), dt dtype.Type, shape []int) (Tensor, error) {
	t, err := describe(dt, shape, nil)
	if err != nil {
		return Tensor{}, fmt.Errorf("device: %s: new tensor %v %v: %w", d.name, dt, shape, err)
	}
	n, ok := mul(t.Elems(), dt.Size())
	if !ok {
		return Tensor{}, fmt.Errorf("device: %s: new tensor %v %v: its size in bytes overflows: %w", d.name, dt, shape, ErrShape)
	}
	if t.buf, err = alloc(n); err != nil {
		return Tensor{}, fmt.Errorf("new tensor %v %v: %w", dt, shape, err)
	}
	return t, nil
}

// View is a tensor in a buffer, from an element on. Strides are in elements, one a dimension and not negative; nil
// means contiguous. Every element must lie in the buffer. Elements may overlap (stride 0 repeats them), though such
// a tensor cannot be written from the host.
func View(b *Buffer, offset int, dt dtype.Type, shape, strides []int) (Tensor, error) {
	t, err := describe(dt, shape, strides)
	if err != nil {
		return Tensor{}, fmt.Errorf("device: view %v %v: %w", dt, slices.Clone(shape), err) // a clone: shape stays off the heap
	}
	if b == nil {
		return Tensor{}, fmt.Errorf("device: view %v %v: nil buffer: %w", dt, slices.Clone(shape), ErrClosed)
	}
	if b.Closed() {
		return Tensor{}, fmt.Errorf("device: view %v %v of a buffer of %d bytes: %w", dt, slices.Clone(shape), b.Bytes(), ErrClosed)
	}
	end, ok := offset, offset >= 0
	if t.Elems() > 0 {
		for i := range shape {
			span, ok1 := mul(t.dim[i]-1, t.stride[i])
			sum, carry := bits.Add(uint(end), uint(span), 0)
			end, ok = int(sum), ok && ok1 && carry == 0 && int(sum) >= 0
		}
		end++
	}
	if n, fits := mul(end, dt.Size()); !ok || !fits || end < 0 || n > b.Bytes() {
		return Tensor{}, fmt.Errorf("device: view %v %v, strides %v, from element %d on: it ends past the buffer's %d bytes: %w",
			dt, slices.Clone(shape), slices.Clone(t.stride[:t.rank]), offset, b.Bytes(), ErrShape)
	}
	t.buf, t.offset = b, offset*dt.Size()
	return t, nil
}

// describe checks type, shape and strides.
func describe(dt dtype.Type, shape, strides []int) (Tensor, error) {
	t := Tensor{dt: dt, rank: int8(min(len(shape), MaxRank))}
	switch {
	case !slices.Contains(dtype.All(), dt):
		return t, fmt.Errorf("memory holds %v, not %v: %w", dtype.All(), dt, ErrDType)
	case len(shape) > MaxRank:
		return t, fmt.Errorf("rank %d is above %d: %w", len(shape), MaxRank, ErrShape)
	case strides != nil && len(strides) != len(shape):
		return t, fmt.Errorf("%d strides for rank %d: %w", len(strides), len(shape), ErrShape)
	}
	n, ok := 1, true
	for i := len(shape) - 1; i >= 0; i-- {
		t.dim[i], t.stride[i] = shape[i], n
		if strides != nil {
			t.stride[i] = strides[i]
		}
		if shape[i] < 0 || t.stride[i] < 0 {
			return t, fmt.Errorf("dimension %d has size %d and stride %d: negative: %w", i, shape[i], t.stride[i], ErrShape)
		}
		// The stride of a contiguous tensor with a dimension of size 0 is that of size 1.
		if n, ok = mul(n, max(shape[i], 1)); !ok {
			return t, fmt.Errorf("the number of elements overflows: %w", ErrShape)
		}
	}
	return t, nil
}

// mul multiplies two numbers that are not negative; false where the product is no int.
func mul(a, b int) (int, bool) {
	hi, lo := bits.Mul(uint(a), uint(b))
	return int(lo), hi == 0 && int(lo) >= 0
}

// DType is the element type.
func (t Tensor) DType() dtype.Type { return t.dt }

// Rank is the number of dimensions.
func (t Tensor) Rank() int { return int(t.rank) }

// Dim is the size of dimension i.
func (t Tensor) Dim(i int) int { return t.dim[:t.rank][i] }

// Stride is the distance of neighbours along dimension i, in elements.
func (t Tensor) Stride(i int) int { return t.stride[:t.rank][i] }

// Shape is a copy of the dimensions.
func (t Tensor) Shape() []int { return slices.Clone(t.dim[:t.rank]) }

// SameShape reports whether two tensors have one shape.
func (t Tensor) SameShape(o Tensor) bool { return t.rank == o.rank && t.dim == o.dim }

// Elems is the number of elements.
func (t Tensor) Elems() int {
	n := 1
	for _, d := range t.dim[:t.rank] {
		n *= d
	}
	return n
}

// Buffer is the memory that the tensor views; nil for the zero Tensor.
func (t Tensor) Buffer() *Buffer { return t.buf }

// Offset is where the first element is, in bytes from the start of the buffer.
func (t Tensor) Offset() int { return t.offset }

// Addr is the address of the first element; 0 for the zero Tensor.
func (t Tensor) Addr() uint64 {
	if t.buf == nil {
		return 0
	}
	return t.buf.Addr() + uint64(t.offset)
}

// Contiguous reports whether the elements stand in row-major order without gaps.
func (t Tensor) Contiguous() bool {
	n := 1
	for i := int(t.rank) - 1; i >= 0; i-- {
		if t.dim[i] > 1 && t.stride[i] != n {
			return t.Elems() == 0
		}
		n *= t.dim[i]
	}
	return true
}

// overlaps reports whether two elements may be one. It can be wrong only for interleaved strides such as (2, 3).
func (t Tensor) overlaps() bool {
	if t.Elems() < 2 {
		return false
	}
	axes := make([]int, 0, MaxRank)
	for i, d := range t.dim[:t.rank] {
		if d > 1 {
			axes = append(axes, i)
		}
	}
	slices.SortFunc(axes, func(a, b int) int { return t.stride[a] - t.stride[b] })
	last := 0 // the largest offset within the axes so far
	for _, i := range axes {
		if t.stride[i] <= last {
			return true
		}
		last += (t.dim[i] - 1) * t.stride[i]
	}
	return false
}

// Reshape views the elements of a contiguous tensor in another shape, of as many elements.
func (t Tensor) Reshape(shape ...int) (Tensor, error) {
	n := 1
	for _, s := range shape {
		if s < 0 || s > 0 && n > math.MaxInt/s {
			return Tensor{}, fmt.Errorf("the shape is out of range: %w", ErrShape)
		}
		n *= s
	}
	switch {
	case n != t.Elems():
		return Tensor{}, fmt.Errorf("it has %d elements, not %d: %w", t.Elems(), n, ErrShape)
	case !t.Contiguous():
		return Tensor{}, fmt.Errorf("it is not contiguous; copy it first: %w", ErrShape)
	case t.buf == nil:
		return Tensor{}, fmt.Errorf("it has no memory: %w", ErrClosed)
	}
	return View(t.buf, t.offset/t.dt.Size(), t.dt, shape, nil)
}

// Close closes the tensor's buffer, for all who view it.
func (t Tensor) Close() error {
	if t.buf == nil {
		return nil
	}
	return t.buf.Close()
}

// Check says why work on d cannot use the tensor: it is the zero Tensor, its buffer is closed or another device's.
func (t Tensor) Check(d *Device) error {
	if t.dt == dtype.Invalid {
		return fmt.Errorf("device: %s: the tensor is not set: %w", d.name, ErrShape)
	}
	return t.buf.check(d, t.offset, 0)
}

// String is "bf16[128, 4096]", with the strides where it is not contiguous.
func (t Tensor) String() string {
	var b strings.Builder
	b.WriteString(t.dt.String() + "[")
	for i, d := range t.dim[:t.rank] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, d)
	}
	b.WriteString("]")
	if !t.Contiguous() {
		fmt.Fprintf(&b, " with strides %v", t.stride[:t.rank])
	}
	return b.String()
}
