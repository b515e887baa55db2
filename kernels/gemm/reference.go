package gemm

// Reference computes a batch of products in float64: the oracle of the tests. Tensors are row-major and contiguous.
type Reference struct {
	Form           Form
	Batch, M, N, K int
	A, B           []float64 // [Batch, M, K] and [Batch, K, N], or transposed as Form says
	C              []float64 // [Batch, M, N]; nil: zeros
	Bias           []float64 // [N]; nil: zeros
}

// Product is A B + C + bias, [Batch, M, N].
func (r Reference) Product() []float64 {
	aRow, aCol := r.K, 1
	if r.Form.TransA() {
		aRow, aCol = 1, r.M
	}
	bRow, bCol := r.N, 1
	if r.Form.TransB() {
		bRow, bCol = 1, r.K
	}
	d := make([]float64, r.Batch*r.M*r.N)
	copy(d, r.C)
	for batch := range r.Batch {
		a, b := r.A[batch*r.M*r.K:], r.B[batch*r.K*r.N:]
		for i := range r.M {
			row := d[(batch*r.M+i)*r.N:][:r.N]
			for j, x := range r.Bias {
				row[j] += x
			}
			for k := range r.K {
				x := a[i*aRow+k*aCol]
				for j := range row {
					row[j] += x * b[k*bRow+j*bCol]
				}
			}
		}
	}
	return d
}
