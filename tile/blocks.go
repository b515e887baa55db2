package tile

import "github.com/gotile/gotile/internal/ir"

// solveBlock is the side of the blocks of InverseUnitLowerBlocks.
const solveBlock = 16

// InverseUnitLowerBlocks writes the inverse of I + L to out, where L is what l, a matrix of n x n, has below its
// diagonal; the rest of l is not read. One warp does it, by blocks of 16: the inverse T of each diagonal block by
// InverseUnitLower, then, diagonal by diagonal,
//
//	out[i,j] = -T[i] (L[i,j] out[j,j] + .. + L[i,i-1] out[i-1,j])
//
// in fp32 throughout. n is a multiple of 16, up to 64; out, of shared memory, is another tile than l.
func InverseUnitLowerBlocks(s Warp, l, out Source[F32], n int) {
	k := s.kernel()
	if n < solveBlock || n > 64 || n%solveBlock != 0 {
		k.Errorf(ir.InverseUnitLower, ErrShape, "InverseUnitLowerBlocks of %dx%d: the side is a multiple of %d up to 64; use %d", n, n, solveBlock, min(64, (max(n, 1)+solveBlock-1)/solveBlock*solveBlock))
		return
	}
	if p, q := place(k, ir.Load, l), place(k, ir.Store, out); p == nil || q == nil || q.Shared == nil || q.Shared == p.Shared {
		if p != nil && q != nil {
			k.Errorf(ir.InverseUnitLower, ErrScope, "InverseUnitLowerBlocks to %s: parts of the result are read again; give a shared tile other than the matrix", q.Name())
		}
		return
	}
	span := s.Fragment(solveBlock, solveBlock)
	turned := NewShared[F32](&Builder{b: k}, k.Kernel.Threads/warpSize, solveBlock, solveBlock).At(s.Index())
	at := func(src Source[F32], i, j int) View[F32] { return matrixPart(k, src, i*solveBlock, j*solveBlock) }
	// product adds a b to a sum, as outer products of the columns of a and the rows of b.
	product := func(sum Var[F32], a Reg[F32], b View[F32]) {
		Store(s, turned, a.Transpose())
		for m := range Range(s, 0, solveBlock, 1) {
			col := Load(s, matrixPart(k, turned, m, 0), span.Axis(0))
			row := Load(s, matrixPart(k, b, m, 0), span.Axis(1))
			sum.Set(sum.Get().Add(Expand(col, span, 1).Mul(Expand(row, span, 0))))
		}
	}
	zero := Operand[F32](Full(s, span, F32(0)))
	blocks := n / solveBlock
	for i := range blocks {
		Store(s, at(out, i, i), InverseUnitLower(Load(s, at(l, i, i), span)))
		for j := i + 1; j < blocks; j++ {
			Store(s, at(out, i, j), zero)
		}
	}
	for d := 1; d < blocks; d++ {
		for i := d; i < blocks; i++ {
			j := i - d
			sum, all := NewVar(s, zero), NewVar(s, zero)
			for m := j; m < i; m++ {
				product(sum, Load(s, at(l, i, m), span), at(out, m, j))
			}
			Store(s, at(out, i, j), sum.Get())
			product(all, Load(s, at(out, i, i), span), at(out, i, j))
			Store(s, at(out, i, j), all.Get().Neg())
		}
	}
}
