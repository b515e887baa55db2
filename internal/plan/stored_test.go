package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

type storedArgs struct {
	X tile.Global[tile.I32] `tile:"8,64"`
	S tile.Global[tile.I32] `tile:"64"`
	T tile.Global[tile.I32] `tile:"64"`
	Y tile.Global[tile.I32] `tile:"8,64"`
}

// The columns' sums of a tile whose rows lie in several warps are combined by the warps that store them, if nothing but
// stores needs them, else by all.
func TestOnlyStored(t *testing.T) {
	for _, c := range []struct {
		name string
		some bool // only the storing warps combine
		body func(k *tile.Builder, a storedArgs, span tile.Span, sums tile.Reg[tile.I32])
	}{
		{"stored", true, func(k *tile.Builder, a storedArgs, _ tile.Span, sums tile.Reg[tile.I32]) {
			tile.Store(k, a.S, sums)
		}},
		{"stored twice, once changed", true, func(k *tile.Builder, a storedArgs, _ tile.Span, sums tile.Reg[tile.I32]) {
			tile.Store(k, a.S, sums)
			tile.Store(k, a.T, sums.Add(tile.I32(1)).Neg())
		}},
		{"stored in a branch", true, func(k *tile.Builder, a storedArgs, _ tile.Span, sums tile.Reg[tile.I32]) {
			tile.If(k, k.BlockID().EqInt(0), func() { tile.Store(k, a.S, sums) })
		}},
		{"stored and spread over the rows", false, func(k *tile.Builder, a storedArgs, span tile.Span, sums tile.Reg[tile.I32]) {
			tile.Store(k, a.S, sums)
			tile.Store(k, a.Y, tile.Expand(sums, span, 0))
		}},
		{"changed, then spread", false, func(k *tile.Builder, a storedArgs, span tile.Span, sums tile.Reg[tile.I32]) {
			more := sums.Add(tile.I32(1))
			tile.Store(k, a.S, more)
			tile.Store(k, a.Y, tile.Expand(more, span, 0))
		}},
		{"reduced again", false, func(k *tile.Builder, a storedArgs, _ tile.Span, sums tile.Reg[tile.I32]) {
			tile.Store(k, a.S, sums)
			tile.Store(k, a.T.At(0), sums.Sum())
		}},
		{"kept in a variable", false, func(k *tile.Builder, a storedArgs, _ tile.Span, sums tile.Reg[tile.I32]) {
			v := tile.NewVar(k, sums)
			tile.Store(k, a.S, v.Get())
		}},
	} {
		low := lower(t, define(t, "k", func(k *tile.Builder, a storedArgs) {
			span := k.Block().Striped2(8, 64, 4, 16)
			c.body(k, a, span, tile.Load(k, a.X, span).Sum(0))
		}, tile.Threads(128)))
		text := thr.Print(low)
		if some := strings.Contains(text, "if eq.i32.bool(and.i32(warp(), "); some != c.some {
			t.Errorf("%s: combined by the storing warps only: %v, want %v:\n%s", c.name, some, c.some, text)
		}
		x, want := make([]int64, 8*64), make([]int64, 64)
		for i := range x {
			x[i] = int64(i*i%97 - 40)
			want[i%64] += x[i]
		}
		for seed := range uint64(3) {
			in := map[string][]int64{"x": x, "s": make([]int64, 64), "t": make([]int64, 64), "y": make([]int64, 8*64)}
			out, err := launch(low, dtype.I32, in, nil, seed)
			if err != nil {
				t.Errorf("%s, seed %d: %v", c.name, seed, err)
				continue
			}
			sums := out["s"]
			if c.name == "changed, then spread" {
				for i := range sums {
					sums[i]--
				}
			}
			if !slices.Equal(sums, want) {
				t.Errorf("%s, seed %d: sums %v, want %v", c.name, seed, sums, want)
			}
		}
		for n := 0; ; n++ { // each barrier is needed
			broken, ok := without(low, n)
			if !ok {
				break
			}
			if _, err := launch(broken, dtype.I32, map[string][]int64{"x": x, "s": make([]int64, 64), "t": make([]int64, 64), "y": make([]int64, 8*64)}, nil, 1); err == nil {
				t.Errorf("%s: silent without barrier %d:\n%s", c.name, n, text)
			}
		}
	}
}
