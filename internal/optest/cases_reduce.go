//go:build !gotilegen

package optest

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// Data for reductions. All negative or all positive, ones with a few twos: a masked element that counts shows in the
// maximum or minimum and, since it is zero, in the product; a missing one shows in the sum. Sums and products are exact
// in every type that holds them.
func reduceData(t dtype.Type, kind int, seed uint64, n int) []uint64 {
	x := make([]uint64, n)
	for i := range x {
		h := tiletest.Bits(seed, uint64(i))
		v := int64(1)
		if h%23 == 0 {
			v = 2
		}
		switch {
		case kind == 2 && !t.IsFloat():
			x[i] = random(t, h)
			continue
		case kind == 1:
			v = -v
		case kind == 2:
			v = int64(h>>20%5) - 2
		}
		x[i] = encode(t, float64(v))
	}
	return x
}

var reduceKinds = []string{"positive", "negative", "mixed"}

// encode is the bit pattern of a small integer.
func encode(t dtype.Type, v float64) uint64 {
	switch t {
	case dtype.F32:
		return uint64(math.Float32bits(float32(v)))
	case dtype.BF16:
		return uint64(math.Float32bits(float32(v)) >> 16)
	case dtype.F16:
		return uint64(dtype.F16FromFloat32(float32(v)).Bits())
	}
	return uint64(int64(v)) & (1<<(8*t.Size()-1)<<1 - 1)
}

// reduced checks one result against the elements that it stands for. 16-bit sums are f32 sums, rounded once.
func reduced(t dtype.Type, op ir.Op, xs []uint64, got uint64) (want any, ok bool) {
	combine := map[ir.Op]ir.Op{ir.Sum: ir.Add, ir.MaxOf: ir.Max, ir.MinOf: ir.Min, ir.Prod: ir.Mul}[op]
	if t.IsFloat() {
		acc := exact.Float(t, xs[0])
		for _, x := range xs[1:] {
			acc = exact.Round(dtype.F32, trueValue(combine, acc, exact.Float(t, x), 0))
		}
		acc = exact.Round(t, acc)
		return acc, exact.Float(t, got) == acc // the sign of a zero depends on the order
	}
	acc := xs[0]
	for _, x := range xs[1:] {
		acc = intValue(combine, t, acc, x, 0)
	}
	return acc, got == acc
}

// check compares results with their elements: of(i) is what result i stands for.
func checkReduced(r run, what string, t dtype.Type, op ir.Op, got []uint64, of func(i int) []uint64) {
	m := &mistakes{r: r, what: fmt.Sprintf("%v %s", op, what)}
	for i, g := range got {
		if want, ok := reduced(t, op, of(i), g); !ok {
			m.at(i, hex(g), "%v", want)
		}
	}
	m.done(len(got))
}

// The lengths of vectors and the shapes of tiles: below, between and at the capacities of the kernels of each type.
var (
	vectorLengths = map[dtype.Type][]int{
		dtype.F32: {1, 31, 100, 101, 384, 999, 1000, 1001, 4093, 4096}, dtype.BF16: {1, 33, 96, 100, 2047, 2048}, dtype.F16: {1, 3, 320, 699, 700},
		dtype.I32: {1, 5, 1023, 1024}, dtype.U32: {2, 63, 64, 65, 1500}, dtype.I64: {1, 77, 128, 129, 600},
	}
	tileShapes = map[dtype.Type][][2]int{
		dtype.F32: {{1, 1}, {8, 24}, {5, 23}, {16, 100}, {3, 99}, {15, 64}, {150, 80}, {130, 7}, {17, 79}}, dtype.BF16: {{40, 100}, {1, 99}, {33, 1}, {31, 96}},
		dtype.F16: {{7, 256}, {2, 255}, {1, 3}}, dtype.I32: {{70, 5}, {64, 3}, {1, 1}}, dtype.U32: {{4, 40}, {3, 33}, {1, 2}}, dtype.I64: {{6, 128}, {5, 127}, {1, 1}},
	}
)

// reduceCases are a case for each reduction, type and form.
func reduceCases() []tiletest.Case {
	var out []tiletest.Case
	for i, op := range reductions {
		for _, t := range dtype.Arithmetic() {
			out = append(out, opCase(op, "vector/"+t.String(), func(r run) error { return reduceVectors(r, t, i) }),
				opCase(op, "tile/"+t.String(), func(r run) error { return reduceTiles(r, t, i) }))
		}
	}
	return out
}

// orderFree reports whether a reduction of data of some kind has one result, whatever the order.
func orderFree(t dtype.Type, op ir.Op, kind int) bool {
	return !t.IsFloat() || op != ir.Prod || kind != 2
}

func reduceVectors(r run, t dtype.Type, op int) error {
	for _, n := range vectorLengths[t] {
		for kind, name := range reduceKinds {
			const rows = 5
			x := reduceData(t, kind, tiletest.Bits(r.Seed, uint64(n+kind)), rows*n)
			y := r.Out(t, rows, len(reductions))
			if err := launchVector(r.Stream, vectorParams{X: place(r, t, x, rows, n), Y: y}); err != nil {
				return err
			}
			if !orderFree(t, reductions[op], kind) {
				continue
			}
			checkReduced(r, fmt.Sprintf("of %d %s %v", n, name, t), t, reductions[op], column(r.Bits(y), len(reductions), op), func(i int) []uint64 { return x[i*n:][:n] })
		}
	}
	return nil
}

// column takes every width-th element.
func column(x []uint64, width, i int) []uint64 {
	var out []uint64
	for ; i < len(x); i += width {
		out = append(out, x[i])
	}
	return out
}

func reduceTiles(r run, t dtype.Type, op int) error {
	for _, s := range tileShapes[t] {
		for kind, name := range reduceKinds {
			const groups = 3
			rows, n := s[0], s[1]
			x := reduceData(t, kind, tiletest.Bits(r.Seed, uint64(rows*n+kind)), groups*rows*n)
			k := len(reductions)
			p := tileParams{X: place(r, t, x, groups, rows, n), ByRow: r.Out(t, groups, k, rows), ByCol: r.Out(t, groups, k, n), All: r.Out(t, groups, k)}
			if err := launchTile(r.Stream, p); err != nil {
				return err
			}
			if !orderFree(t, reductions[op], kind) {
				continue
			}
			checkTiles(r, fmt.Sprintf("%s %v %dx%d", name, t, rows, n), t, op, x, groups, rows, n, p.ByRow, p.ByCol, p.All)
		}
	}
	return nil
}

// checkTiles checks one reduction of tiles along rows, along columns and of everything.
func checkTiles(r run, what string, t dtype.Type, op int, x []uint64, groups, rows, n int, byRow, byCol, all device.Tensor) {
	k := len(reductions)
	for g := range groups {
		part := func(y device.Tensor, n int) []uint64 { return r.Bits(y)[(g*k+op)*n:][:n] }
		tile := x[g*rows*n:][:rows*n]
		checkReduced(r, "along rows of "+what, t, reductions[op], part(byRow, rows), func(i int) []uint64 { return tile[i*n:][:n] })
		checkReduced(r, "along columns of "+what, t, reductions[op], part(byCol, n), func(i int) []uint64 { return column(tile, n, i) })
		checkReduced(r, "of all of "+what, t, reductions[op], part(all, 1), func(int) []uint64 { return tile })
	}
}

// shapeCases are broadcasts, coordinates, fills and constants.
func shapeCases() []tiletest.Case {
	shapes := map[dtype.Type][][2]int{dtype.F32: {{20, 48}, {17, 45}, {1, 1}}, dtype.BF16: {{9, 64}, {8, 61}}, dtype.I32: {{12, 30}, {11, 7}}, dtype.I64: {{6, 40}, {5, 3}}}
	var out []tiletest.Case
	for _, op := range []ir.Op{ir.Broadcast, ir.Coord, ir.Fill, ir.Const} {
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I32, dtype.I64} {
			out = append(out, opCase(op, t.String(), func(r run) error {
				for _, s := range shapes[t] {
					if err := checkShape(r, op, t, s[0], s[1], s == shapes[t][0]); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}
	return out
}

// checkShape runs a shape kernel on small negative integers. full: the tile has its whole capacity.
func checkShape(r run, op ir.Op, t dtype.Type, rows, n int, full bool) error {
	xs, vs := r.Ints(-9, -2, 1, rows*n), r.Ints(-9, -2, 2, n)
	p := shapeParams{X: r.In(t, xs, rows, n), V: r.In(t, vs, n), Y: r.Out(t, 5, rows, n), C: r.Out(dtype.I32, 2, rows, n), S: r.Out(t, 2)}
	if err := launchShape(r.Stream, p); err != nil {
		return err
	}
	want, coords := make([]int, 5*rows*n), make([]int, 2*rows*n)
	least := 0
	for i := range rows {
		for j := range n {
			k := i*n + j
			byRow, byCol := -100, -100
			for a := range n {
				byRow = max(byRow, int(xs[i*n+a]))
			}
			for a := range rows {
				byCol = max(byCol, int(xs[a*n+j]))
			}
			least = min(least, int(xs[k]))
			for q, w := range []int{byRow, byCol, min(int(xs[k]), int(vs[j])), 7} {
				want[q*rows*n+k] = w
			}
			coords[k], coords[rows*n+k] = i, j
		}
	}
	for k := range rows * n {
		want[4*rows*n+k] = least
	}
	switch op {
	case ir.Coord:
		ints(r, "coordinates", p.C, coords)
	case ir.Fill:
		most := 3 // a masked element
		if full {
			most = int(xs[0])
			for _, x := range xs {
				most = max(most, int(x))
			}
		}
		ints(r, "extremes with masked elements filled", p.S, []int{most, least - 3})
	default:
		ints(r, "broadcasts", p.Y, want)
	}
	return nil
}
