//go:build !gotilegen

package sim_test

import (
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
)

// A kernel of tensor copies is silent; without its fence, a wait, an expect or a group, or with another number of bytes or
// another phase, it is reported.
func TestTensorHazards(t *testing.T) {
	c := optest.OpCases(ir.StoreTensor)[4] // bf16 with a swizzle
	if err := red(t, c); err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	for _, op := range []ir.Op{ir.MBarInit, ir.MBarArriveTx, ir.MBarWait, ir.FenceAsync, ir.CommitBulk, ir.WaitBulkRead} {
		for _, m := range optest.Mutants(op) {
			if err, changed := redWith(t, m, c); err == nil && changed {
				t.Errorf("%s passes though %s", c.Name, m)
			} else if !changed {
				t.Errorf("%s is no other where %s", c.Name, m)
			}
		}
	}
}
