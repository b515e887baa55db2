package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// A fill is what a producer does with a slot from its Acquire to the last copy or store that names it in the same region.
// Its bytes are those of the bulk copies that were issued.

type fill struct {
	v       *ir.Value // SlotAcquire
	pipe    *pipe
	bytes   thr.Expr   // of the bulk copies so far, or
	sum     *thr.Local // where they stand in branches or loops of their own
	generic bool       // the threads have written, or begun cp.async
}

// fillEnds finds the ops that are the last to fill a slot: of the region where it was acquired, whole loops and branches
// included.
func fillEnds(k *ir.Kernel) map[*ir.Value][]*ir.Value {
	out := map[*ir.Value][]*ir.Value{}
	var visit func(r *ir.Region)
	visit = func(r *ir.Region) {
		if r == nil {
			return
		}
		for i, v := range r.Ops {
			for _, in := range v.Regions {
				visit(in)
			}
			if v.Op != ir.SlotAcquire {
				continue
			}
			var last *ir.Value
			for _, w := range r.Ops[i+1:] {
				if fillsIn(w, v) {
					last = w
				}
			}
			out[last] = append(out[last], v)
		}
	}
	visit(k.Body)
	return out
}

// fillsIn reports whether an op, or one in it, fills a slot.
func fillsIn(w, slot *ir.Value) bool {
	if ir.FilledSlot(w) == slot {
		return true
	}
	found := false
	for _, r := range w.Regions {
		ir.EachOp(r, func(x *ir.Value) { found = found || ir.FilledSlot(x) == slot })
	}
	return found
}

// beginFill begins to count the bytes of a slot.
func (l *lowering) beginFill(v *ir.Value, p *pipe) {
	f := &fill{v: v, pipe: p, bytes: i32(0)}
	l.fills[v] = f
	nested := false
	ir.EachOp(v.In, func(w *ir.Value) {
		if ir.FilledSlot(w) != v {
			return
		}
		switch w.Op {
		case ir.CopyAsync:
			proxy, other := l.forms(w)
			_, optional := l.tensorCopy(w)
			nested = nested || proxy && (other || optional || w.In != v.In)
		case ir.CopyTensor:
			nested = nested || w.In != v.In
		}
	})
	if nested {
		f.sum = l.local(p.Name+"_bytes", thr.Val(dtype.I32), i32(0))
	}
}

// expect adds to the bytes of a slot.
func (l *lowering) expect(f *fill, bytes thr.Expr) {
	if f.sum != nil {
		l.emit(thr.Assign{At: l.at(), Dst: ref(f.sum), Src: add(ref(f.sum), bytes)})
		return
	}
	f.bytes = add(f.bytes, bytes)
}

// endFill hands a slot over: every warp of its scope arrives, the first with the bytes. What the threads wrote themselves
// is ordered before by their meeting.
func (l *lowering) endFill(f *fill) {
	l.cur = f.v
	p, s := f.pipe, f.v.Scope
	bar := slotBar(p.full, p, 0, l.scalars[f.v])
	if p.stored && (p.bulk || p.read) {
		l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
	}
	if f.generic || p.stored {
		l.emit(thr.Do{At: l.at(), Fn: thr.WarpSync})
	}
	bytes := f.bytes
	if f.sum != nil {
		bytes = ref(f.sum)
	}
	arrive := func(pred thr.Expr) thr.Stmt {
		return thr.Do{At: l.at(), Fn: thr.MBarArrive, Args: []thr.Expr{bar, i32(1)}, Pred: pred, Bar: p.full}
	}
	if isInt(bytes, 0) {
		l.emit(arrive(l.oneLane()))
		return
	}
	first := l.firstWarp(s)
	l.emit(thr.Do{At: l.at(), Fn: thr.MBarArriveTx, Args: []thr.Expr{bar, bytes}, Pred: and(l.oneLane(), first), Bar: p.full})
	if first != nil {
		l.emit(arrive(and(l.oneLane(), thr.Apply{Op: ir.Not, T: dtype.Bool, R: dtype.Bool, Args: []thr.Expr{first}})))
	}
}

// firstWarp is the test that a warp is the first of its scope, which issues its bulk copies; nil: it is.
func (l *lowering) firstWarp(s ir.Scope) thr.Expr {
	switch {
	case s == ir.ScopeGroup && l.role.Warps > 1:
		return equal(rem(l.roleWarp(), l.role.Warps), i32(0))
	case s == ir.ScopeBlock && l.k.Threads > 32:
		return equal(call(thr.Warp, dtype.I32), i32(0))
	}
	return nil
}

// fillCopy lowers a copy into a slot: by a tensor copy or bulk copies where the target has them and the source allows it, a
// test of the launch where that is not certain; otherwise by cp.async or through registers, as any CopyAsync.
func (l *lowering) fillCopy(v *ir.Value) {
	f := l.fills[v.Args[0]]
	if f == nil {
		l.fail(v.Pos, "plan: a copy into a slot that is not being filled")
		return
	}
	proxy, other := l.forms(v)
	threads := func() {
		l.copyAsync(v, false)
		if !v.Attr.(*ir.CopyInfo).Src.Strided {
			l.emit(thr.Do{At: l.at(), Fn: thr.MBarTrack, Args: []thr.Expr{slotBar(f.pipe.full, f.pipe, 0, l.scalars[f.v])}, Bar: f.pipe.full})
		}
	}
	f.generic = f.generic || other
	if !proxy {
		threads()
		return
	}
	if info, _ := l.tensorCopy(v); info != nil {
		if !v.Attr.(*ir.CopyInfo).Valid { // a tensor without a map is not aligned
			threads = func() {
				f.generic = true
				l.copyAsync(v, true)
				l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
			}
		}
		l.fillBox(v, f, info, threads)
		return
	}
	info, n := v.Attr.(*ir.CopyInfo), len(v.Attr.(*ir.CopyInfo).Dst.Shape)
	dst := l.openAccess(&ir.Access{Shared: info.Dst}, v.Scope, info.Dst.DT, &ir.Span{Scope: v.Scope, Dist: v.Type.Span.Dist}, v.Args[:n])
	src := l.openAccess(&ir.Access{Arg: info.Src}, v.Scope, info.Src.DT, v.Type.Span, v.Args[n:])
	copies := func() {
		l.comment("bulk copy %s to %s", src.label(), dst.label())
		l.bulkRows(v, f, src, dst)
	}
	test := src.bulkTest()
	if test == nil {
		copies()
		return
	}
	l.emit(thr.If{At: l.at(), Cond: test, Scope: l.formScope(v.Scope), Then: l.into(copies), Else: l.into(threads)})
}

// fillBox lowers a copy into a slot by a tensor copy, which zeros what lies outside of the tensor but knows no end before
// that: a box that ends earlier, and a tensor without a map, go by the threads.
func (l *lowering) fillBox(v *ir.Value, f *fill, info *ir.TensorInfo, threads func()) {
	n, span := len(info.Shared.Shape), v.Type.Span
	var coords []thr.Expr
	for _, o := range v.Args[n:] {
		coords = append(coords, l.scalarLocal(o))
	}
	shared := l.openAccess(&ir.Access{Shared: info.Shared}, v.Scope, info.Shared.DT, nil, v.Args[:n])
	test := l.mapTest(mapOf(l.args.maps, info))
	if v.Attr.(*ir.CopyInfo).Valid {
		for axis, e := range span.Extent {
			if e != nil {
				test = and(test, thr.Apply{Op: ir.Le, T: dtype.I32, R: dtype.Bool, Args: []thr.Expr{i32(span.Dist.Shape[axis]), l.scalarLocal(e)}})
			}
		}
	}
	copies := func() { l.fillTensor(f, info, shared, coords) }
	if test == nil {
		copies()
		return
	}
	l.extents(span) // for all who come after the branch
	l.emit(thr.If{At: l.at(), Cond: test, Scope: l.formScope(v.Scope), Then: l.into(copies), Else: l.into(threads)})
}

// bulkTest is the condition under which all rows of a box can be copied by bulk copies; nil: always.
func (a *access) bulkTest() thr.Expr {
	launch, local := a.aligned(ir.CopyBytes)
	if !a.l.k.Whole || !a.endsWhole() {
		if ext := a.ending(); ext != nil {
			if _, isArg := ext.(thr.ArgRef); isArg {
				launch = and(launch, multiple(ext, a.span.Dist.Vec()))
			} else {
				local = and(local, multiple(ext, a.span.Dist.Vec()))
			}
		}
	}
	if launch != nil {
		launch = a.l.atTop(a.Arg.Name+"_bulk", launch)
	}
	return and(launch, local)
}

// bulkRows issues a bulk copy a row, each by another lane of the first warp, and zeros what lies past the end of the
// source.
func (l *lowering) bulkRows(v *ir.Value, f *fill, src, dst *access) {
	box, size := v.Type.Span.Dist.Shape, dst.dt.Size()
	rows, cols := i32(1), src.valid(len(box)-1)
	if len(box) == 2 {
		rows = src.valid(0)
	}
	bytes := mul(cols, i32(size))
	row := func(r thr.Expr) func(axis int) thr.Expr {
		return func(axis int) thr.Expr {
			if axis == 0 && len(box) == 2 {
				return r
			}
			return i32(0)
		}
	}
	copyRow := func(r, pred thr.Expr) {
		l.emit(thr.Do{At: l.at(), Fn: thr.BulkLoad, Args: []thr.Expr{src.addr(row(r)), dst.addr(row(r)), bytes, slotBar(f.pipe.full, f.pipe, 0, l.scalars[f.v])},
			Pred: and(pred, l.firstWarp(v.Scope), some(cols)), Buf: dst.shared, Scope: v.Scope, Bar: f.pipe.full})
	}
	if len(box) == 1 || box[0] == 1 {
		var pred thr.Expr
		if len(box) == 2 {
			pred = some(rows)
		}
		copyRow(i32(0), and(l.oneLane(), pred))
	} else {
		l.unrolled((box[0]+31)/32, func(i thr.Expr) {
			r := add(mul(i, i32(32)), call(thr.Lane, dtype.I32))
			var pred thr.Expr
			if !isInt(rows, box[0]) || box[0]%32 != 0 {
				pred = less(r, rows)
			}
			copyRow(r, pred)
		})
	}
	l.expect(f, mul(rows, bytes))
	l.zeroRest(f, dst, rows, cols)
}

// valid is how many elements of an axis of the box the source has, from 0 to the box's size.
func (a *access) valid(axis int) thr.Expr {
	n := a.span.Dist.Shape[axis]
	if axis >= len(a.span.Extent) || a.span.Extent[axis] == nil {
		return i32(n)
	}
	e := bin(ir.Max, bin(ir.Min, a.l.scalarLocal(a.span.Extent[axis]), i32(n)), i32(0))
	return ref(a.l.local(a.Arg.Name+"_valid", thr.Val(dtype.I32), e))
}

// zeroRest fills in zeros where the source has ended, and orders them before later bulk copies to the slot.
func (l *lowering) zeroRest(f *fill, dst *access, rows, cols thr.Expr) {
	box := dst.span.Dist.Shape
	last := len(box) - 1
	var ragged thr.Expr
	if !isInt(cols, box[last]) {
		ragged = less(cols, i32(box[last]))
	}
	if last > 0 && !isInt(rows, box[0]) {
		short := less(rows, i32(box[0]))
		if ragged != nil {
			short = bin(ir.Or, ragged, short)
		}
		ragged = short
	}
	if ragged == nil {
		return
	}
	f.generic = true
	l.emit(thr.If{At: l.at(), Cond: ragged, Scope: l.formScope(dst.Scope), Then: l.into(func() {
		l.comment("zeros past the end")
		zero := l.array("zero", dtype.U32, 4)
		l.unrolled(4, func(i thr.Expr) { l.emit(thr.Assign{At: l.at(), Dst: at(zero, i), Src: literal(dtype.U32, 0)}) })
		dst.pieces(ir.CopyBytes, func(e elem, _ thr.Expr) {
			var past thr.Expr = thr.Apply{Op: ir.Le, T: dtype.I32, R: dtype.Bool, Args: []thr.Expr{cols, l.coordOf(dst.span, last, e)}}
			if last > 0 {
				below := thr.Apply{Op: ir.Le, T: dtype.I32, R: dtype.Bool, Args: []thr.Expr{rows, l.coordOf(dst.span, 0, e)}}
				past = bin(ir.Or, past, below)
			}
			l.emit(thr.Store{At: l.at(), Space: thr.Shared, Src: zero, Index: i32(0), Bytes: ir.CopyBytes, Addr: dst.elemAddr(e),
				Pred: and(l.firstCopy(dst.span), l.inside(dst.span, e, allAxes(dst.span)...), past), Buf: dst.shared, Scope: dst.Scope})
		})
		l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
	})})
}
