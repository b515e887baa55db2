package ir

import (
	"github.com/gotile/gotile/dtype"
)

// RemoteInfo is the attribute of StoreAsync: a tile of another block of the cluster, and where its bytes are completed
// there.
type RemoteInfo struct {
	Shared *SharedTile
	Bar    *MBarrier
}

// ArriveAt records an arrival at mbarrier i of an array in the block of the cluster with a rank.
func (b *Builder) ArriveAt(s Scope, info BarrierInfo, i, rank *Value) {
	const op = MBarArriveAt
	if info.Bar == nil || b.poisoned(op, i, rank) || !b.executes(op, s) || !b.peerScope(op, s) ||
		!b.barrierIndex(op, s, info.Bar, i) || !b.rank(op, s, rank) {
		return
	}
	b.emit(&Value{Op: op, Args: []*Value{i, rank}, Scope: s, Attr: &info})
}

// ArriveAll records an arrival of the scope at mbarrier i of an array in each block of the cluster.
func (b *Builder) ArriveAll(s Scope, bar *MBarrier, i *Value) {
	const op = MBarArriveAll
	if bar == nil || b.poisoned(op, i) || !b.executes(op, s) || !b.peerScope(op, s) || !b.barrierIndex(op, s, bar, i) {
		return
	}
	b.emit(&Value{Op: op, Args: []*Value{i}, Scope: s, Attr: &BarrierInfo{Bar: bar, Leader: true}})
}

// BroadcastAsync records asynchronous stores of one value to the same element of a shared tile in each block of the
// cluster, where mbarrier i takes its bytes. It returns the number of bytes that a block gets of it, i32 of rank 0.
func (b *Builder) BroadcastAsync(s Scope, p Place, x *Value, bar *MBarrier, i *Value) *Value {
	const op = BroadcastAsync
	if bar == nil || b.poisoned(op, x, i) || b.poisoned(op, p.Offs...) {
		return nil
	}
	switch {
	case p.Shared == nil || p.Peer:
		b.Errorf(op, ErrTarget, "BroadcastAsync to %s: it stores to the same place of each block's shared memory; give an element of a Shared", p.Name())
		return nil
	case !p.Shared.Manual:
		b.Errorf(op, ErrScope, "BroadcastAsync to %s, which the planner synchronises: it cannot see mbarriers; make the tile with Manual, and order its accesses", p.Name())
		return nil
	case x.Type.Span != nil || len(p.Offs) != len(p.Shared.Shape):
		b.Errorf(op, ErrShape, "BroadcastAsync of a tile of rank %d to %s with %d of %d offsets: it stores one value to one element; use StoreAsync for tiles", x.Type.Span.Rank(), p.Name(), len(p.Offs), len(p.Shared.Shape))
		return nil
	case !Table[op].Domain.Has(x.Type.DT):
		b.Errorf(op, ErrDType, "BroadcastAsync of %v: st.async stores 4 or 8 bytes at a time; use f32, i32, u32 or i64", x.Type.DT)
		return nil
	case x.Type.DT != p.Shared.DT:
		b.Errorf(op, ErrDType, "BroadcastAsync of %v to a tile of %v; Cast first", x.Type.DT, p.Shared.DT)
		return nil
	case !b.peerScope(op, s) || !b.barrierIndex(op, s, bar, i):
		return nil
	}
	offs, _, ok := b.place(op, s, p, nil)
	if !ok {
		return nil
	}
	args := append(append([]*Value{x}, offs...), i)
	if b.emit(&Value{Op: op, Args: args, Scope: s, Attr: &RemoteInfo{Shared: p.Shared, Bar: bar}}) == nil {
		return nil
	}
	return b.Int(x.Type.DT.Size())
}

// StoreAsync records an asynchronous store of a tile to the shared tile of a peer, whose mbarrier i takes its bytes. It
// returns their number, i32 of rank 0.
func (b *Builder) StoreAsync(s Scope, p Place, x *Value, bar *MBarrier, i, rank *Value) *Value {
	const op = StoreAsync
	if bar == nil || b.poisoned(op, x, i, rank) || b.poisoned(op, p.Offs...) {
		return nil
	}
	switch {
	case p.Shared == nil || !p.Peer:
		b.Errorf(op, ErrTarget, "StoreAsync to %s: it stores to another block's shared memory; give tile.Peer(tile, rank), and Store to the block's own", p.Name())
		return nil
	case !p.Shared.Manual:
		b.Errorf(op, ErrScope, "StoreAsync to %s, which the planner synchronises: it cannot see mbarriers; make the tile with Manual, and order its accesses", p.Name())
		return nil
	case !SameValue(p.Rank, rank):
		b.Errorf(op, ErrScope, "StoreAsync to a tile of one block, with an mbarrier of another: the bytes are completed where they come; take both of one rank")
		return nil
	case x.Type.Span == nil:
		b.Errorf(op, ErrShape, "StoreAsync of one value: each thread stores its elements of a tile; make a tile with Full, or Store the value to tile.Peer")
		return nil
	case !Table[op].Domain.Has(x.Type.DT):
		b.Errorf(op, ErrDType, "StoreAsync of %v: st.async stores 4 or 8 bytes at a time; use f32, i32, u32 or i64", x.Type.DT)
		return nil
	case x.Type.DT != p.Shared.DT:
		b.Errorf(op, ErrDType, "StoreAsync of %v to a tile of %v; Cast first", x.Type.DT, p.Shared.DT)
		return nil
	case !b.peerScope(op, s) || !b.barrierIndex(op, s, bar, i):
		return nil
	}
	offs, span, ok := b.place(op, s, p, x.Type.Span)
	if !ok {
		return nil
	}
	args := append(append([]*Value{x}, offs...), i)
	if b.emit(&Value{Op: op, Type: Type{Span: span}, Args: args, Scope: s, Attr: &RemoteInfo{Shared: p.Shared, Bar: bar}}) == nil {
		return nil
	}
	bytes := b.Int(x.Type.DT.Size())
	for axis, n := range span.Dist.Shape {
		size := b.Int(n)
		if axis < len(span.Extent) && span.Extent[axis] != nil {
			size = b.Index(Max, b.Index(Min, span.Extent[axis], size), b.Int(0))
		}
		bytes = b.Index(Mul, bytes, size)
	}
	return bytes
}

// peerScope checks that a scope names who acts, which is within one block.
func (b *Builder) peerScope(op Op, s Scope) bool {
	switch {
	case b.Kernel.Cluster == 0:
		b.Errorf(op, ErrScope, "%s in a kernel without clusters: a block has no peers; give Define tile.ClusterSize(2), 4 or %d", Table[op].Go, MaxCluster)
	case s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster: the threads of one block act on another; name the block or the warp", Table[op].Go)
	default:
		return true
	}
	return false
}

// rank checks the number of a block in its cluster.
func (b *Builder) rank(op Op, s Scope, rank *Value) bool {
	if n, ok := intConst(rank); ok && (n < 0 || n >= b.Kernel.Cluster) {
		b.Errorf(op, ErrShape, "%s at rank %d of a cluster of %d blocks: use a rank from 0 to %d", Table[op].Go, n, b.Kernel.Cluster, b.Kernel.Cluster-1)
		return false
	}
	return b.uniform(op, s, "the rank", rank)
}

// Fence records FenceAsync, FenceAsyncGlobal or FenceCluster.
func (b *Builder) Fence(op Op, s Scope) {
	if op == FenceCluster && !b.peerScope(op, s) || !b.executes(op, s) {
		return
	}
	b.Kernel.FencesGlobal = b.Kernel.FencesGlobal || op == FenceAsyncGlobal
	b.emit(&Value{Op: op, Scope: s})
}

// remote checks StoreAsync and BroadcastAsync.
func (c *checker) remote(v *Value) {
	i, ok := v.Attr.(*RemoteInfo)
	if !ok || !contains(c.k.Shared, i.Shared) || !contains(c.k.Barriers, i.Bar) || c.k.Cluster == 0 || !i.Shared.Manual {
		c.fail(v, "its tile or its mbarrier is not the kernel's, or the kernel has no clusters")
		return
	}
	want := len(i.Shared.Shape) + 2
	if v.Op == StoreAsync {
		want++ // the rank
	}
	if len(v.Args) != want || v.Args[0].Type.DT != i.Shared.DT || !v.Type.Span.SameShape(v.Args[0].Type.Span) {
		c.fail(v, "it has %d operands, not %d, or stores another type than its tile's", len(v.Args), want)
		return
	}
	for _, a := range v.Args[1:] {
		if a.Type != (Type{DT: dtype.I32}) || a.Scope < v.Scope {
			c.fail(v, "an operand is %v of rank %d that the %v may not share", a.Type.DT, a.Type.Span.Rank(), v.Scope)
		}
	}
}
