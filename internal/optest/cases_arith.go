//go:build !gotilegen

package optest

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

// arithCases are a case for each elementwise op that T has, and for each comparison.
func arithCases[T tile.Number]() []tiletest.Case {
	var zero T
	t := zero.DType()
	vs, ps := values[T](t), predicates[T]()
	results := &arithResults{t: t, ops: len(vs), preds: len(ps)}
	var out []tiletest.Case
	for i, v := range vs {
		out = append(out, opCase(v.op, t.String(), func(r run) error {
			x, err := results.get(r)
			if err == nil {
				x.check(r, v.op, i)
			}
			return err
		}))
	}
	for i, p := range ps {
		out = append(out, opCase(p.op, t.String(), func(r run) error {
			x, err := results.get(r)
			if err == nil {
				x.checkPredicate(r, p.op, i)
			}
			return err
		}))
	}
	return out
}

// arithResults are one launch's operands and results.
type arithResults struct {
	t          dtype.Type
	ops, preds int

	a, b, c []uint64
	y, p    []uint64
}

func (x *arithResults) get(r run) (*arithResults, error) {
	y := *x
	y.a, y.b, y.c = operands(x.t, tiletest.Bits(r.Seed, 1))
	n := len(y.a)
	out := arithParams{A: place(r, x.t, y.a, n), B: place(r, x.t, y.b, n), C: place(r, x.t, y.c, n), Y: r.Out(x.t, x.ops, n), P: r.Out(dtype.I32, x.preds, n)}
	if err := launchArith(r.Stream, out); err != nil {
		return nil, err
	}
	y.y, y.p = r.Bits(out.Y), r.Bits(out.P)
	return &y, nil
}

func (x *arithResults) check(r run, op ir.Op, row int) {
	n := len(x.a)
	got := x.y[row*n:][:n]
	m := &mistakes{r: r, what: fmt.Sprintf("%v on %v", op, x.t)}
	for i, g := range got {
		if x.t.IsFloat() {
			a, b, c := exact.Float(x.t, x.a[i]), exact.Float(x.t, x.b[i]), exact.Float(x.t, x.c[i])
			if want, ok := floatRight(op, x.t, exact.Float(x.t, g), a, b, c); !ok {
				m.at(i, exact.Float(x.t, g), "%v, of %v, %v, %v", want, a, b, c)
			}
		} else if want := intValue(op, x.t, x.a[i], x.b[i], x.c[i]); g != want {
			m.at(i, hex(g), "%#x, of %#x, %#x, %#x", want, x.a[i], x.b[i], x.c[i])
		}
	}
	m.done(n)
}

func (x *arithResults) checkPredicate(r run, op ir.Op, row int) {
	n := len(x.a)
	m := &mistakes{r: r, what: fmt.Sprintf("%v on %v", op, x.t)}
	for i, g := range x.p[row*n:][:n] {
		if want := holds(op, x.t, x.a[i], x.b[i]); g > 1 || (g == 1) != want {
			m.at(i, g, "%v, of %#x, %#x", want, x.a[i], x.b[i])
		}
	}
	m.done(n)
}

// boolCases are the logic ops and selection on predicates.
func boolCases() []tiletest.Case {
	var out []tiletest.Case
	for row, op := range boolOps {
		out = append(out, opCase(op, "bool", func(r run) error {
			a, b := []uint64{0, 0, 5, 5, 0, 1 << 31}, []uint64{0, 3, 0, 4, 1 << 31, 0}
			n := len(a)
			y := r.Out(dtype.I32, len(boolOps), n)
			if err := launchBool(r.Stream, boolParams{A: place(r, dtype.I32, a, n), B: place(r, dtype.I32, b, n), Y: y}); err != nil {
				return err
			}
			var want []uint64
			for i := range a {
				p, q := a[i] != 0, b[i] != 0
				w := map[ir.Op]bool{ir.Select: p && q || !p, ir.And: p && q, ir.Or: p || q, ir.Xor: p != q, ir.Not: !p}[op]
				want = append(want, map[bool]uint64{true: 1}[w])
			}
			equal(r, op.String(), dtype.I32, r.Bits(y)[row*n:][:n], want)
			return nil
		}))
	}
	return out
}

// chainCases show that 16-bit floats are rounded after every op.
func chainCases() []tiletest.Case {
	check := func(r run) error {
		const n = 250
		b, h := patterns(dtype.BF16, tiletest.Bits(r.Seed, 1), n), patterns(dtype.F16, tiletest.Bits(r.Seed, 2), n)
		p := chainParams{B: place(r, dtype.BF16, b, n), YB: r.Out(dtype.BF16, n), H: place(r, dtype.F16, h, n), YH: r.Out(dtype.F16, n)}
		if err := launchChain(r.Stream, p); err != nil {
			return err
		}
		want := func(t dtype.Type, x []uint64) []float64 {
			var out []float64
			for _, v := range x {
				f := exact.Float(t, v)
				out = append(out, exact.Narrow(t, exact.Narrow(t, f*f)+f))
			}
			return out
		}
		r.Compare("bf16", r.Floats(p.YB), want(dtype.BF16, b), 0)
		r.Compare("f16", r.Floats(p.YH), want(dtype.F16, h), 0)
		return nil
	}
	return []tiletest.Case{opCase(ir.Mul, "chain", check), opCase(ir.Add, "chain", check)}
}

// castCases convert every type to every type.
func castCases() []tiletest.Case {
	var out []tiletest.Case
	for _, s := range dtype.Arithmetic() {
		out = append(out, opCase(ir.Cast, s.String(), func(r run) error {
			x := append(edges(s), patterns(s, tiletest.Bits(r.Seed, 2), 300)...)
			for i := range uint64(300) {
				x = append(x, random(s, tiletest.Bits(r.Seed, 1000+i)))
			}
			n := len(x)
			p := castParams{X: place(r, s, x, n), F: r.Out(dtype.F32, n), BF: r.Out(dtype.BF16, n), H: r.Out(dtype.F16, n), I: r.Out(dtype.I32, n), U: r.Out(dtype.U32, n), L: r.Out(dtype.I64, n)}
			if err := launchCast(r.Stream, p); err != nil {
				return err
			}
			for t, y := range map[dtype.Type][]uint64{dtype.F32: r.Bits(p.F), dtype.BF16: r.Bits(p.BF), dtype.F16: r.Bits(p.H), dtype.I32: r.Bits(p.I), dtype.U32: r.Bits(p.U), dtype.I64: r.Bits(p.L)} {
				m := &mistakes{r: r, what: fmt.Sprintf("%v to %v", s, t)}
				for i, got := range y {
					if want, ok := converted(s, t, x[i], got); !ok {
						m.at(i, hex(got), "%s, of %#x", want, x[i])
					}
				}
				m.done(len(y))
			}
			return nil
		}))
	}
	out = append(out, opCase(ir.Cast, "bool", func(r run) error {
		x := edges(dtype.F32)
		n := len(x)
		p := floatCastParams{X: place(r, dtype.F32, x, n), F: r.Out(dtype.F32, n), BF: r.Out(dtype.BF16, n), H: r.Out(dtype.F16, n), I: r.Out(dtype.I32, n), U: r.Out(dtype.U32, n), L: r.Out(dtype.I64, n)}
		if err := launchFloatCast(r.Stream, p); err != nil {
			return err
		}
		want := make([]int, n)
		for i, b := range x {
			if exact.Float(dtype.F32, b) < 0 {
				want[i] = 1
			}
		}
		ints(r, "f32", p.F, want)
		ints(r, "bf16", p.BF, want)
		ints(r, "f16", p.H, want)
		ints(r, "i32", p.I, want)
		ints(r, "u32", p.U, want)
		ints(r, "i64", p.L, want)
		return nil
	}))
	return append(out, opCase(ir.Bitcast, "all", func(r run) error {
		const n = 200
		data := func(t dtype.Type) []uint64 {
			x := append([]uint64(nil), edges(t)...)
			for i := len(x); i < n; i++ {
				x = append(x, random(t, tiletest.Bits(r.Seed, uint64(i))))
			}
			return x[:n]
		}
		isNaN := func(x uint64) bool { return x&0x7fff > 0x7c00 }
		f, i, u, l, b, h := data(dtype.F32), data(dtype.I32), data(dtype.U32), data(dtype.I64), data(dtype.BF16), slices.DeleteFunc(data(dtype.F16), isNaN)
		for len(h) < n { // in the place of NaN, whose bits are not kept
			h = append(h, 0x7bff)
		}
		p := bitcastParams{F: place(r, dtype.F32, f, n), I: place(r, dtype.I32, i, n), U: place(r, dtype.U32, u, n), L: place(r, dtype.I64, l, n), BF: place(r, dtype.BF16, b, n), H: place(r, dtype.F16, h, n),
			FI: r.Out(dtype.I32, n), FU: r.Out(dtype.U32, n), IF: r.Out(dtype.F32, n), IU: r.Out(dtype.U32, n), UF: r.Out(dtype.F32, n), UI: r.Out(dtype.I32, n), LL: r.Out(dtype.I64, n), BFH: r.Out(dtype.F16, n), HBF: r.Out(dtype.BF16, n)}
		if err := launchBitcast(r.Stream, p); err != nil {
			return err
		}
		const moved = dtype.I64 // compared by bits
		equal(r, "f32 as i32", moved, r.Bits(p.FI), f)
		equal(r, "f32 as u32", moved, r.Bits(p.FU), f)
		equal(r, "i32 as f32", moved, r.Bits(p.IF), i)
		equal(r, "i32 as u32", moved, r.Bits(p.IU), i)
		equal(r, "u32 as f32", moved, r.Bits(p.UF), u)
		equal(r, "u32 as i32", moved, r.Bits(p.UI), u)
		equal(r, "i64 as i64", moved, r.Bits(p.LL), l)
		equal(r, "bf16 as f16", dtype.F16, r.Bits(p.BFH), b) // every NaN of bf16 is one of f16
		equal(r, "f16 as bf16", dtype.BF16, r.Bits(p.HBF), h)
		return nil
	}))
}
