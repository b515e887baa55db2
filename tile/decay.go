package tile

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/layout"
)

// Decayed is a matrix [rows, d] with the logarithms, to base 2, of what each of its elements has decayed to. Both are in
// shared or global memory, from the place of the matrix on.
type Decayed[T Float] struct {
	X Source[T]
	G Source[F32]
}

// decayCols are the columns that DecayDot takes at once: a lane has 8 of two rows of 16.
const decayCols = 32

// DecayDot is the contraction of two matrices over depth columns with decays that differ from column to column, so that
// no MMA serves it:
//
//	c[i,j] = sum over d of a.X[i,d] b.X[j,d] exp2(a.G[i,d] - b.G[j,d])
//
// spread as out says, a span of a warp with rows in eights. The difference is formed before the power, so a pair whose
// decays are near one another is exact to fp32, however small both are; pairs above the diagonal, where the difference
// may be large, come out as they may: mask them with Causal. Chunked linear attention with a decay a channel needs it
// for the blocks on its diagonal.
func DecayDot[A, B Float, I Int](s Warp, a Decayed[A], b Decayed[B], depth I, out Span) Reg[F32] {
	k := s.kernel()
	if !sameScope(k, ir.Redistribute, ir.ScopeWarp, out) {
		return Reg[F32]{b: k}
	}
	if out.Rank() != 2 || out.Shape()[0]%8 != 0 {
		k.Errorf(ir.Redistribute, ErrShape, "DecayDot into a tile of %v: the rows are a multiple of 8; give a span of a matrix such as Fragment(16, 16)", out.Shape())
		return Reg[F32]{b: k}
	}
	end := indexOf(k, ir.Range, "the depth of DecayDot", depth)
	if end == nil {
		return Reg[F32]{b: k}
	}
	if n, ok := any(depth).(int); ok && n < 1 {
		k.Errorf(ir.Range, ErrShape, "DecayDot over a depth of %d columns; give at least 1", n)
		return Reg[F32]{b: k}
	}
	rows, cols := out.Shape()[0], out.Shape()[1]
	whole := s.Striped2(rows, decayCols, 4, 4)
	// Each lane has all columns of the rows that it has of a.
	d := whole.s.Dist.Reduce(1)
	d = &layout.Dist{Shape: []int{rows, cols}, Thread: d.Thread, Value: append(append([]layout.Mode(nil), d.Value...), layout.Mode{Size: cols, Axis: 1, Stride: 1})}
	lanes := newSpan(k, ir.ScopeWarp, d)
	if lanes.s == nil {
		return Reg[F32]{b: k}
	}
	acc := NewVar(s, Operand[F32](Full(s, lanes, F32(0))))
	for col := range Range(s, 0, Index{b: k, v: end}, decayCols) {
		span := whole
		if n, ok := any(depth).(int); !ok || n%decayCols != 0 {
			span = whole.Clip(nil, Index{b: k, v: end}.Sub(col))
		}
		x := Cast[F32](Load(s, matrixPart(k, a.X, 0, col), span))
		g := Load(s, matrixPart(k, a.G, 0, col), span)
		for j := range Range(s, 0, cols, 1) {
			y := Cast[F32](Load(s, matrixPart(k, b.X, j, col), span.Axis(1)))
			h := Load(s, matrixPart(k, b.G, j, col), span.Axis(1))
			pair := x.Mul(Expand(y, x.Span(), 0)).Mul(g.Sub(Expand(h, x.Span(), 0)).Exp2())
			sum := Expand(pair.Sum(1).Fill(F32(0)), lanes, 1)
			acc.Set(acc.Get().Add(Select[F32](Coord(lanes, 1).Eq(j.Int()), sum, F32(0))))
		}
	}
	return Redistribute(acc.Get(), out)
}
