//go:build !gotilegen

package optest

import "github.com/gotile/gotile/tile/tiletest"

// algebraCases are the cases of ops on register tiles as wholes.
func algebraCases() []tiletest.Case {
	var out []tiletest.Case
	for _, cs := range [][]tiletest.Case{scanCases(), turnCases(), maskCases(), shiftCases(), triangularCases(), decayCases()} {
		out = append(out, cs...)
	}
	return out
}
