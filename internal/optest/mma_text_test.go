//go:build !gotilegen

package optest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An accumulator in 16 bits, of f16 or of bf16, is the operand of the next product as it lies: nothing moves between lanes
// in these kernels, but in the last one something does.
func TestAccumulatorIsOperandWithoutShuffles(t *testing.T) {
	for pattern, want := range map[string]bool{"op_mma_chain*": false, "op_wgmma_chain*": false, "op_mma_scaled*": false, "op_wgmma_scaled*": false, "op_turn_f32_w1*": true} {
		files, err := filepath.Glob(filepath.Join("cuda", pattern+".cu"))
		if err != nil || len(files) == 0 {
			t.Errorf("no kernel %s: %v", pattern, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			body := string(text[strings.Index(string(text), "__global__"):])
			if got := strings.Contains(body, "shfl") || strings.Contains(body, "movmatrix"); got != want {
				t.Errorf("%s moves elements between lanes: %v, want %v", f, got, want)
			}
		}
	}
}
