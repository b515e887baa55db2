package ir

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/dtype"
)

var indexOps = []Op{Add, Sub, Mul, Div, Rem, Min, Max}

// eval computes an index as the GPU does; ok is false where something divides by zero.
func eval(v *Value, leaf map[*Value]int32) (int32, bool) {
	if n, ok := leaf[v]; ok {
		return n, true
	}
	if n, ok := intConst(v); ok {
		return int32(n), true
	}
	x, okX := eval(v.Args[0], leaf)
	y, okY := eval(v.Args[1], leaf)
	if !okX || !okY || y == 0 && (v.Op == Div || v.Op == Rem) {
		return 0, false
	}
	return fold(v.Op, x, y)
}

// plain is the same op on the same operands, without folding.
type plain struct {
	op   Op
	n    int32
	x, y *plain
}

func (p *plain) eval(leaf int32) (int32, bool) {
	switch p.op {
	case Const:
		return p.n, true
	case Invalid:
		return leaf, true
	}
	x, okX := p.x.eval(leaf)
	y, okY := p.y.eval(leaf)
	if !okX || !okY || y == 0 && (p.op == Div || p.op == Rem) {
		return 0, false
	}
	return fold(p.op, x, y)
}

// TestIndexArithmetic builds random expressions over a loop variable: folding changes no value, and each value lies
// within the bounds.
func TestIndexArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(-20, 20).Draw(t, "lo")
		hi := rapid.IntRange(-20, 60).Draw(t, "hi")
		step := rapid.IntRange(1, 9).Draw(t, "step")
		b := NewBuilder("k")
		b.Run(func() {
			b.Loop(ScopeBlock, b.Int(lo), b.Int(hi), b.Int(step), func(i *Value) bool {
				if b.second > 0 {
					return true // draws are not repeatable; this loop has no ops to compare
				}
				var gen func(depth int) (*Value, *plain)
				gen = func(depth int) (*Value, *plain) {
					if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
						if rapid.Bool().Draw(t, "var") {
							return i, &plain{op: Invalid}
						}
						n := rapid.OneOf(rapid.IntRange(-3, 9), rapid.Just(1<<20)).Draw(t, "const")
						return b.Int(n), &plain{op: Const, n: int32(n)}
					}
					op := rapid.SampledFrom(indexOps).Draw(t, "op")
					x, px := gen(depth - 1)
					y, py := gen(depth - 1)
					if n, ok := intConst(y); ok && n == 0 && (op == Div || op == Rem) {
						y, py = b.Int(7), &plain{op: Const, n: 7}
					}
					return b.Index(op, x, y), &plain{op: op, x: px, y: py}
				}
				v, p := gen(4)
				low, high := bounds(v)
				for n := lo; n < hi; n += step {
					want, ok := p.eval(int32(n))
					if !ok {
						continue
					}
					got, _ := eval(v, map[*Value]int32{i: int32(n)})
					if got != want {
						t.Fatalf("at %d: folded %d, plain %d", n, got, want)
					}
					if int(got) < low || int(got) > high {
						t.Fatalf("at %d: %s = %d lies outside [%d, %d]", n, v.expr(), got, low, high)
					}
				}
				return true
			})
		})
	})
}

// TestBounds checks leaves and loops by hand.
func TestBounds(t *testing.T) {
	b := NewBuilder("k")
	n := b.Dim(DimSpec{Symbol: &Symbol{Name: "n"}})
	unknown := [2]int{math.MinInt32, math.MaxInt32}
	check := func(what string, v *Value, want [2]int) {
		t.Helper()
		if lo, hi := bounds(v); lo != want[0] || hi != want[1] {
			t.Errorf("%s: [%d, %d], want %v", what, lo, hi, want)
		}
	}
	b.Run(func() {
		check("a dimension", n, [2]int{0, math.MaxInt32})
		check("n+1 may wrap", b.Index(Add, n, b.Int(1)), unknown)
		check("n mod 64", b.Index(Rem, n, b.Int(64)), [2]int{0, 63})
		check("n/2", b.Index(Div, n, b.Int(2)), [2]int{0, math.MaxInt32 / 2})
		check("min(n, 9)", b.Index(Min, n, b.Int(9)), [2]int{0, 9})
		check("data", b.Apply(Cast, nil, dtype.I32, b.Const(dtype.F32, 0)), unknown)
		b.Persist(b.Int(10), 4, PersistentInfo{Scope: ScopeBlock}, func(i *Value) bool {
			check("10 rows", i, [2]int{0, 9})
			return true
		})
		b.Loop(ScopeBlock, n, b.Int(10), b.Int(4), func(i *Value) bool {
			check("from n", i, [2]int{0, 9})
			return true
		})
	})
}

// TestWarpsOfRoles checks that a role's warps are bounded by the role, and others not.
func TestWarpsOfRoles(t *testing.T) {
	b := NewBuilder("k")
	b.Kernel.Threads = 32 * 6
	b.Run(func() {
		check := func(what string, v *Value, want [2]int) {
			if lo, hi := bounds(v); [2]int{lo, hi} != want {
				t.Errorf("%s: %d to %d, want %v", what, lo, hi, want)
			}
		}
		check("of the block", b.Position(WarpID), [2]int{0, math.MaxInt32})
		b.Roles([]*Role{{Name: "consumers", Scope: ScopeWarp, Warps: 1, Parts: 2}, {Name: "group", Scope: ScopeGroup, Warps: 4, Parts: 1}}, []func(){
			func() { check("of the consumers", b.Position(WarpID), [2]int{0, 1}) },
			func() { check("of the group", b.Position(WarpID), [2]int{2, 5}) },
		})
	})
}

// TestSameValue checks what counts as certainly equal.
func TestSameValue(t *testing.T) {
	b := NewBuilder("k")
	n := b.Dim(DimSpec{Symbol: &Symbol{Name: "n"}})
	p := &Arg{Name: "p", DT: dtype.I32, Dims: []DimSpec{{Size: 4}}}
	b.Kernel.Args = []*Arg{p}
	b.Run(func() {
		x, y := b.Index(Sub, n, b.Int(1)), b.Index(Sub, n, b.Int(1))
		if x == y || !SameValue(x, y) {
			t.Error("n-1 and n-1 differ")
		}
		if SameValue(x, b.Index(Sub, n, b.Int(2))) || SameValue(x, n) || SameValue(x, nil) || !SameValue(nil, nil) {
			t.Error("unequal values are the same")
		}
		load := func() *Value { return b.Load(ScopeBlock, Place{Arg: p, Offs: []*Value{b.Int(0)}}, nil, How{}) }
		if SameValue(load(), load()) {
			t.Error("two loads are the same: memory may change between them")
		}
	})
}
