package matrix

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
)

// A way is how tiles are spread over threads: over each warp of a block as fragments of tensor cores, each warp with a tile
// of its own; over a block of 1, 2 or 4 warps, in stripes; over a warpgroup, as fragments.
type way struct {
	name  string
	warps int // of the block
	kind  kind
}

type kind uint8

const (
	perWarp  kind = iota // a tile a warp, 1, 2 or 4 of which take part
	perBlock             // one tile, of all warps
	perGroup             // one tile, of a warpgroup
)

var (
	warpwise  = way{"warp", 4, perWarp}
	onewarp   = way{"warp1", 1, perWarp} // of families whose other tiles leave no room for more
	groupwise = way{"group", 4, perGroup}
	stripes   = []way{{"block1", 1, perBlock}, {"block2", 2, perBlock}, {"block4", 4, perBlock}}
	allWays   = append([]way{warpwise, groupwise}, stripes...)
)

// A body is one piece of code of a module: a layout and a size, with ends that a launch gives or without.
type body struct {
	number     int
	layout     string // fragment, turned (the transpose of one), or stripes
	rows, cols int
	clip       bool
}

// A module is one kernel.
type module struct {
	family  *family
	dt      dtype.Type
	way     way
	variant variant
	loads   loads
}

// KernelName is the name of the compiled kernel.
func (m *module) KernelName() string {
	name := fmt.Sprintf("matrix_%s_%v_%s", m.family.name, m.dt, m.way.name)
	if m.variant.name != "" {
		name += "_" + m.variant.name
	}
	return name
}

// workers are the numbers of warps that may take part.
func (m *module) workers() []int {
	if m.way == warpwise {
		return []int{1, 2, 4}
	}
	return []int{m.way.warps}
}

// tiles are how many tiles the block has room for.
func (m *module) tiles() int {
	if m.way.kind == perWarp {
		return m.way.warps
	}
	return 1
}

// layouts are the spreads of the module's tiles.
func (m *module) layouts() []string {
	switch {
	case m.way.kind == perBlock:
		return []string{"stripes"}
	case m.family.layouts != nil:
		return m.family.layouts
	}
	return []string{"fragment", "turned"}
}

// bodies are a body of every second size in each layout, of those that neighbours in the table (the other layout, the
// next type) have not, and three whose ends a launch gives.
func (m *module) bodies() []body {
	var out []body
	add := func(layout string, rows, cols int, clip bool) {
		if m.fits(layout, rows, cols) {
			out = append(out, body{len(out), layout, rows, cols, clip})
		}
	}
	for i, l := range m.layouts() {
		odd := i + int(m.dt) + m.way.warps/2
		for r := base; r <= side; r += base {
			for c := base; c <= side; c += base {
				if (r/base+c/base+odd)%2 == 0 || m.way.kind == perGroup {
					add(l, r, c, false)
				}
			}
		}
		if m.family.ends == nil || m.family.ends(l) {
			for _, s := range [][2]int{{16, 48}, {32, 32}, {48, 16}} {
				add(l, s[0], s[1], true)
			}
			if m.way.kind == perGroup {
				add(l, side, 32, true)
				add(l, 32, side, true)
			}
		}
	}
	return out
}

// sides is the size of the worker's tile in a body.
func (m *module) sides(b body) (rows, cols int) {
	if m.family.sides != nil {
		return m.family.sides(m, b)
	}
	return b.rows, b.cols
}

// fits reports whether a module has tiles of a size. A warpgroup's fragments have 64 rows.
func (m *module) fits(l string, rows, cols int) bool {
	if m.way.kind == perGroup && (l == "turned" && cols != side || l != "turned" && rows != side) {
		return false
	}
	return m.family.fits == nil || m.family.fits(m, rows, cols)
}
