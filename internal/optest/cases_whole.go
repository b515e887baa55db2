//go:build !gotilegen

package optest

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/tile/tiletest"
)

// wholeCases: tensors of whole vectors take the first kernel of a family, all others the one behind it, and rows that
// neither holds are refused.
func wholeCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		out = append(out, opCase(ir.Load, "whole/"+t.String(), func(r run) error { return checkWhole(r, t) }))
	}
	return out
}

func checkWhole(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	for _, c := range []struct {
		lie
		whole bool
	}{
		{lie{3, vec, 0, 0}, true}, {lie{3, wholeChunk, vec, 0}, true}, {lie{2, 3*wholeChunk + vec, 0, 2 * vec}, true},
		{lie{1, wholeMost, 1, 0}, true}, // the stride of one row is of no account
		{lie{3, vec + 1, 0, 0}, false}, {lie{3, 1, vec - 1, 0}, false}, {lie{2, 2 * wholeChunk, 1, 0}, false}, {lie{2, wholeChunk, 0, 1}, false},
		{lie{2, wholeMost + vec, 0, 0}, false}, // too long for the first
	} {
		xs, ws := r.Ints(0, 9, 1, c.rows*c.n), r.Ints(0, 9, 2, c.n)
		place := func(role tiletest.Role, values []float64) tiletest.Spec {
			return tiletest.Spec{Role: role, DType: t, Values: values, Shape: []int{c.rows, c.n}, Strides: []int{c.n + c.pad, 1}, Offset: c.offset}
		}
		p := wholeParams{X: r.Place(place(tiletest.Input, xs)), Y: r.Place(place(tiletest.Output, nil)), W: r.In(t, ws, c.n)}
		kernel := "op_whole_" + t.String()
		if c.whole {
			kernel += "_v"
		}
		before := r.Device.Launches()[kernel]
		if err := launchWhole(r.Stream, p); err != nil {
			return err
		}
		if r.Device.Launches()[kernel] != before+1 {
			r.Errorf("%v: %s was not launched", c.lie, kernel)
		}
		want := make([]int, len(xs))
		for i, x := range xs {
			want[i] = int(2*x + ws[i%c.n])
		}
		ints(r, "y of "+c.String(), p.Y, want)
	}
	n := otherMost + vec
	row := r.In(t, make([]float64, n), 1, n)
	untouched := r.Place(tiletest.Spec{Role: tiletest.Both, DType: t, Values: make([]float64, n), Shape: []int{1, n}})
	p := wholeParams{X: row, Y: untouched, W: r.In(t, make([]float64, n), n)}
	err := launchWhole(r.Stream, p)
	want := fmt.Sprintf("launchWhole: X: n is %d; the largest kernel for these types, op_whole_%v, holds %d: split it, or add a config with a larger capacity and run gotile gen", n, t, otherMost)
	if !errors.Is(err, bind.ErrLimit) || err.Error() != want {
		r.Errorf("rows that no kernel holds: %v\nwant %s", err, want)
	}
	return nil
}
