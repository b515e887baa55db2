//go:build !gotilegen

package gemm

import "testing"

// TestChoice wants of the estimate what an H200 was fastest with, side by side: bench/results/h200/gemm-runs.txt.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		p    shape
		want Choice
	}{
		{shape{NT, 1, 4096, 4096, 4096, true}, Choice{Size: "wgmma128x256", Splits: 1}},
		{shape{NT, 1, 4096, 1408, 512, true}, Choice{Size: "wgmma128x192", Splits: 1}},
		{shape{TN, 1, 512, 1408, 16384, true}, Choice{Size: "wgmma128x128", Splits: 3}},
	} {
		best, least := Choice{}, -1.0
		for _, z := range sizes {
			for splits := range maxSplits {
				if cost := z.cost(c.p, splits+1, 132); least < 0 || cost < least {
					best, least = Choice{Size: z.name, Splits: splits + 1}, cost
				}
			}
		}
		if best != c.want {
			t.Errorf("%+v: %+v, want %+v", c.p, best, c.want)
		}
	}
}
