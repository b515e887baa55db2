package kda

import "math"

// chunks runs the tokens by chunks of so many. Within one, with the decays summed from its begin,
//
//	G_i = g_0 + ... + g_i
//	L_ij = beta_i sum_d k_i k_j exp(G_i - G_j)   for j < i
//	A_ij = scale sum_d q_i k_j exp(G_i - G_j)    for j <= i
//	Y = (I + L)^-1 beta (V - (K exp G) S)        what the tokens write
//	O = scale (Q exp G) S + A Y
//	S = diag(exp G_last) S + (K exp(G_last - G))^T Y
//
// All exponents are sums of g, so none overflows where no g is above 0.
func (h *head) chunks(size int) {
	for first := 0; first < h.tokens; first += size {
		h.chunk(first, min(first+size, h.tokens))
	}
}

func (h *head) chunk(first, end int) {
	sums := make([][]float64, end-first) // G
	for t := range sums {
		sums[t] = make([]float64, h.keys)
		for d := range sums[t] {
			if t > 0 {
				sums[t][d] = sums[t-1][d]
			}
			sums[t][d] += h.g[first+t][d]
		}
	}
	decayed := func(x []float64, t int) []float64 { // x exp G
		out := make([]float64, h.keys)
		for d := range out {
			out[d] = x[d] * math.Exp(sums[t][d])
		}
		return out
	}
	key := func(i, j, d int) float64 { // an element of k_j exp(G_i - G_j)
		gap := 0.0
		for t := j + 1; t <= i; t++ { // not a difference of sums: after a g of -1000 that would lose what is small
			gap += h.g[first+t][d]
		}
		return h.k[first+j][d] * math.Exp(gap)
	}
	dot := func(x []float64, i, j int) float64 {
		sum := 0.0
		for d := range x {
			sum += x[d] * key(i, j, d)
		}
		return sum
	}

	writes := make([][]float64, end-first) // Y, by forward substitution
	for i := range writes {
		t := first + i
		y := h.product(decayed(h.k[t], i))
		for j := range y {
			y[j] = h.beta[t] * (h.v[t][j] - y[j])
		}
		for j := range i {
			l := h.beta[t] * dot(h.k[t], i, j)
			for c := range y {
				y[c] -= l * writes[j][c]
			}
		}
		writes[i] = y
	}
	for i := range writes {
		t := first + i
		for c, x := range h.product(decayed(h.q[t], i)) {
			h.o[t][c] = h.scale * x
		}
		for j := range i + 1 {
			a := h.scale * dot(h.q[t], i, j)
			for c := range h.o[t] {
				h.o[t][c] += a * writes[j][c]
			}
		}
	}
	last := len(sums) - 1
	h.decay(sums[last])
	for i, y := range writes {
		for d := range h.keys {
			k := key(last, i, d)
			for c := range y {
				h.state[d*h.values+c] += k * y[c]
			}
		}
	}
}

// product is x S.
func (h *head) product(x []float64) []float64 {
	out := make([]float64, h.values)
	for d, e := range x {
		for c := range out {
			out[c] += e * h.state[d*h.values+c]
		}
	}
	return out
}
