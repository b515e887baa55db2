package tile

import "github.com/gotile/gotile/internal/ir"

// Reg is a tile in registers: rank 0 (one value, the same in each thread of its scope), 1 or 2. It is immutable; its
// ops are methods where the type stays and functions where it changes.
type Reg[T Elem] struct {
	_ [0]func()
	b *ir.Builder
	v *ir.Value // nil: poisoned by a mistake already reported
}

// Operand is what an op on tiles of T takes: a Reg[T], a Scalar[T], or a host value of type T, which becomes a constant:
// x.Mul(tile.F32(2)). An untyped x.Mul(2) does not compile. In generic code, where T is a type parameter, T(2) is no
// Operand for the compiler: write x.Mul(tile.Const[T](2)). Operands of rank 0 repeat over the others' tile.
type Operand[T Elem] interface{ Operand(T) }

// Operand marks a Reg as an operand.
func (x Reg[T]) Operand(T) {}

// operand is the value of an operand. A host number becomes a constant.
func operand[T Elem](b *ir.Builder, op ir.Op, x Operand[T]) *ir.Value {
	return namedOperand(b, op, operandOf(op), x)
}

// namedOperand is operand with its name in messages: "an operand of Full".
func namedOperand[T Elem](b *ir.Builder, op ir.Op, what string, x Operand[T]) *ir.Value {
	switch x := any(x).(type) {
	case Reg[T]:
		return owned(b, op, what, x.b, x.v)
	case traced:
		xb, v := x.traced()
		return owned(b, op, what, xb, v)
	case T:
		return b.Const(dtypeOf[T](), pattern(x))
	case nil:
		b.Errorf(op, ErrScope, "%s is nil; give a Reg, a Scalar or a number", what)
	default:
		b.Errorf(op, ErrDType, "%s is a %T; give a Reg, a Scalar or a number", what, x)
	}
	return nil
}

// traced is a value of a kernel whose element type does not matter.
type traced interface {
	traced() (*ir.Builder, *ir.Value)
}

func (x Reg[T]) traced() (*ir.Builder, *ir.Value) { return x.b, x.v }

// owned checks that a value belongs to the kernel being recorded.
func owned(b *ir.Builder, op ir.Op, what string, xb *ir.Builder, v *ir.Value) *ir.Value {
	switch {
	case xb == nil:
		b.Errorf(op, ErrScope, "%s was never assigned: it is the zero value of its type; assign it first", what)
		return nil
	case xb != b:
		b.Errorf(op, ErrScope, "%s belongs to kernel %s: values end with their Define; make it in this one", what, xb.Kernel.Name)
		return nil
	}
	return v
}

func operandOf(op ir.Op) string { return "an operand of " + ir.Table[op].Go }

// Rank is the number of axes.
func (x Reg[T]) Rank() int {
	if x.v == nil {
		return 0
	}
	return x.v.Type.Span.Rank()
}

// Span is how the tile lies in registers, with its extents. One value has none.
func (x Reg[T]) Span() Span {
	if x.v == nil {
		return Span{b: x.b}
	}
	if x.v.Type.Span == nil {
		x.b.Errorf(x.v.Op, ErrShape, "Span of one value: it has no axes; take the span of the tile it goes with")
	}
	return Span{b: x.b, s: x.v.Type.Span}
}

func (x Reg[T]) unary(op ir.Op) Reg[T] {
	if x.b == nil {
		return x
	}
	return Reg[T]{b: x.b, v: x.b.Apply(op, nil, 0, x.v)}
}

// builder is the kernel of the first operand that has one.
func builder(xs ...any) *ir.Builder {
	for _, x := range xs {
		if t, ok := x.(traced); ok {
			if b, _ := t.traced(); b != nil {
				return b
			}
		}
	}
	return nil
}

func (x Reg[T]) apply(op ir.Op, ys ...Operand[T]) *Reg[T] {
	b := x.b
	for _, y := range ys {
		if b == nil {
			b = builder(y)
		}
	}
	if b == nil {
		return &Reg[T]{}
	}
	args := []*ir.Value{owned(b, op, operandOf(op), x.b, x.v)}
	for _, y := range ys {
		args = append(args, operand(b, op, y))
	}
	return &Reg[T]{b: b, v: b.Apply(op, nil, 0, args...)}
}

func (x Reg[T]) binary(op ir.Op, y Operand[T]) Reg[T]     { return *x.apply(op, y) }
func (x Reg[T]) ternary(op ir.Op, y, z Operand[T]) Reg[T] { return *x.apply(op, y, z) }
func (x Reg[T]) compare(op ir.Op, y Operand[T]) Reg[Bool] {
	r := x.apply(op, y)
	return Reg[Bool]{b: r.b, v: r.v}
}

// Cast converts to another element type: to nearest even; a float to an integer truncates and saturates, NaN gives 0;
// a Bool gives 0 or 1.
func Cast[D, S Elem](x Reg[S]) Reg[D] {
	if x.b == nil {
		return Reg[D]{}
	}
	if dtypeOf[D]() == dtypeOf[S]() {
		return Reg[D]{b: x.b, v: x.v}
	}
	return Reg[D]{b: x.b, v: x.b.Apply(ir.Cast, nil, dtypeOf[D](), x.v)}
}

// Bitcast takes the bits of x as another type of the same size.
func Bitcast[D, S Number](x Reg[S]) Reg[D] {
	if x.b == nil {
		return Reg[D]{}
	}
	return Reg[D]{b: x.b, v: x.b.Apply(ir.Bitcast, nil, dtypeOf[D](), x.v)}
}

// Select takes a where cond holds and c elsewhere. Operands of rank 0 repeat.
func Select[T Elem](cond Reg[Bool], a, c Operand[T]) Reg[T] {
	b := builder(cond, a, c)
	if b == nil {
		return Reg[T]{}
	}
	return Reg[T]{b: b, v: b.Apply(ir.Select, nil, 0, owned(b, ir.Select, "the condition of Select", cond.b, cond.v), operand(b, ir.Select, a), operand(b, ir.Select, c))}
}

// Full is a tile of a span with one value everywhere.
func Full[T Elem](s Scope, span Span, x Operand[T]) Reg[T] {
	b, scope := scopeOf(s)
	if !sameScope(b, ir.Broadcast, scope, span) {
		return Reg[T]{b: b}
	}
	return Reg[T]{b: b, v: b.Full(span.s, namedOperand(b, ir.Broadcast, "the value of Full", x))}
}

// sameScope checks the span of a call that names a scope.
func sameScope(b *ir.Builder, op ir.Op, s ir.Scope, span Span) bool {
	switch {
	case span.b == nil:
		b.Errorf(op, ErrScope, "the span was never assigned: it is the zero value of its type; assign it first")
	case span.b != b:
		b.Errorf(op, ErrScope, "the span belongs to kernel %s: spans end with their Define; make it in this one", span.b.Kernel.Name)
	case span.s == nil: // spoiled by a mistake that is noted
	case span.s.Scope != s:
		b.Errorf(op, ErrScope, "a span of scope %v at scope %v; name one scope for both", span.s.Scope, s)
	default:
		return true
	}
	return false
}

// Expand repeats v, a tile that lacks an axis of the span like, along that axis: x.Sub(tile.Expand(x.Sum(1), x.Span(), 1)).
func Expand[T Elem](v Reg[T], like Span, axis int) Reg[T] {
	if v.b == nil {
		return v
	}
	if like.b != nil && like.b != v.b {
		v.b.Errorf(ir.Broadcast, ErrScope, "the span belongs to kernel %s: spans end with their Define; make it in this one", like.b.Kernel.Name)
		return Reg[T]{b: v.b}
	}
	return Reg[T]{b: v.b, v: v.b.Expand(v.v, like.s, axis)}
}

// Coord is the coordinate along axis of each element of a tile of a span, counted from the tile's first element.
func Coord(span Span, axis int) Reg[I32] {
	if span.b == nil {
		return Reg[I32]{}
	}
	return Reg[I32]{b: span.b, v: span.b.Coord(span.s, axis)}
}

// Fill gives the elements of x past its extent on the given axes (none: on any axis) a value; the result has no extent
// there. A tile that was clipped needs it before a variable that was not can take it.
func (x Reg[T]) Fill(y Operand[T], axes ...int) Reg[T] {
	if x.b == nil {
		return x
	}
	return Reg[T]{b: x.b, v: x.b.Fill(x.v, operand(x.b, ir.Fill, y), axes...)}
}

func (x Reg[T]) fold() Reg[T] {
	if x.b == nil {
		return x
	}
	return Reg[T]{b: x.b, v: x.b.Fold(x.v)}
}

func (x Reg[T]) reduce(op ir.Op, axes []int) Reg[T] {
	if x.b == nil {
		return x
	}
	return Reg[T]{b: x.b, v: x.b.Reduce(op, x.v, axes...)}
}
