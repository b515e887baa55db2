//go:build !gotilegen

package gemm

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// Blocks that compute several tiles, one after the other, with more steps than slots in each.
func TestRounds(t *testing.T) {
	d, err := device.Open("sim", device.WithSim(device.SimConfig{SMs: 2}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, z := range sizes {
		for _, f := range Forms {
			p := problem{form: f, t: dtype.BF16, o: dtype.BF16, m: 2*z.M + 8, n: 3*z.N + 8, k: 6*z.K + 8, bias: true, Choice: Choice{Size: z.name, Splits: 1}}
			c := tiletest.Case{Name: p.String(), Run: p.check}
			if r := c.Exec(t.Context(), d, 1); r.Err != nil {
				t.Errorf("%s: %v", r.Case, r.Err)
			}
		}
	}
}
