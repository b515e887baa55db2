package plan

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// The last step of a reduction at cluster scope. Every thread holds its block's result for its coordinates; the blocks
// whose numbers differ in reduced bits store theirs into one another's shared memory, and after a barrier of the
// cluster each thread combines what lies in its own block's, in the order of the blocks' numbers. Results are pushed,
// not fetched: a store needs no answer, so one barrier is the only wait.

// blockSlots is the shared memory for what the other blocks push: [sender][warp][value][kept lane]. Warps that differ
// in reduced bits hold the same results, so where all do, one has a place.
func (l *lowering) blockSlots(v *ir.Value, acc *thr.Local, x exchange) *thr.SharedBuf {
	n := x.blocks * l.slotWarps(x) * max(1, acc.Len) * x.keep
	b := &thr.SharedBuf{Name: l.names.fresh(acc.Name + "_blocks"), Bytes: n * acc.Type.DT.Size(), DT: acc.Type.DT,
		Note: fmt.Sprintf("partial results of %s, from %d blocks", v.Op, x.blocks)}
	l.addShared(b, origin{pos: v.Pos, scratch: true})
	return b
}

// slotWarps is the number of warps that have places.
func (l *lowering) slotWarps(x exchange) int {
	if x.all {
		return 1
	}
	return l.k.Threads / 32
}

// slotWarp is the place of this thread's warp: that of the first warp with the same results.
func (l *lowering) slotWarp(x exchange) thr.Expr {
	warp := call(thr.Warp, dtype.I32)
	switch {
	case x.all:
		return i32(0)
	case x.warps == 1:
		return warp
	}
	return bin(ir.And, warp, i32(^((x.warps - 1) << x.shift)))
}

// blockSlot is the address of what a sender pushed for a value.
func (l *lowering) blockSlot(b *thr.SharedBuf, acc *thr.Local, x exchange, sender, value thr.Expr) thr.Expr {
	return l.slot(b, acc, x, add(mul(sender, i32(l.slotWarps(x))), l.slotWarp(x)), value)
}

// peerRank is the number of the i-th block that takes part with this one.
func (l *lowering) peerRank(x exchange, i thr.Expr) thr.Expr {
	if x.blocks == l.k.Cluster {
		return i
	}
	first := bin(ir.And, call(thr.ClusterRank, dtype.I32), i32(^((x.blocks - 1) << x.blockShift)))
	return bin(ir.Or, first, mul(i, i32(1<<x.blockShift)))
}

// pushPartial stores a block's results into every block that takes part, its own too. Where a warp has one result, its
// lanes serve a block each; else the lanes with different results serve the blocks in turn.
func (l *lowering) pushPartial(v *ir.Value, acc *thr.Local, x exchange, b *thr.SharedBuf) {
	l.cur = v
	l.comment("%s: over the blocks of the cluster", v.Op)
	sender := call(thr.ClusterRank, dtype.I32)
	if x.blocks < l.k.Cluster {
		sender = rem(div(sender, 1<<x.blockShift), x.blocks)
	}
	push := func(peer, pred thr.Expr) {
		l.unrolled(max(1, acc.Len), func(i thr.Expr) {
			l.emit(thr.Store{At: l.at(), Space: thr.Shared, Value: at(acc, i), Bytes: acc.Type.DT.Size(), Pred: pred,
				Addr: l.blockSlot(b, acc, x, sender, i), Buf: b, Rank: l.peerRank(x, peer), Scope: ir.ScopeCluster})
		})
	}
	var once thr.Expr // one warp of those with the same results
	switch {
	case x.all:
		once = equal(call(thr.Warp, dtype.I32), i32(0))
	case x.warps > 1:
		once = equal(bin(ir.And, call(thr.Warp, dtype.I32), i32((x.warps-1)<<x.shift)), i32(0))
	}
	lane := call(thr.Lane, dtype.I32)
	if x.keep == 1 { // no thread computes an address in a block that is not there
		if x.all { // the first threads of the block
			tid := call(thr.TID, dtype.I32)
			push(rem(tid, x.blocks), less(tid, i32(x.blocks)))
			return
		}
		push(rem(lane, x.blocks), and(once, less(lane, i32(x.blocks))))
		return
	}
	if others := 31 &^ ((x.keep - 1) << x.place); others != 0 {
		once = and(once, equal(bin(ir.And, lane, i32(others)), i32(0)))
	}
	l.unrolled(x.blocks, func(i thr.Expr) { push(i, once) })
}

// combineBlocks reads what the blocks pushed.
func (l *lowering) combineBlocks(v *ir.Value, acc *thr.Local, x exchange, b *thr.SharedBuf) {
	l.cur = v
	t, size := acc.Type.DT, acc.Type.DT.Size()
	l.unrolled(max(1, acc.Len), func(i thr.Expr) {
		r := at(acc, i)
		l.emit(thr.Assign{At: l.at(), Dst: r, Src: identity(v.Op, t)})
		part := l.local("part", thr.Val(t), nil)
		l.unrolled(x.blocks, func(sender thr.Expr) {
			l.emit(thr.Load{At: l.at(), Space: thr.Shared, Dst: part, Bytes: size, Buf: b,
				Addr: l.blockSlot(b, acc, x, sender, i), Scope: ir.ScopeCluster})
			l.emit(thr.Assign{At: l.at(), Dst: r, Src: bin(combine[v.Op], r, ref(part))})
		})
	})
}
