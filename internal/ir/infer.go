package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// elementwise is the one rule for the type of elementwise ops; builder and verifier both ask it. dt is the result type
// of ops that carry it.
func elementwise(op Op, dt dtype.Type, args []*Value) (Type, Scope, *fault) {
	info := &Table[op]
	if info.Arity >= 0 && len(args) != info.Arity {
		return Type{}, 0, faultf(ErrShape, "%s takes %d operands, not %d", info.Go, info.Arity, len(args))
	}
	typed := args
	if op == Select {
		if t := args[0].Type.DT; t != dtype.Bool {
			return Type{}, 0, faultf(ErrDType, "the condition of Select is %v, not bool", t)
		}
		typed = args[1:]
	}
	for _, a := range typed {
		if t := a.Type.DT; !info.Domain.Has(t) {
			return Type{}, 0, faultf(ErrDType, "%s has no %v form: it takes %v%s", info.Go, t, info.Domain, domainHint(info.Domain, t))
		}
		if t := a.Type.DT; op != Asm && t != typed[0].Type.DT {
			return Type{}, 0, faultf(ErrDType, "operands of %s are %v and %v; cast one", info.Go, typed[0].Type.DT, t)
		}
	}
	span, scope, f := merge(op, args)
	if f != nil {
		return Type{}, 0, f
	}
	t := Type{DT: dt, Span: span}
	switch info.Result {
	case Same:
		t.DT = typed[len(typed)-1].Type.DT
	case ToBool:
		t.DT = dtype.Bool
	}
	if op == Bitcast && dt.Size() != args[0].Type.DT.Size() {
		return Type{}, 0, faultf(ErrDType, "Bitcast from %v (%d bytes) to %v (%d bytes): sizes must agree; use Cast", args[0].Type.DT, args[0].Type.DT.Size(), dt, dt.Size())
	}
	if op == Cast && dt == dtype.Bool {
		return Type{}, 0, faultf(ErrDType, "Cast from %v to bool; compare with Ne", args[0].Type.DT)
	}
	return t, scope, nil
}

// String lists the members of a domain.
func (d Domain) String() string {
	var s []string
	for _, m := range []struct {
		d    Domain
		name string
	}{{Floats, "floats"}, {Singles, "f32"}, {Halves, "16-bit floats"}, {Ints, "integers"}, {Bytes, "8-bit types"}, {Bools, "bool"}} {
		if d&m.d == m.d {
			d &^= m.d // f32 is not named again where all floats are
			s = append(s, m.name)
		}
	}
	if s == nil {
		return "none"
	}
	return strings.Join(s, " and ")
}

func domainHint(d Domain, t dtype.Type) string {
	switch {
	case t.Is8() && d&Floats != 0:
		return "; Cast to f32 first"
	case t.Is8():
		return "; Cast to i32 first"
	case d&Floats != 0 && t.IsInt():
		return "; Cast to f32 first"
	case d&Ints != 0 && t.IsFloat():
		return "; Cast or Bitcast to an integer first"
	case t == dtype.Bool:
		return "; Select makes numbers of a bool"
	}
	return ""
}

// merge is the common span and scope of elementwise operands: those of rank 0 repeat over the others' tile.
func merge(op Op, args []*Value) (*Span, Scope, *fault) {
	var span *Span
	scope := ScopeCluster
	for _, a := range args {
		s := a.Type.Span
		if s == nil {
			scope = min(scope, a.Scope)
			continue
		}
		if span == nil {
			span = s
			continue
		}
		var f *fault
		if span, f = join(op, span, s); f != nil {
			return nil, 0, f
		}
	}
	if span == nil {
		return nil, scope, nil
	}
	if scope < span.Scope {
		return nil, 0, faultf(ErrScope, "%s mixes a tile of scope %v with one value of scope %v, which differs among the %s; load the tile at scope %v",
			Table[op].Go, span.Scope, scope, span.Scope.Parts(), scope)
	}
	return span, span.Scope, nil
}

// join is the span of two tiles that meet in one op.
func join(op Op, s, t *Span) (*Span, *fault) {
	name := Table[op].Go
	switch {
	case s == t:
		return s, nil
	case s.Scope != t.Scope:
		return nil, faultf(ErrScope, "operands of %s belong to the %v and to the %v; load both at one scope", name, s.Scope, t.Scope)
	case !slices.Equal(s.Dist.Shape, t.Dist.Shape):
		hint := "give both one span"
		if s.Rank() != t.Rank() {
			hint = "tile.Expand adds the missing axis"
		}
		return nil, faultf(ErrShape, "operands of %s are %s and %s; %s", name, shape(s), shape(t), hint)
	case !s.Dist.Equal(t.Dist):
		return nil, faultf(ErrLayout, "operands of %s are %s spread in two ways, %s and %s; load both with one span, or tile.Redistribute one", name, shape(s), modes(s), modes(t))
	}
	if len(s.Extent) == 0 {
		return t, nil
	}
	if len(t.Extent) == 0 {
		return s, nil
	}
	j := &Span{Scope: s.Scope, Dist: s.Dist, Extent: slices.Clone(s.Extent)}
	for i, e := range j.Extent {
		switch o := t.Extent[i]; {
		case e == nil:
			j.Extent[i] = o
		case o != nil && !SameValue(e, o):
			return nil, faultf(ErrShape, "operands of %s end at %s and at %s along axis %d; clip both at one extent", name, e.expr(), o.expr(), i)
		}
	}
	if slices.Equal(j.Extent, s.Extent) {
		return s, nil
	}
	if slices.Equal(j.Extent, t.Extent) {
		return t, nil
	}
	return j, nil
}

// shape prints the capacity of a tile: 64x128.
func shape(s *Span) string {
	if s == nil {
		return "one value"
	}
	var b strings.Builder
	for i, n := range s.Dist.Shape {
		if i > 0 {
			b.WriteByte('x')
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}

// modes prints a distribution without its shape.
func modes(s *Span) string {
	_, m, _ := strings.Cut(s.Dist.String(), "] ")
	return m
}

// expr prints a value of rank 0 as the author might have written it.
func (v *Value) expr() string {
	if n, ok := intConst(v); ok {
		return fmt.Sprint(n)
	}
	switch v.Op {
	case Dim, Param:
		return v.Name
	case Add, Sub, Mul, Div:
		sign := map[Op]string{Add: "+", Sub: "-", Mul: "*", Div: "/"}[v.Op]
		return "(" + v.Args[0].expr() + sign + v.Args[1].expr() + ")"
	case Min, Max:
		return v.Op.String() + "(" + v.Args[0].expr() + ", " + v.Args[1].expr() + ")"
	case Invalid:
		return "the loop variable of " + v.Pos.String()
	}
	return "the value of " + v.Pos.String()
}

// reduced is the type of a reduction over axes (ascending).
func reduced(t Type, axes []int) Type {
	s := *t.Span
	s.Extent = slices.Clone(s.Extent)
	for _, a := range slices.Backward(axes) {
		s.Dist = s.Dist.Reduce(a)
		if len(s.Extent) > 0 {
			s.Extent = slices.Delete(s.Extent, a, a+1)
		}
	}
	if s.Dist.Rank() == 0 {
		return Type{DT: t.DT}
	}
	s.Extent = trimExtents(s.Extent)
	return Type{DT: t.DT, Span: &s}
}

// folded is the type of a Fold: a vector with one element a thread.
func folded(t Type) Type {
	n := t.Span.Dist.Threads()
	return Type{DT: t.DT, Span: &Span{Scope: t.Span.Scope, Dist: layout.Striped(n, n, 1)}}
}

// trimExtents is nil where no axis has an extent.
func trimExtents(e []*Value) []*Value {
	if slices.ContainsFunc(e, func(v *Value) bool { return v != nil }) {
		return e
	}
	return nil
}

// vector prints what an op takes or gives: a vector of 128, one value.
func vector(s *Span) string {
	switch s.Rank() {
	case 0:
		return "one value"
	case 1:
		return "a vector of " + shape(s)
	}
	return "a tile of " + shape(s)
}

// axisRange says which axes a tile has.
func axisRange(s *Span) string {
	if s.Rank() == 1 {
		return "use axis 0, its only one"
	}
	return fmt.Sprintf("use an axis from 0 to %d", s.Rank()-1)
}

// Count prints a number of things: 1 dimension, 2 dimensions.
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// extent is the extent of an axis; nil: the whole capacity.
func (s *Span) extent(axis int) *Value {
	if len(s.Extent) == 0 {
		return nil
	}
	return s.Extent[axis]
}
