package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// A scan follows the walk along its axis. Before a step each element has the result of its group, the elements that the
// steps before have passed, and there is a total of each group. A step makes size groups one: each element takes what
// the totals before its group come to. Within a thread that is a loop; over lanes a butterfly, in which each lane takes
// the other's total where that lies before; over warps the totals go through shared memory. The order is fixed.

// scanOf is the reduction whose steps a scan makes.
var scanOf = map[ir.Op]ir.Op{ir.CumSum: ir.Sum, ir.CumMax: ir.MaxOf, ir.CumMin: ir.MinOf, ir.CumProd: ir.Prod}

// scan is one that is being lowered. 16-bit floats are scanned in f32 and rounded once.
type scan struct {
	*lowering
	v           *ir.Value
	span        *ir.Span
	info        ir.ScanInfo
	of          ir.Op
	t           dtype.Type
	sum, total  *thr.Local // by value number; of total, the first of each group
	open, inner radix      // digits of the value number: of other groups, and within a group
}

func (l *lowering) scan(v *ir.Value) {
	x := l.flow.canonical(v.Args[0])
	s := &scan{lowering: l, v: v, span: x.Type.Span, info: v.Attr.(ir.ScanInfo), of: scanOf[v.Op], t: register(v.Type.DT)}
	steps, err := walkAxis(s.span, s.info.Axis)
	if err != nil {
		l.fail(v.Pos, "%s: %v", ir.Table[v.Op].Go, err)
		return
	}
	l.available(x)
	l.cur = v
	l.extents(s.span)
	l.comment("%s along axis %d", v.Op, s.info.Axis)
	s.begin(x)
	place := 1
	for _, m := range s.span.Dist.Value {
		s.open = append(s.open, layout.Place{Place: place, Size: m.Size})
		place *= m.Size
	}
	for i, t := range steps {
		last := i == len(steps)-1
		switch t.by {
		case byValue:
			s.overValues(t, last)
		case byLane:
			s.overLanes(t, last)
		case byWarp:
			s.overWarps(t, last)
		}
	}
	l.tiles[v] = s.sum
	if !v.Type.DT.Is16() {
		return
	}
	out, width := l.tileArray(v), 1
	if paired(v.Type) {
		width = 2
	}
	l.unrolled(s.values()/width, func(i thr.Expr) {
		xs := make([]thr.Expr, width)
		for p := range xs {
			xs[p] = at(s.sum, elem{i, width, p}.expr())
		}
		l.writeArray(out, v.Type, i, xs)
	})
	l.tiles[v] = out
}

func (s *scan) values() int { return s.span.Dist.Values() }

// begin gives each element itself, or the identity, as its result, and itself as the total of its group.
func (s *scan) begin(x *ir.Value) {
	name := s.name(s.v, s.v.Op.String())
	s.sum, s.total = s.array(name, s.t, s.values()), s.array(name+"_total", s.t, s.values())
	width := 1
	if s.values()%2 == 0 && x.Type.DT.Is16() {
		width = 2
	}
	s.unrolled(s.values()/width, func(i thr.Expr) {
		for p := range width {
			e := elem{i, width, p}
			own := s.reduced(x, e)
			if in := s.inside(s.span, e, s.info.Axis); in != nil {
				own = s.choose(in, own, identity(s.of, s.t))
			}
			total := at(s.total, e.expr())
			s.set(total, own)
			if s.info.Exclusive {
				s.set(at(s.sum, e.expr()), identity(s.of, s.t))
			} else {
				s.set(at(s.sum, e.expr()), total)
			}
		}
	})
}

func (s *scan) set(dst thr.Ref, src thr.Expr) { s.emit(thr.Assign{At: s.at(), Dst: dst, Src: src}) }

func (s *scan) join(a, b thr.Expr) thr.Expr { return bin(combine[s.of], a, b) }

func (s *scan) choose(p, a, b thr.Expr) thr.Expr {
	return thr.Apply{Op: ir.Select, T: s.t, R: s.t, Args: []thr.Expr{p, a, b}}
}

// groups visits the first value of each group that a thread has.
func (s *scan) groups(f func(first thr.Expr)) {
	s.unrolled(s.open.count(), func(i thr.Expr) { f(s.open.number(i)) })
}

// prepend combines what comes before a group with the results of its elements.
func (s *scan) prepend(before, first thr.Expr) {
	s.unrolled(s.inner.count(), func(i thr.Expr) {
		r := at(s.sum, add(first, s.inner.number(i)))
		s.set(r, s.join(before, r))
	})
}

// overValues makes one group of those that differ in a digit of the value number. That may be several modes.
func (s *scan) overValues(t step, last bool) {
	var open, own radix
	for _, p := range s.open {
		if p.Place >= t.place && p.Place < t.place*t.size {
			own = append(own, p)
		} else {
			open = append(open, p)
		}
	}
	s.open = open
	nth := func(i thr.Expr) thr.Expr { // the i-th group in the order of the scan
		if s.info.Reverse {
			i = sub(i32(t.size-1), i)
		}
		return mul(i, i32(t.place))
	}
	s.groups(func(first thr.Expr) {
		run := s.local("run", thr.Val(s.t), at(s.total, add(first, nth(i32(0)))))
		s.unrolled(t.size-1, func(i thr.Expr) {
			group := add(first, nth(add(i, i32(1))))
			s.prepend(ref(run), group)
			s.set(ref(run), s.join(ref(run), at(s.total, group)))
		})
		if !last {
			s.set(at(s.total, first), ref(run))
		}
	})
	s.inner = append(s.inner, own...)
}

// overLanes makes one group of those of lanes that differ in a digit of the lane's number.
func (s *scan) overLanes(t step, last bool) {
	s.groups(func(first thr.Expr) {
		before := s.local("before", thr.Val(s.t), identity(s.of, s.t))
		total := at(s.total, first)
		for mask := t.place; mask < t.place*t.size; mask *= 2 {
			other := s.local("other", thr.Val(s.t), call(thr.ShflXor, s.t, total, i32(mask)))
			lies := ir.Ne // before this lane, if this one's bit is set
			if s.info.Reverse {
				lies = ir.Eq
			}
			p := compare(lies, bin(ir.And, call(thr.Lane, dtype.I32), i32(mask)), i32(0))
			s.set(ref(before), s.choose(p, s.join(ref(other), ref(before)), ref(before)))
			if !last || mask*2 < t.place*t.size {
				s.set(total, s.join(total, ref(other)))
			}
		}
		s.prepend(ref(before), first)
	})
}

// overWarps makes one group of those of warps that differ in a digit of the warp's number. A lane of those that have the
// same totals writes them: [warp][group][lane].
func (s *scan) overWarps(t step, last bool) {
	threads, err := threadSteps(s.span.Dist)
	if err != nil {
		s.fail(s.v.Pos, "%v", err)
		return
	}
	var lane thr.Expr = i32(0)
	lanes, same := 1, 31
	for _, m := range threads {
		if m.by == byLane && m.Axis != s.info.Axis && m.Axis != layout.Replicated {
			lane = add(lane, mul(rem(div(call(thr.Lane, dtype.I32), m.place), m.size), i32(lanes)))
			lanes *= m.size
			same &^= (m.size - 1) * m.place
		}
	}
	warps, scope := s.span.Dist.Threads()/32, ir.NoScope
	if s.span.Scope == ir.ScopeGroup {
		scope = ir.ScopeGroup
	}
	n, size, own := s.open.count(), s.t.Size(), s.warpOf(s.span)
	b, part := s.workspace(s.span.Scope, warps*n*lanes*size)
	slot := func(warp, group thr.Expr) thr.Expr {
		return address(b, mul(add(mul(add(mul(add(mul(part, i32(warps)), warp), i32(n)), group), i32(lanes)), lane), i32(size)))
	}
	var writes thr.Expr
	if same != 0 {
		writes = equal(bin(ir.And, call(thr.Lane, dtype.I32), i32(same)), i32(0))
	}
	s.unrolled(n, func(i thr.Expr) {
		s.emit(thr.Store{At: s.at(), Space: thr.Shared, Value: at(s.total, s.open.number(i)), Bytes: size, Addr: slot(own, i), Pred: writes, Buf: b, Scope: scope})
	})
	mine := s.local("mine", thr.Val(dtype.I32), rem(div(own, t.place), t.size))
	base := s.local("base", thr.Val(dtype.I32), sub(own, mul(ref(mine), i32(t.place))))
	lies := ir.Lt
	if s.info.Reverse {
		lies = ir.Gt
	}
	s.unrolled(n, func(i thr.Expr) {
		first := s.open.number(i)
		before := s.local("before", thr.Val(s.t), identity(s.of, s.t))
		other := s.local("part", thr.Val(s.t), nil)
		total := s.local("all", thr.Val(s.t), identity(s.of, s.t))
		s.unrolled(t.size, func(w thr.Expr) {
			s.emit(thr.Load{At: s.at(), Space: thr.Shared, Dst: other, Bytes: size, Addr: slot(add(ref(base), mul(w, i32(t.place))), i), Buf: b, Scope: scope})
			s.set(ref(before), s.choose(compare(lies, w, ref(mine)), s.join(ref(before), ref(other)), ref(before)))
			s.set(ref(total), s.join(ref(total), ref(other)))
		})
		if !last {
			s.set(at(s.total, first), ref(total))
		}
		s.prepend(ref(before), first)
	})
}
