package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// edges are the values at which an op is most likely wrong.
func edges(t dtype.Type) []uint64 {
	switch t {
	case tB:
		return []uint64{0, 1}
	case tI, tU:
		return []uint64{0, 1, 2, 3, 7, 31, 32, 33, 63, 100, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xffff, 0x10000, 0x01000001, 0xdeadbeef}
	case tQ:
		return []uint64{0, 1, 2, 5, 31, 32, 63, 64, 65, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 + 1, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, ^uint64(0), ^uint64(1), 0xdeadbeefcafebabe}
	}
	var out []uint64
	for _, x := range []float64{0, 1, 2, 3, 0.1, 0.5, 1.5, 1 + 0x1p-23, 1 - 0x1p-24, 10, 88.7, 89, 103.9, 127, 128, 149, 150, 1e10, 2147483520, 2147483648, 4294967040, 4294967296,
		9223371487098961920, 9223372036854775808, 1e-10, 0x1p-126, 0x1p-127, 0x1p-149, 0x1p126, 0x1.8p126, 0x1p127, math.MaxFloat32, math.Inf(1), 0x1.fffffep-127} {
		b := uint64(math.Float32bits(float32(x)))
		out = append(out, b, b|1<<31)
	}
	return append(out, 0x7fffffff, 0x7f800001, 0xffc12345)
}

// samples are tuples of operands: all pairs of edges, and some random values.
func samples(op ir.Op, s sig, arity int) [][3]uint64 {
	rng := rand.New(rand.NewPCG(uint64(op), uint64(s.T)))
	var out [][3]uint64
	e := edges(s.T)
	first := e
	if op == ir.Select {
		first = edges(tB)
	}
	for _, a := range first {
		if arity == 1 {
			out = append(out, [3]uint64{a})
			continue
		}
		for _, b := range e {
			if arity == 2 {
				out = append(out, [3]uint64{a, b})
				continue
			}
			for range 6 {
				out = append(out, [3]uint64{a, b, e[rng.IntN(len(e))]})
			}
		}
	}
	if op == ir.Select || s.T == tB {
		return out
	}
	for range 300 {
		var x [3]uint64
		for i := range x {
			x[i] = rng.Uint64() >> (64 - 8*s.T.Size())
			if s.T == tF && rng.IntN(2) == 0 { // a size at which functions are not saturated
				x[i] = uint64(math.Float32bits(float32(rng.NormFloat64() * 8)))
			}
		}
		out = append(out, x)
	}
	return out
}

// differs finds a sample on which f is not op.
func differs(t *testing.T, f fn, op ir.Op, s sig) (x [3]uint64, got, want uint64, found bool) {
	for _, x := range samples(op, s, f.arity) {
		want, ok := reference(op, s, x, 0)
		if !ok {
			t.Fatalf("%s has no reference", op)
		}
		got := f.scalar(x[0], x[1], x[2])
		if got == want {
			continue
		}
		low, _ := reference(op, s, x, -0x1p-51)
		high, _ := reference(op, s, x, 0x1p-51)
		if got != low && got != high {
			return x, got, want, true
		}
	}
	return
}

// sigs are the signatures that the op table promises of an elementwise op in thread IR.
func sigs(op ir.Op) []sig {
	info := ir.Table[op]
	var out []sig
	for _, t := range registerTypes {
		if !info.Domain.Has(t) {
			continue
		}
		switch {
		case op == ir.Cast:
			for _, r := range registerTypes {
				out = append(out, sig{t, r})
			}
		case op == ir.Bitcast:
			for _, r := range registerTypes {
				if r != tB && r.Size() == t.Size() {
					out = append(out, sig{t, r})
				}
			}
		case info.Result == ir.ToBool:
			out = append(out, predicate(t))
		default:
			out = append(out, same(t))
		}
	}
	return out
}

// Every row of both tables has its meaning, for every type, and nothing else.
func TestTablesAreComplete(t *testing.T) {
	for op := ir.Op(1); op < ir.NumOps; op++ {
		info, row := ir.Table[op], ops[op]
		if info.Class != ir.Elementwise || op == ir.Asm {
			if row.lowered == "" || row.by != nil {
				t.Errorf("%s: what is it lowered to?", op)
			}
			continue
		}
		want := sigs(op)
		for _, s := range want {
			if f, ok := lookup(op, s.T, s.R); !ok || f.arity != info.Arity || f.scalar == nil || f.vector == nil {
				t.Errorf("%s of %s to %s is missing", op, s.T, s.R)
			}
		}
		if len(want) != len(row.by) || row.lowered != "" {
			t.Errorf("%s has %d meanings, the table promises %d", op, len(row.by), len(want))
		}
	}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		row, info := fns[f], thr.Fns[f]
		n := 0
		for _, set := range []bool{row.pure.scalar != nil, row.call != nil, row.do != nil} {
			if set {
				n++
			}
		}
		if n != 1 || (row.do == nil) != info.Pure || row.pure.scalar != nil && row.pure.arity != info.Arity {
			t.Errorf("%s has %d meanings, or of the wrong sort", f, n)
		}
	}
}

func TestOps(t *testing.T) {
	for op := ir.Op(1); op < ir.NumOps; op++ {
		for s, f := range ops[op].by {
			if x, got, want, bad := differs(t, f, op, s); bad {
				t.Errorf("%s %s->%s of %#x: %#x, want %#x", op, s.T, s.R, x[:f.arity], got, want)
			}
		}
	}
}

// Another op's function in a row turns the row's case red. Approximate forms that have the true value are the one
// exception: they differ from the precise op on the GPU only.
func TestSwappedOpsAreSeen(t *testing.T) {
	swaps := 0
	for op := ir.Op(1); op < ir.NumOps; op++ {
		for s := range ops[op].by {
			for other := ir.Op(1); other < ir.NumOps; other++ {
				f, ok := lookup(other, s.T, s.R)
				if !ok || other == op || f.arity != ir.Table[op].Arity || precise[op] == other || precise[other] == op {
					continue
				}
				if s.T == s.R && (op == ir.Cast && other == ir.Bitcast || op == ir.Bitcast && other == ir.Cast) ||
					s.T.IsInt() && s.R.IsInt() && s.T.Size() == s.R.Size() && (op == ir.Cast || op == ir.Bitcast) && (other == ir.Cast || other == ir.Bitcast) ||
					s.T == tU && (op == ir.Cast || op == ir.Bitcast || op == ir.Abs) && (other == ir.Cast || other == ir.Bitcast || other == ir.Abs) {
					continue // both are the identity
				}
				swaps++
				if _, _, _, seen := differs(t, f, op, s); !seen {
					t.Errorf("%s of %s to %s passes for %s", other, s.T, s.R, op)
				}
			}
		}
	}
	if swaps < 1000 {
		t.Fatalf("only %d swaps tried", swaps)
	}
}

// The loops over lanes agree with the scalar forms, also where the result overwrites an operand.
func TestVectorForms(t *testing.T) {
	check := func(name string, f fn, tuples [][3]uint64) {
		for len(tuples) > 0 {
			n := min(len(tuples), warpSize)
			var x [3]lanes
			for l := range n {
				for i := range x {
					x[i][l] = tuples[l][i]
				}
			}
			for alias := range f.arity + 1 {
				y, d := x, new(lanes)
				if alias < f.arity {
					d = &y[alias]
				}
				f.vector(d, &y[0], &y[1], &y[2])
				for l := range d {
					if want := f.scalar(x[0][l], x[1][l], x[2][l]); d[l] != want {
						t.Fatalf("%s of %#x with the result over operand %d: %#x, want %#x", name, []uint64{x[0][l], x[1][l], x[2][l]}, alias, d[l], want)
					}
				}
			}
			tuples = tuples[n:]
		}
	}
	for op := ir.Op(1); op < ir.NumOps; op++ {
		for s, f := range ops[op].by {
			check(op.String()+" "+s.T.String(), f, samples(op, s, f.arity))
		}
	}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		if fns[f].pure.scalar != nil {
			check(f.String(), fns[f].pure, samples(0, same(tF), fns[f].pure.arity))
		}
	}
	check("pointer add", pointerAdd(4), samples(0, same(tQ), 2))
}

func TestFma(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() float32 {
		switch rng.IntN(4) {
		case 0:
			return math.Float32frombits(rng.Uint32())
		case 1: // few bits: ties are likely
			return float32(rng.IntN(64)-32) * float32(math.Ldexp(1, rng.IntN(60)-30))
		case 2: // results near the subnormals
			return float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(40)-90))
		}
		return float32(rng.NormFloat64())
	}
	var x [3]lanes
	var d lanes
	for n := range 200_000 {
		a, b, c := random(), random(), random()
		if rng.IntN(3) == 0 { // cancellation, or a tie just missed
			c = -a * b
			c = math.Float32frombits(math.Float32bits(c) + uint32(rng.IntN(3)-1))
		}
		got, want := fbits(fma32(a, b, c)), bigFma(float64(a), float64(b), float64(c))
		if got != want {
			t.Fatalf("fma(%g, %g, %g): %#x, want %#x", a, b, c, got, want)
		}
		l := n % warpSize
		x[0][l], x[1][l], x[2][l] = fbits(a), fbits(b), fbits(c)
		if fmaLoop(&d, &x[0], &x[1], &x[2]); d[l] != want {
			t.Fatalf("fma(%g, %g, %g) in a loop: %#x, want %#x", a, b, c, d[l], want)
		}
	}
	// The case that math.FMA gets wrong: the exact sum is just above a tie of f32, which float64 cannot show.
	a, b, c := float32(1+0x1p-12), float32(1+0x1p-12), float32(0x1p-60)
	if fma32(a, b, c) == float32(math.FMA(float64(a), float64(b), float64(c))) {
		t.Fatal("rounding twice was expected to differ: this case shows nothing")
	}
}

// Rsqrt is rounded to nearest for every fraction and both parities of the exponent, which is every f32 up to a power
// of four. y rounds 1/sqrt(x) right when the midpoints around y lie on both sides: (y-u/2)^2 * x < 1 < (y+u/2)^2 * x.
func TestRsqrtIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("2^24 values; not in short mode")
	}
	f, _ := lookup(ir.Rsqrt, tF, tF)
	for b := uint32(0x3f800000); b < 0x40800000; b++ { // [1, 4): results in (1/2, 1]
		y := float(f.scalar(uint64(b), 0, 0))
		if y == 1 {
			if b > 0x3f800001 { // 1/sqrt(1+2^-23) is 1-2^-24: exactly representable, above the tie with 1 only at b = 1
				t.Fatalf("rsqrt of %#x is 1", b)
			}
			continue
		}
		x := uint64(b&0x7fffff|0x800000) << (b>>23 - 0x7f) // x * 2^23
		m := uint64(y * (1 << 25))                         // 2*y in units of 2^-24; the midpoints are odd
		if !below(m-1, x) || below(m+1, x) {
			t.Fatalf("rsqrt of %#x is %#x, which is not nearest", b, math.Float32bits(y))
		}
	}
}

// below reports m^2 * x < 1 for m in units of 2^-25 and x in units of 2^-23.
func below(m, x uint64) bool {
	hi, _ := bits.Mul64(m*m, x) // below 2^50 * 2^25
	return hi < 1<<(50+23-64)
}
