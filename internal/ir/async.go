package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// CopyBytes is the most that one thread copies at once; 8 and 4 are possible, too.
const CopyBytes = 16

// CopyInfo is the attribute of CopyAsync. The box that is copied runs along the last dimensions of both; the op's span
// spreads it over the threads and ends it where the source does.
type CopyInfo struct {
	Dst   *SharedTile
	Src   *Arg
	Bytes int  // that a thread copies at once: 16, 8 or 4
	Valid bool // the author says where an axis ends, which may be before the source does
}

// Groups is the attribute of WaitGroup: a number of groups of copies.
type Groups int

// maxGroups bounds Groups: more stages than fit into shared memory.
const maxGroups = 64

// CopyAsync records a copy of the box that dst leaves open, its dimensions without an offset, from src on, in pieces of
// so many bytes; 0: the largest of 16, 8 and 4 that rows of the box are multiples of. valid are the
// extents of its axes beyond which it becomes zero; nil, and those that are missing: where src ends.
func (b *Builder) CopyAsync(s Scope, dst, src Place, piece int, valid ...*Value) {
	if b.poisoned(CopyAsync, dst.Offs...) || b.poisoned(CopyAsync, src.Offs...) {
		return
	}
	if dst.Slot && dst.Offs[0].Op == SlotWait {
		b.Errorf(CopyAsync, ErrControl, "CopyAsync to the slot waited for at %s: its readers release it, and a producer fills it again; copy to what Acquire gives", dst.Offs[0].Pos)
		return
	}
	switch {
	case dst.Shared == nil:
		b.Errorf(CopyAsync, ErrTarget, "CopyAsync to %s: its destination is a shared tile; Load and Store copy to global memory", dst.Name())
		return
	case dst.Peer:
		b.Errorf(CopyAsync, ErrScope, "CopyAsync to another block's tile: a copy is to the block's own shared memory; copy there, and let the peer Load it by tile.Peer")
		return
	case src.Arg == nil:
		b.Errorf(CopyAsync, ErrTarget, "CopyAsync from %s: its source is global memory; Load and Store copy shared tiles", src.Name())
		return
	}
	box, size := dst.Shared.Shape[len(dst.Offs):], dst.Shared.DT.Size()
	if len(box) == 0 || len(box) > 2 {
		b.Errorf(CopyAsync, ErrShape, "CopyAsync to a box of rank %d: it is what At leaves of the shared tile; leave one dimension or two", len(box))
		return
	}
	cols := box[len(box)-1]
	if piece = b.piece(piece, cols, dst.Shared.DT); piece == 0 {
		return
	}
	span := &Span{Scope: s, Dist: copyDist(b.threads(s), box, piece/size)}
	if !b.validTo(s, span, src, valid) {
		return
	}
	to, _, ok := b.place(CopyAsync, s, dst, span)
	if !ok {
		return
	}
	from, span, ok := b.place(CopyAsync, s, src, span)
	if !ok {
		return
	}
	src.Arg.Read = true
	b.emit(&Value{Op: CopyAsync, Type: Type{Span: span}, Args: append(to, from...), Scope: s, Attr: &CopyInfo{Dst: dst.Shared, Src: src.Arg, Bytes: piece, Valid: slices.ContainsFunc(valid, func(e *Value) bool { return e != nil })}})
}

// piece is how many bytes of a row of elements a thread copies at once, want or, where that is 0, as many as possible; 0
// after an error.
func (b *Builder) piece(want, cols int, t dtype.Type) int {
	row, least := cols*t.Size(), max(4, t.Size())
	switch {
	case want != 0 && (want != 4 && want != 8 && want != CopyBytes || want < least):
		b.Errorf(CopyAsync, ErrLimit, "CopyAsync of %v in pieces of %d bytes: a thread copies 4, 8 or 16 bytes at once, and whole elements; use one of these", t, want)
		return 0
	case want != 0 && row%want != 0:
		b.Errorf(CopyAsync, ErrShape, "CopyAsync to rows of %d %v, which are %d bytes, in pieces of %d; use smaller pieces, or make the last size of the shared tile a multiple of %d",
			cols, t, row, want, want/t.Size())
		return 0
	case want != 0:
		return want
	case row%least != 0:
		b.Errorf(CopyAsync, ErrShape, "CopyAsync to rows of %d %v, which are %d bytes: they are copied 16, 8 or 4 bytes at a time; make the last size of the shared tile a multiple of %d",
			cols, t, row, least/t.Size())
		return 0
	}
	piece := CopyBytes
	for row%piece != 0 {
		piece /= 2
	}
	return piece
}

// validTo ends a span at extents of the author's, which lie within src for certain.
func (b *Builder) validTo(s Scope, span *Span, src Place, valid []*Value) bool {
	if len(valid) > span.Rank() {
		b.Errorf(CopyAsync, ErrShape, "CopyAsync with %s of a box of rank %d; give one an axis, nil for none", Count(len(valid), "extent"), span.Rank())
		return false
	}
	dims, first := src.Dims(), len(src.Dims())-span.Rank()
	for i, e := range valid {
		if e == nil {
			continue
		}
		if !b.uniform(CopyAsync, s, "an extent", e) {
			return false
		}
		if len(span.Extent) == 0 {
			span.Extent = make([]*Value, span.Rank())
		}
		left := b.Dim(dims[first+i])
		if first+i < len(src.Offs) {
			left = b.Index(Sub, left, src.Offs[first+i])
		}
		span.Extent[i] = b.Index(Min, e, left)
	}
	return true
}

// threads is the number of threads of a scope.
func (b *Builder) threads(s Scope) int {
	switch r := b.cur.InRole(); {
	case s == ScopeWarp:
		return 32
	case s == ScopeGroup && r != nil:
		return 32 * r.Warps
	}
	return b.Kernel.Threads
}

// copyDist spreads a box over threads, a vector each, along rows first.
func copyDist(threads int, box []int, vec int) *layout.Dist {
	if len(box) == 1 {
		return layout.Striped(threads, box[0], vec)
	}
	across := 1
	for across*vec < box[1] && threads%(2*across) == 0 {
		across *= 2
	}
	return layout.Striped2(threads, across, box[0], box[1], vec)
}

// Commit records the end of a group of copies.
func (b *Builder) Commit(s Scope) {
	if b.executes(Commit, s) {
		b.emit(&Value{Op: Commit, Scope: s})
	}
}

// WaitGroup records a wait until at most n groups are in flight.
func (b *Builder) WaitGroup(s Scope, n int) {
	switch {
	case n < 0 || n > maxGroups:
		b.Errorf(WaitGroup, ErrLimit, "WaitGroup with %d groups in flight: use 0 to %d; 0 waits for all", n, maxGroups)
	case b.executes(WaitGroup, s):
		b.emit(&Value{Op: WaitGroup, Scope: s, Attr: Groups(n)})
	}
}

// async checks the ops of asynchronous copies.
func (c *checker) async(v *Value, r *Region) {
	c.executes(v, r)
	switch v.Op {
	case MBarInit, MBarArrive, MBarArriveTx, MBarExpectTx, MBarTest, MBarTry, MBarWait, MBarTrack, MBarArriveAt, MBarInval:
		c.barrier(v, r)
		return
	case NamedSync, NamedArrive:
		c.named(v)
		return
	case PipeInit, SlotAcquire, SlotWait, SlotRelease:
		c.slot(v, r)
		return
	case SetMaxRegs:
		if role, ok := v.Attr.(*Role); !ok || r.Role != role || role.Regs == 0 {
			c.fail(v, "it does not stand in its role")
		}
		return
	case CopyBulk, StoreBulk:
		c.bulk(v)
		return
	case CopyTensor, MulticastTensor, StoreTensor, ReduceTensor, PrefetchTensor:
		c.tensor(v)
		return
	case WaitGroup, WaitBulk, WaitBulkRead:
		if n, ok := v.Attr.(Groups); !ok || n < 0 {
			c.fail(v, "it waits for %v groups", v.Attr)
		}
		return
	case StoreAsync:
		c.remote(v)
		return
	case Commit, CommitBulk, FenceAsync, FenceAsyncGlobal, FenceCluster, LaunchDependents, WaitPrerequisites:
		return
	}
	i, ok := v.Attr.(*CopyInfo)
	if !ok || !slices.Contains(c.k.Args, i.Src) || !slices.Contains(c.k.Shared, i.Dst) || !r.inside(i.Dst.In) {
		c.fail(v, "its source or its destination is not the kernel's")
		return
	}
	if s := v.Type.Span; s == nil || s.Scope != v.Scope || s.Dist.Vec()*i.Dst.DT.Size() != i.Bytes || i.Src.DT != i.Dst.DT || i.Src.Written {
		c.fail(v, "it copies %s from %s to a tile of %v", shape(s), i.Src.Field, i.Dst.DT)
	}
	if len(v.Args) != len(i.Dst.Shape)+len(i.Src.Dims) {
		c.fail(v, "it has %d operands, not the offsets of both", len(v.Args))
	}
}
