//go:build !gotilegen

package optest

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// mmaMutants are the mutants of tensor cores.
var mmaMutants = map[ir.Op][]Mutant{
	ir.LoadMatrix: {
		{What: "transposes", lower: builtin(thr.LdMatrix, becomesFn(thr.LdMatrixTrans))},
		{What: "does not transpose", lower: builtin(thr.LdMatrixTrans, becomesFn(thr.LdMatrix))},
		{What: "loads registers in another order", lower: builtin(thr.LdMatrix, func(s *thr.Do) bool {
			f := s.Frags[0]
			if c, ok := f.First.(thr.Const); ok && f.N > 1 && int(c.Bits)+f.N <= f.Local.Len {
				f.First = i32((int(c.Bits) + f.N) % f.Local.Len)
			} else {
				f.First = binary(ir.Rem, binary(ir.Add, f.First, i32(f.N)), i32(f.Local.Len))
			}
			s.Frags = []thr.Frag{f}
			return true
		})},
	},
	ir.StoreMatrix: {
		{What: "is dropped", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) { return nil, s.Fn.Writes() })},
		{What: "stores what the other spread has", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			if s.Fn == thr.StMatrix {
				s.Fn = thr.StMatrixTrans
			} else if s.Fn == thr.StMatrixTrans {
				s.Fn = thr.StMatrix
			} else {
				return nil, false
			}
			return []thr.Stmt{s}, true
		})},
	},
	ir.MoveMatrix: {{What: "moves nothing", lower: statements(ir.MoveMatrix, func(s thr.Assign) ([]thr.Stmt, bool) {
		move, ok := s.Src.(thr.Call)
		if ok = ok && move.Fn == thr.MovMatrix; ok {
			s.Src = move.Args[0]
		}
		return []thr.Stmt{s}, ok
	})}},
	ir.MMA: {
		{What: "adds nothing", lower: builtin(thr.MMASync, dropped)},
		{What: "adds twice", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) { return []thr.Stmt{s, s}, s.Fn == thr.MMASync })},
		{What: "takes the other rows of A", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			if s.Fn != thr.MMASync || s.Frags[1].Local.Len == s.Frags[1].N || s.Frags[1].Local.Len%s.Frags[1].N != 0 { // it has no others, or none of as many registers
				return nil, false
			}
			s.Frags = slices.Clone(s.Frags)
			a := &s.Frags[1]
			a.First = binary(ir.Rem, binary(ir.Add, a.First, i32(a.N)), i32(a.Local.Len))
			return []thr.Stmt{s}, true
		})},
		{What: "adds nothing, of a warpgroup", lower: multiply(func(s *thr.Do) bool { return false })},
		{What: "takes the 32 bytes of A behind, of a warpgroup", lower: builtin(thr.WGMMA, further(0))},
		{What: "takes the 32 bytes of B behind, of a warpgroup", lower: builtin(thr.WGMMA, further(1))},
		{What: "reads A along the other side, of a warpgroup", lower: builtin(thr.WGMMA, otherSide(2))},
		{What: "reads B along the other side, of a warpgroup", lower: builtin(thr.WGMMA, otherSide(3))},
		{What: "overwrites where it adds, of a warpgroup", lower: multiply(func(s *thr.Do) bool {
			s.Args = slices.Clone(s.Args)
			last := len(s.Args) - 1
			s.Args[last] = i32(1 - int(s.Args[last].(thr.Const).Bits))
			return true
		})},
		{What: "has no fence of registers", lower: builtin(thr.WGMMAFence, dropped)},
		{What: "is in no group", lower: builtin(thr.WGMMACommit, dropped)},
		{What: "is not waited for", lower: builtin(thr.WGMMAWait, dropped)},
		{What: "has no fence of its operands' stores", lower: builtin(thr.FenceAsync, dropped)},
	},
	// Others wait for the MMAs as well: where one is not waited for, the next wait comes too late for what is used before.
	ir.WaitMMA: {{What: "leaves one more in flight", lower: builtin(thr.WGMMAWait, more(0, 1))}},
}

// multiply changes the multiplies of warpgroups; where change returns false it drops them.
func multiply(change func(s *thr.Do) bool) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
		if !s.Fn.Warpgroup() {
			return nil, false
		}
		if !change(&s) {
			return nil, true
		}
		return []thr.Stmt{s}, true
	})
}

// further moves a descriptor on by the bytes along k of one instruction.
func further(i int) func(s *thr.Do) bool {
	return func(s *thr.Do) bool {
		s.Args = slices.Clone(s.Args)
		s.Args[i] = thr.Apply{Op: ir.Add, T: dtype.I64, R: dtype.I64, Args: []thr.Expr{s.Args[i], thr.Const{DT: dtype.I64, Bits: 2}}}
		return true
	}
}

// otherSide exchanges K-major and MN-major, of 16-bit types, which have both.
func otherSide(i int) func(s *thr.Do) bool {
	return func(s *thr.Do) bool {
		if !s.DT.Is16() {
			return false
		}
		s.Args = slices.Clone(s.Args)
		s.Args[i] = i32(1 - int(s.Args[i].(thr.Const).Bits))
		return true
	}
}
