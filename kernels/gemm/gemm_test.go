//go:build !gotilegen

package gemm

import (
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) {
	tiletest.RunCases(t, slices.DeleteFunc(Cases(), func(c tiletest.Case) bool { return c.Deep }))
}

// TestLarge has the check of large products, which are for GPUs, pass a small one.
func TestLarge(t *testing.T) {
	var cases []tiletest.Case
	for _, f := range Forms {
		p := problem{form: f, t: dtype.BF16, o: dtype.BF16, m: 72, n: 88, k: 136, Choice: Choice{Size: "async64", Splits: 2}}
		cases = append(cases, tiletest.Case{Name: p.String(), Run: p.large})
	}
	tiletest.RunCases(t, cases)
}
