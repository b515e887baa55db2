package rmsnorm

import "math"

// Reference computes RMSNorm in float64: the oracle of the tests. Tensors are row-major, rows x n.
type Reference struct {
	Rows, N int
	X, W    []float64 // X: rows x n, the sum where there is a residual; W: n
	Z       []float64 // rows x n: the gate, if Act is set
	Act     Activation
	Eps     float64
}

// Rstd is 1/sqrt(mean(x^2) + eps) of each row.
func (r Reference) Rstd() []float64 {
	out := make([]float64, r.Rows)
	for i := range out {
		sum := 0.0
		for _, x := range r.row(r.X, i) {
			sum += x * x
		}
		out[i] = 1 / math.Sqrt(sum/float64(r.N)+r.Eps)
	}
	return out
}

// Forward is y = x * rstd * w * act(z), rows x n.
func (r Reference) Forward() []float64 {
	rstd, y := r.Rstd(), make([]float64, r.Rows*r.N)
	for i := range r.Rows {
		for j, x := range r.row(r.X, i) {
			act, _ := r.gate(i*r.N + j)
			y[i*r.N+j] = x * rstd[i] * r.W[j] * act
		}
	}
	return y
}

// gate is act(z) and act'(z) of an element; 1 and 0 without a gate.
func (r Reference) gate(i int) (act, slope float64) {
	if r.Act == 0 {
		return 1, 0
	}
	z := r.Z[i]
	s, rest := 1/(1+math.Exp(-z)), 1/(1+math.Exp(z)) // rest is 1 - s, without its cancellation
	if r.Act == Sigmoid {
		return s, s * rest
	}
	return z * s, s + z*s*rest
}

// Backward is the gradient of x, rows x n, and of w, n, for the gradient dy of y, rows x n.
func (r Reference) Backward(dy []float64) (dx, dw []float64) {
	dy = r.gated(dy)
	rstd := r.Rstd()
	dx, dw = make([]float64, r.Rows*r.N), make([]float64, r.N)
	for i := range r.Rows {
		x, d := r.row(r.X, i), r.row(dy, i)
		mean := 0.0
		for j := range x {
			mean += r.W[j] * d[j] * x[j] * rstd[i]
		}
		mean /= float64(r.N)
		for j := range x {
			xh := x[j] * rstd[i]
			dx[i*r.N+j] = rstd[i] * (r.W[j]*d[j] - xh*mean)
			dw[j] += d[j] * xh
		}
	}
	return dx, dw
}

// gated is dy * act(z), the gradient of what the gate multiplies.
func (r Reference) gated(dy []float64) []float64 {
	if r.Act == 0 {
		return dy
	}
	g := make([]float64, len(dy))
	for i, d := range dy {
		act, _ := r.gate(i)
		g[i] = d * act
	}
	return g
}

// BackwardGate is the gradient of z, rows x n, for the gradient dy of y.
func (r Reference) BackwardGate(dy []float64) []float64 {
	rstd, dz := r.Rstd(), make([]float64, len(dy))
	for i, d := range dy {
		_, slope := r.gate(i)
		dz[i] = d * r.X[i] * rstd[i/r.N] * r.W[i%r.N] * slope
	}
	return dz
}

func (r Reference) row(m []float64, i int) []float64 { return m[i*r.N : (i+1)*r.N] }
