//go:build !gotilegen

package rmsnorm

import (
	"github.com/gotile/gotile/dtype"
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

// Forward launches one kernel. It refuses rows of more than 16,384 elements, and shapes and types that do not agree.
func Forward(s *device.Stream, in Inputs, out Outputs) error {
	if set(in.R) || set(out.S) {
		return launchForwardAdd(s, forwardAddParams{X: in.X, R: in.R, S: out.S, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
	}
	return launchForward(s, forwardParams{X: in.X, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
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

// Parts is the number of rows of f32 scratch that Backward needs: one for each block that it launches.
func Parts(s *device.Stream, in Saved, out Gradients) (int, error) {
	var n int
	var err error
	if set(in.DS) {
		n, err = gridBackwardAdd(s, backwardAddParams{S: in.X, DY: in.DY, DS: in.DS, DX: out.DX, W: in.W, Rstd: in.Rstd})
	} else {
		n, err = gridBackward(s, backwardParams{X: in.X, DY: in.DY, DX: out.DX, W: in.W, Rstd: in.Rstd})
	}
	return max(n, 1), err // no rows: one block writes the zeros that dw then is
}

// Backward launches two kernels: dx with each block's share of dw, and the sum of the shares, in a fixed order. dw is
// the same in every run on a device. part is [Parts, n] f32 scratch.
func Backward(s *device.Stream, in Saved, out Gradients, part device.Tensor) error {
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

func set(t device.Tensor) bool { return t.DType() != dtype.Invalid }
