package ir

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// Limits of tensor copies. Source: the CUDA driver API, cuTensorMapEncodeTiled; the PTX manual, cp.async.bulk.tensor.
const (
	MaxTensorRank  = 5   // dimensions of a tensor map
	MaxTensorSide  = 256 // elements of a side of its box
	TensorRowBytes = 16  // rows of the box are multiples of it
	TensorAlign    = 128 // of a box in shared memory
)

// TensorInfo is the attribute of the tensor copies. The box runs along the last dimensions of both.
type TensorInfo struct {
	Shared *SharedTile
	Arg    *Arg
	Rank   int       // dimensions of the box: the tile's last ones
	Bar    *MBarrier // of CopyTensor and MulticastTensor: where the bytes are completed; nil: at the slot that they fill
	Reduce ReduceOp  // of ReduceTensor
}

// Pieces are the boxes that move the copy's.
func (i *TensorInfo) Pieces() Pieces { return i.Shared.Pieces(i.Rank) }

// ReduceOp is how ReduceTensor combines a tile with what is in memory.
type ReduceOp uint8

// The reductions.
const (
	ReduceAdd ReduceOp = iota
	ReduceMin
	ReduceMax
)

func (r ReduceOp) String() string { return [...]string{"add", "min", "max"}[r] }

// takes reports whether the hardware has the reduction for a type.
func (r ReduceOp) takes(t dtype.Type) bool {
	if r == ReduceAdd {
		return t != dtype.I64
	}
	return t != dtype.F32
}

// Completion is where the bytes of a tensor copy to shared memory are completed: at an mbarrier of an array, or at the slot
// that the copy fills.
type Completion struct {
	Bar  *MBarrier
	I    *Value // which of the array
	Pipe *Pipeline
	Slot *Value // of the pipeline
}

// Tensor records a copy of the box that the shared view leaves open. at is where a load is completed, mask the blocks
// of MulticastTensor. The leader of the scope issues it. A load returns its number of bytes, which counts what lies outside
// of the tensor too.
func (b *Builder) Tensor(op Op, s Scope, shared, global Place, reduce ReduceOp, at Completion, mask *Value) *Value {
	load := op == CopyTensor || op == MulticastTensor
	if b.poisoned(op, shared.Offs...) || b.poisoned(op, global.Offs...) || op == MulticastTensor && b.poisoned(op, mask) {
		return nil
	}
	if load && at.Pipe == nil && (at.Bar == nil || b.poisoned(op, at.I)) || load && at.Pipe != nil && b.poisoned(op, at.Slot) {
		return nil
	}
	if !b.tensorPlaces(op, s, shared, global) || load && !b.completes(op, s, shared, at) || !b.tensorBox(op, shared, global) || !b.multicasts(op, mask) {
		return nil
	}
	if t := shared.Shared.DT; op == ReduceTensor && !reduce.takes(t) {
		b.Errorf(op, ErrDType, "%s by %s of %v: the hardware adds f32, bf16, f16, i32 and u32, and has min and max of integers, bf16 and f16; use an atomic", Table[op].Go, reduce, t)
		return nil
	}
	in, _, ok := b.place(op, s, shared, nil)
	if !ok {
		return nil
	}
	out, _, ok := b.place(op, s, global, nil)
	if !ok {
		return nil
	}
	args := append(slices.Clone(in), out...)
	if at.Bar != nil {
		if !b.barrierIndex(op, s, at.Bar, at.I) {
			return nil
		}
		args = append(args, at.I)
	}
	if op == MulticastTensor {
		if !b.uniform(op, s, "the mask", mask) {
			return nil
		}
		args = append(args, mask)
	}
	if op != StoreTensor {
		global.Arg.Read = true
	}
	if op == StoreTensor || op == ReduceTensor {
		global.Arg.Written = true
	}
	rank := len(shared.Shared.Shape) - len(shared.Offs)
	shared.Shared.Tensor = true
	v := b.emit(&Value{Op: op, Args: args, Scope: s, Attr: &TensorInfo{Shared: shared.Shared, Arg: global.Arg, Rank: rank, Bar: at.Bar, Reduce: reduce}})
	if v == nil || !load {
		return nil
	}
	return b.Int(shared.Shared.boxBytes(rank))
}

// tensorPlaces checks between what a tensor copy goes.
func (b *Builder) tensorPlaces(op Op, s Scope, shared, global Place) bool {
	name := Table[op].Go
	switch {
	case shared.Shared == nil || global.Arg == nil:
		b.Errorf(op, ErrTarget, "%s between %s and %s: a tensor copy goes between a shared tile and global memory; use Load and Store for others", name, global.Name(), shared.Name())
	case shared.Peer:
		b.Errorf(op, ErrScope, "%s of another block's tile: it is issued by the tile's own block; MulticastTensor copies to several", name)
	case !shared.Shared.Manual:
		b.Errorf(op, ErrScope, "%s of %s, which the planner synchronises: it cannot see mbarriers and bulk groups; make the tile with Manual, and order its accesses", name, shared.Name())
	case s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster: shared memory belongs to one block; name the block or the warp", name)
	case global.Arg.Strided:
		b.Errorf(op, ErrTarget, "%s of %s, whose last stride is not 1 for certain: a tensor map has neighbours in its innermost dimension; drop the tag's strided, or use CopyAsync", name, global.Name())
	case len(global.Arg.Dims) > MaxTensorRank:
		b.Errorf(op, ErrShape, "%s of %s, which has %d dimensions: a tensor map has at most %d; merge some in the tag", name, global.Name(), len(global.Arg.Dims), MaxTensorRank)
	default:
		return true
	}
	return false
}

// completes checks that a load into a slot is completed there, and another one at an mbarrier of the author's.
func (b *Builder) completes(op Op, s Scope, shared Place, at Completion) bool {
	name, p := Table[op].Go, shared.Shared.Pipe
	switch {
	case p == nil && at.Pipe != nil:
		b.Errorf(op, ErrScope, "%s to %s, which is in no slot, is completed at a slot of the pipeline of %s: a slot waits for what fills it; copy to a field of the slot, or name an MBarrier",
			name, shared.Name(), at.Pipe.Pos)
	case p == nil || !shared.Slot: // place reports the latter
		return true
	case op == MulticastTensor:
		b.Errorf(op, ErrScope, "%s into a slot of the pipeline of %s: it would write the slots of other blocks, which are released there and not here; use CopyTensor in each block, or tiles and mbarriers by hand", name, p.Pos)
	case at.Pipe == nil:
		b.Errorf(op, ErrScope, "%s into a slot of the pipeline of %s is completed at the mbarriers of %s: the slot's consumers do not wait for those; name the slot in their place", name, p.Pos, at.Bar.Pos)
	case shared.Offs[0].Op == SlotWait:
		b.Errorf(op, ErrControl, "%s to the slot waited for at %s: its readers release it, and a producer fills it again; copy to what Acquire gives", name, shared.Offs[0].Pos)
	case shared.Offs[0] != at.Slot:
		b.Errorf(op, ErrScope, "%s into one slot, completed at another: its consumers would not wait for it; name the slot whose field is filled", name)
	case at.Slot.Scope != s:
		b.Errorf(op, ErrScope, "%s at scope %v into a slot acquired at scope %v; name one scope for both", name, s, at.Slot.Scope)
	default:
		return true
	}
	return false
}

// TensorBox reports whether a tensor copy can move the box along the last rank dimensions of a shared tile, at any place of
// the others.
func (s *SharedTile) TensorBox(rank int) bool {
	p := s.Pieces(rank)
	if n := s.boxBytes(rank); n%max(s.Align(), TensorAlign) != 0 || n > MaxBytes || p.Box[rank-1]*s.DT.Size()%TensorRowBytes != 0 {
		return false
	}
	return slices.Max(p.Box) <= MaxTensorSide
}

// tensorBox checks that the box of a tensor copy is one that the hardware moves.
func (b *Builder) tensorBox(op Op, shared, global Place) bool {
	name, t := Table[op].Go, shared.Shared
	rank, size := len(t.Shape)-len(shared.Offs), t.DT.Size()
	if rank < 1 || rank > len(global.Arg.Dims) {
		b.Errorf(op, ErrShape, "%s of a box of rank %d of %s, which has %s: the box is what At leaves of the shared tile; leave 1 to %d", name, rank, global.Name(),
			Count(len(global.Arg.Dims), "dimension"), len(global.Arg.Dims))
		return false
	}
	p := t.Pieces(rank)
	row := p.Box[rank-1]
	switch {
	case row*size%TensorRowBytes != 0:
		b.Errorf(op, ErrShape, "%s of a box with rows of %d %v, which are %d bytes: rows are multiples of %d bytes; make the last size of the shared tile a multiple of %d",
			name, row, t.DT, row*size, TensorRowBytes, TensorRowBytes/size)
		return false
	case row > MaxTensorSide:
		b.Errorf(op, ErrShape, "%s of a box with rows of %d elements: a side of a box has at most %d; give the tile a swizzle, which cuts its rows into panels, or copy narrower tiles", name, row, MaxTensorSide)
		return false
	}
	for d, n := range p.Box {
		if n > MaxTensorSide {
			b.Errorf(op, ErrShape, "%s of a box of %d elements along dimension %d of the shared tile: a side of a box has at most %d; make the copy in parts, of a tile with one dimension more",
				name, n, len(shared.Offs)+d, MaxTensorSide)
			return false
		}
	}
	if n := t.boxBytes(rank); n > MaxBytes {
		b.Errorf(op, ErrLimit, "%s of %d bytes: an mbarrier counts at most %d a phase; make the tile smaller", name, n, MaxBytes)
		return false
	}
	if n, align := t.boxBytes(rank), t.Align(); len(shared.Offs) > 0 && n%max(align, TensorAlign) != 0 {
		b.Errorf(op, ErrLayout, "%s of one of several boxes of %d bytes: each begins at a multiple of %d bytes in shared memory; make a box larger, or a tile of each", name, n, max(align, TensorAlign))
		return false
	}
	return true
}

// multicasts checks the blocks of MulticastTensor.
func (b *Builder) multicasts(op Op, mask *Value) bool {
	if op != MulticastTensor {
		return true
	}
	k := b.Kernel
	if k.Cluster == 0 {
		b.Errorf(op, ErrScope, "%s in a kernel without clusters: a block has no peers; use CopyTensor, or give Define tile.ClusterSize(2), 4 or 8", Table[op].Go)
		return false
	}
	if n, ok := intConst(mask); ok && (n < 1 || n >= 1<<k.Cluster) {
		b.Errorf(op, ErrShape, "%s with mask %#x in a cluster of %d blocks: bit i is block i, and some are set; use 1 to %#x", Table[op].Go, n, k.Cluster, 1<<k.Cluster-1)
		return false
	}
	return true
}

// tensor checks the tensor copies.
func (c *checker) tensor(v *Value) {
	i, ok := v.Attr.(*TensorInfo)
	load := v.Op == CopyTensor || v.Op == MulticastTensor
	if !ok || !contains(c.k.Args, i.Arg) || !contains(c.k.Shared, i.Shared) || (load && i.Shared.Pipe == nil) != contains(c.k.Barriers, i.Bar) {
		c.fail(v, "its tile, its argument or its mbarrier is not the kernel's")
		return
	}
	want := len(i.Shared.Shape) + len(i.Arg.Dims)
	if i.Bar != nil {
		want++
	}
	if v.Op == MulticastTensor {
		want++
	}
	if len(v.Args) != want || !i.Shared.Manual || !i.Shared.Tensor || i.Shared.DT != i.Arg.DT || i.Rank < 1 || i.Rank > min(len(i.Shared.Shape), len(i.Arg.Dims)) {
		c.fail(v, "it has %d operands, not %d, or its tile is none for tensor copies", len(v.Args), want)
		return
	}
	for _, a := range v.Args {
		if a.Type != (Type{DT: dtype.I32}) || a.Scope < v.Scope {
			c.fail(v, "an operand is %v of rank %d that the %v may not share", a.Type.DT, a.Type.Span.Rank(), v.Scope)
		}
	}
}

// Pieces says how a box of a shared tile is made of boxes that lie in one piece of shared memory each: one, or one for each
// panel of each of its matrices.
type Pieces struct {
	Box    []int // sides of a piece, as many as the box has
	Outer  []int // how often it is repeated along the dimensions before the last two; nil: no panels
	Panels int   // along the last dimension
}

// Pieces are those of the box along the tile's last rank dimensions.
func (s *SharedTile) Pieces(rank int) Pieces {
	p := Pieces{Box: slices.Clone(s.Shape[len(s.Shape)-rank:]), Panels: 1}
	cols := s.PanelCols()
	if p.Panels = p.Box[rank-1] / cols; p.Panels == 1 {
		return p
	}
	p.Box[rank-1] = cols
	if rank > 2 {
		p.Outer = slices.Clone(p.Box[:rank-2])
		for d := range p.Outer {
			p.Box[d] = 1
		}
	}
	return p
}

func (s *SharedTile) boxBytes(rank int) int {
	n := s.DT.Size()
	for _, side := range s.Shape[len(s.Shape)-rank:] {
		n *= side
	}
	return n
}

// SetSwizzle gives a shared tile the swizzle of its accesses.
func (b *Builder) SetSwizzle(s *SharedTile, sw layout.Swizzle) {
	size, last := s.DT.Size(), len(s.Shape)-1
	rows, row := 1, s.Shape[last]*size
	if last > 0 {
		rows = s.Shape[last-1]
	}
	name := fmt.Sprintf("the shared tile %s %v", sides(s.Shape), s.DT)
	switch {
	case s.Pipe != nil:
		b.Errorf(Invalid, ErrLayout, "Swizzle of a tile of the pipeline of %s: its slots lie as they were made; call Swizzle before NewPipeline", s.Pipe.Pos)
	case s.used:
		b.Errorf(Invalid, ErrLayout, "Swizzle of %s after its first access: the tile lies as its first access finds it; call Swizzle where the tile is made", Place{Shared: s}.Name())
	case sw == layout.Swizzle{} || sw == layout.NoSwizzle:
		s.Swizzle = layout.Swizzle{}
	case sw != layout.Swizzle128 && sw != layout.Swizzle64 && sw != layout.Swizzle32:
		b.Errorf(Invalid, ErrLayout, "%s with the swizzle %v: tensor copies have layout.Swizzle128, Swizzle64, Swizzle32 and NoSwizzle; use one of them", name, sw)
	case row%sw.Width() != 0:
		b.Errorf(Invalid, ErrLayout, "%s cannot use the %d-byte swizzle: a row is %d bytes; use %s", name, sw.Width(), row, swizzleFor(row, sw.Width()/size))
	case s.Elems()*size > sw.Width()*rows && rows%sw.Rows() != 0:
		b.Errorf(Invalid, ErrLayout, "%s cannot use the %d-byte swizzle: its panels have %d rows of %d bytes, and each begins at a multiple of %d; make the rows a multiple of %d", name,
			sw.Width(), rows, sw.Width(), sw.Align(), sw.Rows())
	default:
		s.Swizzle = sw
	}
}

// swizzleFor is what a row of bytes can use in place of a wider swizzle of some columns.
func swizzleFor(row, cols int) string {
	way := fmt.Sprintf("a multiple of %d columns", cols)
	for _, w := range []int{64, 32} {
		if row%w == 0 {
			return fmt.Sprintf("%s, or Swizzle%d", way, w)
		}
	}
	return way + ", or no swizzle"
}

// sides is a shape as text: 64x48.
func sides(shape []int) string {
	s := ""
	for i, n := range shape {
		if i > 0 {
			s += "x"
		}
		s += fmt.Sprint(n)
	}
	return s
}
