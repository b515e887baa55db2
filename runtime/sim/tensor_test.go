//go:build !gotilegen

package sim_test

import (
	"regexp"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
)

// twoLines matches a report of two lines of the kernel, and a wait in the table of a deadlock with a line beside it.
var twoLines = regexp.MustCompile(`tensor\.go:\d+: [a-z -]+ with tensor\.go:\d+:|waits at tensor\.go:\d+ [^\n]*(\n +[^\n]*){1,3}tensor\.go:\d+`)

// oneLine matches reports of defects with one side.
var oneLine = regexp.MustCompile(`tensor\.go:\d+: (copy not awaited|misuse of an mbarrier):`)

// A kernel of tensor copies is silent; without its fence, a wait, an expect or a group, or with another number of bytes or
// another phase, it is reported: with both lines where one access is too early for another, and where nobody can go on with
// the lines that wait, arrive, expect and copy.
func TestTensorHazards(t *testing.T) {
	c := optest.OpCases(ir.StoreTensor)[4] // bf16 with a swizzle
	if err := red(t, c); err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	for _, op := range []ir.Op{ir.MBarInit, ir.MBarArriveTx, ir.MBarWait, ir.FenceAsync, ir.CommitBulk, ir.WaitBulkRead} {
		for _, m := range optest.Mutants(op) {
			err, changed := redWith(t, m, c)
			switch {
			case !changed:
				t.Errorf("%s is no other where %s", c.Name, m)
			case err == nil:
				t.Errorf("%s passes though %s", c.Name, m)
			case !twoLines.MatchString(err.Error()) && !oneLine.MatchString(err.Error()):
				t.Errorf("%s: not both lines where %s: %v", c.Name, m, err)
			}
		}
	}
}
