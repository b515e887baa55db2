package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// point is the address of a single element.
func (l *lowering) point(v *ir.Value, dt dtype.Type, offsets []*ir.Value) *access {
	return l.newAccess(v, dt, nil, offsets)
}

// loadScalar lowers a load of one element by every thread of the scope.
func (l *lowering) loadScalar(v *ir.Value) {
	a := l.point(v, v.Type.DT, v.Args)
	t := v.Type.DT
	raw := t
	if t.Is16() || t.Is8() {
		raw = dtype.U32
	}
	load := thr.Load{At: l.at(), Space: a.space(), Bytes: t.Size(), Addr: a.base, Cache: a.Cache, Order: a.Order, Buf: a.shared, Rank: a.rank, Scope: a.Scope}
	var x *thr.Local
	if a.Order == ir.Relaxed {
		x = l.local(l.name(v, "x"), thr.Val(raw), nil)
		load.Dst = x
		l.emit(load)
	} else { // threads that read for themselves may read different values
		x = l.local(l.name(v, "x"), thr.Val(raw), number(raw, 0))
		load.Dst, load.Pred = x, l.leader(a.Scope)
		l.emit(load)
		if len(l.flow.users[v]) > 0 {
			l.share(v, a.Scope, x)
		}
	}
	if t.Is16() {
		x = l.local(x.Name+"_f32", thr.Val(dtype.F32), call(half(t, 0), dtype.F32, ref(x)))
	}
	l.scalars[v] = ref(x)
}

// storeScalar lowers a store of one element by one thread of the scope.
func (l *lowering) storeScalar(v *ir.Value) {
	x := l.scalar(v.Args[0])
	dt := v.Args[0].Type.DT
	a := l.point(v, dt, v.Args[1:])
	if dt.Is16() {
		x = pair(dt, x, f32(0))
	}
	l.emit(thr.Store{At: l.at(), Space: a.space(), Value: x, Bytes: dt.Size(), Addr: a.base, Pred: l.leader(a.Scope), Cache: a.Cache, Order: a.Order, Buf: a.shared, Rank: a.rank, Scope: a.Scope})
}

var atomics = map[ir.Op]thr.Fn{ir.AtomicAdd: thr.AtomicAdd, ir.AtomicMax: thr.AtomicMax, ir.AtomicMin: thr.AtomicMin,
	ir.AtomicExch: thr.AtomicExch, ir.AtomicCAS: thr.AtomicCAS}

// atomic lowers an atomic: of a tile element by element, of one value by the scope's leader, whose result the scope
// shares.
func (l *lowering) atomic(v *ir.Value) {
	n := 1 // values before the offsets
	if v.Op == ir.AtomicCAS {
		n = 2
	}
	span := v.Type.Span
	dt := v.Args[n-1].Type.DT
	if span == nil {
		a := l.point(v, dt, v.Args[n:])
		args := []thr.Expr{a.base}
		for _, x := range v.Args[:n] {
			args = append(args, l.scalar(x))
		}
		do := thr.Do{At: l.at(), Fn: atomics[v.Op], DT: dt, Args: args, Pred: l.leader(a.Scope), Order: a.Order}
		if len(l.flow.users[v]) == 0 {
			l.emit(do)
			return
		}
		x := l.local(l.name(v, "old"), thr.Val(dt), number(dt, 0))
		dst := ref(x)
		do.Dst = &dst
		l.emit(do)
		l.share(v, a.Scope, x)
		l.scalars[v] = ref(x)
		return
	}
	for _, x := range v.Args[:n] {
		if x.Type.Span == nil {
			l.scalarLocal(x)
		} else {
			l.materialise(x)
		}
	}
	l.cur = v // not what was computed for it
	a := l.newAccess(v, dt, span, v.Args[n:])
	once := l.firstCopy(span)
	l.comment("%s %s", v.Op, a.label())
	l.unrolled(span.Dist.Values(), func(i thr.Expr) {
		e := elem{i, 1, 0}
		args := []thr.Expr{a.elemAddr(e)}
		for _, x := range v.Args[:n] {
			args = append(args, l.read(x, span, nil, e))
		}
		l.emit(thr.Do{At: l.at(), Fn: atomics[v.Op], DT: dt, Args: args, Pred: and(once, l.inside(span, e, allAxes(span)...))})
	})
}
