package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// Fragments are the tiles of tensor cores: layout.Fragment over a warp or a warpgroup. Which of them, or which transpose of
// one, is all that the ops here ask of a tile.

// warps is the number of warps of a fragment's scope; 0: it has none.
func (s *Span) warps() int {
	switch s.Dist.Threads() {
	case 32:
		return 1
	case 32 * WarpgroupWarps:
		return WarpgroupWarps
	}
	return 0
}

// IsFragment reports whether a tile is spread as a fragment.
func (s *Span) IsFragment() bool {
	if s.Rank() != 2 {
		return false
	}
	d, err := layout.Fragment(s.Dist.Shape[0], s.Dist.Shape[1], s.warps())
	return err == nil && d.Equal(s.Dist)
}

// transpose is the span of the transposed tile, of rank 2.
func (s *Span) transpose() *Span {
	d, err := s.Dist.Transpose()
	if err != nil {
		panic(err)
	}
	t := &Span{Scope: s.Scope, Dist: d}
	if len(s.Extent) > 0 {
		t.Extent = []*Value{s.Extent[1], s.Extent[0]}
	}
	return t
}

// fragment checks that a tile is a fragment or the transpose of one; trans says which.
func (b *Builder) fragment(op Op, what string, s *Span) (trans, ok bool) {
	switch {
	case s.IsFragment():
		return false, true
	case s.Rank() == 2 && s.transpose().IsFragment():
		return true, true
	}
	b.Errorf(op, ErrLayout, "%s of %s is %s spread %s, no fragment of tensor cores; load it with the Fragment of a warp or a warpgroup, or its Transpose", what, Table[op].Go, shape(s), modes(s))
	return false, false
}

// modes16 checks that an op of matrices is on elements of 16 bits.
func (b *Builder) halves(op Op, dt dtype.Type) bool {
	if dt.Is16() {
		return true
	}
	b.Errorf(op, ErrDType, "%s of %v: its instruction moves matrices of 16-bit elements; use tile.Load and tile.Store", Table[op].Go, dt)
	return false
}

// matrixPlace checks the place of matrices of shape rows x cols in a shared tile, which they may not leave.
func (b *Builder) matrixPlace(op Op, s Scope, p Place, span *Span) ([]*Value, bool) {
	if p.Shared == nil || p.Peer {
		b.Errorf(op, ErrLayout, "%s of %s: matrices are read from and written to the block's own shared memory; give a tile.Shared, and copy with tile.Load and tile.Store elsewhere", Table[op].Go, p.Name())
		return nil, false
	}
	offs, clipped, ok := b.place(op, s, p, span)
	if !ok {
		return nil, false
	}
	if clipped != span {
		b.Errorf(op, ErrShape, "%s of %s at an offset from which %s, a tile of %s, may be passed; give offsets that leave it inside", Table[op].Go, shape(span), p.Name(), sides(p.Shared.Shape))
		return nil, false
	}
	size := p.Shared.DT.Size()
	if row := p.Shared.PanelCols() * size; row%16 != 0 {
		b.Errorf(op, ErrLayout, "%s of %s, whose rows are %d bytes: a row of a matrix is 16 bytes, at a multiple of 16; make the rows of the tile a multiple of %d elements", Table[op].Go, p.Name(), row, 16/size)
		return nil, false
	}
	if n, ok := intConst(offs[len(offs)-1]); ok && n*size%16 != 0 {
		b.Errorf(op, ErrLayout, "%s of %s at column %d: a row of a matrix is 16 bytes, at a multiple of 16; use a multiple of %d", Table[op].Go, p.Name(), n, 16/size)
		return nil, false
	}
	return offs, true
}

// LoadMatrix records a load of a fragment, or of the transpose of one.
func (b *Builder) LoadMatrix(s Scope, p Place, span *Span) *Value {
	if span == nil || p.Shared != nil && !b.halves(LoadMatrix, p.Shared.DT) {
		return nil
	}
	if _, ok := b.fragment(LoadMatrix, "the tile", span); !ok {
		return nil
	}
	if len(span.Extent) > 0 {
		b.Errorf(LoadMatrix, ErrShape, "LoadMatrix of a span with extents: the instruction loads whole matrices; drop the Clip, and Fill what it loads")
		return nil
	}
	offs, ok := b.matrixPlace(LoadMatrix, s, p, span)
	if !ok {
		return nil
	}
	return b.emit(&Value{Op: LoadMatrix, Type: Type{DT: p.Shared.DT, Span: span}, Args: offs, Scope: s, Attr: &Access{Shared: p.Shared}})
}

// StoreMatrix records a store of a fragment, or of the transpose of one.
func (b *Builder) StoreMatrix(s Scope, p Place, x *Value) {
	if b.poisoned(StoreMatrix, x) || !b.halves(StoreMatrix, x.Type.DT) {
		return
	}
	span := x.Type.Span
	if span == nil {
		b.Errorf(StoreMatrix, ErrShape, "StoreMatrix of one value: it stores fragments; use tile.Store")
		return
	}
	if _, ok := b.fragment(StoreMatrix, "the tile", span); !ok {
		return
	}
	if len(span.Extent) > 0 {
		b.Errorf(StoreMatrix, ErrShape, "StoreMatrix of a tile with extents: the instruction stores whole matrices; use Fill first, or tile.Store")
		return
	}
	if offs, ok := b.matrixPlace(StoreMatrix, s, p, span); ok {
		b.emit(&Value{Op: StoreMatrix, Type: Type{Span: span}, Args: append([]*Value{x}, offs...), Scope: s, Attr: &Access{Shared: p.Shared}})
	}
}

// MoveMatrix records the change of a tile from a fragment to the transpose of one, or back.
func (b *Builder) MoveMatrix(x *Value) *Value {
	if b.poisoned(MoveMatrix, x) || !b.halves(MoveMatrix, x.Type.DT) {
		return nil
	}
	span := x.Type.Span
	if span == nil {
		b.Errorf(MoveMatrix, ErrShape, "MoveMatrix of one value: it moves the elements of fragments; drop the call")
		return nil
	}
	trans, ok := b.fragment(MoveMatrix, "the tile", span)
	if !ok || !b.executes(MoveMatrix, span.Scope) {
		return nil
	}
	to := moved(span, trans)
	if span.warps() != 1 || to == nil {
		b.Errorf(MoveMatrix, ErrLayout, "MoveMatrix of %s over a %v: elements move within a warp, and both sides of the tile are multiples of 16; use a warp's fragment of such sides, or pass through a shared tile", shape(span), span.Scope)
		return nil
	}
	return b.emit(&Value{Op: MoveMatrix, Type: Type{DT: x.Type.DT, Span: to}, Args: []*Value{x}, Scope: span.Scope})
}

// moved is the other of the two spreads of a tile over a warp: fragment and transpose of one; nil: it has none.
func moved(s *Span, trans bool) *Span {
	m, n := s.Dist.Shape[0], s.Dist.Shape[1]
	if trans {
		d, err := layout.Fragment(m, n, 1)
		if err != nil {
			return nil
		}
		return &Span{Scope: s.Scope, Dist: d, Extent: s.Extent}
	}
	d, err := layout.Fragment(n, m, 1)
	if err != nil {
		return nil
	}
	if d, err = d.Transpose(); err != nil {
		return nil
	}
	return &Span{Scope: s.Scope, Dist: d, Extent: s.Extent}
}

// matrix checks the ops of tensor cores.
func (c *checker) matrix(v *Value, r *Region) {
	c.executes(v, r)
	switch v.Op {
	case LoadMatrix, StoreMatrix:
		a, ok := v.Attr.(*Access)
		if !ok || a.Arg != nil || a.Peer || !slices.Contains(c.k.Shared, a.Shared) || !r.inside(a.Shared.In) {
			c.fail(v, "its shared tile is not the kernel's")
			return
		}
		n := 0
		if v.Op == StoreMatrix {
			n = 1
		}
		if s := v.Type.Span; s == nil || len(s.Extent) > 0 || !s.IsFragment() && !s.transpose().IsFragment() || len(v.Args) != n+len(a.Shared.Shape) ||
			n == 1 && (!v.Args[0].Type.Span.SameShape(s) || v.Args[0].Type.DT != a.Shared.DT) {
			c.fail(v, "it moves %s at %d operands", shape(s), len(v.Args))
		}
	case MoveMatrix:
		x := v.Args[0].Type
		if x.DT != v.Type.DT || x.Span == nil || v.Type.Span == nil || !slices.Equal(x.Span.Dist.Shape, v.Type.Span.Dist.Shape) || x.Span.IsFragment() == v.Type.Span.IsFragment() {
			c.fail(v, "it moves %s to %s", modes(x.Span), modes(v.Type.Span))
		}
	case MMA:
		c.mma(v, r)
	case WaitMMA:
		if n, ok := v.Attr.(Groups); !ok || n < 0 || n > maxMMAs {
			c.fail(v, "it waits for %v MMAs", v.Attr)
		}
	}
}
