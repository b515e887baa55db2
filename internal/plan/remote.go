package plan

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// arriveAt lowers an arrival at another block's mbarrier.
func (l *lowering) arriveAt(v *ir.Value) {
	info := v.Attr.(*ir.BarrierInfo)
	bar, at := l.barrierAt(info.Bar, v.Args[0])
	bar.Remote = true
	do := thr.Do{At: l.at(), Fn: thr.MBarArriveAt, Args: []thr.Expr{at, l.scalar(v.Args[1])}, Bar: bar}
	if info.Relaxed {
		do.Fn = thr.MBarRelaxedAt
	}
	if info.Leader {
		l.meet(v.Scope) // for the whole scope
		do.Pred = l.leader(v.Scope)
	}
	l.emit(do)
}

// arriveAll lowers an arrival at each block's mbarrier: a thread of the scope for each block.
func (l *lowering) arriveAll(v *ir.Value) {
	bar, at := l.barrierAt(v.Attr.(*ir.BarrierInfo).Bar, v.Args[0])
	bar.Remote = true
	l.meet(v.Scope) // for the whole scope
	l.emit(thr.Do{At: l.at(), Fn: thr.FenceShared})
	rank := l.position(v.Scope)
	l.emit(thr.Do{At: l.at(), Fn: thr.MBarRelaxedAt, Args: []thr.Expr{at, rank}, Bar: bar, Pred: less(rank, i32(l.k.Cluster))})
}

// broadcastAsync lowers asynchronous stores of one value: a thread of the scope for each block.
func (l *lowering) broadcastAsync(v *ir.Value) {
	info, last := v.Attr.(*ir.RemoteInfo), len(v.Args)-1
	x := l.scalarLocal(v.Args[0])
	a := l.openAccess(&ir.Access{Shared: info.Shared}, v.Scope, info.Shared.DT, nil, v.Args[1:last])
	bar, at := l.barrierAt(info.Bar, v.Args[last])
	bar.Remote = true
	rank := l.position(v.Scope)
	l.comment("store %s of each block", a.label())
	l.emit(thr.Do{At: l.at(), Fn: thr.StAsync, DT: a.dt, Args: []thr.Expr{a.base, x, rank, at},
		Pred: less(rank, i32(l.k.Cluster)), Buf: a.shared, Bar: bar, Scope: v.Scope})
}

// storeAsync lowers an asynchronous store: element by element, each by the thread that holds it.
func (l *lowering) storeAsync(v *ir.Value) {
	info, x, span := v.Attr.(*ir.RemoteInfo), v.Args[0], v.Type.Span
	l.materialise(x)
	l.cur = v // not what was computed for it
	last := len(v.Args) - 1
	a := l.openAccess(&ir.Access{Shared: info.Shared, Peer: true}, v.Scope, info.Shared.DT, span, v.Args[1:last])
	bar, at := l.barrierAt(info.Bar, v.Args[last])
	bar.Remote = true
	once := l.firstCopy(span)
	l.comment("store %s", a.label())
	l.unrolled(span.Dist.Values(), func(i thr.Expr) {
		e := elem{i, 1, 0}
		l.emit(thr.Do{At: l.at(), Fn: thr.StAsync, DT: a.dt, Args: []thr.Expr{a.elemAddr(e), l.read(x, span, nil, e), a.rank, at},
			Pred: and(once, l.inside(span, e, allAxes(span)...)), Buf: a.shared, Bar: bar, Scope: v.Scope})
	})
}
