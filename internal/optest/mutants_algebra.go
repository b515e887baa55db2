//go:build !gotilegen

package optest

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// algebraMutants are those of ops on register tiles as wholes.
var algebraMutants = map[ir.Op][]Mutant{
	ir.CumSum: scanMutants(ir.CumSum), ir.CumMax: scanMutants(ir.CumMax), ir.CumMin: scanMutants(ir.CumMin), ir.CumProd: scanMutants(ir.CumProd),

	ir.Transpose: {
		{What: "takes the values in the other order", lower: statements(ir.Transpose, func(s thr.Assign) ([]thr.Stmt, bool) {
			changed := false
			s.Src = rewriteExpr(s.Src, func(r thr.Ref) thr.Expr {
				if r.Index == nil {
					return r
				}
				changed = true
				r.Index = binary(ir.Sub, i32(r.Local.Len-1), r.Index)
				return r
			})
			return []thr.Stmt{s}, changed
		})},
	},
	ir.Subtile: {
		{What: "begins elsewhere", record: every(ir.Subtile, func(_ *ir.Kernel, v *ir.Value) undo {
			a := v.Attr.(ir.SliceInfo)
			switch {
			case a.Start > 0:
				a.Start -= a.N
			case a.Start+2*a.N <= v.Args[0].Type.Span.Dist.Shape[a.Axis]:
				a.Start += a.N
			default:
				return nil
			}
			return set[any](&v.Attr, a)
		})},
	},
	ir.Redistribute: {
		{What: "takes from another lane, or from the next place in shared memory", lower: func(k *ir.Kernel, low *thr.Kernel) bool {
			decl := statements(ir.Redistribute, func(s thr.Decl) (out []thr.Stmt, ok bool) {
				s.Init, ok = otherLane(s.Init)
				return []thr.Stmt{s}, ok
			})(k, low)
			assign := statements(ir.Redistribute, func(s thr.Assign) (out []thr.Stmt, ok bool) {
				s.Src, ok = otherLane(s.Src)
				return []thr.Stmt{s}, ok
			})(k, low)
			loads := statements(ir.Redistribute, func(s thr.Load) ([]thr.Stmt, bool) {
				s.Addr = next(s.Space, s.Addr, s.Bytes)
				return []thr.Stmt{s}, true
			})(k, low)
			return decl || assign || loads
		}},
	},
	ir.InverseUnitLower: {
		{What: "adds the products", lower: statements(ir.InverseUnitLower, func(s thr.Assign) ([]thr.Stmt, bool) {
			fma, ok := s.Src.(thr.Apply)
			if ok = ok && fma.Op == ir.Fma; ok {
				fma.Args = append([]thr.Expr{fma.Args[0].(thr.Apply).Args[0]}, fma.Args[1:]...)
				s.Src = fma
			}
			return []thr.Stmt{s}, ok
		})},
	},
}

// scanMutants are what can be wrong about a scan, but for what it combines with.
func scanMutants(op ir.Op) []Mutant {
	change := func(f func(a *ir.ScanInfo)) func(k *ir.Kernel) undo {
		return every(op, func(_ *ir.Kernel, v *ir.Value) undo {
			a := v.Attr.(ir.ScanInfo)
			f(&a)
			return set[any](&v.Attr, a)
		})
	}
	return []Mutant{
		{What: "goes along the other axis", record: change(func(a *ir.ScanInfo) { a.Axis = 1 - a.Axis })},
		{What: "counts the element itself where it should not", record: change(func(a *ir.ScanInfo) { a.Exclusive = !a.Exclusive })},
		{What: "begins at the other end", record: change(func(a *ir.ScanInfo) { a.Reverse = !a.Reverse })},
	}
}

// otherLane makes a shuffle read a neighbour of the lane that it should; ok: there was one.
func otherLane(e thr.Expr) (out thr.Expr, ok bool) {
	c, is := e.(thr.Call)
	if !is {
		return e, false
	}
	if c.Fn == thr.ShflIdx {
		c.Args = []thr.Expr{c.Args[0], binary(ir.Xor, c.Args[1], i32(1))}
		return c, true
	}
	args := make([]thr.Expr, len(c.Args)) // a pair of what was moved
	for i, a := range c.Args {
		one := false
		args[i], one = otherLane(a)
		ok = ok || one
	}
	c.Args = args
	return c, ok
}
