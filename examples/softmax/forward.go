//go:build !gotilegen

package softmax

import "github.com/gotile/gotile/runtime/device"

// Forward launches the softmax of each row of x, [rows, n] bf16 or f32 with n up to 4096, into y of the same type and
// shape; y may be x. It returns once the launch is queued on s. It refuses longer rows, and shapes and types that do
// not agree.
func Forward(s *device.Stream, x, y device.Tensor) error {
	return launchSoftmax(s, softmaxParams{X: x, Y: y})
}
