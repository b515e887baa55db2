package tile

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/layout"
)

// Swizzle gives the tile one of TMA's swizzles, layout.Swizzle128, Swizzle64 or Swizzle32: where in shared memory an
// element lies, for all accesses of the tile. The 16-byte chunks of a row of 128, 64 or 32 bytes are permuted by the
// number of the row, so that a column of chunks lies in many banks. A tile with longer rows, which are multiples of that, is
// stored as panels of this width, one behind the other; then its rows, the last dimension but one, are a multiple of 8.
// Swizzle stands where the tile is made:
//
//	x := tile.NewShared[tile.BF16](k, 128, 64).Swizzle(layout.Swizzle128).Manual()
func (s Shared[T]) Swizzle(sw layout.Swizzle) Shared[T] {
	if s.s != nil {
		s.b.SetSwizzle(s.s, sw)
	}
	return s
}

// Completion is where the bytes of CopyTensor are completed: an MBarrier, whose phase expects them, or the slot of a
// pipeline that the copy fills, which expects them by itself.
type Completion interface {
	completion() (*ir.Builder, ir.Completion)
}

func (m MBarrier) completion() (*ir.Builder, ir.Completion) {
	return m.b, ir.Completion{Bar: m.m, I: m.i}
}
func (s Slot) completion() (*ir.Builder, ir.Completion) {
	return s.b, ir.Completion{Pipe: s.p, Slot: s.v}
}

// CopyTensor copies a box of a tensor in global memory to a shared tile (TMA). The box is dst's shape: the shared tile,
// or for s.At(i) what At leaves of it. It runs along the last dimensions of src, 1 to 5, from the view's element on;
// elements outside of the tensor, also those past the end of a row, become zero. One thread of the scope issues the copy;
// the bytes come by the asynchronous proxy and are completed at an mbarrier, or at a slot. The result is their number,
// those outside of the tensor included:
//
//	full.ArriveExpect(block, tile.CopyTensor(block, x, a.X.At(row, col), full))
//	full.Wait(block, parity)
//
// In a slot of a pipeline it is a part of the slot's filling, and nobody counts bytes:
//
//	s := pipe.Acquire(p)
//	tile.CopyTensor(p, s.X, a.X.At(row, col), s)
//
// A row of the tile, or of a panel of its swizzle, is a multiple of 16 bytes, and no side of the box has more than 256
// elements. The launch sees to it that the tensor's address and its strides, but the last, which is 1, are multiples of 16
// bytes. What threads did with the tile before must be ordered before the copy, and their writes by FenceAsync too.
//
// A kernel with it takes no other tensors; CopyAsync into a slot whose tile has a swizzle is the same copy where the tensor
// allows it, and one by the threads where not.
func CopyTensor[T Number](s Scope, dst, src Source[T], at Completion) Index {
	return loadTensor(ir.CopyTensor, s, dst, src, at, nil)
}

// MulticastTensor is CopyTensor into the same place of several blocks of the cluster, those whose bits are set in mask, an
// int or an Index: bit i is the block of rank i. The bytes are completed at the mbarrier of each of them, which must expect
// as many as CopyTensor's would. One block issues the copy, for all; each must have begun, and its tile and its mbarrier
// must be ready, so a barrier of the cluster stands before the first copy.
func MulticastTensor[T Number](s Scope, dst, src Source[T], bar MBarrier, mask any) Index {
	b, _ := scopeOf(s)
	m := indexOf(b, ir.MulticastTensor, "the mask", mask)
	return loadTensor(ir.MulticastTensor, s, dst, src, bar, m)
}

func loadTensor[T Number](op ir.Op, s Scope, dst, src Source[T], at Completion, mask *ir.Value) Index {
	b, scope := scopeOf(s)
	to, from := place(b, op, dst), place(b, op, src)
	if to == nil || from == nil {
		return Index{b: b}
	}
	if at == nil {
		b.Errorf(op, ErrScope, "the completion of %s is nil; give an MBarrier, or the slot that it fills", ir.Table[op].Go)
		return Index{b: b}
	}
	of, where := at.completion()
	if of != b {
		ir.Fail(ErrScope, "the MBarrier or slot of %s was never assigned, or belongs to another kernel; make it with tile.NewMBarriers, or take what Acquire gives", ir.Table[op].Go)
	}
	return Index{b: b, v: b.Tensor(op, scope, *to, *from, 0, where, mask)}
}

// StoreTensor copies a shared tile to a box of a tensor in global memory, as CopyTensor does the other way: elements
// outside of the tensor are not written. Its rows are whole 16-byte vectors, to which the launch sees, since the chip clips
// what it writes by those. It belongs to the group that the next CommitBulk of the scope closes. What threads wrote into
// the tile must be ordered before by FenceAsync and a barrier, in this order. The kernel must not read dst.
//
// Valid says where a box, of one dimension or two, ends before the tensor does, as the last rows of a segment do. A copy
// clips at the tensor only: where the box ends earlier, which is a test of the kernel, the threads of the scope store what is
// valid, an element or a vector each, and have done so when they pass.
func StoreTensor[T Number](s Scope, dst, src Source[T], opts ...CopyOption) {
	b, scope := scopeOf(s)
	var o copyOptions
	for _, opt := range opts {
		opt.apply(&o)
	}
	if len(o.pieces) > 0 {
		b.Errorf(ir.StoreTensor, ErrLimit, "StoreTensor in pieces of %d bytes: a tensor copy has none; drop the option", o.pieces[0])
		return
	}
	ends, ok := o.ends(b, ir.StoreTensor)
	if to, from := place(b, ir.StoreTensor, dst), place(b, ir.StoreTensor, src); to != nil && from != nil && ok {
		b.StoreTensorTo(scope, *from, *to, ends)
	}
}

// A TensorReduction says what ReduceTensor does with the elements of a tile and of a tensor.
type TensorReduction uint8

// The reductions: the sum (of f32, bf16, f16, i32 and u32), the minimum and the maximum (of i32, u32, i64, bf16 and f16).
const (
	ReduceAdd = TensorReduction(ir.ReduceAdd)
	ReduceMin = TensorReduction(ir.ReduceMin)
	ReduceMax = TensorReduction(ir.ReduceMax)
)

// ReduceTensor is StoreTensor that combines with what is in memory, element by element and atomically. The order of the
// blocks' sums is not fixed, nor is then their last bit. Sums of bf16 and f16 are rounded each time.
func ReduceTensor[T Number](s Scope, dst, src Source[T], how TensorReduction) {
	b, _ := scopeOf(s)
	if how > ReduceMax {
		b.Errorf(ir.ReduceTensor, ErrTarget, "ReduceTensor with unknown reduction %d; use ReduceAdd, ReduceMin or ReduceMax", how)
		return
	}
	storeTensor(ir.ReduceTensor, s, dst, src, ir.ReduceOp(how))
}

// PrefetchTensor fetches into the L2 cache what CopyTensor with these operands copies. The tile is not accessed.
func PrefetchTensor[T Number](s Scope, dst, src Source[T]) {
	storeTensor(ir.PrefetchTensor, s, src, dst, 0)
}

func storeTensor[T Number](op ir.Op, s Scope, global, shared Source[T], how ir.ReduceOp) {
	b, scope := scopeOf(s)
	if to, from := place(b, op, global), place(b, op, shared); to != nil && from != nil {
		b.Tensor(op, scope, *from, *to, how, ir.Completion{}, nil)
	}
}
