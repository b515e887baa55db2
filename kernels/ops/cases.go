//go:build !gotilegen

package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/elementwise"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/internal/gatecase"
	"github.com/gotile/gotile/runtime/gate"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases is the test table, for the simulator and for GPUs: the gates of every op.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, dt := range elementwise.Types() {
		for _, size := range []struct{ rows, n int }{{3, 13}, {1, 1}, {5, 2055}} {
			out = append(out, casesOf(dt, size.rows, size.n)...)
		}
	}
	return out
}

// above is uniform data in [1/2, 3/2), where powers, roots and quotients are tame.
func above(dt dtype.Type, seed uint64, n int) []float64 {
	v := fixture.Uniform(dt, seed, n)
	for i := range v {
		v[i] = 1 + v[i]/2
	}
	return v
}

// each2 is the reference of an op of two tensors.
func each2(f func(a, b float64) float64) func(None, [][]float64) [][]float64 {
	return func(_ None, in [][]float64) [][]float64 {
		y := make([]float64, len(in[0]))
		for i := range y {
			y[i] = f(in[0][i], in[1][i])
		}
		return [][]float64{y}
	}
}

// each1 is the reference of an op of one tensor.
func each1[P any](f func(x float64, p P) float64) func(P, [][]float64) [][]float64 {
	return func(p P, in [][]float64) [][]float64 {
		y := make([]float64, len(in[0]))
		for i := range y {
			y[i] = f(in[0][i], p)
		}
		return [][]float64{y}
	}
}

// casesOf are the gates of all ops for tensors of one type and shape.
func casesOf(dt dtype.Type, rows, n int) []tiletest.Case {
	name := fmt.Sprintf("%v/%dx%d", dt, rows, n)
	full := gate.Input{Type: dt, Shape: []int{rows, n}}
	tame := gate.Input{Type: dt, Shape: []int{rows, n}, Data: above(dt, 9, rows*n)}
	column := gate.Input{Type: dtype.F32, Shape: []int{rows}, Data: above(dtype.F32, 5, rows)}
	fast := rows*n > 1000
	out := []tiletest.Case{
		gatecase.Of(AddOp, gate.Case[None]{Name: name, In: []gate.Input{full, full}, Fast: fast, Reference: each2(func(a, b float64) float64 { return a + b }),
			Gradient: grad2(func(a, b float64) (float64, float64) { return 1, 1 })}),
		gatecase.Of(MulOp, gate.Case[None]{Name: name, In: []gate.Input{full, full}, Fast: fast, Reference: each2(func(a, b float64) float64 { return a * b }),
			Gradient: grad2(func(a, b float64) (float64, float64) { return b, a })}),
		gatecase.Of(DivOp, gate.Case[None]{Name: name, In: []gate.Input{full, tame}, Fast: fast, Reference: each2(func(a, b float64) float64 { return a / b }),
			Gradient: grad2(func(a, b float64) (float64, float64) { return 1 / b, -a / (b * b) })}),
		gatecase.Of(SubOp, gate.Case[None]{Name: name, In: []gate.Input{full, full}, Fast: fast, Reference: each2(func(a, b float64) float64 { return a - b }),
			Gradient: grad2(func(a, b float64) (float64, float64) { return 1, -1 })}),
		gatecase.Of(NegOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return -x }),
			Gradient: grad1(func(float64, None) float64 { return -1 })}),
		gatecase.Of(ExpOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return math.Exp(x) }),
			Gradient: grad1(func(x float64, _ None) float64 { return math.Exp(x) })}),
		gatecase.Of(LogOp, gate.Case[None]{Name: name, In: []gate.Input{tame}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return math.Log(x) }),
			Gradient: grad1(func(x float64, _ None) float64 { return 1 / x })}),
		gatecase.Of(TanhOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return math.Tanh(x) }),
			Gradient: grad1(func(x float64, _ None) float64 { return 1 / (math.Cosh(x) * math.Cosh(x)) })}),
		gatecase.Of(SoftplusOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return math.Log1p(math.Exp(x)) }),
			Gradient: grad1(func(x float64, _ None) float64 { return logistic(x) })}),
		gatecase.Of(SqrtOp, gate.Case[None]{Name: name, In: []gate.Input{tame}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return math.Sqrt(x) }),
			Gradient: grad1(func(x float64, _ None) float64 { return 0.5 / math.Sqrt(x) })}),
		gatecase.Of(AddScalarOp, gate.Case[float32]{Name: name, Params: 0.25, In: []gate.Input{full}, Fast: fast, Reference: each1(func(x float64, c float32) float64 { return x + float64(c) }),
			Gradient: grad1(func(float64, float32) float64 { return 1 })}),
		gatecase.Of(SigmoidOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return logistic(x) }),
			Gradient: grad1(func(x float64, _ None) float64 { return logistic(x) * (1 - logistic(x)) })}),
		gatecase.Of(SiluOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast, Reference: each1(func(x float64, _ None) float64 { return x * logistic(x) }),
			Gradient: grad1(func(x float64, _ None) float64 { return logistic(x) * (1 + x*(1-logistic(x))) })}),
		gatecase.Of(MeanOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast,
			Reference: func(_ None, in [][]float64) [][]float64 {
				y := make([]float64, rows)
				for i, x := range in[0] {
					y[i/n] += x / float64(n)
				}
				return [][]float64{y}
			},
			Gradient: func(_ None, in, dy [][]float64) [][]float64 {
				dx := make([]float64, rows*n)
				for i := range dx {
					dx[i] = dy[0][i/n] / float64(n)
				}
				return [][]float64{dx}
			}}),
		gatecase.Of(DivColsOp, gate.Case[None]{Name: name, In: []gate.Input{full, column}, Fast: fast,
			Reference: func(_ None, in [][]float64) [][]float64 {
				y := make([]float64, rows*n)
				for i, x := range in[0] {
					y[i] = x / in[1][i/n]
				}
				return [][]float64{y}
			},
			Gradient: func(_ None, in, dy [][]float64) [][]float64 {
				da, dd := make([]float64, rows*n), make([]float64, rows)
				for i, a := range in[0] {
					d := in[1][i/n]
					da[i] = dy[0][i] / d
					dd[i/n] -= dy[0][i] * a / (d * d)
				}
				return [][]float64{da, dd}
			}}),
	}
	if n > 1 { // the softmax of one element is 1, with no gradient
		out = append(out,
			gatecase.Of(SoftmaxOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast,
				Reference: eachRow(n, softmax), Gradient: gradRow(n, func(x, dy []float64) []float64 {
					y, dot := softmax(x), 0.0
					for j := range y {
						dot += y[j] * dy[j]
					}
					for j := range y {
						y[j] *= dy[j] - dot
					}
					return y
				})}),
			gatecase.Of(LogSoftmaxOp, gate.Case[None]{Name: name, In: []gate.Input{full}, Fast: fast,
				Reference: eachRow(n, logSoftmax), Gradient: gradRow(n, func(x, dy []float64) []float64 {
					y, sum := softmax(x), 0.0
					for j := range y {
						sum += dy[j]
					}
					for j := range y {
						y[j] = dy[j] - y[j]*sum
					}
					return y
				})}),
		)
	}
	large := gate.Input{Type: dt, Shape: []int{rows, n}, Data: above(dt, 9, rows*n)} // whose squares are beyond f16
	for i := range large.Data {
		large.Data[i] *= 16384
	}
	for _, c := range []struct {
		name string
		p    float32
		in   gate.Input
	}{{"2", 2, full}, {"2-large", 2, large}, {"0.5", 0.5, tame}, {"-1", -1, tame}, {"3", 3, tame}} {
		out = append(out, gatecase.Of(PowOp, gate.Case[float32]{Name: c.name + "/" + name, Params: c.p, In: []gate.Input{c.in}, Fast: fast,
			Reference: each1(func(x float64, p float32) float64 { return math.Pow(x, float64(p)) }),
			Gradient:  grad1(func(x float64, p float32) float64 { return float64(p) * math.Pow(x, float64(p)-1) })}))
	}
	weights := []dtype.Type{dt}
	if dt != dtype.F32 {
		weights = append(weights, dtype.F32)
	}
	for _, w := range weights {
		out = append(out, gatecase.Of(MulRowsOp, gate.Case[None]{Name: fmt.Sprintf("%v-%s", w, name), In: []gate.Input{full, {Type: w, Shape: []int{n}}}, Fast: fast,
			Reference: func(_ None, in [][]float64) [][]float64 {
				y := make([]float64, rows*n)
				for i, x := range in[0] {
					y[i] = x * in[1][i%n]
				}
				return [][]float64{y}
			},
			Gradient: func(_ None, in, dy [][]float64) [][]float64 {
				da, db := make([]float64, rows*n), make([]float64, n)
				for i, a := range in[0] {
					da[i] = dy[0][i] * in[1][i%n]
					db[i%n] += dy[0][i] * a
				}
				return [][]float64{da, db}
			}}))
	}
	return out
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// grad2 is the gradient of each2, from the two slopes.
func grad2(f func(a, b float64) (da, db float64)) func(p None, in, dy [][]float64) [][]float64 {
	return func(_ None, in, dy [][]float64) [][]float64 {
		da, db := make([]float64, len(in[0])), make([]float64, len(in[0]))
		for i := range da {
			a, b := f(in[0][i], in[1][i])
			da[i], db[i] = dy[0][i]*a, dy[0][i]*b
		}
		return [][]float64{da, db}
	}
}

// grad1 is the gradient of each1, from the slope.
func grad1[P any](f func(x float64, p P) float64) func(p P, in, dy [][]float64) [][]float64 {
	return func(p P, in, dy [][]float64) [][]float64 {
		dx := make([]float64, len(in[0]))
		for i := range dx {
			dx[i] = dy[0][i] * f(in[0][i], p)
		}
		return [][]float64{dx}
	}
}

// eachRow is the reference of an op of rows of n elements.
func eachRow(n int, f func(x []float64) []float64) func(None, [][]float64) [][]float64 {
	return func(_ None, in [][]float64) [][]float64 {
		var y []float64
		for row := range slices.Chunk(in[0], n) {
			y = append(y, f(row)...)
		}
		return [][]float64{y}
	}
}

// gradRow is the gradient of eachRow.
func gradRow(n int, f func(x, dy []float64) []float64) func(None, [][]float64, [][]float64) [][]float64 {
	return func(_ None, in, dy [][]float64) [][]float64 {
		var dx []float64
		for at := 0; at < len(in[0]); at += n {
			dx = append(dx, f(in[0][at:at+n], dy[0][at:at+n])...)
		}
		return [][]float64{dx}
	}
}

func softmax(x []float64) []float64 {
	y := logSoftmax(x)
	for j := range y {
		y[j] = math.Exp(y[j])
	}
	return y
}

func logSoftmax(x []float64) []float64 {
	largest, sum := slices.Max(x), 0.0
	for _, e := range x {
		sum += math.Exp(e - largest)
	}
	y := make([]float64, len(x))
	for j := range y {
		y[j] = x[j] - largest - math.Log(sum)
	}
	return y
}
