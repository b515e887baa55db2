//go:build !gotilegen

package sim_test

import (
	"path"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile/tiletest"
)

// Ops without a function of their own are lowered to others: each mutant of such an op turns every case of the op red
// whose kernels it changes, and there is one.
func TestMutantTurnsItsCaseRed(t *testing.T) {
	for op := ir.Op(1); op < ir.NumOps; op++ {
		for _, m := range optest.Mutants(op) {
			if m.Hint || m.Slow && testing.Short() {
				continue
			}
			reds, seen := 0, map[string]bool{}
			for _, c := range optest.OpCases(op) {
				concept := path.Dir(c.Name)
				if reds > 0 && (testing.Short() || (ir.Table[op].Class == ir.Reduction || ir.Table[op].Class == ir.Collective) && seen[concept]) { // these are slow
					continue
				}
				seen[concept] = true
				err, changed := redWith(t, m, c)
				switch {
				case !changed:
				case err != nil:
					reds++
				case m.Tells(c.Name):
					t.Errorf("%s passes though %s", c.Name, m)
				}
			}
			if reds == 0 {
				t.Errorf("no case of %s can tell that %s", op, m)
			}
		}
	}
}

// redWith runs a case with a mutant in the kernels that it launches; changed is false where there is nothing to change.
func redWith(t *testing.T, m optest.Mutant, c tiletest.Case) (failure error, changed bool) {
	t.Helper()
	names := launched(t, c)
	for _, name := range names { // that it does not compile must not count as red
		low, _, err := m.Lower(name, "sm_90a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Compile(low); err != nil {
			t.Fatalf("%s: %v", m, err)
		}
	}
	restore, changed, err := m.Install(names...)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	if !changed {
		return nil, false
	}
	return red(t, c), true
}

var launchedBy = map[string][]string{}

// launched are the names of the kernels that a case launches.
func launched(t *testing.T, c tiletest.Case) []string {
	t.Helper()
	names, ok := launchedBy[c.Name]
	if !ok {
		r := exec(t, c)
		if r.Err != nil { // then its failures prove nothing
			t.Fatalf("%s: %v", c.Name, r.Err)
		}
		names = r.Kernels
		launchedBy[c.Name] = names
	}
	return names
}

// Every op is mutated, by a mutant or by the function of another op.
func TestEveryOpIsMutated(t *testing.T) {
	for op := ir.Op(1); op < ir.NumOps; op++ {
		if len(optest.Mutants(op)) == 0 && !replaceable(op) {
			t.Errorf("no test makes %s do something else: add a mutant to internal/optest", op)
		}
	}
}

// replaceable reports whether TestSwappedOpTurnsItsCaseRed exchanges an op.
func replaceable(op ir.Op) bool {
	for _, m := range sim.Meanings(op) {
		for other := ir.Op(1); other < ir.NumOps; other++ {
			if sameMeaning(op, other, m) {
				continue
			}
			if restore, ok := sim.ReplaceOp(op, other, m[0], m[1]); ok {
				restore()
				return ir.Table[op].Class == ir.Elementwise
			}
		}
	}
	return false
}
