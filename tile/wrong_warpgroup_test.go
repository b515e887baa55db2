package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// group builds a kernel of a warpgroup, and lowers it for the target that has wgmma.
func group(f func(k *tile.Builder, c tile.Warpgroup)) error {
	k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) { f(k, c) }))
	}, tile.Threads(128))
	return lower(k, err, "sm_90a")
}

// matrix is a shared tile with a swizzle.
func matrix(k *tile.Builder, rows, cols int, sw layout.Swizzle) tile.Shared[tile.BF16] {
	return tile.NewShared[tile.BF16](k, rows, cols).Swizzle(sw)
}

// wrongWarpgroups are MMAs of warpgroups that wgmma does not serve, and mistakes with what they read.
var wrongWarpgroups = []wrong{
	{name: "more columns than wgmma has", rule: tile.ErrShape, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			a, b := matrix(k, 64, 16, layout.Swizzle32), matrix(k, 264, 16, layout.Swizzle32)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 264), a, b, tile.ABt) // ERR MMA of a warpgroup on sm_90a, by wgmma: n = 264, and it has at most 256 columns; use 2 accumulators, or the option tile.MMASync
		})
	}},
	{name: "half of wgmma's k", rule: tile.ErrShape, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			s := matrix(k, 64, 32, layout.Swizzle64).At().Matrix(64, 24)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), s, s, tile.ABt) // ERR MMA of a warpgroup on sm_90a, by wgmma: k = 24, and it takes 16 of bf16 at a time; use 32 and zeros, or the option tile.MMASync
		})
	}},
	{name: "a warpgroup that begins within one", rule: tile.ErrScope, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			k.Roles(tile.Producer(0, func(p tile.Warp) {}), tile.Consumers(1, 0, func(c tile.Warpgroup) {
				s := matrix(k, 64, 64, layout.Swizzle128)
				tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), s, s) // ERR MMA of a warpgroup on sm_90a, by wgmma: the role consumers begins at warp 1, and it is of warpgroups, which begin at multiples of 4; put roles of single warps behind it, or give them register budgets, or the option tile.MMASync
			}))
		}, tile.Threads(160))
		return lower(k, err, "sm_90a")
	}},
	{name: "an operand without a swizzle", rule: tile.ErrLayout, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			s := tile.NewShared[tile.BF16](k, 64, 64)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), s, s) // ERR MMA of a warpgroup on sm_90a, by wgmma: operand A is s0, rows of 128 bytes without a swizzle, which no descriptor describes; make it with Swizzle(layout.Swizzle128), Swizzle64 or Swizzle32, or the option tile.MMASync
		})
	}},
	{name: "an operand of rows that do not fill a swizzle", rule: tile.ErrLayout, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			a, b := matrix(k, 68, 64, layout.Swizzle128), matrix(k, 64, 64, layout.Swizzle128)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), a.Rows(0, 64), b) // ERR MMA of a warpgroup on sm_90a, by wgmma: operand A is s0 of 68 rows, and a swizzle repeats after 8; use a multiple of 8, or the option tile.MMASync
		})
	}},
	{name: "rows within a swizzle", rule: tile.ErrLayout, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			a, b := matrix(k, 128, 64, layout.Swizzle128), matrix(k, 64, 64, layout.Swizzle128)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), a.Rows(c.Index().Scale(4), 64), b) // ERR MMA of a warpgroup on sm_90a, by wgmma: operand A begins at a row of s0 that is not known to be a multiple of 8, after which its swizzle repeats; use a constant, or the variable of a loop with such a step, or the option tile.MMASync
		})
	}},
	{name: "columns within a panel", rule: tile.ErrLayout, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			a, b := matrix(k, 64, 64, layout.Swizzle128), matrix(k, 64, 128, layout.Swizzle128)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), a, b.At(0, 16).Matrix(64, 64)) // ERR MMA of a warpgroup on sm_90a, by wgmma: operand B begins at a column of s1 that is not known to be a multiple of 64, the columns of a panel; use such a column, or the option tile.MMASync
		})
	}},
	{name: "a depth that leaves its panel", rule: tile.ErrLayout, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			a, b := matrix(k, 64, 128, layout.Swizzle128), matrix(k, 64, 64, layout.Swizzle128)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), a.At(0, 32).Matrix(64, 64), b) // ERR MMA of a warpgroup on sm_90a, by wgmma: operand A begins at a column of s0 that is not known to be a multiple of 16, or 64 columns from it on are not in one panel of 64; use a multiple of 64, or the option tile.MMASync
		})
	}},
	{name: "a wait for more MMAs than the instruction takes", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.WaitMMA(k.Warp(), 8) // ERR WaitMMA with 8 MMAs in flight: use 0 to 7; 0 waits for all
	}},
	{name: "a product of what was given back, and of what is not there yet", rule: tile.ErrControl, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			pipe := tile.NewPipeline(k, 3, groupSlot{X: matrix(k, 64, 64, layout.Swizzle128)})
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				acc := tile.NewAcc[tile.F32](c, 64, 64)
				s := pipe.Wait(c)
				s.Release(c)
				tile.MMA(acc, s.X, s.X) // ERR MMA of a slot that is released at @-1: its producers may be filling it again; release it afterwards
			}), tile.ConsumerGroup(128, 0, func(p tile.Group) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.X, a.H)
			}))
		}, tile.Threads(256))
		return lower(k, err, "sm_90a")
	}},
}

type groupSlot struct {
	tile.Slot
	X tile.Shared[tile.BF16]
}
