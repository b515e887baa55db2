package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// A reduction has three steps, all read off the distribution: each thread combines the values it holds; lanes whose
// numbers differ in bits that span the reduced axes exchange theirs by shuffles; warps that differ in such bits
// exchange theirs through shared memory. At cluster scope a fourth follows: blocks that differ in such bits exchange
// theirs through one another's shared memory (reduce_cluster.go). In the end every thread holds the results for its own
// coordinates. The order is fixed, so a result does not change from run to run.

var combine = map[ir.Op]ir.Op{ir.Sum: ir.Add, ir.MaxOf: ir.Max, ir.MinOf: ir.Min, ir.Prod: ir.Mul, ir.Fold: ir.Add}

// identity is the neutral element of a reduction.
func identity(op ir.Op, t dtype.Type) thr.Expr {
	switch op {
	case ir.Sum, ir.Fold:
		return number(t, 0)
	case ir.Prod:
		return number(t, 1)
	}
	low := op == ir.MaxOf // start from the lowest value
	switch t {
	case dtype.F32:
		if low {
			return f32(math.Inf(-1))
		}
		return f32(math.Inf(1))
	case dtype.U32:
		if low {
			return literal(t, 0)
		}
		return thr.Const{DT: t, Bits: math.MaxUint32}
	case dtype.I64:
		if low {
			return i64(math.MinInt64)
		}
		return i64(math.MaxInt64)
	}
	if low {
		return i32(math.MinInt32)
	}
	return i32(math.MaxInt32)
}

func number(t dtype.Type, n int) thr.Expr {
	if t == dtype.F32 {
		return f32(float64(n))
	}
	return literal(t, n)
}

// startReduction declares a thread's partial results with their first values. 16-bit floats are summed in f32 and
// rounded once at the end.
func (l *lowering) startReduction(v *ir.Value) *thr.Local {
	t := register(v.Type.DT)
	n := 1
	if v.Type.Span != nil {
		n = v.Type.Span.Dist.Values()
	}
	if n == 1 {
		return l.local(l.name(v, "red"), thr.Val(t), identity(v.Op, t))
	}
	acc := l.array(l.name(v, "red"), t, n)
	l.unrolled(n, func(i thr.Expr) {
		l.emit(thr.Assign{At: l.at(), Dst: at(acc, i), Src: identity(v.Op, t)})
	})
	return acc
}

// accumulate combines one element into the thread's partial result.
func (l *lowering) accumulate(v *ir.Value, acc *thr.Local, x thr.Expr, e elem) {
	span, axes := v.Args[0].Type.Span, reducedAxes(v)
	var masked []int
	for _, a := range axes {
		if combine[v.Op] != ir.Add || !l.zeroMasked(v.Args[0], a, extentOf(span, a), 0) {
			masked = append(masked, a)
		}
	}
	t := register(v.Type.DT)
	if p := l.inside(span, e, masked...); p != nil {
		x = thr.Apply{Op: ir.Select, T: t, R: t, Args: []thr.Expr{p, x, identity(v.Op, t)}}
	}
	dst := at(acc, project(span.Dist, func(a int) bool { return slices.Contains(axes, a) }, e).expr())
	l.emit(thr.Assign{At: l.at(), Dst: dst, Src: bin(combine[v.Op], dst, x)})
	l.tilesOrScalar(v, acc)
}

// reducedAxes are the axes that a reduction combines over; a Fold goes over all of what a thread holds.
func reducedAxes(v *ir.Value) []int {
	if v.Op == ir.Fold {
		return allAxes(v.Args[0].Type.Span)
	}
	return v.Attr.([]int)
}

func (l *lowering) tilesOrScalar(v *ir.Value, acc *thr.Local) {
	if v.Type.Span == nil {
		l.scalars[v] = ref(acc)
	} else {
		l.tiles[v] = acc
	}
}

// extentOf is a span's extent along an axis, nil where it has none.
func extentOf(s *ir.Span, axis int) *ir.Value {
	if axis < len(s.Extent) {
		return s.Extent[axis]
	}
	return nil
}

// zeroMasked reports whether a tile is certain to be zero past ext along an axis, so that a sum that ends there needs
// no mask: loads put zeros past their own extent, and some ops keep them. ext is nil for the end of the shape.
func (l *lowering) zeroMasked(v *ir.Value, axis int, ext *ir.Value, depth int) bool {
	v = l.flow.canonical(v)
	if depth > 16 {
		return false
	}
	of := func(a *ir.Value) bool {
		return a.Type.Span != nil && l.zeroMasked(a, axis, ext, depth+1)
	}
	switch v.Op {
	case ir.Load:
		own := extentOf(v.Type.Span, axis)
		return ext == nil || own != nil && ir.SameValue(l.flow.canonical(own), l.flow.canonical(ext))
	case ir.Cast, ir.Neg, ir.Abs, ir.Sqrt, ir.Silu, ir.Tanh:
		return of(v.Args[0])
	case ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max: // 0*0: an operand that may be infinite there does not do
		return of(v.Args[0]) && of(v.Args[1])
	case ir.Fma:
		return of(v.Args[0]) && of(v.Args[1]) && of(v.Args[2])
	case ir.Select:
		return of(v.Args[1]) && of(v.Args[2])
	case ir.Broadcast:
		gone := goneAxes(v)
		if v.Args[0].Type.Span == nil || gone(axis) {
			return false
		}
		before := 0
		for a := range axis {
			if gone(a) {
				before++
			}
		}
		return l.zeroMasked(v.Args[0], axis-before, ext, depth+1)
	}
	return false
}

// exchange describes which bits of the thread's number a reduction spans.
type exchange struct {
	lanes []int // masks of the lane bits to shuffle over
	warps int   // number of warps whose results are combined; 1: none
	shift int   // lowest reduced bit of the warp's number
	all   bool  // every warp of the block takes part
	keep  int   // lanes that hold different results
	place int   // log2 of the place value of the kept lanes' digit

	blocks     int // blocks of the cluster whose results are combined; 1: none
	blockShift int // lowest reduced bit of the block's number
}

// exchangeOf derives it from the thread modes of a span over blocks of n threads, or over a warp. Sizes are powers of
// two, or one mode spans all threads.
func exchangeOf(s *ir.Span, n int, axes []int) (exchange, error) {
	x := exchange{warps: 1, keep: 1, blocks: 1}
	reduced := func(m layout.Mode) bool { return m.Axis != layout.Replicated && slices.Contains(axes, m.Axis) }
	if s.Scope != ir.ScopeCluster {
		n = s.Dist.Threads()
	}
	if len(s.Dist.Thread) == 1 && reduced(s.Dist.Thread[0]) {
		for b := 1; b < min(n, 32); b *= 2 {
			x.lanes = append(x.lanes, b)
		}
		x.warps, x.all, x.blocks = max(1, n/32), true, s.Dist.Threads()/n
		return x, nil
	}
	perBlock, ok := log2(n)
	if !ok && s.Scope == ir.ScopeCluster {
		return x, fmt.Errorf("a reduction of a 2-D tile over a cluster needs blocks of a power of two of threads; have %d", n)
	}
	bit, warpBits, blockBits, keptLow := 0, 0, 0, -1
	for _, m := range s.Dist.Thread {
		k, ok := log2(m.Size)
		if !ok {
			return x, fmt.Errorf("a reduction needs thread modes that are powers of two; have %d", m.Size)
		}
		for range k {
			switch {
			case bit < 5 && reduced(m):
				x.lanes = append(x.lanes, 1<<bit)
			case bit < 5:
				if m.Axis != layout.Replicated {
					if keptLow < 0 {
						keptLow = bit
					} else if bit != keptLow+bits(x.keep) {
						return x, fmt.Errorf("a reduction over lanes that lie between kept ones is not supported")
					}
					x.keep *= 2
				}
			case reduced(m) && s.Scope == ir.ScopeCluster && bit >= perBlock:
				if x.blocks == 1 {
					x.blockShift = bit - perBlock
				} else if bit-perBlock != x.blockShift+blockBits {
					return x, fmt.Errorf("a reduction over blocks that lie between kept ones is not supported")
				}
				blockBits++
				x.blocks *= 2
			case reduced(m):
				if x.warps == 1 {
					x.shift = bit - 5
				} else if bit-5 != x.shift+warpBits {
					return x, fmt.Errorf("a reduction over warps that lie between kept ones is not supported")
				}
				warpBits++
				x.warps *= 2
			}
			bit++
		}
	}
	if keptLow > 0 {
		x.place = keptLow
	}
	x.all = x.warps == max(1, n/32)
	return x, nil
}

// ofGroup reports whether a reduction is over a tile of a group.
func ofGroup(v *ir.Value) bool { return v.Args[0].Type.Span.Scope == ir.ScopeGroup }

func bits(n int) int { k, _ := log2(n); return k }

// finishReductions combines the partial results of a batch's reductions across lanes, then across warps. Doing all of
// one step before the next lets one barrier serve the whole batch.
func (l *lowering) finishReductions(batch []*ir.Value) {
	type job struct {
		v       *ir.Value
		x       exchange
		acc     *thr.Local
		scratch *thr.SharedBuf
		slots   *thr.SharedBuf // of the cluster's step
	}
	var jobs []*job
	for _, v := range batch {
		if ir.Table[v.Op].Class != ir.Reduction {
			continue
		}
		x := exchange{warps: 1, keep: 1, blocks: 1} // a Fold's
		if v.Op != ir.Fold {
			var err error
			if x, err = exchangeOf(v.Args[0].Type.Span, l.k.Threads, v.Attr.([]int)); err != nil {
				l.fail(v.Pos, "%v", err)
				return
			}
		}
		j := &job{v: v, x: x}
		if v.Type.Span == nil {
			j.acc = l.scalars[v].(thr.Ref).Local
		} else {
			j.acc = l.tiles[v]
		}
		jobs = append(jobs, j)
	}
	each := func(j *job, f func(r thr.Ref)) {
		l.cur = j.v
		l.unrolled(max(1, j.acc.Len), func(i thr.Expr) { f(at(j.acc, i)) })
	}
	for _, j := range jobs {
		if len(j.x.lanes) > 0 {
			l.cur = j.v
			l.comment("%s: over the lanes of a warp", j.v.Op)
			each(j, func(r thr.Ref) {
				for _, mask := range slices.Backward(j.x.lanes) {
					l.shuffleInto(j.v.Op, r, mask)
				}
			})
		}
	}
	for _, j := range jobs {
		if j.x.warps > 1 {
			j.scratch = l.scratch(j.v, j.acc, j.x)
			l.sendPartial(j.v, j.acc, j.x, j.scratch)
		}
	}
	if i := slices.IndexFunc(jobs, func(j *job) bool { return j.x.warps > 1 && l.onlyStored(j.v) }); i >= 0 {
		l.cur = jobs[i].v // some warps only receive, so the barrier stands where all come
		l.emit(thr.Do{At: l.at(), Fn: thr.BlockSync})
	}
	for _, j := range jobs {
		if j.x.warps > 1 {
			l.receivePartials(j.v, j.acc, j.x, j.scratch)
		}
		if j.x.blocks == 1 {
			l.roundResult(j.v, j.acc)
		}
	}
	for _, j := range jobs {
		if j.x.blocks > 1 {
			j.slots = l.blockSlots(j.v, j.acc, j.x)
			l.pushPartial(j.v, j.acc, j.x, j.slots)
		}
	}
	for _, j := range jobs {
		if j.x.blocks > 1 {
			l.combineBlocks(j.v, j.acc, j.x, j.slots)
			l.roundResult(j.v, j.acc)
		}
	}
}

func (l *lowering) shuffleInto(op ir.Op, r thr.Ref, mask int) {
	t := r.Local.Type.DT
	other := call(thr.ShflXor, t, r, i32(mask))
	l.emit(thr.Assign{At: l.at(), Dst: r, Src: bin(combine[op], r, other)})
}

// scratch is the shared memory for a reduction's partial results: one value a warp, value and kept lane.
func (l *lowering) scratch(v *ir.Value, acc *thr.Local, x exchange) *thr.SharedBuf {
	warps := l.k.Threads / 32
	if ofGroup(v) {
		warps = l.role.Warps * l.role.Parts
	}
	n := warps * max(1, acc.Len) * x.keep
	b := &thr.SharedBuf{Name: l.names.fresh(acc.Name + "_part"), Bytes: n * acc.Type.DT.Size(), DT: acc.Type.DT,
		Note: fmt.Sprintf("partial results of %s, one a warp", v.Op)}
	l.addShared(b, origin{pos: v.Pos, scratch: true})
	return b
}

// slot is the address of a partial result: [warp][value][kept lane].
func (l *lowering) slot(b *thr.SharedBuf, acc *thr.Local, x exchange, warp, value thr.Expr) thr.Expr {
	n := max(1, acc.Len)
	lane := thr.Expr(i32(0))
	if x.keep > 1 {
		lane = rem(div(call(thr.Lane, dtype.I32), 1<<x.place), x.keep)
	}
	i := add(mul(add(mul(warp, i32(n)), value), i32(x.keep)), lane)
	return address(b, mul(i, i32(acc.Type.DT.Size())))
}

func (l *lowering) sendPartial(v *ir.Value, acc *thr.Local, x exchange, b *thr.SharedBuf) {
	l.cur = v
	scope, warp := ir.NoScope, call(thr.Warp, dtype.I32)
	if ofGroup(v) {
		scope, warp = ir.ScopeGroup, l.roleWarp()
		l.comment("%s: over the warps of the group", v.Op)
	} else {
		l.comment("%s: over the warps of the block", v.Op)
	}
	// One lane of those that now hold the same value: the one whose other bits are zero.
	others := 31 &^ ((x.keep - 1) << x.place)
	var pred thr.Expr
	if others != 0 {
		pred = equal(bin(ir.And, call(thr.Lane, dtype.I32), i32(others)), i32(0))
		if others == 31 {
			pred = equal(call(thr.Lane, dtype.I32), i32(0))
		}
	}
	l.unrolled(max(1, acc.Len), func(i thr.Expr) {
		l.emit(thr.Store{At: l.at(), Space: thr.Shared, Value: at(acc, i), Bytes: acc.Type.DT.Size(),
			Addr: l.slot(b, acc, x, warp, i), Pred: pred, Buf: b, Scope: scope})
	})
}

func (l *lowering) receivePartials(v *ir.Value, acc *thr.Local, x exchange, b *thr.SharedBuf) {
	l.cur = v
	t, size := acc.Type.DT, acc.Type.DT.Size()
	scope, warp, first := ir.NoScope, call(thr.Warp, dtype.I32), i32(0)
	if ofGroup(v) {
		scope, warp, first = ir.ScopeGroup, l.roleWarp(), mul(l.groupIndex(), i32(l.role.Warps))
	}
	if n := x.warps; x.all && acc.Len == 0 && x.keep == 1 && size == 4 && n > 4 {
		if _, pow2 := log2(n); pow2 {
			// Each lane takes one warp's value, then shuffles: six steps where a loop would take up to 32 loads.
			l.emit(thr.Load{At: l.at(), Space: thr.Shared, Dst: acc, Bytes: size, Buf: b, Scope: scope,
				Addr: l.slot(b, acc, x, add(first, rem(call(thr.Lane, dtype.I32), n)), i32(0))})
			for m := n / 2; m > 0; m /= 2 {
				l.shuffleInto(v.Op, ref(acc), m)
			}
			return
		}
	}
	if !x.all {
		first = bin(ir.And, warp, i32(^((x.warps - 1) << x.shift)))
	}
	receive := func(i thr.Expr) {
		r := at(acc, i)
		l.emit(thr.Assign{At: l.at(), Dst: r, Src: identity(v.Op, t)})
		part := l.local("part", thr.Val(t), nil)
		l.unrolled(x.warps, func(w thr.Expr) {
			l.emit(thr.Load{At: l.at(), Space: thr.Shared, Dst: part, Bytes: size, Buf: b, Scope: scope,
				Addr: l.slot(b, acc, x, add(first, mul(w, i32(1<<x.shift))), i)})
			l.emit(thr.Assign{At: l.at(), Dst: r, Src: bin(combine[v.Op], r, ref(part))})
		})
	}
	all := func() { l.unrolled(max(1, acc.Len), receive) }
	if !l.onlyStored(v) {
		all()
		return
	}
	storing := equal(bin(ir.And, call(thr.Warp, dtype.I32), i32((x.warps-1)<<x.shift)), i32(0))
	l.emit(thr.If{At: l.at(), Cond: storing, Scope: ir.ScopeWarp, Then: l.into(all)})
}

// onlyStored reports whether a reduced tile goes nowhere but into stores, element by element: then only the threads that
// store need it, those with the first copy.
func (l *lowering) onlyStored(v *ir.Value) bool {
	if v.Type.Span == nil || v.Type.Span.Scope != ir.ScopeBlock {
		return false
	}
	stored := false
	for _, u := range l.flow.users[v] {
		switch {
		case !l.flow.live[u]:
		case u.Op == ir.Store && l.flow.canonical(u.Args[0]) == v:
			stored = true
		case ir.Table[u.Op].Class == ir.Elementwise && l.onlyStored(u):
			stored = true
		default:
			return false
		}
	}
	return stored
}

// roundResult rounds a 16-bit reduction's f32 result; a tile of them moves into packed registers.
func (l *lowering) roundResult(v *ir.Value, acc *thr.Local) {
	if !v.Type.DT.Is16() {
		return
	}
	if v.Type.Span == nil {
		l.emit(thr.Assign{At: l.at(), Dst: ref(acc), Src: rounded(v.Type.DT, ref(acc))})
		return
	}
	x := l.tileArray(v)
	width := 1
	if paired(v.Type) {
		width = 2
	}
	l.unrolled(v.Type.Span.Dist.Values()/width, func(i thr.Expr) {
		xs := make([]thr.Expr, width)
		for p := range xs {
			xs[p] = at(acc, elem{i, width, p}.expr())
		}
		l.writeArray(x, v.Type, i, xs)
	})
	l.tiles[v] = x
}

// address is a byte offset into shared memory: the buffer's, which the last pass fills in, plus more.
func address(b *thr.SharedBuf, more thr.Expr) thr.Expr {
	return add(thr.SharedAddr{Buf: b}, toU32(more))
}
