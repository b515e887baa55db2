// Package matrix is the conformance matrix: every family of ops on tiles, by element type, by layout, by size (1 to 4
// base tiles of 16x16 a side) and by the number of warps, each compared with a reference in Go. It is modelled on the
// unit tests of ThunderKittens.
//
// A module is one kernel for a family, a type and a way to spread tiles over threads. It holds a body for each layout
// and size, of which a launch runs one by its number; how many warps take part, and how much of the tile is valid, are
// arguments too. So some hundred kernels make thousands of cases. Their CUDA is not committed, but for its hashes.
//
// A body works in place, on a tile in shared memory: what it may not read (elements past a clipped tile's ends) holds
// large numbers of both signs, and what it may not write is compared with what was there. Inputs are small integers, so
// that results are exact in all types and no order of a sum matters, except where a family states a bar.
package matrix

import (
	"fmt"
	"sync"

	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

//go:generate go run ../../cmd/gotile gen .

const (
	base = 16       // the sides of a base tile
	side = 4 * base // the largest
)

// Kernels are the modules.
func Kernels() tile.Set { return kernels() }

var kernels = sync.OnceValue(func() tile.Set {
	return tile.Hashed(tile.Configs(func(m *module) (*tile.Kernel, error) { return m.define() }, modules()...))
})

// modules are all modules, in the order of the table.
var modules = sync.OnceValue(func() []*module {
	var out []*module
	for _, f := range families {
		for _, t := range f.bodies.types() {
			for _, w := range f.ways {
				for _, v := range f.each() {
					out = append(out, &module{family: f, dt: t, way: w, variant: v})
				}
			}
		}
	}
	return out
})

// Cases are the cases of all modules. Those of a module are one name in a receipt, which says how many they are. The
// simulator runs all of them on demand, and a spread of them otherwise: the first of each module, and every 16th.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, m := range modules() {
		cases := m.cases()
		for i, c := range cases {
			out = append(out, tiletest.Case{
				Name:   c.name(),
				Record: fmt.Sprintf("%s: %d cases", m.KernelName(), len(cases)),
				Deep:   i != 0 && i%16 != len(m.KernelName())%16,
				Run:    func(r *tiletest.Run) error { return c.run(r) },
			})
		}
	}
	return out
}

// families are the rows of the table.
var families = []*family{
	elementwise, maths, mapped, rowReductions, colReductions, broadcasts, rowScans, colScans, masks, casts, scales,
	transposes, redistributions, subtiles, shifts,
	swizzled, matrixMoves, moves, products, productsTF32, productsGroup, productsGroupTF32, products8, accesses,
}
