//go:build !gotilegen

package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/device"
)

// problem is one RMSNorm in float64, of numbers that are exact in the types the kernels read.
type problem struct {
	rows, n   int
	x, w, dy  []float64
	reference rmsnorm.Reference
}

const eps = 1e-6

// The types of x, y and their gradients, and of w and dw.
const (
	typeX = dtype.BF16
	typeW = dtype.F32
)

func newProblem(rows, n int) *problem {
	rng := rand.New(rand.NewPCG(1, 2))
	uniform := func(t dtype.Type, count int) []float64 {
		out := make([]float64, count)
		for i := range out {
			out[i] = float64(t.Round(2*rng.Float32() - 1))
		}
		return out
	}
	p := &problem{rows: rows, n: n, x: uniform(typeX, rows*n), w: uniform(typeW, n), dy: uniform(typeX, rows*n)}
	p.reference = rmsnorm.Reference{Rows: rows, N: n, X: p.x, W: p.w, Eps: float64(float32(eps))}
	return p
}

// result is one tensor that a pass gave.
type result struct {
	pass, what string
	worst, bar float64 // scale-relative error against float64, and the largest that passes
	kernel     string  // that wrote it
	launches   int
}

// tensors makes tensors on a device and remembers the first error.
type tensors struct {
	d   *device.Device
	err error
}

// empty is a tensor of undefined contents.
func (a *tensors) empty(t dtype.Type, shape ...int) device.Tensor {
	if a.err != nil {
		return device.Tensor{}
	}
	x, err := device.NewTensor(a.d, t, shape...)
	a.err = err
	return x
}

// upload is a tensor with values.
func (a *tensors) upload(t dtype.Type, values []float64, shape ...int) device.Tensor {
	x := a.empty(t, shape...)
	if a.err == nil {
		a.err = device.UploadFloats(a.d.Stream(), x, values)
	}
	return x
}

// download waits for the stream and reads a tensor.
func (a *tensors) download(x device.Tensor) []float64 {
	if a.err != nil {
		return nil
	}
	out, err := device.DownloadFloats(a.d.Stream(), x)
	a.err = err
	return out
}

// solve runs both passes on d. The tensors live until the device is closed.
func (p *problem) solve(ctx context.Context, d *device.Device) ([]result, error) {
	s, a := d.Stream(), &tensors{d: d}

	in := rmsnorm.Inputs{X: a.upload(typeX, p.x, p.rows, p.n), W: a.upload(typeW, p.w, p.n), Eps: eps}
	out := rmsnorm.Outputs{Y: a.empty(typeX, p.rows, p.n), Rstd: a.empty(dtype.F32, p.rows)}
	if a.err != nil {
		return nil, a.err
	}
	if err := rmsnorm.Forward(s, in, out); err != nil {
		return nil, err
	}

	saved := rmsnorm.Saved{X: in.X, W: in.W, Rstd: out.Rstd, DY: a.upload(typeX, p.dy, p.rows, p.n)}
	grads := rmsnorm.Gradients{DX: a.empty(typeX, p.rows, p.n), DW: a.empty(typeW, p.n)}
	if a.err != nil {
		return nil, a.err
	}
	scratch, err := rmsnorm.NewScratch(s, saved, grads)
	if err != nil {
		return nil, err
	}
	defer scratch.Close()
	if err := rmsnorm.Backward(s, saved, grads, scratch); err != nil {
		return nil, err
	}
	if err := s.Sync(ctx); err != nil {
		return nil, err
	}

	dx, dw := p.reference.Backward(p.dy)
	results := []result{
		{pass: "forward", what: "y", worst: distance(a.download(out.Y), p.reference.Forward()), bar: 4e-3},
		{pass: "forward", what: "rstd", worst: distance(a.download(out.Rstd), p.reference.Rstd()), bar: 5e-7},
		{pass: "backward", what: "dx", worst: distance(a.download(grads.DX), dx), bar: 4e-3 * p.cancellation(dx)},
		{pass: "backward", what: "dw", worst: distance(a.download(grads.DW), dw), bar: 1e-6},
	}
	return attribute(results, d), a.err
}

// cancellation is how much larger than dx the terms are of which it is the difference, where that matters: a row of
// one element has dx = 0 up to eps. Otherwise 1.
func (p *problem) cancellation(dx []float64) float64 {
	if p.n > 1 {
		return 1
	}
	terms := 0.0
	for i, rstd := range p.reference.Rstd() {
		terms = max(terms, math.Abs(rstd*p.w[0]*p.dy[i]))
	}
	return max(1, terms/largest(dx))
}

// distance is the scale-relative error: the largest difference, relative to the largest number wanted.
func distance(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	diff := make([]float64, len(got))
	for i := range got {
		diff[i] = got[i] - want[i]
	}
	return largest(diff) / max(largest(want), math.SmallestNonzeroFloat64)
}

// largest is the largest absolute value; NaN if one is.
func largest(xs []float64) float64 {
	out := 0.0
	for _, x := range xs {
		out = max(out, math.Abs(x))
	}
	return out
}
