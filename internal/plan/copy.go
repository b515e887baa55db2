package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// copyFns are the copies by what a thread copies at once.
var copyFns = map[int]thr.Fn{16: thr.CpAsync, 8: thr.CpAsync8, 4: thr.CpAsync4}

// copyAsync lowers a copy to shared memory: a piece a thread by cp.async, or element by element through registers where
// the source is not aligned, as it is for certain with unaligned. The end of a row needs no test: cp.async takes the number
// of bytes to read and fills in zeros.
func (l *lowering) copyAsync(v *ir.Value, unaligned bool) {
	info, n := v.Attr.(*ir.CopyInfo), len(v.Attr.(*ir.CopyInfo).Dst.Shape)
	box := &ir.Span{Scope: v.Scope, Dist: v.Type.Span.Dist} // all of it is written
	dst := l.openAccess(&ir.Access{Shared: info.Dst}, v.Scope, info.Dst.DT, box, v.Args[:n])
	src := l.openAccess(&ir.Access{Arg: info.Src}, v.Scope, info.Src.DT, v.Type.Span, v.Args[n:])
	l.comment("copy %s to %s", src.label(), dst.label())
	written := func(e elem) thr.Expr { return and(l.firstCopy(box), l.inside(box, e, allAxes(box)...)) }
	async := func() {
		src.pieces(info.Bytes, func(e elem, _ thr.Expr) {
			l.emit(thr.Do{At: l.at(), Fn: copyFns[info.Bytes], Args: []thr.Expr{src.elemAddr(e), dst.elemAddr(e), src.bytesLeft(e, info.Bytes)},
				Pred: written(e), Buf: dst.shared, Scope: v.Scope})
		})
	}
	if info.Bytes == src.dt.Size() {
		async()
		return
	}
	if src.Arg.Strided || unaligned {
		src.throughRegisters(dst, written)
		return
	}
	launch, local := src.aligned(info.Bytes)
	if launch == nil && local == nil {
		async()
		return
	}
	if launch != nil {
		launch = l.atTop(src.Arg.Name+"_aligned", launch)
	}
	l.emit(thr.If{At: l.at(), Cond: and(launch, local), Scope: l.formScope(v.Scope), Then: l.into(async),
		Else: l.into(func() { l.hide(box, func() { src.throughRegisters(dst, written) }) })})
}

// bytesLeft is how many bytes of a piece from an element on lie before the ends of the tile's axes.
func (a *access) bytesLeft(e elem, piece int) thr.Expr {
	l, last := a.l, a.span.Rank()-1
	bytes := i32(piece)
	for axis := range a.span.Rank() {
		if axis >= len(a.span.Extent) || a.span.Extent[axis] == nil {
			continue
		}
		ext := l.scalarLocal(a.span.Extent[axis]) // not capped at the box: written does that
		if at := l.coordOf(a.span, axis, e); axis < last {
			bytes = thr.Apply{Op: ir.Select, T: dtype.I32, R: dtype.I32, Args: []thr.Expr{less(at, ext), bytes, i32(0)}}
		} else {
			if l.k.Whole && a.endsWhole() {
				bytes = thr.Apply{Op: ir.Select, T: dtype.I32, R: dtype.I32, Args: []thr.Expr{less(at, ext), bytes, i32(0)}}
				continue
			}
			vec := i32(piece / a.dt.Size()) // elements, not bytes: of a long row these may be too many for an i32
			left := mul(bin(ir.Max, bin(ir.Min, sub(ext, at), vec), i32(0)), i32(a.dt.Size()))
			if axis > 0 && !isInt(bytes, piece) {
				left = bin(ir.Min, bytes, left)
			}
			bytes = left
		}
	}
	return bytes
}

// throughRegisters copies element by element, as many at a time as a vector has, so that their loads are in flight
// together.
func (a *access) throughRegisters(dst *access, written func(e elem) thr.Expr) {
	l, t := a.l, a.dt
	if t.Is16() || t.Is8() {
		t = dtype.U32
	}
	vec := a.span.Dist.Vec()
	l.unrolled(a.span.Dist.Values()/vec, func(i thr.Expr) {
		x := l.array(a.Arg.Name, t, vec)
		for p := range vec {
			e := elem{i, vec, p}
			l.emit(thr.Load{At: l.at(), Space: thr.Global, Dst: x, Index: i32(p), Bytes: a.dt.Size(), Addr: a.elemAddr(e),
				Pred: l.inside(a.span, e, allAxes(a.span)...), Scope: a.Scope})
		}
		for p := range vec {
			e := elem{i, vec, p}
			l.emit(thr.Store{At: l.at(), Space: thr.Shared, Src: x, Index: i32(p), Bytes: a.dt.Size(), Addr: dst.elemAddr(e),
				Pred: written(e), Buf: dst.shared, Scope: a.Scope})
		}
	})
}
