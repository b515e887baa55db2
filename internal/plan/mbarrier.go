package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// barBytes is the size of an mbarrier.
const barBytes = 8

// barriers is the buffer of an array of mbarriers.
func (l *lowering) barriers(m *ir.MBarrier) *thr.SharedBuf {
	if b := l.barBufs[m]; b != nil {
		return b
	}
	b := &thr.SharedBuf{Name: l.names.fresh(m.Name), Bytes: barBytes * m.N, DT: dtype.I64, Note: ir.Count(m.N, "mbarrier"), Manual: true}
	l.addShared(b, origin{pos: m.Pos})
	l.barBufs[m] = b
	return b
}

// barrierAt is the place of mbarrier i of an array.
func (l *lowering) barrierAt(m *ir.MBarrier, i *ir.Value) (*thr.SharedBuf, thr.Expr) {
	b := l.barriers(m)
	return b, address(b, mul(l.scalar(i), i32(barBytes)))
}

// initBarriers makes the mbarriers of an array; nobody passes before they are there.
func (l *lowering) initBarriers(v *ir.Value) {
	m := v.Attr.(*ir.BarrierInfo).Bar
	b, arrivals := l.barriers(m), l.scalarLocal(v.Args[0])
	l.comment("%s", b.Name)
	l.initArray(b, m.N, arrivals)
	l.fenceInits()
}

// initArray emits the init of n mbarriers by one thread.
func (l *lowering) initArray(b *thr.SharedBuf, n int, arrivals thr.Expr) {
	l.unrolled(n, func(i thr.Expr) {
		l.emit(thr.Do{At: l.at(), Fn: thr.MBarInit, Args: []thr.Expr{address(b, mul(i, i32(barBytes))), arrivals}, Pred: l.leader(ir.ScopeBlock), Bar: b})
	})
}

// fenceInits makes inits visible to all who use them.
func (l *lowering) fenceInits() {
	l.emit(thr.Do{At: l.at(), Fn: thr.MBarFence, Pred: l.leader(ir.ScopeBlock)})
	if l.k.Cluster > 0 {
		l.emit(thr.Do{At: l.at(), Fn: thr.ClusterSync})
	} else {
		l.emit(thr.Do{At: l.at(), Fn: thr.BlockSync})
	}
}

// barrierOps are the built-ins of the ops that one thread or each thread of a scope executes. The second is of the form
// with a token.
var barrierOps = map[ir.Op][2]thr.Fn{
	ir.MBarArrive: {thr.MBarArrive}, ir.MBarArriveTx: {thr.MBarArriveTx}, ir.MBarExpectTx: {thr.MBarExpectTx}, ir.MBarTrack: {thr.MBarTrack}, ir.MBarInval: {thr.MBarInval},
	ir.MBarTest: {thr.MBarTest, thr.MBarTestToken}, ir.MBarTry: {thr.MBarTry, thr.MBarTryToken}, ir.MBarWait: {thr.MBarWait, thr.MBarWaitToken},
}

// barrierOp lowers an op of an mbarrier.
func (l *lowering) barrierOp(v *ir.Value) {
	info := v.Attr.(*ir.BarrierInfo)
	bar, at := l.barrierAt(info.Bar, v.Args[0])
	do := thr.Do{At: l.at(), Fn: barrierOps[v.Op][0], Args: []thr.Expr{at}, Bar: bar}
	if len(v.Args) > 1 {
		if v.Args[1].Op == ir.MBarArrive {
			do.Fn = barrierOps[v.Op][1]
		}
		do.Args = append(do.Args, l.scalar(v.Args[1]))
	}
	if info.Leader {
		if v.Op == ir.MBarArrive || v.Op == ir.MBarInval { // for the whole scope
			l.meet(v.Scope)
		}
		do.Pred = l.leader(v.Scope)
	}
	if t := v.Type.DT; t != dtype.Invalid && len(l.flow.users[v]) > 0 {
		x := l.local(resultNames[v.Op], thr.Val(t), nil)
		dst := ref(x)
		do.Dst, do.DT = &dst, t
		l.scalars[v] = ref(x)
	}
	l.emit(do)
}

var resultNames = map[ir.Op]string{ir.MBarArrive: "token", ir.MBarTest: "over", ir.MBarTry: "over"}

// bulk lowers a bulk copy: one instruction of the leader.
func (l *lowering) bulk(v *ir.Value) {
	info := v.Attr.(*ir.BulkInfo)
	n, m := len(info.Shared.Shape), len(info.Shared.Shape)+len(info.Arg.Dims)
	shared := l.openAccess(&ir.Access{Shared: info.Shared}, v.Scope, info.Shared.DT, nil, v.Args[:n])
	global := l.openAccess(&ir.Access{Arg: info.Arg}, v.Scope, info.Arg.DT, nil, v.Args[n:m])
	if !l.bulkWhole(v, global, v.Args[m]) {
		return
	}
	elements := l.scalarLocal(v.Args[m])
	do := thr.Do{At: l.at(), Fn: thr.BulkStore, Args: []thr.Expr{global.base, shared.base, mul(elements, i32(info.Arg.DT.Size()))},
		Pred: and(l.leader(v.Scope), some(elements)), Buf: shared.shared, Scope: v.Scope}
	what := "%s to %s"
	if v.Op == ir.CopyBulk {
		bar, at := l.barrierAt(info.Bar, v.Args[m+1])
		do.Fn, do.Args, do.Bar = thr.BulkLoad, append(do.Args, at), bar
		l.comment("bulk copy "+what, global.label(), shared.label())
	} else {
		l.comment("bulk copy "+what, shared.label(), global.label())
	}
	l.emit(do)
}

// some is the test that a number of elements is not 0; nil: it is not.
func some(n thr.Expr) thr.Expr {
	if c, ok := intOf(n); ok && c > 0 {
		return nil
	}
	return less(i32(0), n)
}

// bulkWhole asks the launch for the alignment of a bulk copy, and refuses one for which it cannot be asked.
func (l *lowering) bulkWhole(v *ir.Value, global *access, elements *ir.Value) bool {
	name, field, vec := ir.Table[v.Op].Go, global.Arg.Field, ir.BulkAlign/global.dt.Size()
	refuse := func(format string, args ...any) bool {
		l.fail(v.Pos, format, args...)
		return false
	}
	if !l.k.Whole {
		return refuse("%s of %s moves multiples of %d bytes between addresses that are, which nobody sees to; define the kernel with tile.WholeVectors, or use CopyAsync", name, field, ir.BulkAlign)
	}
	if last := len(global.at) - 1; !l.flow.isMultiple(global.at[last], vec) {
		return refuse("%s of %s at a column that is not a multiple of %d elements for certain; use a loop that steps by such multiples", name, field, vec)
	}
	dims, ok := l.flow.wholeIf(elements, vec)
	if !ok {
		return refuse("%s of %s of a run that is not a multiple of %d elements for certain; use a dimension that the launch sees to", name, field, vec)
	}
	l.needAligned(global.Arg)
	l.needMultiple(dims, vec)
	return true
}

// waitBulk waits for groups of the leader's, and makes the scope wait for the leader.
func (l *lowering) waitBulk(v *ir.Value, f thr.Fn) {
	l.emit(thr.Do{At: l.at(), Fn: f, Args: []thr.Expr{i32(int(v.Attr.(ir.Groups)))}})
	l.meet(v.Scope)
}
