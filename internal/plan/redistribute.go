package plan

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// maxMeet bounds how many values of a lane a shuffle is made of: each takes a shuffle of its own.
const maxMeet = 4

// redistribute gives each thread the elements that it has in another distribution.
func (l *lowering) redistribute(v *ir.Value) {
	x := l.flow.canonical(v.Args[0])
	if p, ok := permutationOf(x.Type.Span, v.Type.Span); ok && p.meet() <= maxMeet {
		l.available(x)
		l.cur = v
		l.comment("redistribute: within a warp")
		l.permute(v, x, p)
		return
	}
	l.throughShared(v, x)
}

// bit is a bit of a coordinate.
type bit struct{ axis, bit int }

// bitsOf are the bits of the coordinates that the bits of a thread's number and of a value's give; none of replicated
// ones. ok: all are powers of two, and each coordinate of the tile is given once.
func bitsOf(d *layout.Dist) (thread, value []bit, ok bool) {
	seen := map[bit]bool{}
	list := func(ms []layout.Mode) (out []bit, ok bool) {
		for _, m := range ms {
			n, pow2 := log2(m.Size)
			low, strides := log2(m.Stride)
			if m.Axis != layout.Replicated && !strides || !pow2 {
				return nil, false
			}
			for k := range n {
				b := bit{m.Axis, low + k}
				if m.Axis == layout.Replicated {
					b = bit{layout.Replicated, 0}
				} else if seen[b] {
					return nil, false
				}
				seen[b] = true
				out = append(out, b)
			}
		}
		return out, true
	}
	if thread, ok = list(d.Thread); !ok {
		return nil, nil, false
	}
	if value, ok = list(d.Value); !ok {
		return nil, nil, false
	}
	for axis, n := range d.Shape {
		if d.Covered(axis) != n {
			return nil, nil, false
		}
	}
	return thread, value, true
}

// permutation says where the elements of a tile come from, bit by bit: bit k of the source's lane or value number is a
// bit of the destination's value number, or else one of its thread's number.
type permutation struct {
	lane, value []source
	pairs       bool // the lowest bit of both value numbers is the same: pairs of 16-bit values stay pairs
}

type source struct {
	value bool // a bit of the value's number; otherwise of the thread's
	bit   int
}

// permutationOf is how the elements of from get to where to has them, if that is by lanes of the same warp.
func permutationOf(from, to *ir.Span) (p permutation, ok bool) {
	threads, values, ok := bitsOf(from.Dist)
	toThreads, toValues, ok2 := bitsOf(to.Dist)
	if !ok || !ok2 {
		return p, false
	}
	find := func(b bit) source {
		if i := slices.Index(toValues, b); i >= 0 {
			return source{true, i}
		}
		return source{false, slices.Index(toThreads, b)}
	}
	for k, b := range threads {
		src := source{false, k} // copies: its own
		if b.axis != layout.Replicated {
			src = find(b)
		}
		switch {
		case k < 5 && (src.value || src.bit >= 0):
			p.lane = append(p.lane, src)
		case src != source{false, k}: // of another warp
			return p, false
		}
	}
	for _, b := range values {
		src := find(b)
		if !src.value && src.bit < 0 {
			return p, false
		}
		p.value = append(p.value, src)
	}
	p.pairs = len(p.value) > 0 && p.value[0] == source{true, 0}
	return p, true
}

// meet is how many values of a lane one element may be, depending on the thread that asks.
func (p permutation) meet() int {
	n := 1
	for _, s := range p.value {
		if !s.value {
			n *= 2
		}
	}
	return n
}

// stays reports whether no element leaves its lane.
func (p permutation) stays() bool {
	for k, s := range p.lane {
		if s != (source{false, k}) {
			return false
		}
	}
	return true
}

// permute emits the moves of a permutation. Where pairs stay pairs whole registers move.
func (l *lowering) permute(v, x *ir.Value, p permutation) {
	span, n := v.Type.Span, v.Type.Span.Dist.Values()
	out := l.tileArray(v)
	l.tiles[v] = out
	if t := l.tiles[x]; p.pairs && paired(v.Type) && paired(x.Type) && t != nil {
		half := permutation{lane: slices.Clone(p.lane), value: slices.Clone(p.value[1:])}
		for _, bits := range [][]source{half.lane, half.value} {
			for i := range bits {
				if bits[i].value {
					bits[i].bit--
				}
			}
		}
		l.unrolled(n/2, func(i thr.Expr) {
			l.emit(thr.Assign{At: l.at(), Dst: at(out, i), Src: l.fetch(span, half, elem{i, 1, 0}, n/2, func(e elem) thr.Expr { return at(t, e.expr()) })})
		})
		return
	}
	width := each(v.Type)
	l.unrolled(n/width, func(i thr.Expr) {
		xs := make([]thr.Expr, width)
		for q := range xs {
			xs[q] = l.fetch(span, p, elem{i, width, q}, n, func(e elem) thr.Expr { return l.reduced(x, e) })
		}
		l.writeArray(out, v.Type, i, xs)
	})
}

// fetch is value e of the n of a thread, from the lane that has it. read is a value of the source.
func (l *lowering) fetch(span *ir.Span, p permutation, e elem, n int, read func(e elem) thr.Expr) thr.Expr {
	of := func(r run) thr.Expr { // the run's bits of the value's or the thread's number
		if r.value {
			return digit(e, 1<<r.bit, 1<<r.n, n)
		}
		return l.threadDigit(span, 1<<r.bit, 1<<r.n)
	}
	var lane, ask thr.Expr = i32(0), i32(0)
	for _, r := range runsOf(p.lane) {
		lane = add(lane, mul(of(r), i32(1<<r.to)))
	}
	low, high := 0, thr.Expr(i32(0)) // of the source's value number: the lowest bit if it is known, and the others
	width := 1
	if len(p.value) > 0 && (!p.value[0].value || e.width == 2 && p.value[0].bit == 0) { // so that a pair's half is known
		width = 2
	}
	meet := 1
	var asks []run // by the asking thread
	for _, r := range runsOf(p.value) {
		switch {
		case !r.value:
			asks = append(asks, r)
			ask = add(ask, mul(of(r), i32(meet)))
			meet <<= r.n
		case width == 2 && r.to == 0:
			low = e.lane
			if r.n > 1 {
				high = add(high, digit(e, 2, 1<<(r.n-1), n))
			}
		default:
			high = add(high, mul(of(r), i32(1<<r.to/width)))
		}
	}
	var dst *thr.Local
	for c := range meet {
		part := elem{high, width, low}
		rest := c
		for _, r := range asks {
			bits := rest & (1<<r.n - 1) << r.to
			rest >>= r.n
			part = elem{add(part.i, i32(bits/width)), width, part.lane + bits%width}
		}
		x := read(part)
		if !p.stays() {
			x = call(thr.ShflIdx, x.ExprType().DT, x, lane)
		}
		if meet == 1 {
			return x
		}
		if dst == nil {
			dst = l.local("moved", x.ExprType(), x)
			continue
		}
		other := l.local("other", x.ExprType(), x) // all lanes take part in a shuffle: it stands alone
		t := dst.Type.DT
		l.emit(thr.Assign{At: l.at(), Dst: ref(dst), Src: thr.Apply{Op: ir.Select, T: t, R: t, Args: []thr.Expr{equal(ask, i32(c)), ref(other), ref(dst)}}})
	}
	return ref(dst)
}

// A run is bits of a number, to upwards, that are as many neighbouring bits of another.
type run struct {
	source
	to, n int
}

func runsOf(bits []source) []run {
	var out []run
	for k, s := range bits {
		if n := len(out); n > 0 && out[n-1].value == s.value && out[n-1].bit+out[n-1].n == s.bit {
			out[n-1].n++
			continue
		}
		out = append(out, run{s, k, 1})
	}
	return out
}

// throughShared stores a tile and loads it as it is to be spread. Rows are 16 bytes longer than they need be, so that
// neither rows nor columns lie in one bank.
func (l *lowering) throughShared(v, x *ir.Value) {
	l.materialise(x)
	l.cur = v
	shape := slices.Clone(v.Type.Span.Dist.Shape)
	rank := len(shape)
	if pad := 16 / v.Type.DT.Size(); rank > 1 {
		shape[rank-1] = (shape[rank-1]+pad-1)/pad*pad + pad
	}
	bytes := v.Type.DT.Size()
	for _, n := range shape {
		bytes *= n
	}
	space, part := l.workspace(v.Scope, bytes)
	zero := &ir.Value{ID: -1, Op: ir.Const, Type: ir.Type{DT: dtype.I32}, Attr: ir.Bits(0), Scope: ir.ScopeCluster}
	which := &ir.Value{ID: -1, Op: ir.WarpID, Type: ir.Type{DT: dtype.I32}, Scope: v.Scope}
	l.scalars[which] = part
	offs := []*ir.Value{which}
	for range shape {
		offs = append(offs, zero)
	}
	way := &ir.SharedTile{Name: space.Name, DT: v.Type.DT, Shape: slices.Insert(shape, 0, space.Bytes/bytes), In: v.In, Pos: v.Pos}
	l.sharedBufs[way] = space
	access := &ir.Access{Shared: way}
	whole := func(s *ir.Span) *ir.Span { return &ir.Span{Scope: s.Scope, Dist: s.Dist} } // masked elements move too
	l.storeTile(&ir.Value{ID: v.ID, Op: ir.Store, Type: ir.Type{Span: whole(x.Type.Span)}, Args: append([]*ir.Value{x}, offs...), Attr: access, Scope: v.Scope, Pos: v.Pos})
	load := &ir.Value{ID: v.ID, Op: ir.Load, Type: ir.Type{DT: v.Type.DT, Span: whole(v.Type.Span)}, Args: offs, Attr: access, Scope: v.Scope, Pos: v.Pos}
	l.loadTile(load)
	l.tiles[v] = l.tiles[load]
	delete(l.tiles, load)
}
