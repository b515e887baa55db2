package tile

import (
	"iter"

	"github.com/gotile/gotile/internal/ir"
)

// Range is a loop over lo, lo+step, .. < hi. Its body is recorded, not run: Go code in it happens while the kernel is
// built, at nesting depth d, d+1 times. What changes from one iteration to the next lives in a Var.
func Range[L, H, S Int](s Scope, lo L, hi H, step S) iter.Seq[Index] {
	b, scope := scopeOf(s)
	return func(yield func(Index) bool) {
		b.Loop(scope, indexOf(b, ir.Range, "the lower bound of Range", lo), indexOf(b, ir.Range, "the upper bound of Range", hi), indexOf(b, ir.Range, "the step of Range", step),
			func(i *ir.Value) bool { return yield(Index{b: b, v: i}) })
	}
}

// LoopOption is an option of Persistent.
type LoopOption func(*persistent)

type persistent struct {
	step   int
	blocks *Index
	each   bool
	looped bool
}

// Step makes an iteration cover n values of the loop variable.
func Step(n int) LoopOption { return func(p *persistent) { p.step = n } }

// Blocks makes the grid exactly as many blocks as a dimension says: for outputs with a row a block. With a loop of the
// cluster it is as many clusters.
func Blocks(dim Index) LoopOption { return func(p *persistent) { p.blocks = &dim } }

// OneBlockEach makes the grid one block an iteration. The hardware then gives a block to a multiprocessor as soon as
// another is done, which balances better than fixed shares; what a block does before the loop is done each time. With a
// loop of the cluster it is one cluster an iteration. As the loop then runs once, it is printed as a straight line.
func OneBlockEach() LoopOption { return func(p *persistent) { p.each = true } }

// Looped prints the loop of OneBlockEach although it runs once. The compiler then allots more registers, so that fewer
// blocks are resident and more of them are at different places of their rows. Which is faster is to be measured.
func Looped() LoopOption { return func(p *persistent) { p.looped = true } }

// Persistent is a loop over 0, step, .. < n whose iterations the blocks of the grid share, or, at warp scope, all
// warps of all blocks, or, at cluster scope, its clusters. The grid is as many blocks as the device holds at once, at
// most one an iteration, in whole clusters. A kernel has one, at its top level; n is known at launch. Without one the
// grid is one block, or one cluster.
func Persistent[N Int](s Scope, n N, opts ...LoopOption) iter.Seq[Index] {
	b, scope := scopeOf(s)
	return func(yield func(Index) bool) {
		p := persistent{step: 1}
		for i, o := range opts {
			if o == nil {
				b.Errorf(ir.Persistent, ErrControl, "option %d of Persistent is nil: drop it", i+1)
				continue
			}
			o(&p)
		}
		bound := indexOf(b, ir.Persistent, "the bound of Persistent", n)
		b.Persist(bound, p.step, ir.PersistentInfo{Scope: scope, Blocks: p.symbol(b), Each: p.each, Looped: p.looped}, func(i *ir.Value) bool { return yield(Index{b: b, v: i}) })
	}
}

// symbol is the dimension of Blocks; nil: there is none.
func (p *persistent) symbol(b *ir.Builder) *ir.Symbol {
	if p.blocks == nil {
		return nil
	}
	v := indexOf(b, ir.Persistent, "the dimension of Blocks", *p.blocks)
	if v == nil {
		return nil
	}
	if v.Op != ir.Dim {
		b.Errorf(ir.Persistent, ErrControl, "Blocks of what is no run-time dimension itself; give one such as a.Out.Dim(0)")
		return nil
	}
	return v.Attr.(*ir.Symbol)
}

// If records then under a condition of rank 0, and els[0], if given, under its opposite. The functions are called
// once, in order. What a branch changes lives in a Var.
func If(s Scope, cond Reg[Bool], then func(), els ...func()) {
	b, scope := scopeOf(s)
	var e func()
	if len(els) > 0 {
		e = els[0]
	}
	if len(els) > 1 {
		b.Errorf(ir.If, ErrControl, "If with %d else functions: it has one; nest another If", len(els))
	}
	if then == nil {
		b.Errorf(ir.If, ErrControl, "If with a nil function; give an empty one")
		return
	}
	b.If(scope, owned(b, ir.If, "the condition of If", cond.b, cond.v), then, e)
}

// While records a loop that runs body as long as cond, computed before each iteration, holds. Both functions are
// recorded as those of Range.
func While(s Scope, cond func() Reg[Bool], body func()) {
	b, scope := scopeOf(s)
	if cond == nil || body == nil {
		b.Errorf(ir.While, ErrControl, "While with a nil function; give both")
		return
	}
	b.While(scope, func() *ir.Value {
		c := cond()
		return owned(b, ir.While, "the condition of While", c.b, c.v)
	}, body)
}

// Var is an explicit variable: what loops and branches change.
type Var[T Elem] struct {
	_ [0]func()
	b *ir.Builder
	v *ir.Value
}

// NewVar declares a variable of a scope with its first value. A tile variable has the span and the extents of that
// value.
func NewVar[T Elem](s Scope, x Operand[T]) Var[T] {
	b, scope := scopeOf(s)
	return Var[T]{b: b, v: b.NewVar(scope, operand(b, ir.Var, x))}
}

// Get is the value that the variable has at this point.
func (v Var[T]) Get() Reg[T] {
	if v.b == nil {
		return Reg[T]{}
	}
	return Reg[T]{b: v.b, v: v.b.Get(v.v)}
}

// Set assigns to the variable.
func (v Var[T]) Set(x Operand[T]) {
	b := v.b
	if b == nil {
		if b = builder(x); b == nil {
			ir.Fail(ErrScope, "Set of a variable that was never declared: it is the zero value of its type; declare it with tile.NewVar")
		}
		owned(b, ir.Set, "the variable of Set", nil, nil)
		return
	}
	b.Set(v.v, operand(b, ir.Set, x))
}
