package kda

import (
	"fmt"
	"math"
)

// Reference computes KDA in float64: the oracle of the tests.
type Reference struct {
	Shape
	Scale float64 // of o; 0: KeyDim^-1/2
	Ends  []int   // cu_seqlens: where packed sequences begin and the last one ends; nil: each of the batch is one
	Norm  bool    // q and k are divided by sqrt(their sum of squares + 1e-6), head by head
	Gate  Gate    // what G is
	Beta  BetaForm
	Input Tensors
}

// Tensors are the inputs of a problem or their gradients, by the shapes of [Shape].
type Tensors struct {
	Q, K, V []float64
	G       []float64 // by Gate
	Beta    []float64 // by BetaForm
	ALog    []float64 // [ValueHeads]; nil where the gate has none
	DtBias  []float64 // [ValueHeads, KeyDim]; nil where the gate has none
	State   []float64 // before the first token of each sequence; nil: zeros
}

// Forward is o and the states after each sequence, token by token.
func (r Reference) Forward() (o, states []float64, err error) {
	return r.forward(func(h *head) { h.recur() })
}

// ForwardChunked is the same by chunks of so many tokens, as kernels compute it.
func (r Reference) ForwardChunked(chunk int) (o, states []float64, err error) {
	if chunk < 1 {
		return nil, nil, fmt.Errorf("kda: chunks of %d tokens", chunk)
	}
	return r.forward(func(h *head) { h.chunks(chunk) })
}

func (r Reference) forward(run func(*head)) (o, states []float64, err error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	o = make([]float64, r.Batch*r.Seq*r.ValueHeads*r.ValueDim)
	states = make([]float64, r.sequences(r.Ends)*r.ValueHeads*r.KeyDim*r.ValueDim)
	for n := range r.sequences(r.Ends) {
		for i := range r.ValueHeads {
			h := r.head(n, i)
			run(h)
			for t := range h.tokens {
				copy(r.row(o, h.first+t, r.ValueHeads, i, r.ValueDim), h.o[t])
			}
			copy(r.state(states, n, i), h.state)
		}
	}
	return o, states, nil
}

// Backward is the gradients of what is in Input, for those of o and of the states after each sequence (nil: zeros).
func (r Reference) Backward(do, dstates []float64) (Tensors, error) {
	if err := r.check(); err != nil {
		return Tensors{}, err
	}
	if err := sized("the gradient of o", do, r.Batch*r.Seq*r.ValueHeads*r.ValueDim); err != nil {
		return Tensors{}, err
	}
	if dstates != nil {
		if err := sized("the gradient of the states", dstates, r.sequences(r.Ends)*r.ValueHeads*r.KeyDim*r.ValueDim); err != nil {
			return Tensors{}, err
		}
	}
	in := r.Input
	d := Tensors{Q: like(in.Q), K: like(in.K), V: like(in.V), G: like(in.G), Beta: like(in.Beta), ALog: like(in.ALog), DtBias: like(in.DtBias)}
	d.State = make([]float64, r.sequences(r.Ends)*r.ValueHeads*r.KeyDim*r.ValueDim)
	for n := range r.sequences(r.Ends) {
		for i := range r.ValueHeads {
			h := r.head(n, i)
			g := h.backward(func(t int) []float64 { return r.row(do, h.first+t, r.ValueHeads, i, r.ValueDim) }, r.state(dstates, n, i))
			for t := range h.tokens {
				at := h.first + t
				r.unnorm(r.row(d.Q, at, r.Heads, i/r.group(), r.KeyDim), r.row(in.Q, at, r.Heads, i/r.group(), r.KeyDim), g.q[t])
				r.unnorm(r.row(d.K, at, r.Heads, i/r.group(), r.KeyDim), r.row(in.K, at, r.Heads, i/r.group(), r.KeyDim), g.k[t])
				copy(r.row(d.V, at, r.ValueHeads, i, r.ValueDim), g.v[t])
				r.ungate(&d, at, i, g.g[t])
				d.Beta[at*r.ValueHeads+i] = g.beta[t] * r.Beta.slope(in.Beta[at*r.ValueHeads+i])
			}
			copy(r.state(d.State, n, i), g.state)
		}
	}
	return d, nil
}

func like(x []float64) []float64 {
	if x == nil {
		return nil
	}
	return make([]float64, len(x))
}

// group is how many value heads share a head.
func (r Reference) group() int { return r.ValueHeads / r.Heads }

// row is the part of a tensor [tokens, heads, dim] that belongs to a token and a head.
func (r Reference) row(x []float64, token, heads, head, dim int) []float64 {
	return x[(token*heads+head)*dim:][:dim]
}

// state is the state of a sequence and a head; nil of nil.
func (r Reference) state(x []float64, sequence, head int) []float64 {
	if x == nil {
		return nil
	}
	size := r.KeyDim * r.ValueDim
	return x[(sequence*r.ValueHeads+head)*size:][:size]
}

// head is what the recurrence reads of a sequence and a value head: normalised, gated and activated.
func (r Reference) head(sequence, i int) *head {
	h := &head{keys: r.KeyDim, values: r.ValueDim, scale: r.Scale, state: make([]float64, r.KeyDim*r.ValueDim)}
	if h.scale == 0 {
		h.scale = 1 / math.Sqrt(float64(r.KeyDim))
	}
	h.first, h.tokens = r.span(r.Ends, sequence)
	copy(h.state, r.state(r.Input.State, sequence, i))
	for t := range h.tokens {
		at := h.first + t
		h.q = append(h.q, r.normed(r.row(r.Input.Q, at, r.Heads, i/r.group(), r.KeyDim)))
		h.k = append(h.k, r.normed(r.row(r.Input.K, at, r.Heads, i/r.group(), r.KeyDim)))
		h.v = append(h.v, r.row(r.Input.V, at, r.ValueHeads, i, r.ValueDim))
		h.g = append(h.g, r.gated(at, i))
		h.beta = append(h.beta, r.Beta.of(r.Input.Beta[at*r.ValueHeads+i]))
		h.o = append(h.o, make([]float64, r.ValueDim))
	}
	return h
}

func (r Reference) check() error {
	if err := r.Shape.check(r.Ends); err != nil {
		return err
	}
	if err := r.Gate.check(); err != nil {
		return err
	}
	tokens, in := r.Batch*r.Seq, r.Input
	for _, x := range []struct {
		name  string
		data  []float64
		size  int
		maybe bool
	}{
		{"q", in.Q, tokens * r.Heads * r.KeyDim, false},
		{"k", in.K, tokens * r.Heads * r.KeyDim, false},
		{"v", in.V, tokens * r.ValueHeads * r.ValueDim, false},
		{"g", in.G, tokens * r.ValueHeads * r.KeyDim, false},
		{"beta", in.Beta, tokens * r.ValueHeads, false},
		{"A_log", in.ALog, r.ValueHeads, r.Gate.Form != Softplus},
		{"dt_bias", in.DtBias, r.ValueHeads * r.KeyDim, true},
		{"the initial state", in.State, r.sequences(r.Ends) * r.ValueHeads * r.KeyDim * r.ValueDim, true},
	} {
		if x.maybe && x.data == nil {
			continue
		}
		if err := sized(x.name, x.data, x.size); err != nil {
			return err
		}
	}
	if r.Gate.Form == LogDecay && (in.ALog != nil || in.DtBias != nil) {
		return fmt.Errorf("kda: A_log or dt_bias with a gate that is given as %v", r.Gate.Form)
	}
	return nil
}

func sized(name string, x []float64, want int) error {
	if len(x) != want {
		return fmt.Errorf("kda: %s has %d elements, want %d", name, len(x), want)
	}
	return nil
}
