//go:build !gotilegen

package optest

import (
	"slices"

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
		{What: "takes the other rows of A", lower: builtin(thr.MMASync, func(s *thr.Do) bool {
			s.Frags = slices.Clone(s.Frags)
			a := &s.Frags[1]
			a.First = binary(ir.Rem, binary(ir.Add, a.First, i32(a.N)), i32(a.Local.Len))
			return true
		})},
	},
}
