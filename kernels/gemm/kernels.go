package gemm

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/tile"
)

//go:generate go run ../../cmd/gotile gen .

// size is a size of the kernels' tiles, with the instruction that multiplies them.
type size struct {
	name string
	config
	bf16, f16 byForm
}

// tensorTargets have tensor copies, and wgmmaTargets wgmma.
var (
	tensorTargets = target.Select(func(t *target.Target) bool { return t.Has(target.TMACTA) })
	wgmmaTargets  = target.Select(func(t *target.Target) bool { return t.Has(target.WGMMA) })
)

// The sizes. A warp of the large ones has 64x32, for which it loads 6 matrices of fragments for 16 products. async64 takes
// all tensors; the others have whole vectors only.
var sizes = []size{
	{"wgmma128x256", wgmma(128, 256), wgmma128x256[tile.BF16](), wgmma128x256[tile.F16]()},
	{"wgmma256x176", wgmma(256, 176), wgmma256x176[tile.BF16](), wgmma256x176[tile.F16]()},
	{"wgmma256x192", wgmma(256, 192), wgmma256x192[tile.BF16](), wgmma256x192[tile.F16]()},
	{"wgmma128x192", wgmma(128, 192), wgmma128x192[tile.BF16](), wgmma128x192[tile.F16]()},
	{"tma128", config{Way: warps, M: 128, N: 128, K: 64, Down: 2, Right: 2, Stages: 3, Height: 8,
		ProducerRegs: 40, ConsumerRegs: 216, MinBlocks: 2, Whole: true, Targets: tensorTargets}, tma128[tile.BF16](), tma128[tile.F16]()},
	{"async128", config{M: 128, N: 128, K: 32, Down: 2, Right: 2, Stages: 3, Height: 8, MinBlocks: 2, Whole: true}, async128[tile.BF16](), async128[tile.F16]()},
	{"async64", config{M: 64, N: 64, K: 32, Down: 2, Right: 2, Stages: 4, Height: 8}, async64[tile.BF16](), async64[tile.F16]()},
}

// wgmma is a size of two warpgroups, one below the other, with as many steps of their operands in shared memory as it has
// room for.
func wgmma(m, n int) config {
	c := config{Way: warpgroups, M: m, N: n, K: 64, Down: 2, Right: 1, Stages: 4, Height: 8,
		ProducerRegs: 40, ConsumerRegs: 232, Whole: true, Targets: wgmmaTargets}
	if m > 128 {
		c.Stages, c.ProducerRegs, c.ConsumerRegs = 3, 24, 240
	}
	return c
}

// Kernels lists the committed kernels: a family for each size and form.
func Kernels() tile.Set {
	var sets []tile.Set
	for _, z := range sizes {
		for _, f := range Forms {
			var cs []config
			for _, t := range []dtype.Type{dtype.BF16, dtype.F16} {
				c := z.config
				c.Form, c.T = f, t
				cs = append(cs, c)
			}
			sets = append(sets, tile.Configs(func(c config) (*tile.Kernel, error) {
				if c.T == dtype.F16 {
					return z.f16[f](c)
				}
				return z.bf16[f](c)
			}, cs...))
		}
	}
	return tile.Sets(append(sets, plainKernels(), tf32Kernels(), sumKernels())...)
}
