//go:build !gotilegen

package attention

import (
	"math"

	"github.com/gotile/gotile/runtime/device"
)

// Forward computes o = softmax(q kT / 8) v: q and o are bf16 [m, 64], k and v bf16 [n, 64]. A launch checks shapes and
// types. Without keys (n = 0) o is NaN.
func Forward(s *device.Stream, q, k, v, o device.Tensor) error {
	return launchAttention(s, attentionParams{Q: q, K: k, V: v, O: o, Scale: float32(1 / math.Sqrt(head))})
}
