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
	Z   device.Tensor // [rows, n], of X's type: the gate; unset: none
	Act Activation    // of the gate
	W   device.Tensor // [n], f32 or of X's type
	Eps float32       // added to the mean of the squares: finite, at least 0; with 0 a row of zeros has no rstd
}

// Outputs are what a forward pass writes.
type Outputs struct {
	Y    device.Tensor // [rows, n], of X's type
	S    device.Tensor // [rows, n], of X's type: X + R; only with a residual
	Rstd device.Tensor // [rows] f32, for the backward pass
}

// Forward launches one kernel, or none where there are no rows. Rows have at least one element. Inputs have a residual
// or a gate or neither; all outputs of the form are written. Tensors that are wrong or do not agree, and a negative Eps, are refused with a
// *bind.Error that names them, and nothing is launched. No output may overlap another tensor, which is not checked.
func Forward(s *device.Stream, in Inputs, out Outputs) error {
	form, err := formOfForward(in, out)
	if err != nil {
		return err
	}
	switch form {
	case added:
		err = launchForwardAdd(s, forwardAddParams{X: in.X, R: in.R, S: out.S, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
	case gatedSilu:
		err = launchForwardSilu(s, forwardSiluParams{X: in.X, Z: in.Z, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
	case gatedSigmoid:
		err = launchForwardSigmoid(s, forwardSigmoidParams{X: in.X, Z: in.Z, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
	default:
		err = launchForward(s, forwardParams{X: in.X, Y: out.Y, W: in.W, Rstd: out.Rstd, Eps: in.Eps})
	}
	if err != nil { // where the tensors are to blame, in the words of the contract
		return cmp.Or(checkForward(s, form, in, out), err)
	}
	return nil
}

// Saved is what a backward pass reads.
type Saved struct {
	X    device.Tensor // [rows, n]: the normalised input, which is S where there was a residual
	Z    device.Tensor // [rows, n]: the gate; unset without one
	Act  Activation    // of the gate
	W    device.Tensor // [n]
	Rstd device.Tensor // [rows] f32
	DY   device.Tensor // [rows, n], of X's type
	DS   device.Tensor // [rows, n]: the gradient of S; unset without a residual
}

// Gradients are what a backward pass writes.
type Gradients struct {
	DX device.Tensor // [rows, n], of X's type; with a residual it is the gradient of both summands
	DZ device.Tensor // [rows, n], of X's type; only with a gate
	DW device.Tensor // [n], of W's type
}

// Backward launches two kernels: dx, and dz, with each block's share of dw; and the sum of the shares, in a fixed
// order. For rows that neither a block nor a cluster holds (see the package) there is one before them, for the mean
// over each row; where rows are short and few, one does it all. dw is the same in every run on a device. Without rows
// it is 0. Tensors that are wrong or do not agree, and a scratch that does not serve, are refused with a *bind.Error
// that names them, and nothing is launched. No output may overlap another tensor, which is not checked.
func Backward(s *device.Stream, in Saved, out Gradients, scratch *Scratch) error {
	return backwardWithin(s, in, out, scratch, smallWork)
}

// backwardWithin is Backward, with one launch for at most work elements.
func backwardWithin(s *device.Stream, in Saved, out Gradients, scratch *Scratch, work int) error {
	p, err := planBackward(s, in, out, true, work)
	if err != nil {
		return err
	}
	if err := scratch.fit(s, p); err != nil {
		return err
	}
	switch {
	case p.one:
		return launchOnly(s, p.form, in, out, scratch)
	case p.wide:
		err = launchWide(s, p.form, in, out, scratch)
	default:
		err = launchNarrow(s, p.form, in, out, scratch.part)
	}
	if err != nil {
		return err
	}
	return launchWeight(s, weightParams{Part: scratch.part, DW: out.DW})
}

// launchOnly launches the kernel that does all.
func launchOnly(s *device.Stream, form form, in Saved, out Gradients, c *Scratch) error {
	switch form {
	case added:
		return launchOneAdd(s, oneAddParams{S: in.X, DY: in.DY, DS: in.DS, DX: out.DX, W: in.W, Rstd: in.Rstd, Part: c.part, Group: c.group, Count: c.count, DW: out.DW})
	case gatedSilu:
		return launchOneSilu(s, oneSiluParams{X: in.X, Z: in.Z, DY: in.DY, DX: out.DX, DZ: out.DZ, W: in.W, Rstd: in.Rstd, Part: c.part, Group: c.group, Count: c.count, DW: out.DW})
	case gatedSigmoid:
		return launchOneSigmoid(s, oneSigmoidParams{X: in.X, Z: in.Z, DY: in.DY, DX: out.DX, DZ: out.DZ, W: in.W, Rstd: in.Rstd, Part: c.part, Group: c.group, Count: c.count, DW: out.DW})
	}
	return launchOne(s, oneParams{X: in.X, DY: in.DY, DX: out.DX, W: in.W, Rstd: in.Rstd, Part: c.part, Group: c.group, Count: c.count, DW: out.DW})
}

// launchNarrow launches the kernel whose blocks hold rows.
func launchNarrow(s *device.Stream, form form, in Saved, out Gradients, part device.Tensor) error {
	switch form {
	case added:
		return launchBackwardAdd(s, backwardAddParams{S: in.X, DY: in.DY, DS: in.DS, DX: out.DX, W: in.W, Rstd: in.Rstd, Part: part})
	case gatedSilu:
		return launchBackwardSilu(s, backwardSiluParams{X: in.X, Z: in.Z, DY: in.DY, DX: out.DX, DZ: out.DZ, W: in.W, Rstd: in.Rstd, Part: part})
	case gatedSigmoid:
		return launchBackwardSigmoid(s, backwardSigmoidParams{X: in.X, Z: in.Z, DY: in.DY, DX: out.DX, DZ: out.DZ, W: in.W, Rstd: in.Rstd, Part: part})
	}
	return launchBackward(s, backwardParams{X: in.X, DY: in.DY, DX: out.DX, W: in.W, Rstd: in.Rstd, Part: part})
}

// launchWide launches the kernel of the rows' means and that of the stripes.
func launchWide(s *device.Stream, form form, in Saved, out Gradients, c *Scratch) error {
	var err error
	switch form {
	case gatedSilu:
		err = launchMeanSilu(s, meanSiluParams{X: in.X, Z: in.Z, DY: in.DY, W: in.W, Rstd: in.Rstd, Mean: c.mean})
	case gatedSigmoid:
		err = launchMeanSigmoid(s, meanSigmoidParams{X: in.X, Z: in.Z, DY: in.DY, W: in.W, Rstd: in.Rstd, Mean: c.mean})
	default:
		err = launchMean(s, meanParams{X: in.X, DY: in.DY, W: in.W, Rstd: in.Rstd, Mean: c.mean})
	}
	if err != nil {
		return err
	}
	switch form {
	case added:
		return launchStripesAdd(s, stripesAddParams{S: in.X, DY: in.DY, DS: in.DS, DX: out.DX, W: in.W, Rstd: in.Rstd, Mean: c.mean, Part: c.part})
	case gatedSilu:
		return launchStripesSilu(s, stripesSiluParams{X: in.X, Z: in.Z, DY: in.DY, DX: out.DX, DZ: out.DZ, W: in.W, Rstd: in.Rstd, Mean: c.mean, Part: c.part})
	case gatedSigmoid:
		return launchStripesSigmoid(s, stripesSigmoidParams{X: in.X, Z: in.Z, DY: in.DY, DX: out.DX, DZ: out.DZ, W: in.W, Rstd: in.Rstd, Mean: c.mean, Part: c.part})
	}
	return launchStripes(s, stripesParams{X: in.X, DY: in.DY, DX: out.DX, W: in.W, Rstd: in.Rstd, Mean: c.mean, Part: c.part})
}
