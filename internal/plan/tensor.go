package plan

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// tensorMaps are the tensor maps that a kernel's copies need, in the order of its arguments and, of one argument, of its
// copies. Copies with one box and one swizzle share a map, which the launch must make if one of them asks for it.
func (s *state) tensorMaps() []*thr.Arg {
	k, used := s.k, map[string]bool{}
	for _, a := range k.Args {
		used[a.Name] = true
	}
	var maps []*thr.Arg
	for _, a := range k.Args {
		ir.EachOp(k.Body, func(v *ir.Value) {
			i, optional := s.tensorCopy(v)
			if i == nil || i.Arg != a {
				return
			}
			if m := mapOf(maps, i); m != nil {
				m.Map.Optional = m.Map.Optional && optional
				return
			}
			name := a.Name + "_map"
			for n := 2; used[name]; n++ {
				name = fmt.Sprintf("%s_map%d", a.Name, n)
			}
			used[name] = true
			m := mapFor(i)
			m.Optional = optional
			maps = append(maps, &thr.Arg{Name: name, Kind: thr.ArgMap, Arg: a, Map: m})
		})
	}
	return maps
}

// tensorCopy is the tensor copy that an op is, or can be where the tensor allows it; nil: none. A CopyAsync into a slot is
// one if the slot's tile has a swizzle, which is what such copies are for; without, bulk copies of rows take shorter boxes.
func (s *state) tensorCopy(v *ir.Value) (info *ir.TensorInfo, optional bool) {
	switch a := v.Attr.(type) {
	case *ir.TensorInfo:
		return a, false
	case *ir.CopyInfo:
		rank := v.Type.Span.Rank()
		if a.Dst.Pipe == nil || a.Dst.Swizzle.Bits() == 0 || a.Src.Strided || a.Bytes != ir.CopyBytes || len(a.Src.Dims) > ir.MaxTensorRank ||
			!s.t.Has(target.TMACTA) || !a.Dst.TensorBox(rank) {
			return nil, false
		}
		return &ir.TensorInfo{Shared: a.Dst, Arg: a.Src, Rank: rank}, !s.k.Whole
	}
	return nil, false
}

// mapFor describes the tensor map of a copy: its box has one element along dimensions that the tile has not.
func mapFor(i *ir.TensorInfo) *thr.TensorMap {
	m := &thr.TensorMap{Box: slices.Repeat([]int{1}, len(i.Arg.Dims))}
	copy(m.Box[len(m.Box)-i.Rank:], i.Pieces().Box)
	if sw := i.Shared.Swizzle; sw.Bits() > 0 {
		m.Swizzle = sw.Width()
	}
	return m
}

func mapOf(maps []*thr.Arg, i *ir.TensorInfo) *thr.Arg {
	want := mapFor(i)
	for _, m := range maps {
		if m.Arg == i.Arg && slices.Equal(m.Map.Box, want.Box) && m.Map.Swizzle == want.Swizzle {
			return m
		}
	}
	return nil
}

// tensorFns are the built-ins of the tensor copies; ReduceTensor has one a reduction.
var tensorFns = map[ir.Op][3]thr.Fn{
	ir.CopyTensor: {thr.TensorLoad}, ir.MulticastTensor: {thr.TensorMulticast}, ir.StoreTensor: {thr.TensorStore}, ir.PrefetchTensor: {thr.TensorPrefetch},
	ir.ReduceTensor: {ir.ReduceAdd: thr.TensorAdd, ir.ReduceMin: thr.TensorMin, ir.ReduceMax: thr.TensorMax},
}

// tensor lowers a tensor copy: an instruction of the leader, or one for each panel of each matrix.
func (l *lowering) tensor(v *ir.Value) {
	info := v.Attr.(*ir.TensorInfo)
	n, m := len(info.Shared.Shape), len(info.Shared.Shape)+len(info.Arg.Dims)
	shared := l.openAccess(&ir.Access{Shared: info.Shared}, v.Scope, info.Shared.DT, nil, v.Args[:n])
	var coords []thr.Expr // by dimension of the argument
	for _, o := range v.Args[n:m] {
		coords = append(coords, l.scalarLocal(o))
	}
	if vec := ir.CopyBytes / info.Arg.DT.Size(); !l.flow.isMultiple(v.Args[m-1], vec) {
		l.fail(v.Pos, "%s of %s at a column that is not a multiple of %d elements for certain: hardware stops at boxes that do not begin on %d bytes; use a loop that steps by such multiples, or Load",
			ir.Table[v.Op].Go, info.Arg.Field, vec, ir.CopyBytes)
		return
	}
	l.needAligned(info.Arg)
	if (v.Op == ir.StoreTensor || v.Op == ir.ReduceTensor) && !l.wholeRows(v, info.Arg) {
		return
	}
	do := thr.Do{At: l.at(), Fn: tensorFns[v.Op][info.Reduce], Pred: l.leader(v.Scope), Buf: shared.shared, Scope: v.Scope, Map: mapOf(l.args.maps, info)}
	var rest []thr.Expr // operands between the address and the coordinates
	if slot := ir.FilledSlot(v); slot != nil {
		l.fillTensor(l.fills[slot], info, shared, coords)
		return
	}
	if info.Bar != nil {
		bar, at := l.barrierAt(info.Bar, v.Args[m])
		do.Bar, rest = bar, []thr.Expr{at}
	}
	if v.Op == ir.MulticastTensor {
		do.Bar.Remote = true
		rest = append(rest, l.scalarLocal(v.Args[m+1]))
	}
	l.tensorComment(v, shared)
	l.tensorPieces(do, info, shared, rest, coords)
}

// tensorPieces issues a copy for each of its pieces.
func (l *lowering) tensorPieces(do thr.Do, info *ir.TensorInfo, shared *access, rest, coords []thr.Expr) {
	n := len(info.Shared.Shape)
	l.pieces(info, func(outer []thr.Expr, panel thr.Expr) {
		at, from := slices.Clone(shared.offsets), slices.Clone(coords)
		for d, i := range outer {
			at[n-info.Rank+d] = i
			from[len(from)-info.Rank+d] = add(from[len(from)-info.Rank+d], i)
		}
		last := len(from) - 1
		from[last] = add(from[last], mul(panel, i32(info.Shared.PanelCols())))
		slices.Reverse(from)
		piece := do
		if do.Fn != thr.TensorPrefetch {
			offset := add(shared.offset(at), mul(panel, i32(shared.panelElems()*shared.dt.Size())))
			piece.Args = append([]thr.Expr{address(shared.shared, offset)}, rest...)
		}
		piece.Args = append(piece.Args, from...)
		l.emit(piece)
	})
}

// fillTensor copies a box into a slot that is being filled, whose phase expects all of its bytes.
func (l *lowering) fillTensor(f *fill, info *ir.TensorInfo, shared *access, coords []thr.Expr) {
	if f == nil {
		l.fail(l.cur.Pos, "plan: a copy into a slot that is not being filled")
		return
	}
	bar := slotBar(f.pipe.full, f.pipe, 0, l.scalars[f.v])
	l.comment("tensor copy %s to %s", info.Arg.Name, shared.label())
	l.tensorPieces(thr.Do{At: l.at(), Fn: thr.TensorLoad, Pred: and(l.oneLane(), l.firstWarp(l.cur.Scope)), Buf: shared.shared, Scope: l.cur.Scope, Bar: f.pipe.full,
		Map: mapOf(l.args.maps, info)}, info, shared, []thr.Expr{bar}, coords)
	box := 1
	for _, side := range info.Shared.Shape[len(info.Shared.Shape)-info.Rank:] {
		box *= side
	}
	l.expect(f, i32(box*shared.dt.Size()))
}

// mapTest is the condition under which the launch has made a tensor map of an argument, the same for all of the launch: the
// address and the strides are multiples of 16 bytes, and no dimension is 0. nil: always.
func (l *lowering) mapTest(m *thr.Arg) thr.Expr {
	a := m.Arg
	if !m.Map.Optional {
		l.needAligned(a)
		return nil
	}
	made := call(thr.Aligned, dtype.Bool, thr.ArgRef{Arg: l.args.pointer[a]}, i32(ir.TensorRowBytes))
	var test thr.Expr = made
	for d, dim := range a.Dims {
		if d < len(a.Dims)-1 {
			test = and(test, multiple(l.args.strideOf(a, d), ir.TensorRowBytes/a.DT.Size()))
		}
		if dim.Symbol != nil {
			test = and(test, less(i32(0), thr.ArgRef{Arg: l.args.dim[dim.Symbol]}))
		}
	}
	return l.atTop(m.Name+"_made", test)
}

// pieces visits the boxes of a copy: by the number of the matrix along each dimension before the last two of the box,
// none where a piece has all of them, and the number of the panel. They begin where the swizzle moves nothing.
func (l *lowering) pieces(info *ir.TensorInfo, f func(outer []thr.Expr, panel thr.Expr)) {
	p := info.Pieces()
	outer := make([]thr.Expr, len(p.Outer))
	var along func(d int)
	along = func(d int) {
		if d == len(outer) {
			l.unrolled(p.Panels, func(i thr.Expr) { f(outer, i) })
			return
		}
		l.unrolled(p.Outer[d], func(i thr.Expr) {
			outer[d] = i
			along(d + 1)
		})
	}
	along(0)
}

// wholeRows asks the launch for rows of whole 16-byte vectors: what a tensor copy writes is clipped by those, not by
// elements (seen on an H200).
func (l *lowering) wholeRows(v *ir.Value, a *ir.Arg) bool {
	last, vec := a.Dims[len(a.Dims)-1], 16/a.DT.Size()
	switch {
	case last.Symbol != nil:
		l.needMultiple([]*ir.Symbol{last.Symbol}, vec)
	case last.Size%vec != 0:
		l.fail(v.Pos, "%s to %s, whose rows of %d %v end within 16 bytes, by which it is clipped; make rows a multiple of %d, or use Store",
			ir.Table[v.Op].Go, a.Field, last.Size, a.DT, vec)
		return false
	}
	return true
}

func (l *lowering) tensorComment(v *ir.Value, shared *access) {
	info := v.Attr.(*ir.TensorInfo)
	switch v.Op {
	case ir.CopyTensor:
		l.comment("tensor copy %s to %s", info.Arg.Name, shared.label())
	case ir.MulticastTensor:
		l.comment("tensor copy %s to %s of several blocks", info.Arg.Name, shared.label())
	case ir.StoreTensor:
		l.comment("tensor copy %s to %s", shared.label(), info.Arg.Name)
	case ir.ReduceTensor:
		l.comment("tensor copy %s to %s, %v", shared.label(), info.Arg.Name, info.Reduce)
	case ir.PrefetchTensor:
		l.comment("prefetch %s", info.Arg.Name)
	}
}
