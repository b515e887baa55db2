package tile

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/layout"
)

// Fragment spreads a rows x cols tile over the 32 threads of a warp as tensor cores have their operands and
// accumulators: see layout.Fragment. Four lanes share a row, each with two neighbouring elements of every eight. An
// accumulator of f32, cast to 16 bits, is operand A of the next MMA, with no element moved; so is, transposed or not, an
// operand B. rows is a multiple of 16, cols of 8.
//
// All ops take such tiles: Load and Store (of shared and global memory, 8 bytes a thread of f32, 4 of 16-bit types),
// elementwise ops, reductions and Expand.
func (s Warp) Fragment(rows, cols int) Span {
	return fragment(s.kernel(), ir.ScopeWarp, 1, rows, cols)
}

// Fragment spreads a rows x cols tile over the 128 threads of a warpgroup, as the accumulators of wgmma: of every 64 rows
// each warp has 16, as Warp.Fragment has them. rows is a multiple of 64, cols of 8.
func (s Warpgroup) Fragment(rows, cols int) Span {
	return fragment(s.kernel(), ir.ScopeGroup, ir.WarpgroupWarps, rows, cols)
}

func fragment(b *ir.Builder, s ir.Scope, warps, rows, cols int) Span {
	d, err := layout.Fragment(rows, cols, warps)
	if err != nil {
		b.Errorf(ir.Invalid, ErrShape, "Fragment of %dx%d of %s: the rows are a multiple of %d, the columns of 8; use %dx%d",
			rows, cols, ir.Count(warps, "warp"), 16*warps, upTo(rows, 16*warps), upTo(cols, 8))
		return Span{b: b}
	}
	return newSpan(b, s, d)
}

// upTo is n rounded up to a positive multiple of step.
func upTo(n, step int) int { return max(1, (n+step-1)/step) * step }

// Transpose is the span of the transposed tile, in the same registers of the same threads: of a fragment's transpose two
// elements that are neighbours in a thread are neighbours in a column.
func (s Span) Transpose() Span {
	if s.s == nil {
		return s
	}
	d, err := s.s.Dist.Transpose()
	if err != nil {
		s.b.Errorf(ir.Invalid, ErrShape, "Transpose of a span of rank %d: it has two axes; use a span of a matrix", s.s.Rank())
		return Span{b: s.b}
	}
	t := &ir.Span{Scope: s.s.Scope, Dist: d}
	if e := s.s.Extent; len(e) > 0 {
		t.Extent = []*ir.Value{e[1], e[0]}
	}
	return Span{b: s.b, s: t}
}

// TensorScope is a scope at which tensor cores work: a Warp or a Warpgroup.
type TensorScope interface {
	Scope
	// Fragment is the span of operands and accumulators.
	Fragment(rows, cols int) Span
}

// NewAcc declares an accumulator: a variable of zeros with a Fragment of rows x cols. f32 is what most MMAs add up in.
func NewAcc[T Number](s TensorScope, rows, cols int) Var[T] {
	if s == nil {
		ir.Fail(ErrScope, "the scope of NewAcc is nil: give a Warp, or the Warpgroup of a role")
	}
	return NewVar(s, Operand[T](Full(s, s.Fragment(rows, cols), Const[T](0))))
}
