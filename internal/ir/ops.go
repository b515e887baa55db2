package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// poisoned reports whether a value is missing because of a mistake, which has been noted; that it has is checked here,
// so that nothing is ever left out of a kernel in silence.
func (b *Builder) poisoned(op Op, vs ...*Value) bool {
	bad := slices.Contains(vs, nil)
	if bad && len(b.errs) == 0 {
		b.Errorf(op, ErrScope, "an operand of %s has no value: an atomic on a tile returns none; load the memory afterwards", Table[op].Go)
	}
	return bad
}

// Apply records an elementwise op. dt is the result type of Cast, Bitcast and Asm, which carry theirs.
func (b *Builder) Apply(op Op, attr any, dt dtype.Type, args ...*Value) *Value {
	if b.poisoned(op, args...) {
		return nil
	}
	t, scope, f := elementwise(op, dt, args)
	if f != nil {
		b.fault(op, f)
		return nil
	}
	return b.emit(&Value{Op: op, Type: t, Args: args, Attr: attr, Scope: scope})
}

// Index records integer arithmetic on i32 values of rank 0; constants and neutral operands fold.
func (b *Builder) Index(op Op, x, y *Value) *Value {
	if b.poisoned(op, x, y) {
		return nil
	}
	n, xConst := intConst(x)
	m, yConst := intConst(y)
	if yConst && m == 0 && (op == Div || op == Rem) {
		b.Errorf(op, ErrShape, "%s of an index by 0; give a positive divisor", Table[op].Go)
		return nil
	}
	if xConst && yConst {
		if r, ok := fold(op, int32(n), int32(m)); ok {
			return b.Int(int(r))
		}
	}
	switch {
	case yConst && (m == 0 && (op == Add || op == Sub) || m == 1 && (op == Mul || op == Div)):
		return x
	case xConst && (n == 0 && op == Add || n == 1 && op == Mul):
		return y
	case op == Mul && (xConst && n == 0 || yConst && m == 0):
		return b.Int(0)
	case x == y && (op == Min || op == Max):
		return x
	}
	return b.Apply(op, nil, dtype.I32, x, y)
}

// fold computes as the GPU does: 32 bits, wrapping.
func fold(op Op, x, y int32) (int32, bool) {
	switch op {
	case Add:
		return x + y, true
	case Sub:
		return x - y, true
	case Mul:
		return x * y, true
	case Div:
		return x / y, true
	case Rem:
		return x % y, true
	case Min:
		return min(x, y), true
	case Max:
		return max(x, y), true
	}
	return 0, false
}

// Reduce records a reduction of x over axes; none: all.
func (b *Builder) Reduce(op Op, x *Value, axes ...int) *Value {
	if b.poisoned(op, x) {
		return nil
	}
	span, name := x.Type.Span, Table[op].Go
	if span == nil {
		b.Errorf(op, ErrShape, "%s of one value: there is no axis left to reduce; drop the call", name)
		return nil
	}
	if !Table[op].Domain.Has(x.Type.DT) {
		b.Errorf(op, ErrDType, "%s has no %v form: it takes %v%s", name, x.Type.DT, Table[op].Domain, domainHint(Table[op].Domain, x.Type.DT))
		return nil
	}
	axes = slices.Clone(axes)
	if len(axes) == 0 {
		for i := range span.Rank() {
			axes = append(axes, i)
		}
	}
	slices.Sort(axes)
	for i, a := range axes {
		if a < 0 || a >= span.Rank() {
			b.Errorf(op, ErrShape, "%s over axis %d of a tile of %s: %s", name, a, shape(span), axisRange(span))
			return nil
		}
		if i > 0 && axes[i-1] == a {
			b.Errorf(op, ErrShape, "%s names axis %d twice; drop one", name, a)
			return nil
		}
	}
	if !b.executes(op, span.Scope) {
		return nil
	}
	return b.emit(&Value{Op: op, Type: reduced(x.Type, axes), Args: []*Value{x}, Attr: axes, Scope: span.Scope})
}

// Fold records the sums of what each thread holds of x.
func (b *Builder) Fold(x *Value) *Value {
	if b.poisoned(Fold, x) {
		return nil
	}
	span := x.Type.Span
	switch {
	case span == nil:
		b.Errorf(Fold, ErrShape, "Fold of one value: each thread has it; drop the call")
		return nil
	case !Table[Fold].Domain.Has(x.Type.DT):
		b.Errorf(Fold, ErrDType, "Fold has no %v form: it takes %v%s", x.Type.DT, Table[Fold].Domain, domainHint(Table[Fold].Domain, x.Type.DT))
		return nil
	case span.Dist.Copies() > 1:
		b.Errorf(Fold, ErrLayout, "Fold of a tile of which %d threads hold the same element: its sum would count each %d times; use Sum", span.Dist.Copies(), span.Dist.Copies())
		return nil
	}
	if !b.executes(Fold, span.Scope) {
		return nil
	}
	return b.emit(&Value{Op: Fold, Type: folded(x.Type), Args: []*Value{x}, Scope: span.Scope})
}

// Expand records the broadcast of x along axis of a tile like span.
func (b *Builder) Expand(x *Value, span *Span, axis int) *Value {
	if b.poisoned(Broadcast, x) || span == nil {
		return nil
	}
	if axis < 0 || axis >= span.Rank() {
		b.Errorf(Broadcast, ErrShape, "Expand along axis %d of a tile of %s: %s", axis, shape(span), axisRange(span))
		return nil
	}
	part := reduced(Type{DT: x.Type.DT, Span: span}, []int{axis}).Span
	if part == nil || x.Type.Span == nil {
		if part == nil && x.Type.Span == nil {
			return b.Full(span, x)
		}
		b.Errorf(Broadcast, ErrShape, "Expand of %s along axis %d of a tile of %s: give %s, or use tile.Full to repeat one value", vector(x.Type.Span), axis, shape(span), vector(part))
		return nil
	}
	if !slices.Equal(part.Dist.Shape, x.Type.Span.Dist.Shape) {
		b.Errorf(Broadcast, ErrShape, "Expand of %s along axis %d of a tile of %s: give %s, which a reduction over axis %d gives", vector(x.Type.Span), axis, shape(span), vector(part), axis)
		return nil
	}
	if !part.Dist.Equal(x.Type.Span.Dist) {
		b.Errorf(Broadcast, ErrLayout, "Expand along axis %d of a vector spread %s: the tile's own is %s; load it with the span's Axis(%d), or reduce the tile", axis, modes(x.Type.Span), modes(part), 1-axis)
		return nil
	}
	both, f := join(Broadcast, part, x.Type.Span)
	if f != nil {
		b.fault(Broadcast, f)
		return nil
	}
	out := *span
	if len(both.Extent) > 0 || len(span.Extent) > 0 {
		var along *Value
		if len(span.Extent) > 0 {
			along = span.Extent[axis]
		}
		rest := both.Extent
		if len(rest) == 0 {
			rest = make([]*Value, part.Rank())
		}
		out.Extent = trimExtents(slices.Insert(slices.Clone(rest), axis, along))
	}
	return b.broadcast(x, &out)
}

// Full records the broadcast of one value over a tile.
func (b *Builder) Full(span *Span, x *Value) *Value {
	if b.poisoned(Broadcast, x) || span == nil {
		return nil
	}
	if x.Type.Span != nil {
		b.Errorf(Broadcast, ErrShape, "Full of a tile of %s: it repeats one value; use Expand", shape(x.Type.Span))
		return nil
	}
	if x.Scope < span.Scope {
		b.Errorf(Broadcast, ErrScope, "the value of Full differs among the %v's %s (it comes from %s); use the %v as the scope", span.Scope, span.Scope.Parts(), x.Pos, x.Scope)
		return nil
	}
	return b.broadcast(x, span)
}

func (b *Builder) broadcast(x *Value, span *Span) *Value {
	return b.emit(&Value{Op: Broadcast, Type: Type{DT: x.Type.DT, Span: span}, Args: []*Value{x}, Attr: span, Scope: span.Scope})
}

// Coord records the coordinates of a tile's elements along an axis.
func (b *Builder) Coord(span *Span, axis int) *Value {
	if span == nil {
		return nil
	}
	if axis < 0 || axis >= span.Rank() {
		b.Errorf(Coord, ErrShape, "Coord along axis %d of a tile of %s: %s", axis, shape(span), axisRange(span))
		return nil
	}
	return b.emit(&Value{Op: Coord, Type: Type{DT: dtype.I32, Span: span}, Attr: axis, Scope: span.Scope})
}

// Fill records that elements of x past the extent on one of the axes, none: of any, take the value of y.
func (b *Builder) Fill(x, y *Value, axes ...int) *Value {
	if b.poisoned(Fill, x, y) {
		return nil
	}
	if x.Type.Span == nil {
		b.Errorf(Fill, ErrShape, "Fill of one value: only tiles have masked elements; drop the call")
		return nil
	}
	if !b.uniform(Fill, x.Type.Span.Scope, "the value", y) {
		return nil
	}
	from := x.Type.Span
	for _, a := range axes {
		if a < 0 || a >= from.Rank() {
			b.Errorf(Fill, ErrShape, "Fill along axis %d of a tile of %s: %s", a, shape(from), axisRange(from))
			return nil
		}
	}
	var filled []int
	span := &Span{Scope: from.Scope, Dist: from.Dist, Extent: slices.Clone(from.Extent)}
	for a, e := range from.Extent {
		if e != nil && (len(axes) == 0 || slices.Contains(axes, a)) {
			filled, span.Extent[a] = append(filled, a), nil
		}
	}
	if len(filled) == 0 {
		return x
	}
	span.Extent = trimExtents(span.Extent)
	return b.emit(&Value{Op: Fill, Type: Type{DT: x.Type.DT, Span: span}, Args: []*Value{x, y}, Attr: filled, Scope: span.Scope})
}

// Position records where a thread, a block or a cluster stands.
func (b *Builder) Position(op Op) *Value {
	scope := ScopeCluster
	switch op {
	case WarpID:
		scope = ScopeWarp
	case BlockID, ClusterRank:
		scope = ScopeBlock
	}
	return b.emit(&Value{Op: op, Type: Type{DT: dtype.I32}, Scope: scope})
}

// Elect records the election of a lane of each warp.
func (b *Builder) Elect() *Value {
	span := &Span{Scope: ScopeWarp, Dist: layout.Striped(32, 32, 1)}
	return b.emit(&Value{Op: Elect, Type: Type{DT: dtype.Bool, Span: span}, Scope: ScopeWarp})
}

// Sync records a barrier of the block, of a group or of each warp.
func (b *Builder) Sync(s Scope) {
	if b.executes(Barrier, s) {
		b.emit(&Value{Op: Barrier, Scope: s})
	}
}

// ClusterSync records a barrier of the cluster.
func (b *Builder) ClusterSync() {
	if b.executes(ClusterBarrier, ScopeCluster) {
		b.emit(&Value{Op: ClusterBarrier, Scope: ScopeCluster})
	}
}
