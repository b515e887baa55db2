package device

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver"
)

// TensorMap describes a tensor map of a kernel's argument struct: what its asynchronous tensor copies know of a tensor. It
// stands in a generated file, in the order of the struct.
type TensorMap struct {
	Tensor    int   // the number of the tensor among the launch's
	Box       []int // elements that one copy moves, by dimension of the tensor
	Swizzle   int   // bytes of its rows within which 16-byte chunks are permuted: 32, 64 or 128; 0: none
	Promotion int   // bytes that the L2 cache fetches at once: 64, 128 or 256; 0: what the chip does by itself
	Optional  bool  // the kernel does without where the tensor allows none: see Takes
}

// tensorTypes are the element types of tensor maps.
var tensorTypes = map[dtype.Type]driver.TensorType{dtype.F32: driver.TensorF32, dtype.BF16: driver.TensorBF16, dtype.F16: driver.TensorF16,
	dtype.I32: driver.TensorI32, dtype.U32: driver.TensorU32, dtype.I64: driver.TensorI64,
	dtype.E4M3: driver.TensorU8, dtype.E5M2: driver.TensorU8, dtype.I8: driver.TensorU8}

var (
	swizzles   = map[int]driver.TensorSwizzle{0: driver.TensorSwizzleNone, 32: driver.TensorSwizzle32, 64: driver.TensorSwizzle64, 128: driver.TensorSwizzle128}
	promotions = map[int]driver.L2Promotion{0: driver.L2PromotionNone, 64: driver.L2Promotion64, 128: driver.L2Promotion128, 256: driver.L2Promotion256}
)

// maxMaps is how many tensor maps of one kernel are kept: more than a training step has tensors for it.
const maxMaps = 4096

// mapCache keeps the maps of a loaded kernel. What a map holds follows from its key, so an entry is good for ever, also
// when the memory at the address has another owner.
type mapCache struct {
	mu   sync.Mutex
	maps map[mapKey]driver.TensorMap
}

type mapKey struct {
	n      int // of the kernel's maps
	addr   uint64
	dt     dtype.Type
	dim    [MaxRank]int
	stride [MaxRank]int
}

// TensorMap is tensor map n of the kernel for a tensor, made by the driver the first time and kept. The tensor must have the
// rank of the map's box, a last stride of 1, and no dimension of 0; its address and its other strides must be multiples of
// 16 bytes. It is safe for concurrent use, and allocates nothing for a tensor that it has seen.
func (f *Func) TensorMap(n int, t *Tensor) (driver.TensorMap, error) {
	key := mapKey{n, t.Addr(), t.dt, t.dim, t.stride}
	c := &f.maps
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.maps[key]; ok {
		return m, nil
	}
	d, err := f.k.Maps[n].of(t)
	if err != nil {
		return driver.TensorMap{}, fmt.Errorf("device: %s: tensor map %d of %s: %w", f.d.name, n, f.k.Name, err)
	}
	m, err := f.d.back.encode(d)
	if err != nil {
		return m, f.d.fail("TensorMap", fmt.Errorf("kernel %s: %w", f.k.Name, err))
	}
	if c.maps == nil || len(c.maps) >= maxMaps {
		c.maps = map[mapKey]driver.TensorMap{}
	}
	c.maps[key] = m
	return m, nil
}

// Takes reports whether a map can be made of a tensor: its address and its strides, but the last, are multiples of 16 bytes,
// and no dimension is 0. It is what a kernel asks that does without.
func (m *TensorMap) Takes(t *Tensor) bool {
	ok := t.Addr()%16 == 0
	for axis := range t.Rank() {
		ok = ok && t.Dim(axis) > 0 && (axis == t.Rank()-1 || t.Dim(axis) == 1 || t.Stride(axis)*t.dt.Size()%16 == 0)
	}
	return ok
}

// of describes the map of a tensor to the driver, whose dimensions begin with the innermost.
func (m *TensorMap) of(t *Tensor) (*driver.Tiled, error) {
	rank := t.Rank()
	if rank != len(m.Box) || rank == 0 {
		return nil, fmt.Errorf("a tensor of rank %d for a box of rank %d: %w", rank, len(m.Box), ErrShape)
	}
	if t.Stride(rank-1) != 1 && t.Dim(rank-1) != 1 {
		return nil, fmt.Errorf("a last stride of %d, not 1: copy the tensor: %w", t.Stride(rank-1), ErrShape)
	}
	d := &driver.Tiled{Type: tensorTypes[t.dt], Addr: driver.Ptr(t.Addr()), Swizzle: swizzles[m.Swizzle], Promotion: promotions[m.Promotion]}
	inside := uint64(t.dt.Size()) // bytes that the dimensions so far take
	for axis := rank - 1; axis >= 0; axis-- {
		n := t.Dim(axis)
		if n == 0 {
			return nil, fmt.Errorf("dimension %d is 0: a tensor map has none without elements; launch nothing: %w", axis, ErrShape)
		}
		if axis < rank-1 {
			stride := uint64(t.Stride(axis) * t.dt.Size())
			if n == 1 { // which nobody steps along
				stride = (inside + 15) &^ 15
			}
			d.Stride = append(d.Stride, stride)
			inside = max(inside, stride*uint64(n))
		} else {
			inside *= uint64(n)
		}
		d.Dim, d.Box = append(d.Dim, uint64(n)), append(d.Box, uint32(m.Box[axis]))
	}
	return d, nil
}

// sameMaps reports whether a generated file describes a kernel's maps as they are.
func sameMaps(a, b []TensorMap) bool {
	return slices.EqualFunc(a, b, func(x, y TensorMap) bool {
		return x.Tensor == y.Tensor && x.Swizzle == y.Swizzle && x.Promotion == y.Promotion && x.Optional == y.Optional && slices.Equal(x.Box, y.Box)
	})
}
