package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// rules checks what the op's class demands.
func (c *checker) rules(v *Value, r *Region) {
	switch Table[v.Op].Class {
	case Elementwise:
		t, scope, f := elementwise(v.Op, v.Type.DT, v.Args)
		if f != nil {
			c.fail(v, "%s", f.msg)
		} else {
			c.typed(v, t)
			if v.Scope != scope {
				c.fail(v, "its scope is %v, its operands' %v", v.Scope, scope)
			}
		}
	case Shape:
		c.shape(v)
	case Reduction:
		if v.Op == Fold {
			c.fold(v, r)
			return
		}
		axes, ok := v.Attr.([]int)
		s := v.Args[0].Type.Span
		if !ok || s == nil || len(axes) == 0 || !slices.IsSorted(axes) || axes[0] < 0 || axes[len(axes)-1] >= s.Rank() || len(slices.Compact(slices.Clone(axes))) != len(axes) {
			c.fail(v, "axes %v of a tile of rank %d", v.Attr, s.Rank())
			return
		}
		if !Table[v.Op].Domain.Has(v.Type.DT) {
			c.fail(v, "it has no %v form", v.Type.DT)
		}
		c.typed(v, reduced(v.Args[0].Type, axes))
		c.executes(v, r)
	case Collective:
		c.collective(v, r)
	case Variable:
		c.variable(v, r)
	case Memory:
		c.memory(v, r)
	case Control:
		c.control(v, r)
	case Async:
		c.async(v, r)
	case Matrix:
		c.matrix(v, r)
	case Position:
		c.typed(v, Type{DT: dtype.I32})
	}
}

func (c *checker) fold(v *Value, r *Region) {
	s := v.Args[0].Type.Span
	if s == nil || s.Dist.Copies() > 1 {
		c.fail(v, "of %s", vector(s))
		return
	}
	if !Table[Fold].Domain.Has(v.Type.DT) {
		c.fail(v, "it has no %v form", v.Type.DT)
	}
	c.typed(v, folded(v.Args[0].Type))
	c.executes(v, r)
}

// executes checks that the op's scope fits its region's.
func (c *checker) executes(v *Value, r *Region) {
	if v.Scope > r.scope() {
		c.fail(v, "scope %v inside a region of scope %v", v.Scope, r.scope())
	}
}

func (c *checker) typed(v *Value, t Type) {
	if v.Type.DT != t.DT || !sameSpan(v.Type.Span, t.Span) {
		c.fail(v, "its type is %v of %s, not %v of %s", v.Type.DT, shape(v.Type.Span), t.DT, shape(t.Span))
	}
}

// sameSpan is SameShape with equal extents.
func sameSpan(s, t *Span) bool {
	if !s.SameShape(t) {
		return false
	}
	return s == t || slices.EqualFunc(trimExtents(s.Extent), trimExtents(t.Extent), SameValue)
}

func (c *checker) shape(v *Value) {
	s := v.Type.Span
	if s == nil {
		c.fail(v, "its result has rank 0")
		return
	}
	if v.Scope != s.Scope {
		c.fail(v, "its scope is %v, its tile's %v", v.Scope, s.Scope)
	}
	switch v.Op {
	case Transpose, Subtile:
		c.view(v)
	case Elect:
		if v.Type.DT != dtype.Bool || !s.Dist.Equal(layout.Striped(32, 32, 1)) {
			c.fail(v, "it is %v of %s", v.Type.DT, shape(s))
		}
	case Coord:
		if a, ok := v.Attr.(int); !ok || a < 0 || a >= s.Rank() || v.Type.DT != dtype.I32 {
			c.fail(v, "axis %v of a tile of rank %d, type %v", v.Attr, s.Rank(), v.Type.DT)
		}
	case Broadcast:
		x := v.Args[0].Type
		ok := x.Span == nil
		for a := 0; a < s.Rank() && !ok; a++ {
			ok = reduced(v.Type, []int{a}).Span.SameShape(x.Span)
		}
		if !ok || x.DT != v.Type.DT || v.Attr != any(s) {
			c.fail(v, "%s %v cannot repeat over %s %v", shape(x.Span), x.DT, shape(s), v.Type.DT)
		}
	case Fill:
		x, y := v.Args[0].Type, v.Args[1].Type
		if _, ok := v.Attr.([]int); !ok || !s.SameShape(x.Span) || x.DT != v.Type.DT || y != (Type{DT: x.DT}) {
			c.fail(v, "its operands are %v of %s and %v of %s", x.DT, shape(x.Span), y.DT, shape(y.Span))
		}
	}
}

func (c *checker) variable(v *Value, r *Region) {
	if v.Op == Var {
		c.typed(v, v.Args[0].Type)
		return
	}
	d := v.Args[0]
	if d.Op != Var {
		c.fail(v, "its first operand is no variable but %v", d.Op)
		return
	}
	if v.Scope != d.Scope {
		c.fail(v, "its scope is %v, the variable's %v", v.Scope, d.Scope)
	}
	if v.Op == Get {
		c.typed(v, d.Type)
		return
	}
	c.executes(v, r)
	x := v.Args[1]
	if f := assignable(d.Type.Span, x.Type.Span); f != nil {
		c.fail(v, "%s", f.msg)
	}
	if x.Type.DT != d.Type.DT {
		c.fail(v, "a variable of %v takes %v", d.Type.DT, x.Type.DT)
	}
}

// values is the number of operands of a memory op before its offsets.
func values(op Op) int {
	switch op {
	case Load, LoadMatrix:
		return 0
	case AtomicCAS:
		return 2
	}
	return 1
}

func (c *checker) memory(v *Value, r *Region) {
	c.executes(v, r)
	a, ok := v.Attr.(*Access)
	switch {
	case !ok || (a.Arg == nil) == (a.Shared == nil):
		c.fail(v, "it names no buffer, or two")
		return
	case a.Arg != nil && !slices.Contains(c.k.Args, a.Arg) || a.Shared != nil && !slices.Contains(c.k.Shared, a.Shared):
		c.fail(v, "its buffer is not the kernel's")
		return
	}
	if a.Shared != nil && v.Scope == ScopeCluster || a.Peer && (a.Shared == nil || c.k.Cluster == 0) {
		c.fail(v, "the cluster has no shared tile, and a kernel without clusters no peers")
	}
	if a.Shared != nil && !r.inside(a.Shared.In) {
		c.fail(v, "its shared tile ends with another region")
	}
	if o := a.Order; o != Relaxed && (a.Arg == nil || v.Type.Span != nil || a.Cache != CacheDefault || v.Op == Load && o != Acquire || v.Op == Store && o != Release) {
		c.fail(v, "order %v on it", o)
	}
	n := values(v.Op)
	if len(v.Args) != n+a.Dims() {
		c.fail(v, "it has %d operands, not %d and %d offsets", len(v.Args), n, a.Dims())
		return
	}
	for _, o := range v.Args[n:] {
		if o.Type != (Type{DT: dtype.I32}) {
			c.fail(v, "an offset is %v of rank %d, not an i32 of rank 0", o.Type.DT, o.Type.Span.Rank())
		} else if o.Scope < v.Scope {
			c.fail(v, "an offset differs among the %v's threads", v.Scope)
		}
	}
	dt := dtype.Invalid
	if a.Arg != nil {
		dt = a.Arg.DT
	} else {
		dt = a.Shared.DT
	}
	dims := a.Dims()
	if a.Peer { // the first offset is a block's number
		dims--
	}
	if v.Type.Span.Rank() > dims {
		c.fail(v, "a tile of rank %d on a buffer of rank %d", v.Type.Span.Rank(), dims)
	}
	if v.Type.Span != nil && v.Type.Span.Scope != v.Scope {
		c.fail(v, "a tile of scope %v at scope %v", v.Type.Span.Scope, v.Scope)
	}
	if v.Op == Load {
		if v.Type.DT != dt {
			c.fail(v, "it loads %v from %v", v.Type.DT, dt)
		}
		return
	}
	span, _, f := merge(v.Op, v.Args[:n])
	if f != nil || !span.SameShape(v.Type.Span) {
		c.fail(v, "it stores %s as %s", shape(span), shape(v.Type.Span))
	}
	for _, x := range v.Args[:n] {
		if x.Type.DT != dt {
			c.fail(v, "it stores %v to %v", x.Type.DT, dt)
		}
	}
	want := dtype.Invalid
	if v.Op != Store && v.Type.Span == nil {
		want = dt
	}
	if v.Type.DT != want {
		c.fail(v, "its result is %v, not %v", v.Type.DT, want)
	}
}

func (c *checker) control(v *Value, r *Region) {
	c.executes(v, r)
	regions, ind := 1, false
	switch v.Op {
	case Barrier, ClusterBarrier:
		regions = 0
	case Roles:
		c.roles(v)
		return
	case Range, Persistent:
		ind = true
		for _, a := range v.Args {
			if a.Type != (Type{DT: dtype.I32}) || a.Scope < v.Scope {
				c.fail(v, "a bound is not an i32 that the %v shares", v.Scope)
			}
		}
		if v.Op == Persistent {
			if _, ok := v.Attr.(*PersistentInfo); !ok || r.Owner != nil || !hostValue(v.Args[0]) || v.Args[1].Op != Const {
				c.fail(v, "it is not at the top level, or its bounds are not known at launch")
			}
		}
	case If, While:
		regions = 2
	}
	if len(v.Regions) != regions || regions > 0 && v.Regions[0] == nil || v.Op == While && v.Regions[1] == nil {
		c.fail(v, "it has %d regions, not %d", len(v.Regions), regions)
		return
	}
	for i, in := range v.Regions {
		if in == nil {
			continue
		}
		if (in.Ind != nil) != ind {
			c.fail(v, "an induction variable is missing or too much")
		}
		if (in.Yield != nil) != (v.Op == While && i == 0) {
			c.fail(v, "a yield is missing or too much")
		}
	}
	cond := (*Value)(nil)
	switch v.Op {
	case If:
		cond = v.Args[0]
	case While:
		cond = v.Regions[0].Yield
	}
	if cond != nil && (cond.Type != (Type{DT: dtype.Bool}) || cond.Scope < v.Scope) {
		c.fail(v, "its condition is not a bool that the %v shares", v.Scope)
	}
}
