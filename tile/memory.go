package tile

import (
	"fmt"

	"github.com/gotile/gotile/internal/ir"
)

// Hint says how an access uses the caches. The zero Hint says nothing.
type Hint uint8

// The hints. Measure them: they are not free.
const (
	Streaming  Hint = Hint(ir.CacheStreaming)  // read or written once: evict first (.cs)
	ReadOnly   Hint = Hint(ir.CacheReadOnly)   // nothing writes it while the kernel runs: the read-only path (.nc)
	L2Only     Hint = Hint(ir.CacheGlobal)     // not in L1 (.cg)
	EvictFirst Hint = Hint(ir.CacheEvictFirst) // used for the last time: the first to leave L1 and L2
	EvictLast  Hint = Hint(ir.CacheEvictLast)  // soon used again: the last to leave L1 and L2
)

func cache(b *ir.Builder, op ir.Op, hints []Hint) ir.Cache {
	if len(hints) > 1 {
		b.Errorf(op, ErrTarget, "%s with %d cache hints: an access has one; drop the others", ir.Table[op].Go, len(hints))
	}
	if len(hints) == 0 {
		return ir.CacheDefault
	}
	if hints[0] > EvictLast {
		b.Errorf(op, ErrTarget, "%s with unknown cache hint %d; use Streaming, ReadOnly, L2Only, EvictFirst or EvictLast", ir.Table[op].Go, hints[0])
		return ir.CacheDefault
	}
	return ir.Cache(hints[0])
}

// place is the buffer of a source, checked to belong to the kernel; nil where it does not.
func place[T Number](b *ir.Builder, op ir.Op, src Source[T]) *ir.Place {
	if src == nil {
		b.Errorf(op, ErrScope, "the buffer of %s is nil; give a Global, a Shared or a view of one", ir.Table[op].Go)
		return nil
	}
	var t T
	v := src.view(t)
	switch {
	case v.b == nil:
		b.Errorf(op, ErrScope, "the buffer of %s was never assigned: give a field of the Args that Define gives to the function", ir.Table[op].Go)
		return nil
	case v.b != b:
		b.Errorf(op, ErrScope, "the buffer of %s belongs to kernel %s: arguments end with their Define; use those of this one", ir.Table[op].Go, v.b.Kernel.Name)
		return nil
	}
	return v.p
}

// Load reads a tile of a span from a view, each thread its own elements, 16 bytes at a time where alignment allows.
// An axis without an extent is clipped at the end of the buffer's dimension. Masked elements are zero.
func Load[T Number](s Scope, src Source[T], span Span, hints ...Hint) Reg[T] {
	b, scope := scopeOf(s)
	p, c := place(b, ir.Load, src), cache(b, ir.Load, hints)
	if p == nil || !sameScope(b, ir.Load, scope, span) {
		return Reg[T]{b: b}
	}
	return Reg[T]{b: b, v: b.Load(scope, *p, span.s, ir.How{Cache: c})}
}

// LoadScalar reads one element; each thread of the scope gets it. With Acquire one thread reads it for all.
func LoadScalar[T Number](s Scope, src Source[T], opts ...AccessOption) Reg[T] {
	b, scope := scopeOf(s)
	p := place(b, ir.Load, src)
	h, ok := how(b, ir.Load, opts)
	if p == nil || !ok {
		return Reg[T]{b: b}
	}
	return Reg[T]{b: b, v: b.Load(scope, *p, nil, h)}
}

// Store writes a tile to a view, clipped at the tile's extents; an axis without one is clipped at the end of the
// buffer's dimension. A value of rank 0 is one element: one thread of the scope writes it where the view starts, the
// first of its row for a row's view, and may Release with it. Full makes a tile of it.
func Store[T Number](s Scope, dst Source[T], x Operand[T], opts ...AccessOption) {
	b, scope := scopeOf(s)
	p, v := place(b, ir.Store, dst), operand(b, ir.Store, x)
	if h, ok := how(b, ir.Store, opts); p != nil && ok {
		b.Store(ir.Store, scope, *p, h, v)
	}
}

func atomic[T Number](op ir.Op, s Scope, dst Source[T], orders []Order, xs ...Operand[T]) Reg[T] {
	b, scope := scopeOf(s)
	p := place(b, op, dst)
	var vs []*ir.Value
	for _, x := range xs {
		vs = append(vs, operand(b, op, x))
	}
	o, ok := order(b, op, orders)
	if p == nil || !ok {
		return Reg[T]{b: b}
	}
	v := b.Store(op, scope, *p, ir.How{Order: o}, vs...)
	if v != nil && v.Type.DT == 0 {
		v = nil // a tile's atomics return nothing
	}
	return Reg[T]{b: b, v: v}
}

// AtomicAdd adds a tile to global memory, element by element, at GPU scope (f32, i32, u32, i64), relaxed. For a value
// of rank 0, which one thread adds, it returns the old value and takes an Order; a tile's result must not be used. The
// order of float additions is not fixed, nor is then their sum's last bit.
func AtomicAdd[T Number](s Scope, dst Source[T], x Operand[T], order ...Order) Reg[T] {
	return atomic(ir.AtomicAdd, s, dst, order, x)
}

// AtomicMax is AtomicAdd with the maximum, for integers.
func AtomicMax[T Integer](s Scope, dst Source[T], x Operand[T], order ...Order) Reg[T] {
	return atomic(ir.AtomicMax, s, dst, order, x)
}

// AtomicMin is AtomicAdd with the minimum, for integers.
func AtomicMin[T Integer](s Scope, dst Source[T], x Operand[T], order ...Order) Reg[T] {
	return atomic(ir.AtomicMin, s, dst, order, x)
}

// AtomicExch is AtomicAdd with plain replacement.
func AtomicExch[T Number](s Scope, dst Source[T], x Operand[T], order ...Order) Reg[T] {
	return atomic(ir.AtomicExch, s, dst, order, x)
}

// AtomicCAS stores x where memory equals old, for integers.
func AtomicCAS[T Integer](s Scope, dst Source[T], old, x Operand[T], order ...Order) Reg[T] {
	return atomic(ir.AtomicCAS, s, dst, order, old, x)
}

// Shared is a tile in the block's shared memory. The planner places barriers between its writers and readers.
type Shared[T Number] struct {
	_    [0]func()
	b    *ir.Builder
	s    *ir.SharedTile
	slot *ir.Value // of a member of a slot of a pipeline: which slot; nil: it is none
}

// NewShared makes a tile in shared memory with the given sizes, last one contiguous. As a value it ends with the loop
// body or the branch that it is made in, and what it holds ends with the iteration: the next one has to write what it
// reads. Tiles that are never needed at the same time may share bytes if a block-wide barrier stands between their uses,
// and do where more blocks of the kernel then fit on a multiprocessor.
func NewShared[T Number](k *Builder, shape ...int) Shared[T] {
	b := k.kernel()
	if len(shape) == 0 {
		b.Errorf(ir.Invalid, ErrShape, "NewShared without sizes; give at least one")
		return Shared[T]{b: b}
	}
	const most = 1 << 20 // bytes: more than any target has, and no overflow on the way
	bytes := dtypeOf[T]().Size()
	for _, n := range shape {
		if n < 1 {
			b.Errorf(ir.Invalid, ErrShape, "NewShared with sizes %v: give sizes of at least 1", shape)
			return Shared[T]{b: b}
		}
		if n > most || bytes*n > most {
			b.Errorf(ir.Invalid, ErrLimit, "NewShared with sizes %v of %v: no target has more than 227 KB a block; make the tile smaller", shape, dtypeOf[T]())
			return Shared[T]{b: b}
		}
		bytes *= n
	}
	name := fmt.Sprintf("s%d", len(b.Kernel.Shared))
	return Shared[T]{b: b, s: b.NewShared(name, dtypeOf[T](), append([]int(nil), shape...))}
}

func (s Shared[T]) view(T) View[T] {
	if s.s == nil {
		return View[T]{b: s.b}
	}
	p := &ir.Place{Shared: s.s}
	if s.slot != nil {
		p.Slot, p.Offs = true, []*ir.Value{s.slot}
	}
	return View[T]{b: s.b, p: p}
}

// At is the view from an element on, as of Global.
func (s Shared[T]) At(offsets ...any) View[T] {
	var t T
	return at(s.view(t), offsets)
}
