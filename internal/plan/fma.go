package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// contract forms fused multiply-adds in f32 expressions. NVRTC is told not to (--fmad=false), so that the simulator
// and the GPU fuse the same products and round alike.
func contract(s *state) error {
	s.out.Body = rewrite(s.out.Body, fuse)
	return nil
}

func fuse(e thr.Expr) thr.Expr {
	a, ok := e.(thr.Apply)
	if !ok || a.T != dtype.F32 || a.Op != ir.Add && a.Op != ir.Sub {
		return e
	}
	x, y := a.Args[0], a.Args[1]
	if p, ok := product(x); ok {
		if a.Op == ir.Sub {
			y = negate(y)
		}
		return fma(p[0], p[1], y)
	}
	if p, ok := product(y); ok {
		if a.Op == ir.Sub {
			return fma(negate(p[0]), p[1], x)
		}
		return fma(p[0], p[1], x)
	}
	return e
}

func product(e thr.Expr) ([]thr.Expr, bool) {
	a, ok := e.(thr.Apply)
	return a.Args, ok && a.Op == ir.Mul && a.T == dtype.F32
}

func fma(a, b, c thr.Expr) thr.Expr {
	return thr.Apply{Op: ir.Fma, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{a, b, c}}
}

func negate(e thr.Expr) thr.Expr {
	return thr.Apply{Op: ir.Neg, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{e}}
}
