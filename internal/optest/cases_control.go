//go:build !gotilegen

package optest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

func controlCases() []tiletest.Case {
	out := []tiletest.Case{
		opCase(ir.Range, "trips", checkControl), opCase(ir.If, "nested", checkControl), opCase(ir.Var, "control", checkControl),
		opCase(ir.While, "collatz", checkWhile),
		opCase(ir.Persistent, "blocks", checkGrid), opCase(ir.BlockID, "grid", checkGrid), opCase(ir.NumBlocks, "grid", checkGrid),
		opCase(ir.WarpID, "rows", checkWarps), opCase(ir.Persistent, "warps", checkWarps),
	}
	for _, op := range []ir.Op{ir.Var, ir.Get, ir.Set} {
		for _, t := range []dtype.Type{dtype.I32, dtype.F32, dtype.BF16} {
			out = append(out, opCase(op, t.String(), func(r run) error { return checkVariable(r, t) }))
		}
	}
	return out
}

func checkControl(r run) error {
	const n, m = 77, 2
	trips := []int{0, 1, 2, 3, 5, 9, -4}
	xs := r.Ints(-50, 50, 1, n)
	var times []float64
	var count, y, branch []int
	for _, t := range trips {
		times = append(times, float64(t))
		acc := make([]int32, n)
		for j := range acc {
			acc[j] = int32(xs[j])
		}
		iterations, sum, last, inner := 0, 0, -1, 0
		for i := 2; i < 3*t+2; i += 3 {
			iterations, sum, last = iterations+1, sum+i, i
			for k := i; k < i+t; k += 2 {
				inner++
				for j := range acc {
					acc[j] = acc[j]*3 + int32(k)
				}
			}
		}
		count = append(count, iterations, sum, last, inner)
		for j := range acc {
			y = append(y, int(acc[j]))
			switch b := int(xs[j]); {
			case t < m:
				branch = append(branch, b+100)
			case t == 3 || t == 5:
				branch = append(branch, -b)
			default:
				branch = append(branch, b)
			}
		}
	}
	p := controlParams{X: r.In(dtype.I32, xs, n), Times: r.In(dtype.I32, times, len(trips)), M: m,
		Count: r.Out(dtype.I32, len(trips), 4), Y: r.Out(dtype.I32, len(trips), n), If: r.Out(dtype.I32, len(trips), n)}
	if err := launchControl(r.Stream, p); err != nil {
		return err
	}
	ints(r, "loop variables", p.Count, count)
	ints(r, "tile variable", p.Y, y)
	ints(r, "branches", p.If, branch)
	return nil
}

func checkWhile(r run) error {
	xs := []float64{1, 2, 3, 7, 8, 9, 27, 97, 0, 15, 16, 17, 35, 36, 871, 1 << 20}
	var steps, root []int
	for _, x := range xs {
		n, q := 0, 0
		for (q+1)*(q+1) <= int(x) {
			q++
		}
		for v := int(x); v > 1; n++ {
			if v%2 == 0 {
				v /= 2
			} else {
				v = 3*v + 1
			}
		}
		steps, root = append(steps, n), append(root, q)
	}
	p := whileParams{X: r.In(dtype.I32, xs, len(xs)), Steps: r.Out(dtype.I32, len(xs)), Root: r.Out(dtype.I32, len(xs))}
	if err := launchWhile(r.Stream, p); err != nil {
		return err
	}
	ints(r, "steps", p.Steps, steps)
	ints(r, "roots", p.Root, root)
	return nil
}

func checkGrid(r run) error {
	for _, blocks := range []int{1, 3, 8} {
		for _, m := range []int{1, 2, 7, 40, 41} {
			p := gridParams{Y: r.Out(dtype.I32, blocks, 3), Mine: r.Out(dtype.I32, m)}
			if err := launchGrid(r.Stream, p); err != nil {
				return err
			}
			var y, mine []int
			for b := range blocks {
				n := 0
				for i := 2 * b; i < m; i += 2 * blocks {
					n++
				}
				y = append(y, b, blocks, n)
			}
			for i := range m {
				mine = append(mine, i/2%blocks)
			}
			ints(r, "block, blocks and iterations", p.Y, y)
			ints(r, "owners", p.Mine, mine)
		}
	}
	return nil
}

func checkWarps(r run) error {
	const warps = 160 / 32
	for _, rows := range []int{1, 4, 5, 6, 133} {
		const n = 67
		xs := r.Ints(-1000, 1000, uint64(rows), rows*n)
		p := warpParams{X: r.In(dtype.I32, xs, rows, n), Y: r.Out(dtype.I32, rows, 4)}
		if err := launchWarp(r.Stream, p); err != nil {
			return err
		}
		blocks := int(r.Floats(p.Y)[2]) // as many as the device has room for
		var y []int
		for row := range rows {
			sum := 0
			for _, x := range xs[row*n:][:n] {
				sum += int(x)
			}
			at := row % (blocks * warps)
			y = append(y, at%warps, at/warps, blocks, sum)
		}
		ints(r, "warp, block, blocks and sum", p.Y, y)
	}
	return nil
}

// checkVariable follows the kernel with Go variables; the numbers are small enough for bf16.
func checkVariable(r run, t dtype.Type) error {
	for _, n := range []int{192, 191, 1} {
		xs := r.Ints(0, 9, uint64(n), n)
		p := variableParams{X: r.In(t, xs, n), Y: r.Out(t, 6, n), S: r.Out(t, 6)}
		if err := launchVariable(r.Stream, p); err != nil {
			return err
		}
		most, least := 0, 9
		for _, x := range xs {
			most, least = max(most, int(x)+1), min(least, int(x))
		}
		y := make([]int, 6*n)
		for i, f := range xs {
			x := int(f)
			v, w := x+2, x+1+most
			y[i], y[n+i], y[2*n+i], y[3*n+i] = x, v, x+1, w
			v, w = w, v
			kept := v - w
			for range 3 {
				v, w = w+1, v
			}
			y[4*n+i], y[5*n+i] = v+kept, w
		}
		ints(r, "tile variables", p.Y, y)
		ints(r, "variables", p.S, []int{5, 6, most, 30, most, least})
	}
	return nil
}
