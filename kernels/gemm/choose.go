//go:build !gotilegen

package gemm

import (
	"slices"

	"github.com/gotile/gotile/runtime/device"
)

// maxSplits is the most parts of k.
const maxSplits = 8

// shape is what the choice of a kernel depends on.
type shape struct {
	form           Form
	batch, m, n, k int
	whole          bool // all tensors begin, and have all their rows, at multiples of 16 bytes, and rows as long
}

// choose picks the kernel with the least cost, which room for so many parts allows. What is set of how stays.
func (p shape) choose(d *device.Device, how Choice, room int) Choice {
	best, least := how, -1.0
	whole, sms, target := p.whole && p.k > 0, d.Info().SMs, d.Target().Name
	if t := d.Target(); t.Proxy != "" {
		target = t.Proxy
	}
	for _, z := range sizes {
		if how.Size != "" && how.Size != z.name || how.Sync && z.Way == warpgroups ||
			how.Size == "" && (z.Whole && !whole || z.Targets != nil && !slices.Contains(z.Targets, target)) {
			continue
		}
		for splits := 1; splits <= max(1, min(maxSplits, room, p.k/(2*z.K))); splits++ {
			if how.Splits != 0 && how.Splits != splits {
				continue
			}
			if cost := z.cost(p, splits, sms); least < 0 || cost < least {
				least, best = cost, Choice{Size: z.name, Splits: splits, Sync: how.Sync}
			}
		}
	}
	if best.Splits == 0 { // a number that no size allows
		best.Splits = 1
	}
	return best
}

// cost estimates the cycles of a product on so many multiprocessors: the rounds of tiles, each with the steps along k and
// what a tile costs beside them. A step takes as long as its products at the rate of the instruction; by wgmma at least as
// long as its operands are on the way, by how many steps are on the way at once. The rates are what an H200 showed for
// 4096x4096x4096, the rest what it showed for 4096x1408x512 and 512x1408x16384.
func (z size) cost(p shape, splits, sms int) float64 {
	const (
		onTheWay = 3500.0 // cycles of a copy from L2 while all blocks copy
		begin    = 2500.0 // the first operands, and the last products
		write    = 1.0 / 12
		sum      = 8000.0 // another launch, beside its bytes in f32
		fromL2   = 35.0   // of those, bytes a cycle
	)
	rate := 1750.0 // multiply-adds a cycle of wgmma, of 2048
	switch {
	case z.Way == warps:
		rate = 900
	case z.Way == blockwide && z.Whole:
		rate = 740
	case z.Way == blockwide:
		rate = 300
	}
	tiles := p.batch * pieces(p.m, z.M) * pieces(p.n, z.N) * splits
	area := float64(z.M * z.N)
	step := area * float64(z.K) / rate
	if z.Way == warpgroups {
		step = max(step, onTheWay/float64(z.Stages-1))
	}
	steps := pieces(pieces(p.k, z.K), splits)
	cost := float64(pieces(tiles, sms)) * (float64(steps)*step + begin + area*write)
	if splits > 1 {
		cost += sum + float64((splits+1)*p.batch*p.m*p.n*4)/float64(sms)/fromL2
	}
	return cost
}

// pieces is n in pieces of so many, rounded up.
func pieces(n, size int) int { return (n + size - 1) / size }
