//go:build !gotilegen

package optest

import (
	"slices"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

// Every row of both tables has a case, and no two cases have one name.
func TestEveryOpHasACase(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Name] {
			t.Errorf("two cases are named %s", c.Name)
		}
		seen[c.Name] = true
	}
	for op := ir.Op(1); op < ir.NumOps; op++ {
		if len(OpCases(op)) == 0 {
			t.Errorf("op %s has no case op/%s/...", op, op)
		}
	}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		if FnCase(f).Run == nil {
			t.Errorf("built-in %s has no case", f)
		}
	}
}

// A mutant reaches every kernel that a generated file launches.
func TestFamiliesAreComplete(t *testing.T) {
	var have []string
	for _, f := range families {
		for _, c := range f.Configs {
			have = append(have, c.Kernel.Name)
		}
	}
	want := Kernels().Names()
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("families hold %v\nthe package has %v", have, want)
	}
}
