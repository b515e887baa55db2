//go:build !gotilegen

package cuda_test

import (
	"testing"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
)

// Ops without a printer of their own are lowered to others: each mutant of such an op that changes a kernel of one of
// the op's cases changes its text too, and there is one.
func TestMutantPrintsOtherwise(t *testing.T) {
	byCase := map[string][]program{}
	for op := ir.Op(1); op < ir.NumOps; op++ {
		for _, m := range optest.Mutants(op) {
			reds := 0
			for _, c := range optest.OpCases(op) {
				if testing.Short() && reds > 0 {
					break
				}
				if byCase[c.Name] == nil {
					byCase[c.Name] = programs(t, c)
				}
				for _, p := range byCase[c.Name] {
					low, changed, err := m.Lower(p.name, "sm_90a")
					if err != nil {
						t.Fatal(err)
					}
					if !changed {
						continue
					}
					text, err := cuda.Print(low, cuda.Options{})
					switch {
					case err != nil:
						t.Errorf("%s: %s: %v", p.name, m, err)
					case body(text) != p.committed:
						reds++
					default:
						t.Errorf("%s.cu prints as committed though %s", p.name, m)
					}
				}
			}
			if reds == 0 {
				t.Errorf("no case of %s prints otherwise when %s", op, m)
			}
		}
	}
}

// Every op is mutated, by a mutant or by the printer of another op.
func TestEveryPrintedOpIsMutated(t *testing.T) {
	for op := ir.Op(1); op < ir.NumOps; op++ {
		if len(optest.Mutants(op)) == 0 && !replaceable(op) {
			t.Errorf("no test makes %s print as something else: add a mutant to internal/optest", op)
		}
	}
}

// replaceable reports whether TestSwappedPrinterTurnsItsCaseRed exchanges an op.
func replaceable(op ir.Op) bool {
	for _, typ := range operandTypes {
		for other := ir.Op(1); other < ir.NumOps; other++ {
			if restore, ok := cuda.ReplaceOp(op, other, typ); ok {
				restore()
				if !samePrinting(op, other, typ) {
					return true
				}
			}
		}
	}
	return false
}
