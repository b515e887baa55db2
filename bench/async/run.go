//go:build !gotilegen

package async

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

//go:generate go run ../../cmd/gotile gen .

// params are those of all families.
type params struct{ X, Sums, Squares device.Tensor }

// arms are the variants with their stages, in the order of the tables.
var arms = []config{
	{variant: "sync"}, {variant: "cpasync", stages: 2}, {variant: "cpasync", stages: 4}, {variant: "cpasync", stages: 8},
	{variant: "tma", stages: 2}, {variant: "tma", stages: 4}, {variant: "tma", stages: 8},
}

// launch takes X of [rows, n] bf16 and Sums and Squares of [parts, n] f32; n is a multiple of 8, at most 4096. The capacity
// follows from n.
func (c config) launch(s *device.Stream, p params) error {
	switch c.arm() {
	case "sync":
		return launchSync(s, syncParams(p))
	case "cpasync_2":
		return launchCpAsync2(s, cpAsync2Params(p))
	case "cpasync_4":
		return launchCpAsync4(s, cpAsync4Params(p))
	case "cpasync_8":
		return launchCpAsync8(s, cpAsync8Params(p))
	case "tma_2":
		return launchTma2(s, tma2Params(p))
	case "tma_4":
		return launchTma4(s, tma4Params(p))
	case "tma_8":
		return launchTma8(s, tma8Params(p))
	}
	return fmt.Errorf("async: no kernel is called %s", c.arm())
}

// Cases check every kernel exactly: parts of fewer rows than stages, of none, of as many and of more, rows that are
// shorter than a block is wide, gaps between rows.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, arm := range arms {
		for _, c := range []struct{ rows, n, parts, pad int }{
			{1, 1024, 1, 0}, {3, 1000, 5, 8}, {16, 8, 2, 0}, {77, 512, 4, 0}, {2, 4096, 2, 8}, {9, 2048 + 8, 1, 0}, {50, 3000, 5, 16},
		} {
			name := fmt.Sprintf("%s/%dx%d in %d parts, gaps of %d", arm.arm(), c.rows, c.n, c.parts, c.pad)
			out = append(out, tiletest.Case{Name: name, Run: func(r *tiletest.Run) error { return arm.check(r, c.rows, c.n, c.parts, c.pad) }})
		}
	}
	return out
}

func (c config) check(r *tiletest.Run, rows, n, parts, pad int) error {
	x := r.Ints(-9, 9, 1, rows*n)
	p := params{
		X:    r.Place(tiletest.Spec{Role: tiletest.Input, DType: dtype.BF16, Values: x, Shape: []int{rows, n}, Strides: []int{n + pad, 1}}),
		Sums: r.Out(dtype.F32, parts, n), Squares: r.Out(dtype.F32, parts, n),
	}
	if err := c.launch(r.Stream, p); err != nil {
		return err
	}
	sums, squares := make([]float64, parts*n), make([]float64, parts*n)
	for i, v := range x {
		at := i/n/rowsOfPart(rows, parts)*n + i%n
		sums[at] += v
		squares[at] += v * v
	}
	r.Compare("sums", r.Floats(p.Sums), sums, 0)
	r.Compare("squares", r.Floats(p.Squares), squares, 0)
	return nil
}

// rowsOfPart is the number of rows of a part, but of the last ones.
func rowsOfPart(rows, parts int) int { return (rows + parts - 1) / parts }
