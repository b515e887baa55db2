package gemm

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

//go:generate go run ../../cmd/gotile gen .

// size is a size of the kernels' tiles, with the instruction that multiplies them.
type size struct {
	name string
	Config
	bf16, f16 byForm
}

// The sizes of mma.sync, for all targets. A warp of the large ones has 64x32, for which it loads 6 matrices of fragments
// for 16 products.
var sizes = []size{
	{"sync128", Config{M: 128, N: 128, K: 64, Down: 2, Right: 4, Stages: 3, Height: 8, Whole: true}, sync128[tile.BF16](), sync128[tile.F16]()},
	{"sync64", Config{M: 64, N: 64, K: 32, Down: 2, Right: 2, Stages: 4, Height: 8}, sync64[tile.BF16](), sync64[tile.F16]()},
}

// Kernels lists the committed kernels: a family for each size and form.
func Kernels() tile.Set {
	var sets []tile.Set
	for _, z := range sizes {
		for _, f := range Forms {
			var cs []Config
			for _, t := range []dtype.Type{dtype.BF16, dtype.F16} {
				c := z.Config
				c.Form, c.T = f, t
				cs = append(cs, c)
			}
			sets = append(sets, tile.Configs(func(c Config) (*tile.Kernel, error) {
				if c.T == dtype.F16 {
					return z.f16[f](c)
				}
				return z.bf16[f](c)
			}, cs...))
		}
	}
	return tile.Sets(sets...)
}
