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

// The sizes. A warp of tma128 and async128 has 64x64, for which it loads 8 times four matrices of fragments for 32 products.
// async64 takes all tensors; the others have whole vectors only.
var sizes = []size{
	{"wgmma128x256", wgmma(256, 4, 2), wgmma128x256[tile.BF16](), wgmma128x256[tile.F16]()},
	{"wgmma128x192", wgmma(192, 4, 3), wgmma128x192[tile.BF16](), wgmma128x192[tile.F16]()},
	{"wgmma128x128", wgmma(128, 6, 2), wgmma128x128[tile.BF16](), wgmma128x128[tile.F16]()},
	{"tma128", config{Way: warps, M: 128, N: 128, K: 64, Down: 2, Right: 2, Stages: 3, Height: 8,
		ProducerRegs: 40, ConsumerRegs: 216, MinBlocks: 2, Whole: true, Targets: tensorTargets}, tma128[tile.BF16](), tma128[tile.F16]()},
	{"async128", config{M: 128, N: 128, K: 32, Down: 2, Right: 2, Stages: 3, Height: 8, MinBlocks: 2, Whole: true}, async128[tile.BF16](), async128[tile.F16]()},
	{"async64", config{M: 64, N: 64, K: 32, Down: 2, Right: 2, Stages: 4, Height: 8}, async64[tile.BF16](), async64[tile.F16]()},
}

// wgmma is a size of two warpgroups, one below the other, with steps of their operands and panels of their results in shared
// memory: as many steps as there is room for, and panels such that few stores are waited for.
func wgmma(n, stages, panels int) config {
	return config{Way: warpgroups, M: 128, N: n, K: 64, Down: 2, Right: 1, Stages: stages, Panels: panels, Height: 8,
		ProducerRegs: 40, ConsumerRegs: 232, Whole: true, Targets: wgmmaTargets}
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
