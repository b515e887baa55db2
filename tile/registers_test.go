package tile_test

import (
	"testing"

	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// Programs whose variables have more registers between them than a thread, and which need fewer at any one time.
var registersFit = []struct {
	name string
	f    func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs)
}{
	{"one after the other", func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs) {
		for range 4 {
			acc := tile.NewAcc[tile.F32](c, 64, 128)
			tile.MMA(acc, x, y)
			tile.Store(c, a.X, acc.Get())
		}
	}},
	{"declared together, used one after the other", func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs) {
		var accs []tile.Var[tile.F32]
		for range 4 {
			accs = append(accs, tile.NewAcc[tile.F32](c, 64, 128))
		}
		for _, acc := range accs {
			tile.MMA(acc, x, y)
			tile.Store(c, a.X, acc.Get())
		}
	}},
	{"overwritten in each iteration", func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs) {
		var accs []tile.Var[tile.F32]
		for range 4 {
			accs = append(accs, tile.NewAcc[tile.F32](c, 64, 128))
		}
		for range tile.Range(c, 0, a.X.Dim(0), 64) {
			for _, acc := range accs {
				tile.MMA(acc, x, y, tile.Overwrite)
				tile.Store(c, a.X, acc.Get())
			}
		}
	}},
	{"a loop of one iteration", func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs) {
		var accs []tile.Var[tile.F32]
		for range 4 {
			accs = append(accs, tile.NewAcc[tile.F32](c, 64, 128))
		}
		for range tile.Range(c, 0, 64, 64) {
			for _, acc := range accs {
				tile.MMA(acc, x, y)
				tile.Store(c, a.X, acc.Get())
			}
		}
	}},
	{"never read", func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs) {
		var accs []tile.Var[tile.F32]
		for range 4 {
			accs = append(accs, tile.NewAcc[tile.F32](c, 64, 128))
		}
		for range tile.Range(c, 0, a.X.Dim(0), 64) {
			for _, acc := range accs {
				tile.MMA(acc, x, y)
			}
		}
	}},
	{"one number each", func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs) {
		var sums []tile.Var[tile.F32]
		for range 8 {
			sums = append(sums, tile.NewVar(c, tile.Full(c, c.Fragment(64, 128), tile.Operand[tile.F32](a.Eps))))
		}
		for range tile.Range(c, 0, a.X.Dim(0), 64) {
			for _, s := range sums {
				s.Set(s.Get().Mul(a.Eps))
			}
		}
		for _, s := range sums {
			tile.Store(c, a.X, s.Get())
		}
	}},
	{"parts of tiles", func(k *tile.Builder, c tile.Warpgroup, x, y tile.Shared[tile.BF16], a wrongArgs) {
		var sums []tile.Var[tile.F32]
		for range 8 {
			sums = append(sums, tile.NewVar(c, tile.Full(c, c.Fragment(64, 128), tile.Operand[tile.F32](a.Eps))))
		}
		for range tile.Range(c, 0, a.X.Dim(0), 64) {
			for _, s := range sums {
				s.Set(s.Get().Add(tile.Load(c, a.X, c.Fragment(64, 128)).Fill(tile.F32(0))))
			}
		}
		for _, s := range sums {
			tile.Store(c, a.X, s.Get().Subtile(1, 0, 16))
		}
	}},
}

func TestRegistersFit(t *testing.T) {
	for _, c := range registersFit {
		_, err := tile.Define("right", func(k *tile.Builder, a wrongArgs) {
			x, y := matrix(k, 64, 64, layout.Swizzle128), matrix(k, 64, 128, layout.Swizzle128)
			k.Roles(tile.Consumers(2, 0, func(g tile.Warpgroup) { c.f(k, g, x, y, a) }))
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
