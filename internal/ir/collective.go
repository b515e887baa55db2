package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// ScanInfo is the attribute of a scan: along which axis it goes, whether an element counts itself, and from which end.
type ScanInfo struct {
	Axis               int
	Exclusive, Reverse bool
}

func (s ScanInfo) text() string {
	t := ""
	if s.Exclusive {
		t += " exclusive"
	}
	if s.Reverse {
		t += " reverse"
	}
	return t
}

// Scan records a scan of x.
func (b *Builder) Scan(op Op, x *Value, info ScanInfo) *Value {
	if b.poisoned(op, x) || !b.collects(op, x) {
		return nil
	}
	span := x.Type.Span
	if info.Axis < 0 || info.Axis >= span.Rank() {
		b.Errorf(op, ErrShape, "%s along axis %d of a tile of %s: %s", Table[op].Go, info.Axis, shape(span), axisRange(span))
		return nil
	}
	return b.emit(&Value{Op: op, Type: x.Type, Args: []*Value{x}, Attr: info, Scope: span.Scope})
}

// collects checks that a collective op may be of x, here.
func (b *Builder) collects(op Op, x *Value) bool {
	span, info := x.Type.Span, Table[op]
	switch {
	case span == nil:
		b.Errorf(op, ErrShape, "%s of one value: it has no axes; drop the call", info.Go)
		return false
	case !info.Domain.Has(x.Type.DT):
		b.Errorf(op, ErrDType, "%s has no %v form: it takes %v%s", info.Go, x.Type.DT, info.Domain, domainHint(info.Domain, x.Type.DT))
		return false
	case span.Scope == ScopeCluster:
		b.Errorf(op, ErrScope, "%s of a tile of scope cluster: it works within a block; load the tile at scope block", info.Go)
		return false
	}
	return b.executes(op, span.Scope)
}

// Redistribute records that x is spread as a span says from here on.
func (b *Builder) Redistribute(x *Value, span *Span) *Value {
	if b.poisoned(Redistribute, x) || span == nil || !b.collects(Redistribute, x) {
		return nil
	}
	from := x.Type.Span
	switch {
	case from.Scope != span.Scope:
		b.Errorf(Redistribute, ErrScope, "Redistribute of a tile of scope %v to a span of scope %v: it moves elements among the threads of one; store the tile, and load it at scope %v", from.Scope, span.Scope, span.Scope)
		return nil
	case !slices.Equal(from.Dist.Shape, span.Dist.Shape):
		b.Errorf(Redistribute, ErrShape, "Redistribute of a tile of %s to a span of %s; give one of its shape", shape(from), shape(span))
		return nil
	}
	for i := range span.Extent {
		if e, f := from.extent(i), span.extent(i); f != nil && !SameValue(e, f) {
			b.Errorf(Redistribute, ErrShape, "Redistribute to a span that ends at %s along axis %d, where the tile does not: extents stay; give the span without them", f.expr(), i)
			return nil
		}
	}
	if from.Dist.Equal(span.Dist) {
		return x
	}
	out := Span{Scope: span.Scope, Dist: span.Dist, Extent: from.Extent}
	return b.emit(&Value{Op: Redistribute, Type: Type{DT: x.Type.DT, Span: &out}, Args: []*Value{x}, Scope: out.Scope})
}

// ColumnLanes is the span of a square tile of a warp whose column j lies in lane j, and in lane j+n where the tile is
// narrower than the warp.
func ColumnLanes(n int) *Span {
	d := &layout.Dist{Shape: []int{n, n}, Thread: []layout.Mode{{Size: n, Axis: 1, Stride: 1}}, Value: []layout.Mode{{Size: n, Axis: 0, Stride: 1}}}
	if n < 32 {
		d.Thread = append(d.Thread, layout.Mode{Size: 32 / n, Axis: layout.Replicated})
	}
	return &Span{Scope: ScopeWarp, Dist: d}
}

// InverseUnitLower records the inverse of the unit lower triangular matrix whose strictly lower part x has. x may be
// spread in any way; the result is spread like it.
func (b *Builder) InverseUnitLower(x *Value) *Value {
	const op = InverseUnitLower
	if b.poisoned(op, x) || !b.collects(op, x) {
		return nil
	}
	span := x.Type.Span
	n := span.Dist.Shape[0]
	switch {
	case span.Rank() != 2 || span.Dist.Shape[1] != n:
		b.Errorf(op, ErrShape, "InverseUnitLower of %s: a triangular matrix is square; give a tile of as many columns as rows", vector(span))
		return nil
	case n != 4 && n != 8 && n != 16 && n != 32:
		b.Errorf(op, ErrShape, "InverseUnitLower of a tile of %s: the side is 4, 8, 16 or 32, as many lanes as have a column each; use the next larger one with zeros below the diagonal, or tile.InverseUnitLowerBlocks for multiples of 16 up to 64", shape(span))
		return nil
	case span.Scope != ScopeWarp:
		b.Errorf(op, ErrScope, "InverseUnitLower of a tile of scope %v: one warp computes it; load the tile at scope warp", span.Scope)
		return nil
	case len(span.Extent) > 0:
		b.Errorf(op, ErrShape, "InverseUnitLower of a tile with an extent: what lies past it would count; use x.Fill(tile.F32(0)) first")
		return nil
	}
	lanes := ColumnLanes(n)
	if x = b.Redistribute(x, lanes); x == nil {
		return nil
	}
	inv := b.emit(&Value{Op: op, Type: Type{DT: dtype.F32, Span: x.Type.Span}, Args: []*Value{x}, Scope: ScopeWarp})
	if inv == nil {
		return nil
	}
	return b.Redistribute(inv, span)
}

// collective checks an op of the class.
func (c *checker) collective(v *Value, r *Region) {
	c.executes(v, r)
	x := v.Args[0].Type
	if x.Span == nil || !Table[v.Op].Domain.Has(x.DT) || x.Span.Scope == ScopeCluster || x.Span.Scope != v.Scope || x.DT != v.Type.DT {
		c.fail(v, "of %v of %s", x.DT, shape(x.Span))
		return
	}
	switch v.Op {
	case Redistribute:
		s := v.Type.Span
		if s == nil || s.Scope != x.Span.Scope || !slices.Equal(s.Dist.Shape, x.Span.Dist.Shape) ||
			!slices.EqualFunc(trimExtents(s.Extent), trimExtents(x.Span.Extent), SameValue) {
			c.fail(v, "to %s", shape(s))
		}
		return
	case InverseUnitLower:
		if n := x.Span.Dist.Shape[0]; n > 32 || 32%n != 0 || !ColumnLanes(n).SameShape(x.Span) {
			c.fail(v, "of a tile whose columns are not its lanes'")
			return
		}
	default:
		if a, ok := v.Attr.(ScanInfo); !ok || a.Axis < 0 || a.Axis >= x.Span.Rank() {
			c.fail(v, "%v of a tile of rank %d", v.Attr, x.Span.Rank())
			return
		}
	}
	c.typed(v, x)
}
