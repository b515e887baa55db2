//go:build !gotilegen

package rmsnorm

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// matrix places a rows x n tensor of the input's type.
func (p problem) matrix(r *tiletest.Run, role tiletest.Role, values []float64) device.Tensor {
	return r.Place(tiletest.Spec{Role: role, DType: p.x, Shape: []int{p.rows, p.n}, Strides: []int{p.n + p.pad, 1}, Offset: p.offset, Values: values})
}

// vector places an n-vector.
func (p problem) vector(r *tiletest.Run, role tiletest.Role, t dtype.Type, values []float64) device.Tensor {
	return r.Place(tiletest.Spec{Role: role, DType: t, Shape: []int{p.n}, Offset: p.offset, Values: values})
}

// repeatable runs the backward pass 30 times: all bits of dx and dw must repeat.
func repeatable() tiletest.Case {
	return tiletest.Case{Name: "repeat/bf16-f32/301x1000", Run: func(r *tiletest.Run) error {
		const rows, n, runs = 301, 1000, 30
		saved := Saved{X: r.In(dtype.BF16, r.Uniform(dtype.BF16, 1, rows*n), rows, n), W: r.In(dtype.F32, r.Uniform(dtype.F32, 2, n), n),
			Rstd: r.In(dtype.F32, r.Uniform(dtype.F32, 3, rows), rows), DY: r.In(dtype.BF16, r.Uniform(dtype.BF16, 4, rows*n), rows, n)}
		grads := Gradients{DX: r.Out(dtype.BF16, rows, n), DW: r.Out(dtype.F32, n)}
		parts, err := Parts(r.Stream, saved, grads)
		if err != nil {
			return err
		}
		part := r.Out(dtype.F32, parts, n)
		var first [2][]float64
		for i := range runs {
			if err := Backward(r.Stream, saved, grads, part); err != nil {
				return err
			}
			for j, t := range []device.Tensor{grads.DX, grads.DW} {
				got := r.Floats(t)
				if i == 0 {
					first[j] = got
				} else if !slices.EqualFunc(first[j], got, sameBits) {
					return fmt.Errorf("run %d gives other bits than run 0 in %s", i, []string{"dx", "dw"}[j])
				}
			}
			if r.Device.Kind() == device.Sim && i == 2 {
				return nil // the simulator is deterministic: more would show nothing
			}
		}
		return nil
	}}
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// large has rows more than 2^31 elements apart: offsets must be 64-bit. It takes 5 GB, so it runs on GPUs only.
func large() tiletest.Case {
	return tiletest.Case{Name: "large/bf16-bf16/3x1024", Run: func(r *tiletest.Run) error {
		if r.Device.Kind() == device.Sim {
			return nil
		}
		const rows, n, stride = 3, 1024, 1<<30 + 8
		xs, ws := r.Uniform(dtype.BF16, 1, rows*n), r.Uniform(dtype.BF16, 2, n)
		far := func(values []float64) (device.Tensor, error) {
			b, err := r.Device.Alloc((2*stride + n) * 2)
			if err != nil {
				return device.Tensor{}, err
			}
			t, err := device.View(b, 0, dtype.BF16, []int{rows, n}, []int{stride, 1})
			if err == nil {
				err = device.UploadFloats(r.Stream, t, values)
			}
			return t, err
		}
		x, err := far(xs)
		if err != nil {
			return err
		}
		defer x.Close()
		y, err := far(make([]float64, rows*n))
		if err != nil {
			return err
		}
		defer y.Close()
		if err := Forward(r.Stream, Inputs{X: x, W: r.In(dtype.BF16, ws, n), Eps: testEps}, Outputs{Y: y, Rstd: r.Out(dtype.F32, rows)}); err != nil {
			return err
		}
		got, err := device.DownloadFloats(r.Stream, y)
		if err != nil {
			return err
		}
		ref := Reference{Rows: rows, N: n, X: xs, W: ws, Eps: float64(float32(testEps))}
		r.Compare("y", got, ref.Forward(), barsOf(dtype.BF16).forward)
		return nil
	}}
}
