package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// tf32 lowers an MMA of f32 to mma.sync m16n8k8 of tf32. Its operands are fragments of m x k and of n x k, whose lanes
// have columns 2t and 2t+1 of each 8 where the instruction has k = t and t+4. Both operands differ from it in the same way,
// and the order of k is free, so no element moves: registers 0, 2, 1, 3 of 16x8 elements are the A of the instruction,
// and 0, 1 or 2, 3 of 16 rows its B of the upper or the lower 8.
//
// Elements are rounded to tf32. Of three terms the second part of each element, what rounding left, is rounded as well;
// the products of a first and a second part are added before that of the first parts, and that of the second parts, below
// 2^-22 of the whole, is left out.
func (m *mmaLowering) tf32() {
	l, rows := m.lowering, m.M/16
	l.unrolled(m.K/8, func(k thr.Expr) {
		first := func(i thr.Expr) thr.Expr { return mul(add(mul(i, i32(m.K/8)), k), i32(4)) } // register of block i
		a := m.split("a", 4*rows)
		l.unrolled(rows, func(i thr.Expr) {
			for to, from := range [4]int{0, 2, 1, 3} {
				a.set(add(mul(i, i32(4)), i32(to)), at(m.a, add(first(i), i32(from))))
			}
		})
		l.unrolled(m.N/16, func(j thr.Expr) {
			for half := range 2 {
				b := m.split("b", 2)
				for to := range 2 {
					b.set(i32(to), at(m.b, add(first(j), i32(2*half+to))))
				}
				l.unrolled(rows, func(i thr.Expr) {
					for _, p := range a.terms(b, mul(i, i32(4))) {
						m.multiply(p[0], p[1], i, add(mul(j, i32(2)), i32(half)))
					}
				})
			}
		})
	})
}

// split is elements as sums of one or two numbers of tf32.
type split struct {
	m     *mmaLowering
	parts []*thr.Local
}

func (m *mmaLowering) split(name string, n int) *split {
	s := &split{m: m, parts: []*thr.Local{m.array(name, dtype.F32, n)}}
	if m.Terms == 3 {
		s.parts = append(s.parts, m.array(name+"_rest", dtype.F32, n))
	}
	return s
}

// set splits x into element i.
func (s *split) set(i, x thr.Expr) {
	for _, part := range s.parts {
		s.m.emit(thr.Assign{At: s.m.at(), Dst: at(part, i), Src: call(thr.RoundTF32, dtype.F32, x)})
		x = bin(ir.Sub, x, at(part, i))
	}
}

// terms are the pairs of fragments to multiply, of A from a register on and of B, small ones first.
func (s *split) terms(b *split, first thr.Expr) [][2]thr.Frag {
	frag := func(a, c int) [2]thr.Frag {
		return [2]thr.Frag{{Local: s.parts[a], First: first, N: 4, Step: 1}, {Local: b.parts[c], First: i32(0), N: 2, Step: 1}}
	}
	if len(s.parts) == 1 {
		return [][2]thr.Frag{frag(0, 0)}
	}
	return [][2]thr.Frag{frag(1, 0), frag(0, 1), frag(0, 0)}
}
