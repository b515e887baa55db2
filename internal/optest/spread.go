package optest

import (
	"fmt"

	"github.com/gotile/gotile/tile"
)

// A spread says who works on a tile and how it lies in registers: as a fragment of a warp or of a warpgroup, or striped
// over a warp or a block.
type spread struct {
	name        string
	fragment    bool
	warps       int // of the block
	group       bool
	rows, cols  int
	vec, across int // where it is striped
}

// striper are the scopes that stripe tiles.
type striper interface {
	tile.Scope
	Striped2(rows, cols, vec, across int) tile.Span
}

// tiles calls f for each of n tiles of the spread, with the scope whose they are and the spans of tiles in its way.
func (p spread) tiles(k *tile.Builder, n tile.Index, f func(s tile.Scope, i tile.Index, span func(rows, cols int) tile.Span)) {
	if p.group {
		work := k.Schedule(tile.Linear(n, 1))
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			for t := range work.Tiles(c) {
				f(c, t.Row, c.Fragment)
			}
		}))
		return
	}
	var s striper = k.Warp()
	if !p.fragment && p.warps > 1 {
		s = k.Block()
	}
	span := func(rows, cols int) tile.Span { return s.Striped2(rows, cols, p.vec, p.across) }
	if p.fragment {
		span = k.Warp().Fragment
	}
	for i := range tile.Persistent(s, n) {
		f(s, i, span)
	}
}

// threads is the size of the block.
func (p spread) threads() int { return 32 * p.warps }

func (p spread) kernel(family, t string) string { return fmt.Sprintf("op_%s_%s_%s", family, t, p.name) }

// The spreads of the tests: 1 to 4 base tiles of 16x16 a side, by warps of blocks of 1, 2 and 4, and by warpgroups; then
// others than fragments, one with threads of several warps along both axes.
var (
	frag16x16  = spread{name: "w1_16x16", fragment: true, warps: 1, rows: 16, cols: 16}
	frag16x64  = spread{name: "w4_16x64", fragment: true, warps: 4, rows: 16, cols: 64}
	frag32x32  = spread{name: "w2_32x32", fragment: true, warps: 2, rows: 32, cols: 32}
	frag64x16  = spread{name: "w4_64x16", fragment: true, warps: 4, rows: 64, cols: 16}
	frag32x48  = spread{name: "w2_32x48", fragment: true, warps: 2, rows: 32, cols: 48}
	frag48x32  = spread{name: "w1_48x32", fragment: true, warps: 1, rows: 48, cols: 32}
	group64x64 = spread{name: "wg_64x64", fragment: true, warps: 4, group: true, rows: 64, cols: 64}
	group64x32 = spread{name: "wg_64x32", fragment: true, warps: 4, group: true, rows: 64, cols: 32}
	striped    = spread{name: "striped", warps: 1, rows: 16, cols: 24, vec: 2, across: 4}
	blockwise  = spread{name: "block", warps: 8, rows: 12, cols: 140, vec: 1, across: 64}
)

// shapes are sizes of tiles for a spread: whole, ragged along both axes, and one element.
func (p spread) shapes() [][2]int {
	return [][2]int{{p.rows, p.cols}, {p.rows - 3, p.cols - 5}, {p.rows, p.cols - 8}, {p.rows - 1, p.cols}}
}

// algebraKernels are the kernels of ops on register tiles as wholes.
func algebraKernels() tile.Set {
	return tile.Sets(scanKernels(), turnKernels(), maskKernels(), shiftKernels(), triangularKernels(), decayKernels(), blocksKernels())
}
