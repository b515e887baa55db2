package rmsnorm

import "math"

// Reference computes RMSNorm in float64: the oracle of the tests. Tensors are row-major, rows x n.
type Reference struct {
	Rows, N int
	X, W    []float64 // X: rows x n, the sum where there is a residual; W: n
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

// Forward is y = x * rstd * w, rows x n.
func (r Reference) Forward() []float64 {
	rstd, y := r.Rstd(), make([]float64, r.Rows*r.N)
	for i := range r.Rows {
		for j, x := range r.row(r.X, i) {
			y[i*r.N+j] = x * rstd[i] * r.W[j]
		}
	}
	return y
}

// Backward is the gradient of x, rows x n, and of w, n, for the gradient dy of y, rows x n.
func (r Reference) Backward(dy []float64) (dx, dw []float64) {
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

func (r Reference) row(m []float64, i int) []float64 { return m[i*r.N : (i+1)*r.N] }
