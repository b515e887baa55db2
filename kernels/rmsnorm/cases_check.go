//go:build !gotilegen

package rmsnorm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// problem is one case: both passes over one shape, of one form.
type problem struct {
	shape
	x, w     dtype.Type
	residual bool
	act      Activation
	split    bool // the backward pass is two launches even if it is small
}

func (p problem) String() string {
	name := fmt.Sprintf("%s-%s/%s", p.x, p.w, p.shape)
	if p.split {
		name += "/split"
	}
	switch {
	case p.residual:
		return "add/" + name
	case p.act != 0:
		return fmt.Sprintf("%v/%s", p.act, name)
	}
	return name
}

// epsilon is what is added to the mean of the squares.
func (p problem) epsilon() float32 {
	if p.eps > 0 {
		return p.eps
	}
	return defaultEps
}

// reference is the oracle for rows of x and z; w has as many elements as a row.
func (p problem) reference(x, z, w []float64) Reference {
	return Reference{Rows: len(x) / len(w), N: len(w), X: x, Z: z, W: w, Act: p.act, Eps: float64(p.epsilon())}
}

// gates are the values of z: uniform, wide enough that both tails of the activation are met.
func (p problem) gates(r *tiletest.Run, count int) []float64 {
	if p.act == 0 {
		return nil
	}
	zs := r.Uniform(p.x, 6, count)
	for i := range zs {
		zs[i] *= 8 // exact
	}
	return zs
}

// sums rounds x + r to x's type, as forward does: the sum of two such numbers is exact in float64.
func (p problem) sums(x, r []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = float64(p.x.Round(float32(x[i] + r[i])))
	}
	return out
}

// matrix places a rows x n tensor of the input's type.
func (p problem) matrix(r *tiletest.Run, role tiletest.Role, values []float64) device.Tensor {
	return r.Place(tiletest.Spec{Role: role, DType: p.x, Shape: []int{p.rows, p.n}, Strides: []int{p.n + p.pad, 1}, Offset: p.offset, Values: values})
}

// vector places an n-vector.
func (p problem) vector(r *tiletest.Run, role tiletest.Role, t dtype.Type, values []float64) device.Tensor {
	return r.Place(tiletest.Spec{Role: role, DType: t, Shape: []int{p.n}, Offset: p.offset, Values: values})
}

// wide is check, but that the simulator takes the long ones in one pair of types only, with fewer rows: they are its
// slowest.
func (p problem) wide(r *tiletest.Run) error {
	if r.Device.Kind() == device.Sim && p.rows*p.n > 50_000 {
		if p.x != dtype.BF16 || p.w != dtype.BF16 {
			return r.Skip("a simulator takes seconds for it, and runs it with x and w in bf16")
		}
		p.rows = min(p.rows, 2, 1<<18/p.n)
	}
	return p.check(r)
}

// check runs forward and backward and compares them with float64.
func (p problem) check(r *tiletest.Run) error {
	count := p.rows * p.n
	xs, ws, dys := r.Uniform(p.x, 1, count), r.Uniform(p.w, 2, p.n), r.Uniform(p.x, 3, count)
	in := Inputs{X: p.matrix(r, tiletest.Input, xs), W: p.vector(r, tiletest.Input, p.w, ws), Eps: p.epsilon()}
	out := Outputs{Y: p.matrix(r, tiletest.Output, nil), Rstd: r.Out(dtype.F32, p.rows)}
	saved := Saved{X: in.X, W: in.W, Act: p.act}
	zs := p.gates(r, count)
	if p.act != 0 {
		in.Z, in.Act = p.matrix(r, tiletest.Input, zs), p.act
		saved.Z = in.Z
	}
	var dss []float64
	if p.residual {
		rs := r.Uniform(p.x, 4, count)
		in.R, out.S = p.matrix(r, tiletest.Input, rs), p.matrix(r, tiletest.Output, nil)
		xs, dss = p.sums(xs, rs), r.Uniform(p.x, 5, count)
		saved.X, saved.DS = out.S, p.matrix(r, tiletest.Input, dss)
	}
	if err := p.forward(r, in, out); err != nil {
		return err
	}
	ref, bar := p.reference(xs, zs, ws), barsOf(p.x)
	r.Compare("y", r.Floats(out.Y), ref.Forward(), bar.forward)
	r.Compare("rstd", r.Floats(out.Rstd), ref.Rstd(), 5e-7)
	if p.residual {
		r.Compare("s", r.Floats(out.S), xs, 0)
	}

	saved.Rstd, saved.DY = out.Rstd, p.matrix(r, tiletest.Input, dys)
	grads := Gradients{DX: p.matrix(r, tiletest.Output, nil), DW: p.vector(r, tiletest.Output, p.w, nil)}
	if p.act != 0 {
		grads.DZ = p.matrix(r, tiletest.Output, nil)
	}
	scratch, err := newScratch(r.Stream, saved, grads, p.work())
	if err != nil {
		return err
	}
	defer scratch.Close()
	if err := p.backward(r, saved, grads, scratch); err != nil {
		return err
	}
	dx, dw := ref.Backward(dys)
	for i := range dss {
		dx[i] += dss[i]
	}
	p.compareDX(r, r.Floats(grads.DX), dx, ref, dys)
	p.compareDW(r, r.Floats(grads.DW), dw, ref, dys)
	if p.act != 0 {
		r.Compare("dz", r.Floats(grads.DZ), ref.BackwardGate(dys), bar.backward)
	}
	return nil
}

// compareDX compares dx. With one column, dx = rstd*w*g*(1 - xh^2), where xh^2 is 1 but for eps: what is left of two
// numbers that are nearly equal. The error is then measured by the size of those, max|rstd*w*g|, which a comparison
// does where both sides have that number as one more element. With eps as large as x^2 nothing cancels, and the
// measure is the plain one.
func (p problem) compareDX(r *tiletest.Run, got, want []float64, ref Reference, dy []float64) {
	if p.n == 1 && p.eps == 0 {
		terms := 0.0
		g := ref.gated(dy)
		for i, rstd := range ref.Rstd() {
			terms = max(terms, abs(rstd*ref.W[0]*g[i]))
		}
		got, want = append(got, terms), append(want, terms)
	}
	r.Compare("dx", got, want, barsOf(p.x).backward)
}

// compareDW compares dw. With one column it is one number, a sum over the rows in which terms may cancel; the error is
// then measured by the sum of their sizes, in the same way.
func (p problem) compareDW(r *tiletest.Run, got, want []float64, ref Reference, dy []float64) {
	if p.n == 1 {
		terms := 0.0
		g := ref.gated(dy)
		for i, rstd := range ref.Rstd() {
			terms += abs(g[i] * ref.X[i] * rstd)
		}
		got, want = append(got, terms), append(want, terms)
	}
	r.Compare("dw", got, want, barDW(p.w))
}

func abs(x float64) float64 { return max(x, -x) }
