//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// maskSpreads are those of the kernels of each type.
var maskSpreads = map[dtype.Type][]spread{dtype.F32: {frag32x48, group64x32}, dtype.BF16: {frag16x64, group64x64}, dtype.F16: {frag48x32}}

// maskCases are a case for each op that masks, maps and scalings record, type and spread.
func maskCases() []tiletest.Case {
	var out []tiletest.Case
	for _, op := range []ir.Op{ir.Coord, ir.Select, ir.Set, ir.Get} {
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.F16} {
			for _, p := range maskSpreads[t] {
				out = append(out, opCase(op, "mask/"+t.String()+"/"+p.name, func(r run) error { return checkMasks(r, op, t, p) }))
			}
		}
	}
	return out
}

func checkMasks(r run, op ir.Op, t dtype.Type, p spread) error {
	const groups = 3
	for i, s := range p.shapes() {
		rows, n := s[0], s[1]
		size := rows * n
		xs, rs, cs := r.Ints(-20, 20, uint64(3*i), groups*size), r.Ints(-2, 2, uint64(3*i+1), rows), r.Ints(-2, 2, uint64(3*i+2), n)
		a := maskParams{X: r.In(t, xs, groups, rows, n), R: r.In(t, rs, rows), C: r.In(t, cs, n), Y: r.Out(t, groups, 4, rows, n), Scaled: r.Out(dtype.F32, groups, rows, n)}
		err := launchMask(r.Stream, a)
		if p.group {
			err = launchMaskGroup(r.Stream, maskGroupParams(a))
		}
		if err != nil {
			return err
		}
		want, scaled := make([]int, 4*groups*size), make([]int, groups*size)
		for j, v := range xs {
			g, row, col, x := j/size, j%size/n, j%n, int(v)
			all := [4]int{-7, -7, max(x, 0), x + 2*row - col}
			if col <= row+g {
				all[0] = x
			}
			if col < row {
				all[1] = x
			}
			for k, w := range all {
				want[(4*g+k)*size+j%size] = w
			}
			by := int(rs[row] * cs[col])
			scaled[j] = (x*by + x) * by
		}
		what := fmt.Sprintf(" of %v %dx%d", t, rows, n)
		if op == ir.Set || op == ir.Get {
			ints(r, "scaled accumulators"+what, a.Scaled, scaled)
		} else {
			ints(r, "masks"+what, a.Y, want)
		}
	}
	return nil
}
