package kda

import (
	"math"
	"slices"
)

// head is a sequence of one value head: rows by token, and the state, keys x values, before them and then after them.
type head struct {
	first, tokens int
	keys, values  int
	scale         float64
	q, k, v, g, o [][]float64
	beta          []float64
	state         []float64
}

// recur runs the tokens one by one.
func (h *head) recur() {
	for t := range h.tokens {
		h.decay(h.g[t])
		h.write(t, h.read(t))
		h.out(t)
	}
}

// decay is S = diag(exp g) S.
func (h *head) decay(g []float64) {
	for i := range h.keys {
		f := math.Exp(g[i])
		for j := range h.values {
			h.state[i*h.values+j] *= f
		}
	}
}

// read is v - k S: what the state of a token's key lacks.
func (h *head) read(t int) []float64 {
	r := slices.Clone(h.v[t])
	for i, k := range h.k[t] {
		for j := range r {
			r[j] -= k * h.state[i*h.values+j]
		}
	}
	return r
}

// write is S = S + k^T (beta r).
func (h *head) write(t int, r []float64) {
	for i, k := range h.k[t] {
		for j := range r {
			h.state[i*h.values+j] += k * h.beta[t] * r[j]
		}
	}
}

// out is o = scale q S.
func (h *head) out(t int) {
	for i, q := range h.q[t] {
		for j := range h.o[t] {
			h.o[t][j] += h.scale * q * h.state[i*h.values+j]
		}
	}
}

// gradients are those of a head's rows and of the state before them.
type gradients struct {
	q, k, v, g [][]float64
	beta       []float64
	state      []float64
}

// backward runs the tokens, keeps the decayed states, and walks back. do is the gradient of a token's row of o, dstate of
// the last state; nil: zeros.
func (h *head) backward(do func(t int) []float64, dstate []float64) gradients {
	decayed, lacks := make([][]float64, h.tokens), make([][]float64, h.tokens)
	after := make([][]float64, h.tokens)
	for t := range h.tokens {
		h.decay(h.g[t])
		decayed[t], lacks[t] = slices.Clone(h.state), h.read(t)
		h.write(t, lacks[t])
		after[t] = slices.Clone(h.state)
	}
	d := gradients{beta: make([]float64, h.tokens), state: make([]float64, len(h.state))}
	for range h.tokens {
		d.q, d.k = append(d.q, make([]float64, h.keys)), append(d.k, make([]float64, h.keys))
		d.v, d.g = append(d.v, make([]float64, h.values)), append(d.g, make([]float64, h.keys))
	}
	copy(d.state, dstate)
	for t := h.tokens - 1; t >= 0; t-- {
		h.back(t, do(t), decayed[t], lacks[t], after[t], &d)
	}
	return d
}

// back is a token's step of the way back: d.state is the gradient of the state after it, and then of that before it.
func (h *head) back(t int, do, decayed, lack, after []float64, d *gradients) {
	dwritten := make([]float64, h.values) // of beta r
	for i := range h.keys {
		ds, s := d.state[i*h.values:][:h.values], after[i*h.values:][:h.values]
		for j := range ds {
			d.q[t][i] += h.scale * s[j] * do[j]
			ds[j] += h.scale * h.q[t][i] * do[j]
			dwritten[j] += ds[j] * h.k[t][i]
			d.k[t][i] += ds[j] * h.beta[t] * lack[j]
		}
	}
	for j := range dwritten {
		d.beta[t] += dwritten[j] * lack[j]
		d.v[t][j] = h.beta[t] * dwritten[j]
	}
	for i := range h.keys {
		ds, s := d.state[i*h.values:][:h.values], decayed[i*h.values:][:h.values]
		f := math.Exp(h.g[t][i])
		for j := range ds {
			d.k[t][i] -= s[j] * d.v[t][j]
			ds[j] -= h.k[t][i] * d.v[t][j]
			d.g[t][i] += s[j] * ds[j]
			ds[j] *= f
		}
	}
}
