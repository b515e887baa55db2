package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
)

// BulkAlign is what addresses and sizes of bulk copies are multiples of.
const BulkAlign = 16

// BulkInfo is the attribute of CopyBulk and StoreBulk: a run of elements of one row.
type BulkInfo struct {
	Shared *SharedTile
	Arg    *Arg
	Bar    *MBarrier // of CopyBulk: where the bytes are completed
}

// Bulk records a bulk copy of the row that the shared view leaves open, to shared memory (CopyBulk) or from there
// (StoreBulk), and returns its number of bytes, i32 of rank 0. The leader of the scope issues it. bar and i are the
// mbarrier of CopyBulk.
func (b *Builder) Bulk(op Op, s Scope, shared, global Place, bar *MBarrier, i *Value) *Value {
	name := Table[op].Go
	if b.poisoned(op, shared.Offs...) || b.poisoned(op, global.Offs...) || op == CopyBulk && (bar == nil || b.poisoned(op, i)) {
		return nil
	}
	switch {
	case shared.Shared == nil || global.Arg == nil:
		b.Errorf(op, ErrTarget, "%s between %s and %s: a bulk copy goes between a shared tile and global memory; use Load and Store for others", name, global.Name(), shared.Name())
		return nil
	case shared.Peer:
		b.Errorf(op, ErrScope, "%s of another block's tile: a bulk copy is of the block's own shared memory", name)
		return nil
	case !shared.Shared.Manual:
		b.Errorf(op, ErrScope, "%s of %s, which the planner synchronises: it cannot see mbarriers and bulk groups; make the tile with Manual, and order its accesses", name, shared.Name())
		return nil
	case op == CopyBulk && shared.Slot:
		b.Errorf(op, ErrScope, "%s into a slot of the pipeline of %s is completed at the mbarriers of %s: the slot's consumers do not wait for those; use CopyAsync, which is a bulk copy where the tensor allows it",
			name, shared.Shared.Pipe.Pos, bar.Pos)
		return nil
	case s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster: shared memory belongs to one block; name the block or the warp", name)
		return nil
	case global.Arg.Strided:
		b.Errorf(op, ErrTarget, "%s of %s, whose last stride is not 1 for certain: a bulk copy moves neighbouring bytes; drop the tag's strided, or use CopyAsync", name, global.Name())
		return nil
	}
	box, size := shared.Shared.Shape[len(shared.Offs):], shared.Shared.DT.Size()
	if len(box) != 1 {
		b.Errorf(op, ErrShape, "%s of a box of rank %d: it is what At leaves of the shared tile, and a bulk copy moves one row; leave one dimension", name, len(box))
		return nil
	}
	if n := box[0] * size; n%BulkAlign != 0 || n > MaxBytes {
		b.Errorf(op, ErrShape, "%s of a row of %d %v, which are %d bytes: bulk copies move multiples of %d bytes, at most %d; make the last size of the shared tile a multiple of %d",
			name, box[0], shared.Shared.DT, n, BulkAlign, MaxBytes, BulkAlign/size)
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
	n := b.left(global.Arg, out[len(out)-1], box[0])
	args := append(append(slices.Clone(in), out...), n)
	if op == CopyBulk {
		if !b.barrierIndex(op, s, bar, i) {
			return nil
		}
		global.Arg.Read = true
		args = append(args, i)
	} else {
		global.Arg.Written = true
	}
	if b.emit(&Value{Op: op, Args: args, Scope: s, Attr: &BulkInfo{Shared: shared.Shared, Arg: global.Arg, Bar: bar}}) == nil {
		return nil
	}
	return b.Index(Mul, n, b.Int(size))
}

// left is how many elements of a row lie from an offset on, at most n: none past its end.
func (b *Builder) left(a *Arg, off *Value, n int) *Value {
	dim := a.Dims[len(a.Dims)-1]
	if _, last := bounds(off); dim.Symbol == nil && last+n <= dim.Size {
		return b.Int(n)
	}
	return b.Index(Max, b.Index(Min, b.Index(Sub, b.Dim(dim), off), b.Int(n)), b.Int(0))
}

func (b *Builder) barrierIndex(op Op, s Scope, bar *MBarrier, i *Value) bool {
	if n, ok := intConst(i); ok && (n < 0 || n >= bar.N) {
		b.Errorf(op, ErrShape, "%s with mbarrier %d of the %d made at %s: use an index from 0 to %d", Table[op].Go, n, bar.N, bar.Pos, bar.N-1)
		return false
	}
	return b.uniform(op, s, "the index of the mbarrier", i)
}

// BulkGroup records CommitBulk, WaitBulk or WaitBulkRead.
func (b *Builder) BulkGroup(op Op, s Scope, n int) {
	switch {
	case n < 0 || n > maxGroups:
		b.Errorf(op, ErrLimit, "%s with %d groups in flight: use 0 to %d; 0 waits for all", Table[op].Go, n, maxGroups)
	case s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster: the groups are those of the thread that stored; name the block or the warp", Table[op].Go)
	case op == CommitBulk && b.executes(op, s):
		b.emit(&Value{Op: op, Scope: s})
	case b.executes(op, s):
		b.emit(&Value{Op: op, Scope: s, Attr: Groups(n)})
	}
}

// bulk checks the bulk copies.
func (c *checker) bulk(v *Value) {
	i, ok := v.Attr.(*BulkInfo)
	if !ok || !contains(c.k.Args, i.Arg) || !contains(c.k.Shared, i.Shared) || (v.Op == CopyBulk) != contains(c.k.Barriers, i.Bar) {
		c.fail(v, "its tile, its argument or its mbarrier is not the kernel's")
		return
	}
	want := len(i.Shared.Shape) + len(i.Arg.Dims) + 1
	if v.Op == CopyBulk {
		want++
	}
	if len(v.Args) != want || !i.Shared.Manual || i.Shared.DT != i.Arg.DT {
		c.fail(v, "it has %d operands, not %d, or its tile is not the author's to order", len(v.Args), want)
		return
	}
	for _, a := range v.Args {
		if a.Type != (Type{DT: dtype.I32}) || a.Scope < v.Scope {
			c.fail(v, "an operand is %v of rank %d that the %v may not share", a.Type.DT, a.Type.Span.Rank(), v.Scope)
		}
	}
}

// contains reports whether a list holds x, which is not nil.
func contains[T any](list []*T, x *T) bool { return x != nil && slices.Contains(list, x) }
