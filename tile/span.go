package tile

import (
	"math"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/layout"
)

// Span says how a tile lies in the registers of a scope: its capacity by axis, which thread holds which elements, and
// how much of each axis is valid at run time.
type Span struct {
	_ [0]func()
	b *ir.Builder
	s *ir.Span // nil: poisoned
}

// Striped spreads a vector of up to capacity elements over the block: vec consecutive ones a thread, then the next
// threads*vec, until the capacity is covered. vec is a power of two; 16 bytes a thread are best (4 of f32, 8 of bf16).
func (s Block) Striped(capacity, vec int) Span {
	b := s.kernel()
	return striped(b, ir.ScopeBlock, b.Kernel.Threads, capacity, vec)
}

// Striped spreads a vector over the 32 threads of a warp.
func (s Warp) Striped(capacity, vec int) Span {
	return striped(s.kernel(), ir.ScopeWarp, warpSize, capacity, vec)
}

// Striped2 spreads a rows x cols tile over the block: across threads share a row, vec consecutive elements each, and
// threads/across rows are served at once. across and vec are powers of two, across at most the threads. The order of
// the arguments is the tile's shape, then vec, then across; layout.Striped2 takes across second, after the threads.
func (s Block) Striped2(rows, cols, vec, across int) Span {
	b := s.kernel()
	return striped2(b, ir.ScopeBlock, b.Kernel.Threads, rows, cols, vec, across)
}

// Striped2 spreads a tile over the 32 threads of a warp.
func (s Warp) Striped2(rows, cols, vec, across int) Span {
	return striped2(s.kernel(), ir.ScopeWarp, warpSize, rows, cols, vec, across)
}

// maxVec is the widest vector of a thread: 16 bytes of the smallest element.
const maxVec = 16

// maxValues bounds the elements that a thread holds of a tile; it has 255 registers.
const maxValues = 1024

func striped(b *ir.Builder, s ir.Scope, threads, capacity, vec int) Span {
	if !spanSizes(b, vec, capacity) {
		return Span{b: b}
	}
	return newSpan(b, s, layout.Striped(threads, capacity, vec))
}

func striped2(b *ir.Builder, s ir.Scope, threads, rows, cols, vec, across int) Span {
	if !spanSizes(b, vec, rows, cols) {
		return Span{b: b}
	}
	if across < 1 || across > threads || threads%across != 0 || across&(across-1) != 0 {
		b.Errorf(ir.Invalid, ErrLayout, "Striped2 with %d threads across a row: use a power of two that divides the %d threads", across, threads)
		return Span{b: b}
	}
	return newSpan(b, s, layout.Striped2(threads, across, rows, cols, vec))
}

func spanSizes(b *ir.Builder, vec int, sizes ...int) bool {
	if vec < 1 || vec > maxVec || vec&(vec-1) != 0 {
		b.Errorf(ir.Invalid, ErrLayout, "vectors of %d elements: use 1, 2, 4, 8 or 16", vec)
		return false
	}
	for _, n := range sizes {
		if n < 1 {
			b.Errorf(ir.Invalid, ErrShape, "a span of %d elements: give a capacity of at least 1", n)
			return false
		}
		if n > math.MaxInt32 {
			b.Errorf(ir.Invalid, ErrLimit, "a span of %d elements: indices are 32-bit; stream it with tile.Columns", n)
			return false
		}
	}
	return true
}

func newSpan(b *ir.Builder, s ir.Scope, d *layout.Dist) Span {
	if n := d.Values(); n > maxValues {
		b.Errorf(ir.Invalid, ErrLimit, "a tile of %v gives each of %d threads %d elements, more than %d; use more threads, or stream it with tile.Columns", d.Shape, d.Threads(), n, maxValues)
		return Span{b: b}
	}
	return Span{b: b, s: &ir.Span{Scope: s, Dist: d}}
}

// Clip gives the run-time extent of each axis, an int, an Index, or nil for what the buffer has left. Elements past it
// are masked: loads zero them, elementwise ops leave anything there, reductions take their identity, stores skip them.
// Where an extent is a dimension itself, a launch with more than the capacity is refused. Offsets do not move the
// extent: it counts from the tile's first element.
func (s Span) Clip(extents ...any) Span {
	if s.s == nil {
		return s
	}
	if len(extents) != s.s.Rank() {
		s.b.Errorf(ir.Invalid, ErrShape, "Clip with %s of a span of rank %d; give one an axis, nil for none", ir.Count(len(extents), "extent"), s.s.Rank())
		return Span{b: s.b}
	}
	c := &ir.Span{Scope: s.s.Scope, Dist: s.s.Dist, Extent: make([]*ir.Value, len(extents))}
	copy(c.Extent, s.s.Extent)
	for i, e := range extents {
		if e == nil {
			continue
		}
		v := indexOf(s.b, ir.Invalid, "an extent of Clip", e)
		if v == nil {
			return Span{b: s.b}
		}
		if v.Scope < c.Scope {
			s.b.Errorf(ir.Invalid, ErrScope, "an extent of Clip differs among the %v's %s; use a span of the %v", c.Scope, c.Scope.Parts(), v.Scope)
			return Span{b: s.b}
		}
		if n, ok := e.(int); ok && (n < 0 || n > c.Dist.Shape[i]) {
			s.b.Errorf(ir.Invalid, ErrShape, "Clip at %d of axis %d, whose capacity is %d; make the span larger", n, i, c.Dist.Shape[i])
			return Span{b: s.b}
		}
		ir.LimitSymbol(v, c.Dist.Shape[i])
		c.Extent[i] = v
	}
	return Span{b: s.b, s: c}
}

// Axis is the span of vectors along axis i of a 2-D span: what a reduction over the other axis gives, and what Expand
// over the other axis takes.
func (s Span) Axis(i int) Span {
	if s.s == nil {
		return s
	}
	if i < 0 || i >= s.s.Rank() {
		s.b.Errorf(ir.Invalid, ErrShape, "Axis(%d) of a span of rank %d; axes count from 0", i, s.s.Rank())
		return Span{b: s.b}
	}
	c := &ir.Span{Scope: s.s.Scope, Dist: s.s.Dist}
	if len(s.s.Extent) > 0 && s.s.Extent[i] != nil {
		c.Extent = []*ir.Value{s.s.Extent[i]}
	}
	for j := s.s.Rank() - 1; j >= 0; j-- {
		if j != i {
			c.Dist = c.Dist.Reduce(j)
		}
	}
	return Span{b: s.b, s: c}
}

// Rank is the number of axes.
func (s Span) Rank() int { return s.s.Rank() }

// Shape is the capacity by axis; nil for a span that a mistake spoiled.
func (s Span) Shape() []int {
	if s.s == nil {
		return nil
	}
	return slices.Clone(s.s.Dist.Shape)
}
