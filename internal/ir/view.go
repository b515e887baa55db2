package ir

import "slices"

// SliceInfo is the attribute of Subtile: N elements along an axis, from Start on.
type SliceInfo struct{ Axis, Start, N int }

// Transpose records the exchange of the axes of a 2-D tile.
func (b *Builder) Transpose(x *Value) *Value {
	if b.poisoned(Transpose, x) {
		return nil
	}
	if n := x.Type.Span.Rank(); n != 2 {
		b.Errorf(Transpose, ErrShape, "Transpose of %s, of rank %d: it exchanges rows and columns; give a tile of rank 2", vector(x.Type.Span), n)
		return nil
	}
	t, err := transposed(x.Type)
	if err != nil {
		b.Errorf(Transpose, ErrLayout, "Transpose: %v", err)
		return nil
	}
	return b.emit(&Value{Op: Transpose, Type: t, Args: []*Value{x}, Scope: t.Span.Scope})
}

func transposed(t Type) (Type, error) {
	d, err := t.Span.Dist.Transpose()
	s := &Span{Scope: t.Span.Scope, Dist: d, Extent: slices.Clone(t.Span.Extent)}
	slices.Reverse(s.Extent)
	return Type{DT: t.DT, Span: s}, err
}

// Subtile records the n elements of x along an axis from start on.
func (b *Builder) Subtile(x *Value, axis, start, n int) *Value {
	if b.poisoned(Subtile, x) {
		return nil
	}
	s := x.Type.Span
	if s == nil {
		b.Errorf(Subtile, ErrShape, "Subtile of one value: it has no axes; drop the call")
		return nil
	}
	if axis < 0 || axis >= s.Rank() {
		b.Errorf(Subtile, ErrShape, "Subtile along axis %d of a tile of %s: %s", axis, shape(s), axisRange(s))
		return nil
	}
	if size := s.Dist.Shape[axis]; n < 1 || start < 0 || start > size-n {
		b.Errorf(Subtile, ErrShape, "Subtile of the %d elements from %d on along axis %d of a tile of %s: give a part of the %d", n, start, axis, shape(s), size)
		return nil
	}
	d, _, _, err := s.Dist.Slice(axis, start, n)
	if err != nil {
		b.Errorf(Subtile, ErrLayout, "Subtile: %v", err)
		return nil
	}
	part := &Span{Scope: s.Scope, Dist: d, Extent: slices.Clone(s.Extent)}
	if e := s.extent(axis); e != nil {
		if part.Extent[axis] = b.Index(Sub, e, b.Int(start)); part.Extent[axis] == nil {
			return nil
		}
	}
	return b.emit(&Value{Op: Subtile, Type: Type{DT: x.Type.DT, Span: part}, Args: []*Value{x}, Attr: SliceInfo{axis, start, n}, Scope: s.Scope})
}

// view checks ops whose result is registers of their operand.
func (c *checker) view(v *Value) {
	x := v.Args[0].Type
	if v.Op == Transpose {
		if x.Span.Rank() != 2 {
			c.fail(v, "of %s", vector(x.Span))
			return
		}
		if t, err := transposed(x); err != nil {
			c.fail(v, "%v", err)
		} else {
			c.typed(v, t)
		}
		return
	}
	a, ok := v.Attr.(SliceInfo)
	if !ok || x.Span == nil {
		c.fail(v, "of %s, %v", vector(x.Span), v.Attr)
		return
	}
	d, _, _, err := x.Span.Dist.Slice(a.Axis, a.Start, a.N)
	if err != nil {
		c.fail(v, "%v", err)
		return
	}
	if x.DT != v.Type.DT || !d.Equal(v.Type.Span.Dist) || v.Type.Span.Scope != x.Span.Scope {
		c.fail(v, "%v of %s %v", x.DT, shape(x.Span), a)
	}
}
