//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// turnSpreads are those of the kernels of each type.
var turnSpreads = map[dtype.Type][]spread{
	dtype.F32: {frag16x16, frag16x64, group64x64}, dtype.BF16: {frag16x16, frag48x32, group64x64}, dtype.F16: {frag64x16}, dtype.I64: {turnStriped},
}

// turnCases are a case for each op that moves elements, type and spread.
func turnCases() []tiletest.Case {
	var out []tiletest.Case
	for _, op := range []ir.Op{ir.Transpose, ir.Subtile, ir.Redistribute} {
		for _, t := range dtype.Arithmetic() {
			for _, p := range turnSpreads[t] {
				out = append(out, opCase(op, t.String()+"/"+p.name, func(r run) error { return checkTurns(r, op, t, p) }))
			}
		}
	}
	return out
}

func checkTurns(r run, op ir.Op, t dtype.Type, p spread) error {
	const groups = 3
	for i, s := range p.shapes() {
		rows, n := s[0], s[1]
		xs := r.Ints(-99, 99, uint64(i), groups*rows*n)
		a := turnParams{X: r.In(t, xs, groups, rows, n), Turned: r.Out(t, groups, 2, n, rows), Parts: r.Out(t, groups, 2, rows, n), Spread: r.Out(t, groups, rows, n)}
		err := launchTurn(r.Stream, a)
		if p.group {
			err = launchTurnGroup(r.Stream, turnGroupParams(a))
		}
		if err != nil {
			return err
		}
		size := rows * n
		turned, parts, doubled := make([]int, 2*groups*size), make([]int, 2*groups*size), make([]int, groups*size)
		for j, x := range xs {
			g, row, col := j/size, j%size/n, j%n
			for k := range 2 {
				turned[(2*g+k)*size+col*rows+row] = int(x)
			}
			parts[2*g*size+j%size] = int(x) + col/p.piece()[1]
			parts[(2*g+1)*size+j%size] = int(x) + row/p.piece()[0]
			doubled[j] = 2 * int(x)
		}
		what := fmt.Sprintf(" of %v %dx%d", t, rows, n)
		switch op {
		case ir.Subtile:
			ints(r, "pieces"+what, a.Parts, parts)
		case ir.Transpose:
			ints(r, "transposes"+what, a.Turned, turned)
		default:
			ints(r, "transposes"+what, a.Turned, turned)
			ints(r, "doubles"+what, a.Spread, doubled)
		}
	}
	return nil
}
