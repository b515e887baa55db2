//go:build !gotilegen

package rmsnorm

import (
	"cmp"

	"github.com/gotile/gotile/runtime/device"
)

//go:generate go run ../../cmd/gotile gen .

// Inputs are the tensors of a forward pass. Rows may be padded (any row stride) and bases unaligned; rows that are
// multiples of 16 bytes on 16-byte boundaries are faster.
type Inputs struct {
	X   device.Tensor // [rows, n] bf16, f16 or f32
	R   device.Tensor // [rows, n], of X's type: the residual; unset: none
	W   device.Tensor // [n], f32 or of X's type
	Eps float32
}

// Outputs are what a forward pass writes.
type Outputs struct {
	Y    device.Tensor // [rows, n], of X's type
	S    device.Tensor // [rows, n], of X's type: X + R; only with a residual
	Rstd device.Tensor // [rows] f32, for the backward pass
}

// Forward launches one kernel, or none where there are no rows. Rows have 1 to 16,384 elements. Tensors that are wrong
// or do not agree are refused with a *bind.Error that names them, and nothing is launched.
func Forward(s *device.Stream, in Inputs, out Outputs) error {
	if err := checkInputs(in, out); err != nil {
		return err
	}
	var err error
	if set(in.R) {
		err = launchForwardAdd(s, forwardAddParams{X: in.X, R: in.R, S: out.S, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
	} else {
		err = launchForward(s, forwardParams{X: in.X, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
	}
	if err != nil { // where the tensors are to blame, in the words of the contract
		return cmp.Or(checkForward(s, in, out), err)
	}
	return nil
}

// Saved is what a backward pass reads.
type Saved struct {
	X    device.Tensor // [rows, n]: the normalised input, which is S where there was a residual
	W    device.Tensor // [n]
	Rstd device.Tensor // [rows] f32
	DY   device.Tensor // [rows, n], of X's type
	DS   device.Tensor // [rows, n]: the gradient of S; unset without a residual
}

// Gradients are what a backward pass writes.
type Gradients struct {
	DX device.Tensor // [rows, n], of X's type; with a residual it is the gradient of both summands
	DW device.Tensor // [n], of W's type
}

// Parts is the number of rows of f32 scratch that Backward needs: one for each block that it launches. Outputs may
// still be unset; what is set is checked as Backward checks it.
func Parts(s *device.Stream, in Saved, out Gradients) (int, error) {
	return checkBackward(s, in, out, device.Tensor{}, false)
}

// Backward launches two kernels: dx with each block's share of dw, and the sum of the shares, in a fixed order. dw is
// the same in every run on a device. part is [Parts, n] f32 scratch; with more rows than that, all of which are used,
// the last bits of dw may be others. Without rows dw is 0. Tensors that are wrong or do not agree are refused with a
// *bind.Error that names them, and nothing is launched.
func Backward(s *device.Stream, in Saved, out Gradients, part device.Tensor) error {
	if _, err := checkBackward(s, in, out, part, true); err != nil {
		return err
	}
	var err error
	if set(in.DS) {
		err = launchBackwardAdd(s, backwardAddParams{S: in.X, DY: in.DY, DS: in.DS, DX: out.DX, W: in.W, Rstd: in.Rstd, Part: part})
	} else {
		err = launchBackward(s, backwardParams{X: in.X, DY: in.DY, DX: out.DX, W: in.W, Rstd: in.Rstd, Part: part})
	}
	if err != nil {
		return err
	}
	return launchWeight(s, weightParams{Part: part, DW: out.DW})
}
