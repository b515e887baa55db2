package cuda

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// exactly computes an integer expression without any limit on its size, for given values of the locals; false where an
// intermediate result leaves its type, or a divisor is not positive.
func exactly(e thr.Expr, env map[*thr.Local]int64) (*big.Int, bool) {
	switch e := e.(type) {
	case thr.Const:
		return big.NewInt(newRanges(&thr.Kernel{}).of(e).lo), true
	case thr.Ref:
		return big.NewInt(env[e.Local]), true
	case thr.Apply:
		a, ok := exactly(e.Args[0], env)
		if !ok {
			return nil, false
		}
		b, out := a, new(big.Int)
		if len(e.Args) > 1 {
			if b, ok = exactly(e.Args[1], env); !ok {
				return nil, false
			}
		}
		switch e.Op {
		case ir.Add:
			out.Add(a, b)
		case ir.Sub:
			out.Sub(a, b)
		case ir.Mul:
			out.Mul(a, b)
		case ir.Div, ir.Rem:
			if b.Sign() <= 0 {
				return nil, false
			}
			if out.Quo(a, b); e.Op == ir.Rem {
				out.Rem(a, b)
			}
		case ir.Min, ir.Max:
			if out.Set(a); (a.Cmp(b) > 0) == (e.Op == ir.Min) {
				out.Set(b)
			}
		case ir.And:
			out.And(a, b)
		case ir.Neg:
			out.Neg(a)
		case ir.Shl, ir.Shr:
			n := uint(b.Int64() & int64(e.T.Size()*8-1))
			if out.Lsh(a, n); e.Op == ir.Shr {
				out.Rsh(a, n)
			}
		case ir.Cast:
			out.Set(a)
		}
		all := everything(e.R)
		return out, out.Cmp(big.NewInt(all.lo)) >= 0 && out.Cmp(big.NewInt(all.hi)) <= 0
	}
	panic("no such expression in this test")
}

// TestRanges: the exact value of a random expression, wherever no step of it wraps, lies in the range, and where the
// range says that a result fits, it does.
func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]dtype.Type{dtype.I32, dtype.I64, dtype.U32}).Draw(t, "type")
		r := &ranges{threads: 256, mutable: map[*thr.Local]bool{}, locals: map[*thr.Local]span{}}
		env := map[*thr.Local]int64{}
		leaf := func() thr.Expr {
			all := everything(typ)
			lo := rapid.Int64Range(all.lo, all.hi).Draw(t, "lo") >> rapid.SampledFrom([]int{0, 20, 28, 60}).Draw(t, "smaller")
			if rapid.Bool().Draw(t, "const") {
				return thr.Const{DT: typ, Bits: uint64(lo)}
			}
			l := local("x", typ)
			r.locals[l] = span{lo, max(lo, min(all.hi, lo+rapid.Int64Range(0, 1000).Draw(t, "width")))}
			env[l] = rapid.Int64Range(r.locals[l].lo, r.locals[l].hi).Draw(t, "value")
			return ref(l)
		}
		var gen func(depth int) thr.Expr
		gen = func(depth int) thr.Expr {
			if depth == 0 {
				return leaf()
			}
			o := rapid.SampledFrom([]ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Rem, ir.Min, ir.Max, ir.And, ir.Neg, ir.Shl, ir.Shr}).Draw(t, "op")
			if o == ir.Neg {
				return op(o, gen(depth-1))
			}
			return op(o, gen(depth-1), gen(depth-1))
		}
		e := gen(3)
		if v, ok := exactly(e, env); ok && !r.of(e).has(v.Int64()) {
			t.Fatalf("%v of %#v is outside %v", v, e, r.of(e))
		}
		if a := e.(thr.Apply); r.exact(a) && unwrapped(a.Args, env) {
			if _, fits := exactly(a, env); !fits {
				t.Fatalf("%#v is said to fit", a)
			}
		}
	})
}

// unwrapped reports whether no step of the operands leaves its type.
func unwrapped(es []thr.Expr, env map[*thr.Local]int64) bool {
	for _, x := range es {
		if _, ok := exactly(x, env); !ok {
			return false
		}
	}
	return true
}

// TestWrap: signed operators stand alone only where the result is certain to fit.
func TestWrap(t *testing.T) {
	a := newTensors()
	x, y := local("x", dtype.I32), local("y", dtype.I64)
	tid, dim := callFn(thr.TID), get(a.n)
	for _, c := range []struct {
		e    thr.Expr
		want string
	}{
		{op(ir.Add, ref(x), i32(1)), "(int)((u32)x + 1u)"},
		{op(ir.Sub, ref(x), i32(-1)), "(int)((u32)x - 0xffffffffu)"},
		{op(ir.Add, op(ir.Mul, ref(x), i32(3)), ref(x)), "(int)((u32)x * 3u + (u32)x)"},
		{op(ir.Neg, ref(x)), "(int)-(u32)x"},
		{op(ir.Shl, ref(x), i32(35)), "(int)((u32)x << 3)"},
		{op(ir.Shl, tid, i32(3)), "(int)threadIdx.x << 3"},
		{op(ir.Shr, ref(x), ref(x)), "x >> (x & 31)"},
		{op(ir.Shr, ref(x), op(ir.And, tid, i32(7))), "x >> ((int)threadIdx.x & 7)"},
		{op(ir.Add, op(ir.Mul, tid, i32(8)), i32(-16)), "(int)threadIdx.x * 8 - 16"},
		{op(ir.Sub, dim, i32(4)), "a.n - 4"},
		{op(ir.Mul, callFn(thr.BlockX), i32(4)), "(int)(blockIdx.x * 4u)"},
		{op(ir.Div, dim, i32(4)), "a.n / 4"},
		{op(ir.Div, i32(4), dim), "div_i32(4, a.n)"},
		{op(ir.Rem, tid, i32(-1)), "(int)threadIdx.x % -1"},
		{op(ir.Rem, ref(x), i32(-1)), "rem_i32(x, -1)"},
		{op(ir.Add, ref(y), i64c(2)), "(i64)((u64)y + (u64)2ll)"},
		{op(ir.Mul, ref(y), i64c(-2)), "(i64)((u64)y * (u64)(-2ll))"},
		{op(ir.Add, op(ir.Mul, castTo(dtype.I64, ref(x)), get(a.stride)), i64c(2)), "(i64)x * a.x_stride0 + 2"},
		{castTo(dtype.I64, i32(-8)), "-8ll"},
		{op(ir.Sub, u32c(1), u32c(2)), "1u - 2u"},
		{op(ir.Neg, op(ir.Neg, get(a.eps))), "-(-a.eps)"},
		{op(ir.Neg, f32(-1)), "-(-1.0f)"},
	} {
		if got := printed(t, c.e, x, y); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestWrapMutable: a variable that changes has no range, though its first value has one.
func TestWrapMutable(t *testing.T) {
	n, m := local("n", dtype.I32), local("m", dtype.I32)
	one := func(l *thr.Local) thr.Expr { return op(ir.Add, ref(l), i32(1)) }
	text := mustPrint(t, newTensors().kernel("k", decl(n, i32(3)), decl(m, one(n)), set(m, one(m)), set(m, one(n))), Options{})
	for _, want := range []string{"int m = n + 1;", "m = (int)((u32)m + 1u);", "m = n + 1;"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
