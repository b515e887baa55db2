package plan

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// access lowers the loads and stores of one tile.
type access struct {
	*ir.Access
	Scope   ir.Scope
	l       *lowering
	span    *ir.Span
	dt      dtype.Type
	at      []*ir.Value // offsets by buffer dimension, and
	offsets []thr.Expr  // their expressions, i32
	base    thr.Expr    // global: pointer to the tile's first element; shared: its byte offset
	rank    thr.Expr    // the block whose shared tile it is; nil: its own
	first   int         // buffer dimension of the tile's axis 0
	shared  *thr.SharedBuf
}

// newAccess computes the tile's base address once.
func (l *lowering) newAccess(v *ir.Value, dt dtype.Type, span *ir.Span, offsets []*ir.Value) *access {
	return l.openAccess(v.Attr.(*ir.Access), v.Scope, dt, span, offsets)
}

func (l *lowering) openAccess(to *ir.Access, scope ir.Scope, dt dtype.Type, span *ir.Span, offsets []*ir.Value) *access {
	a := &access{Access: to, Scope: scope, l: l, span: span, dt: dt, at: offsets}
	a.first = a.Dims() - span.Rank()
	l.extents(span)
	for _, o := range offsets {
		a.offsets = append(a.offsets, l.scalarLocal(o))
	}
	if a.Peer {
		a.rank, a.offsets = a.offsets[0], a.offsets[1:]
		a.first--
	}
	if a.Shared != nil {
		a.shared = l.sharedTile(a.Shared)
		a.base = a.place(a.offsets)
		return a
	}
	ptr := l.args.pointer[a.Arg]
	var off thr.Expr = i64(0)
	for d, o := range a.offsets {
		off = add(off, mul(widen(o), l.args.strideOf(a.Arg, d)))
	}
	a.base = thr.ArgRef{Arg: ptr}
	if !isInt(off, 0) {
		a.base = ref(l.local(a.Arg.Name+"_at", ptr.Type, thr.PtrAdd{Base: a.base, Index: off}))
	}
	return a
}

// addr is the address of the element at the given tile coordinates.
func (a *access) addr(coord func(axis int) thr.Expr) thr.Expr {
	if a.Shared != nil && a.Shared.Swizzle.Bits() > 0 {
		at := slices.Clone(a.offsets)
		for axis := range a.span.Rank() {
			at[a.first+axis] = add(at[a.first+axis], coord(axis))
		}
		return a.place(at)
	}
	if a.Shared != nil {
		var linear thr.Expr = i32(0)
		for axis := range a.span.Rank() {
			linear = add(linear, mul(coord(axis), i32(a.rowElems(a.first+axis))))
		}
		return add(a.base, toU32(mul(linear, i32(a.dt.Size()))))
	}
	var off thr.Expr = i64(0)
	for axis := range a.span.Rank() {
		off = add(off, mul(widen(coord(axis)), a.l.args.strideOf(a.Arg, a.first+axis)))
	}
	if isInt(off, 0) {
		return a.base
	}
	return thr.PtrAdd{Base: a.base, Index: off}
}

// present is the predicate that a load has an element: it lies before the extents and, of one whose rows are shifted, in
// the buffer.
func (a *access) present(e elem) thr.Expr {
	p := a.l.inside(a.span, e, allAxes(a.span)...)
	if a.Shift == 0 {
		return p
	}
	row := add(a.offsets[a.first], a.l.coordOf(a.span, 0, e))
	if a.Shift > 0 {
		return and(p, compare(ir.Ge, row, i32(0)))
	}
	return and(p, less(row, a.size(a.first)))
}

// size is a dimension of the buffer.
func (a *access) size(dim int) thr.Expr {
	if a.Shared != nil {
		return i32(a.Shared.Shape[dim])
	}
	if d := a.Arg.Dims[dim]; d.Symbol != nil {
		return thr.ArgRef{Arg: a.l.args.dim[d.Symbol]}
	}
	return i32(a.Arg.Dims[dim].Size)
}

func (a *access) elemAddr(e elem) thr.Expr {
	return a.addr(func(axis int) thr.Expr { return a.l.coordOf(a.span, axis, e) })
}

// vector is how many bytes one vector access moves: the largest power of two up to 16 that divides a thread's run of
// consecutive elements; 0 where nothing is gained or the run may be ragged at compile time.
func (a *access) vector() int {
	last := a.span.Rank() - 1
	vec := a.span.Dist.Vec()
	run := vec * a.dt.Size()
	if a.Arg != nil && a.Arg.Strided || run < 4 || a.dt.Size() == 8 && vec == 1 {
		return 0
	}
	if ext := a.l.extent(a.span, last); ext != nil {
		if n, ok := intOf(ext); ok && n%vec != 0 {
			return 0
		}
	}
	bytes := 16
	for run%bytes != 0 {
		bytes /= 2
	}
	if bytes <= a.dt.Size() || bytes < 4 {
		return 0
	}
	if a.Shared != nil {
		for d, o := range a.offsets {
			n, ok := intOf(o)
			whole := d == len(a.offsets)-1 && a.l.flow.isMultiple(a.at[d], bytes/a.dt.Size())
			if last := d == len(a.offsets)-1; !ok && last && !whole { // one along rows is not known to keep the alignment
				return 0
			}
			if ok && n*a.rowElems(d)*a.dt.Size()%bytes != 0 {
				return 0
			}
			if d < len(a.offsets)-1 && a.rowElems(d)*a.dt.Size()%bytes != 0 {
				return 0
			}
		}
	}
	return bytes
}

// vectorTest is the condition under which vector accesses of the given size are right: every address they use is
// aligned and the extent is a multiple of the vector. The parts that are the same for the whole launch are computed
// at the top of the kernel. nil: always.
func (a *access) vectorTest(bytes int) thr.Expr {
	l := a.l
	if a.Shared != nil { // its addresses are known to be aligned
		if l.k.Whole && a.endsWhole() {
			return nil
		}
		if ext := a.ending(); ext != nil {
			return multiple(ext, a.span.Dist.Vec())
		}
		return nil
	}
	p, local := a.aligned(bytes)
	vec := a.span.Dist.Vec()
	if l.k.Whole && a.endsWhole() {
		return local
	}
	if ext := a.ending(); ext != nil {
		if _, isArg := ext.(thr.ArgRef); isArg {
			p = and(p, multiple(ext, vec))
		} else {
			local = and(local, multiple(ext, vec))
		}
	}
	// The launch-uniform part is shared by all accesses of the argument under the same conditions.
	if p != nil {
		p = l.atTop(a.Arg.Name+"_vec", p)
	}
	return and(p, local)
}

// ending is an integer that is a multiple of the vector where the extent of the last axis is one, of the launch if
// possible; nil: it is one.
func (a *access) ending() thr.Expr {
	l, last, vec := a.l, a.span.Rank()-1, a.span.Dist.Vec()
	ext := l.extent(a.span, last)
	if ext == nil || last >= len(a.span.Extent) || a.span.Extent[last] == nil || a.span.Dist.Shape[last]%vec != 0 {
		return ext
	}
	if v := l.flow.remainderOf(a.span.Extent[last], vec); v != l.flow.canonical(a.span.Extent[last]) {
		return l.scalarLocal(v)
	}
	return ext
}

// aligned is the part of vectorTest about addresses: what is the same for the whole launch, and what is not.
func (a *access) aligned(bytes int) (launch, local thr.Expr) {
	n := bytes / a.dt.Size()
	if a.l.k.Whole { // the launch has seen to it
		a.l.needAligned(a.Arg)
		if last := len(a.offsets) - 1; !a.l.flow.isMultiple(a.at[last], n) {
			local = multiple(a.offsets[last], n)
		}
		return nil, local
	}
	launch = call(thr.Aligned, dtype.Bool, thr.ArgRef{Arg: a.l.args.pointer[a.Arg]}, i32(bytes))
	for d, o := range a.offsets {
		last := d == len(a.offsets)-1
		if !last && (!isInt(o, 0) || d >= a.first) {
			launch = and(launch, multiple(a.l.args.strideOf(a.Arg, d), n))
		}
		if last && !a.l.flow.isMultiple(a.at[d], n) {
			local = and(local, multiple(o, n))
		}
	}
	return launch, local
}

// multiple is the test that an integer is a multiple of n; nil: it is.
func multiple(e thr.Expr, n int) thr.Expr {
	if v, ok := intOf(e); ok && v%n == 0 {
		return nil
	}
	return equal(rem(e, n), literal(e.ExprType().DT, 0))
}

// choose emits the vector form where the test holds and the other elsewhere.
func (a *access) choose(vector, single func(bytes int)) {
	bytes := a.vector()
	if bytes == 0 {
		single(0)
		return
	}
	test := a.vectorTest(bytes)
	if test == nil {
		vector(bytes)
		return
	}
	l := a.l
	l.emit(thr.If{At: l.at(), Cond: test, Scope: l.formScope(a.Scope), Then: l.into(func() { vector(bytes) }), Else: l.into(func() { l.hide(a.span, func() { single(0) }) })})
}

// formScope is who agrees on the test between two forms of an access. Both need the same barrier of the cluster, if any:
// it goes before the test, which keeps nobody from it.
func (l *lowering) formScope(s ir.Scope) ir.Scope {
	if l.k.Cluster > 0 {
		return ir.ScopeCluster
	}
	return s
}

// pieces visits the vector accesses of a thread: e is the first element of each, reg its first register.
func (a *access) pieces(bytes int, f func(e elem, reg thr.Expr)) {
	vec := a.span.Dist.Vec()
	n := bytes / a.dt.Size()                  // elements a piece
	regs := max(1, bytes/max(4, a.dt.Size())) // registers a piece
	a.l.unrolled(a.span.Dist.Values()/vec, func(i thr.Expr) {
		for p := range vec / n {
			f(elem{i, vec, p * n}, add(mul(i, i32(vec/n*regs)), i32(p*regs)))
		}
	})
}

func (a *access) space() thr.Space {
	if a.Shared != nil {
		return thr.Shared
	}
	return thr.Global
}

// loadTile lowers a load into a fresh register array.
func (l *lowering) loadTile(v *ir.Value) {
	a := l.newAccess(v, v.Type.DT, v.Type.Span, v.Args)
	l.comment("load %s", a.label())
	x := l.tileArray(v)
	l.tiles[v] = x
	load := func(dst *thr.Local, index, addr, pred thr.Expr, bytes int) {
		if dst.Len == 0 {
			index = nil
		}
		l.emit(thr.Load{At: l.at(), Space: a.space(), Dst: dst, Index: index, Bytes: bytes, Addr: addr, Pred: pred, Cache: a.Cache, Buf: a.shared, Rank: a.rank, Scope: a.Scope})
	}
	a.choose(func(bytes int) {
		a.pieces(bytes, func(e elem, reg thr.Expr) {
			load(x, reg, a.elemAddr(e), a.present(e), bytes)
		})
	}, func(int) {
		n := each(v.Type)
		if n == 1 {
			l.unrolled(a.span.Dist.Values(), func(i thr.Expr) {
				e := elem{i, 1, 0}
				load(x, i, a.elemAddr(e), a.present(e), a.dt.Size())
			})
			return
		}
		names := map[int][]string{2: {"lo", "hi"}, 4: {"b0", "b1", "b2", "b3"}}[n]
		l.unrolled(a.span.Dist.Values()/n, func(i thr.Expr) {
			var all thr.Expr
			for p := range n {
				e := elem{i, n, p}
				part := l.local(names[p], thr.Val(dtype.U32), nil)
				load(part, nil, a.elemAddr(e), a.present(e), a.dt.Size())
				all = withPart(all, ref(part), 8*a.dt.Size()*p)
			}
			l.emit(thr.Assign{At: l.at(), Dst: at(x, i), Src: all})
		})
	})
}

// storeTile lowers a store of a tile that is in registers.
func (l *lowering) storeTile(v *ir.Value) {
	src := l.flow.canonical(v.Args[0])
	x, span := l.tiles[src], v.Type.Span
	a := l.newAccess(v, src.Type.DT, span, v.Args[1:])
	l.comment("store %s", a.label())
	once := l.firstCopy(span)
	pred := func(e elem) thr.Expr { return and(once, l.inside(span, e, allAxes(span)...)) }
	store := func(s thr.Store) {
		s.At, s.Space, s.Cache, s.Buf, s.Rank, s.Scope = l.at(), a.space(), a.Cache, a.shared, a.rank, a.Scope
		l.emit(s)
	}
	a.choose(func(bytes int) {
		a.pieces(bytes, func(e elem, reg thr.Expr) {
			if x.Len == 0 {
				reg = nil
			}
			store(thr.Store{Src: x, Index: reg, Bytes: bytes, Addr: a.elemAddr(e), Pred: pred(e)})
		})
	}, func(int) {
		width := each(src.Type)
		l.unrolled(span.Dist.Values()/width, func(i thr.Expr) {
			for p := range width {
				e := elem{i, width, p}
				var value thr.Expr = at(x, i)
				if p > 0 {
					value = bin(ir.Shr, value, literal(dtype.U32, 8*a.dt.Size()*p))
				}
				store(thr.Store{Value: value, Bytes: a.dt.Size(), Addr: a.elemAddr(e), Pred: pred(e)})
			}
		})
	})
}

func (a *access) label() string {
	if a.Arg != nil {
		return a.Arg.Name
	}
	if a.Peer {
		return a.Shared.Name + " (shared, of a peer)"
	}
	return a.Shared.Name + " (shared)"
}

// materialise puts a tile into registers whatever it is.
func (l *lowering) materialise(v *ir.Value) {
	if v = l.flow.canonical(v); l.tiles[v] == nil {
		l.keep(v)
	}
}

// share gives every thread of a scope the leader's value.
func (l *lowering) share(v *ir.Value, s ir.Scope, x *thr.Local) {
	t := x.Type.DT
	if s == ir.ScopeWarp {
		l.emit(thr.Assign{At: l.at(), Dst: ref(x), Src: call(thr.ShflIdx, t, ref(x), i32(0))})
		return
	}
	parts, part := 1, i32(0)
	if s == ir.ScopeGroup {
		parts, part = l.role.Parts, l.groupIndex()
	}
	b := &thr.SharedBuf{Name: l.names.fresh(x.Name + "_shared"), Bytes: parts * t.Size(), DT: t, Note: fmt.Sprintf("the result of %s", v.Op)}
	l.addShared(b, origin{pos: v.Pos, scratch: true})
	at := address(b, mul(part, i32(t.Size())))
	store := thr.Store{At: l.at(), Space: thr.Shared, Value: ref(x), Bytes: t.Size(), Addr: at, Pred: l.leader(s), Buf: b, Scope: s}
	if s == ir.ScopeCluster { // to every block of the cluster
		l.unrolled(l.k.Cluster, func(i thr.Expr) {
			store.Rank = i
			l.emit(store)
		})
	} else {
		l.emit(store)
	}
	l.emit(thr.Load{At: l.at(), Space: thr.Shared, Dst: x, Bytes: t.Size(), Addr: at, Buf: b, Scope: s})
}

// sharedTile is the buffer of a shared tile.
func (l *lowering) sharedTile(t *ir.SharedTile) *thr.SharedBuf {
	if b := l.sharedBufs[t]; b != nil {
		return b
	}
	b := &thr.SharedBuf{Name: l.names.fresh(t.Name), Bytes: t.Elems() * t.DT.Size(), DT: t.DT, Note: fmt.Sprintf("tile %v", t.Shape), Manual: t.Manual}
	if n := t.Align(); n > sharedAlign {
		b.Align = n
	}
	if t.Swizzle.Bits() > 0 {
		b.Note += fmt.Sprintf(", %d-byte swizzle", t.Swizzle.Width())
	}
	l.addShared(b, origin{pos: t.Pos, tile: t, pipe: t.Pipe})
	l.sharedBufs[t] = b
	return b
}

// addShared puts a buffer into the table.
func (l *lowering) addShared(b *thr.SharedBuf, o origin) {
	l.out.Shared = append(l.out.Shared, b)
	l.origins[b] = o
}
