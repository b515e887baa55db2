package ir

import "slices"

// NewVar records a variable of a scope with its first value.
func (b *Builder) NewVar(s Scope, x *Value) *Value {
	if b.poisoned(Var, x) || !b.holds(Var, s, x) {
		return nil
	}
	return b.emit(&Value{Op: Var, Type: x.Type, Args: []*Value{x}, Scope: s})
}

// holds checks that a variable of scope s can hold x.
func (b *Builder) holds(op Op, s Scope, x *Value) bool {
	if x.Type.Span == nil {
		return b.uniform(op, s, "the value", x)
	}
	if x.Type.Span.Scope != s {
		b.Errorf(op, ErrScope, "a variable of scope %v cannot hold a tile of scope %v; declare it at the tile's scope", s, x.Type.Span.Scope)
		return false
	}
	return true
}

// Get records the value of a variable now.
func (b *Builder) Get(v *Value) *Value {
	if b.poisoned(Get, v) {
		return nil
	}
	return b.emit(&Value{Op: Get, Type: v.Type, Args: []*Value{v}, Scope: v.Scope})
}

// Set records an assignment.
func (b *Builder) Set(v, x *Value) {
	if b.poisoned(Set, v, x) || !b.executes(Set, v.Scope) || !b.holds(Set, v.Scope, x) {
		return
	}
	if f := assignable(v.Type.Span, x.Type.Span); f != nil {
		b.fault(Set, f)
		return
	}
	b.emit(&Value{Op: Set, Args: []*Value{v, x}, Scope: v.Scope})
}

// assignable checks that a variable with span s can take a tile with span t: all elements that the variable has must
// be there.
func assignable(s, t *Span) *fault {
	if (s == nil) != (t == nil) || s != nil && !slices.Equal(s.Dist.Shape, t.Dist.Shape) {
		return faultf(ErrShape, "Set of a variable of %s to %s; give it a tile of its shape", shape(s), shape(t))
	}
	if s == nil || s == t {
		return nil
	}
	if !s.Dist.Equal(t.Dist) {
		return faultf(ErrLayout, "Set of a variable spread %s to a tile spread %s; load both with one span", modes(s), modes(t))
	}
	for i, e := range t.Extent {
		if e == nil {
			continue
		}
		if len(s.Extent) == 0 || s.Extent[i] == nil {
			return faultf(ErrShape, "Set of a variable without an extent on axis %d to a tile that ends at %s: elements past it hold anything; use x.Fill first, or clip the variable's first value", i, e.expr())
		}
		if !SameValue(s.Extent[i], e) {
			return faultf(ErrShape, "Set of a variable that ends at %s to a tile that ends at %s on axis %d; use x.Fill first", s.Extent[i].expr(), e.expr(), i)
		}
	}
	return nil
}
