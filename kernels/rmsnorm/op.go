//go:build !gotilegen

package rmsnorm

import (
	"cmp"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// Params are what the ops take beside tensors.
type Params struct {
	Eps float32    // added to the mean of the squares: finite, at least 0
	Act Activation // of the gate; only of GatedOp
}

// In are the inputs of Op.
type In struct {
	X autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
	W autodiff.Tensor `op:"[n] T|f32"`
}

// Out is the output of Op and of GatedOp.
type Out struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
}

// AddIn are the inputs of AddOp.
type AddIn struct {
	X autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
	R autodiff.Tensor `op:"[rows,n] T"`
	W autodiff.Tensor `op:"[n] T|f32"`
}

// AddOut are the outputs of AddOp.
type AddOut struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
	S autodiff.Tensor `op:"[rows,n] T raw"` // X + R, rounded: the next residual
}

// GatedIn are the inputs of GatedOp.
type GatedIn struct {
	X autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
	Z autodiff.Tensor `op:"[rows,n] T"`
	W autodiff.Tensor `op:"[n] T|f32"`
}

type saved struct{ Rstd device.Tensor }

type savedAdd struct {
	S    autodiff.Tensor
	Rstd device.Tensor
}

// Op is RMSNorm: y = x * rstd * w.
var Op = autodiff.New("rmsnorm", spec)

var spec = autodiff.Spec[Params, In, Out, saved]{
	Accept: func(p Params, _ In) error { return cmp.Or(noGate(p), acceptEps(p)) },
	LaunchesOf: func(x *autodiff.Exec, p Params, in In) autodiff.Launches {
		return launchesOf(x, Saved{X: x.View(in.X), W: x.View(in.W)})
	},
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, p Params, in In) (out Out, s saved, err error) {
		out.Y, s.Rstd = x.Like(in.X), x.Scratch(dtype.F32, in.X.Dim(0))
		return out, s, Forward(x.Stream(), Inputs{X: x.View(in.X), W: x.View(in.W), Eps: p.Eps}, Outputs{Y: x.View(out.Y), Rstd: s.Rstd})
	},
	Backward: func(x *autodiff.Exec, p Params, in In, s saved, dy Out) (d In, err error) {
		d.X, d.W = x.Like(in.X), x.Like(in.W)
		return d, backwardOp(x,
			Saved{X: x.View(in.X), W: x.View(in.W), Rstd: s.Rstd, DY: x.View(dy.Y)},
			Gradients{DX: x.View(d.X), DW: x.View(d.W)})
	},
	Ref: func(t *autodiff.Tape, p Params, in In) Out { return Out{composed(t, p, in.X, in.W)} },
}

// AddOp is RMSNorm of s = x + r, which it returns too.
var AddOp = autodiff.New("rmsnorm_add", addSpec)

var addSpec = autodiff.Spec[Params, AddIn, AddOut, savedAdd]{
	Accept: func(p Params, _ AddIn) error { return cmp.Or(noGate(p), acceptEps(p)) },
	LaunchesOf: func(x *autodiff.Exec, p Params, in AddIn) autodiff.Launches {
		return launchesOf(x, Saved{X: x.View(in.X), DS: x.View(in.X), W: x.View(in.W)}) // DS has the form of X
	},
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, p Params, in AddIn) (out AddOut, s savedAdd, err error) {
		out.Y, out.S, s.Rstd = x.Like(in.X), x.Like(in.X), x.Scratch(dtype.F32, in.X.Dim(0))
		s.S = out.S
		return out, s, Forward(x.Stream(),
			Inputs{X: x.View(in.X), R: x.View(in.R), W: x.View(in.W), Eps: p.Eps},
			Outputs{Y: x.View(out.Y), S: x.View(out.S), Rstd: s.Rstd})
	},
	Backward: func(x *autodiff.Exec, p Params, in AddIn, s savedAdd, dy AddOut) (d AddIn, err error) {
		d.X, d.W = x.Like(in.X), x.Like(in.W)
		d.R = d.X // one gradient for both summands
		return d, backwardOp(x,
			Saved{X: x.View(s.S), W: x.View(in.W), Rstd: s.Rstd, DY: x.View(dy.Y), DS: x.View(dy.S)},
			Gradients{DX: x.View(d.X), DW: x.View(d.W)})
	},
	Ref: func(t *autodiff.Tape, p Params, in AddIn) (out AddOut) {
		out.S = ops.Add(t, in.X, in.R)
		out.Y = composed(t, p, out.S, in.W)
		return out
	},
}

// GatedOp is RMSNorm times act(z).
var GatedOp = autodiff.New("rmsnorm_gated", gatedSpec)

var gatedSpec = autodiff.Spec[Params, GatedIn, Out, saved]{
	Accept: func(p Params, _ GatedIn) error {
		if !p.Act.known() {
			return fmt.Errorf("Params.Act is %v; a gate has Sigmoid or Silu", p.Act)
		}
		return acceptEps(p)
	},
	LaunchesOf: func(x *autodiff.Exec, p Params, in GatedIn) autodiff.Launches {
		return launchesOf(x, Saved{X: x.View(in.X), Z: x.View(in.Z), Act: p.Act, W: x.View(in.W)})
	},
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, p Params, in GatedIn) (out Out, s saved, err error) {
		out.Y, s.Rstd = x.Like(in.X), x.Scratch(dtype.F32, in.X.Dim(0))
		return out, s, Forward(x.Stream(),
			Inputs{X: x.View(in.X), Z: x.View(in.Z), Act: p.Act, W: x.View(in.W), Eps: p.Eps},
			Outputs{Y: x.View(out.Y), Rstd: s.Rstd})
	},
	Backward: func(x *autodiff.Exec, p Params, in GatedIn, s saved, dy Out) (d GatedIn, err error) {
		d.X, d.Z, d.W = x.Like(in.X), x.Like(in.Z), x.Like(in.W)
		return d, backwardOp(x,
			Saved{X: x.View(in.X), Z: x.View(in.Z), Act: p.Act, W: x.View(in.W), Rstd: s.Rstd, DY: x.View(dy.Y)},
			Gradients{DX: x.View(d.X), DZ: x.View(d.Z), DW: x.View(d.W)})
	},
	Ref: func(t *autodiff.Tape, p Params, in GatedIn) Out {
		act := ops.Silu
		if p.Act == Sigmoid {
			act = ops.Sigmoid
		}
		return Out{ops.Mul(t, composed(t, p, in.X, in.W), act(t, in.Z))}
	},
}

// launchesOf is how many kernels Forward and Backward launch for tensors, of which those of a backward pass that are not
// known yet are taken to begin on 16 bytes. What is wrong with them the launch says.
func launchesOf(x *autodiff.Exec, in Saved) autodiff.Launches {
	p, err := planBackward(x.Stream(), in, Gradients{}, false, smallWork)
	l := autodiff.Launches{Forward: 1, Backward: 2}
	switch {
	case err != nil:
	case p.rows == 0:
		l.Forward = 0
	case p.one:
		l.Backward = 1
	case p.wide:
		l.Backward = 3
	}
	return l
}

// backwardOp is Backward with scratch of the op's transaction.
func backwardOp(x *autodiff.Exec, in Saved, out Gradients) error {
	p, err := planBackward(x.Stream(), in, out, true, smallWork)
	if err != nil {
		return err
	}
	floats := x.Scratch(dtype.F32, p.floats())
	if floats.Buffer() == nil { // the transaction has an error, which it ends with
		return nil
	}
	c := &Scratch{floats: floats.Buffer()}
	if p.one { // the only one that counts
		c.count = x.Zeros(dtype.U32, counters)
	}
	return Backward(x.Stream(), in, out, c)
}

// noGate refuses an activation where there is no gate.
func noGate(p Params) error {
	if p.Act != 0 {
		return fmt.Errorf("Params.Act is %v, and the op has no gate; use GatedOp", p.Act)
	}
	return nil
}

// acceptEps refuses what Forward would, for Ref as well.
func acceptEps(p Params) error {
	if checkEps(p.Eps) != nil {
		return fmt.Errorf("Params.Eps is %v; what is added to the mean of the squares is finite and not negative: %w", p.Eps, bind.ErrValue)
	}
	return nil
}

// composed is RMSNorm of primitive ops, six launches: squares to the root in f32, then rounded to x's type twice.
func composed(t *autodiff.Tape, p Params, x, w autodiff.Tensor) autodiff.Tensor {
	rms := ops.Sqrt(t, ops.AddScalar(t, ops.Mean(t, ops.Pow(t, x, 2)), p.Eps))
	return ops.MulRows(t, ops.DivCols(t, x, rms), w)
}
