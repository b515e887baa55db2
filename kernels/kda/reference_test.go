package kda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// problem is a reference with random inputs, as its options need them.
func problem(seed uint64, r Reference) Reference {
	rng := rand.New(rand.NewPCG(seed, 1))
	normal := func(n int, scale, shift float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = shift + scale*rng.NormFloat64()
		}
		return x
	}
	tokens := r.Batch * r.Seq
	in := &r.Input
	in.Q, in.K = normal(tokens*r.Heads*r.KeyDim, .5, 0), normal(tokens*r.Heads*r.KeyDim, .5, 0)
	in.V = normal(tokens*r.ValueHeads*r.ValueDim, 1, 0)
	in.G, in.Beta = normal(tokens*r.ValueHeads*r.KeyDim, 1, 0), normal(tokens*r.ValueHeads, 1, 0)
	in.State = normal(r.sequences(r.Ends)*r.ValueHeads*r.KeyDim*r.ValueDim, 1, 0)
	if r.Gate.Form == LogDecay {
		for i, g := range in.G {
			in.G[i] = -.3 * math.Abs(g)
		}
	} else {
		in.ALog, in.DtBias = normal(r.ValueHeads, .5, -.5), normal(r.ValueHeads*r.KeyDim, .5, 0)
	}
	if r.Beta == BetaGiven {
		for i, b := range in.Beta {
			in.Beta[i] = sigmoid(b)
		}
	}
	return r
}

var small = Shape{Batch: 2, Seq: 7, Heads: 1, ValueHeads: 2, KeyDim: 3, ValueDim: 2}

// problems are one of each option, and of some together.
func problems() map[string]Reference {
	bounded := Gate{LowerBound, -5}
	return map[string]Reference{
		"plain":       {Shape: small},
		"scale":       {Shape: small, Scale: .7},
		"norm":        {Shape: small, Norm: true},
		"softplus":    {Shape: small, Gate: Gate{Form: Softplus}},
		"lower bound": {Shape: small, Gate: bounded},
		"sigmoid":     {Shape: small, Beta: BetaSigmoid},
		"to 2":        {Shape: small, Norm: true, Beta: BetaSigmoid2},
		"packed":      {Shape: Shape{1, 9, 2, 4, 2, 3}, Ends: []int{0, 4, 4, 5, 9}, Norm: true, Gate: bounded, Beta: BetaSigmoid},
		"one token":   {Shape: Shape{1, 1, 1, 1, 1, 1}},
		"no tokens":   {Shape: Shape{2, 0, 1, 1, 2, 2}},
	}
}

func TestChunksAreTheRecurrence(t *testing.T) {
	for name, r := range problems() {
		r := problem(1, r)
		o, states := must2(t, r.Forward)
		for _, chunk := range []int{1, 2, 3, 4, 64} {
			o2, states2 := must2(t, func() ([]float64, []float64, error) { return r.ForwardChunked(chunk) })
			near(t, fmt.Sprintf("%s, chunks of %d: o", name, chunk), o2, o, 1e-12)
			near(t, fmt.Sprintf("%s, chunks of %d: states", name, chunk), states2, states, 1e-12)
		}
	}
}

// A spike of -1000 forgets all before it, and nothing overflows or cancels within a chunk.
func TestChunksWithSpikes(t *testing.T) {
	r := problem(2, Reference{Shape: Shape{1, 40, 1, 1, 4, 3}, Norm: true})
	for i := range r.Input.G {
		if i%7 == 3 {
			r.Input.G[i] = -1000
		}
	}
	o, states := must2(t, r.Forward)
	o2, states2 := must2(t, func() ([]float64, []float64, error) { return r.ForwardChunked(16) })
	near(t, "o", o2, o, 1e-12)
	near(t, "states", states2, states, 1e-12)
}

// Each gradient is the slope of a weighted sum of the results.
func TestBackwardByDifferences(t *testing.T) {
	for name, r := range problems() {
		r := problem(3, r)
		o, states := must2(t, r.Forward)
		rng := rand.New(rand.NewPCG(4, 4))
		do, dstates := make([]float64, len(o)), make([]float64, len(states))
		for _, x := range [][]float64{do, dstates} {
			for i := range x {
				x[i] = rng.NormFloat64()
			}
		}
		d, err := r.Backward(do, dstates)
		if err != nil {
			t.Fatal(err)
		}
		loss := func() float64 {
			o, states := must2(t, r.Forward)
			sum := 0.0
			for i := range o {
				sum += o[i] * do[i]
			}
			for i := range states {
				sum += states[i] * dstates[i]
			}
			return sum
		}
		in := r.Input
		for _, x := range []struct {
			name    string
			x, grad []float64
		}{
			{"q", in.Q, d.Q}, {"k", in.K, d.K}, {"v", in.V, d.V}, {"g", in.G, d.G}, {"beta", in.Beta, d.Beta},
			{"A_log", in.ALog, d.ALog}, {"dt_bias", in.DtBias, d.DtBias}, {"state", in.State, d.State},
		} {
			if len(x.x) != len(x.grad) {
				t.Fatalf("%s: %d gradients of %d elements of %s", name, len(x.grad), len(x.x), x.name)
			}
			slope := make([]float64, len(x.x))
			for i, was := range x.x {
				const step = 3e-5
				at := func(by float64) float64 { x.x[i] = was + by*step; return loss() }
				slope[i] = (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * step) // exact up to the fifth power of the step
				x.x[i] = was
			}
			near(t, name+": gradient of "+x.name, x.grad, slope, 1e-8)
		}
	}
}

// A sequence in two calls, with the state carried, is the same in one; so are packed sequences and those of a batch.
func TestContinuationAndPacking(t *testing.T) {
	whole := problem(5, Reference{Shape: Shape{1, 11, 2, 2, 3, 4}, Norm: true, Gate: Gate{Form: Softplus}})
	o, states := must2(t, whole.Forward)
	part := func(from, to int, state []float64) Reference {
		r := whole
		r.Seq = to - from
		in := &r.Input
		in.Q, in.K = in.Q[from*2*3:to*2*3], in.K[from*2*3:to*2*3]
		in.V, in.G, in.Beta = in.V[from*2*4:to*2*4], in.G[from*2*3:to*2*3], in.Beta[from*2:to*2]
		in.State = state
		return r
	}
	first := part(0, 4, whole.Input.State)
	o1, mid := must2(t, first.Forward)
	second := part(4, 11, mid)
	o2, last := must2(t, second.Forward)
	near(t, "o", append(o1, o2...), o, 0)
	near(t, "states", last, states, 0)

	packed := whole
	packed.Ends = []int{0, 4, 11}
	packed.Input.State = append(append([]float64{}, whole.Input.State...), mid...)
	o3, both := must2(t, packed.Forward)
	near(t, "packed o", o3, o, 0)
	near(t, "packed states", both, append(append([]float64{}, mid...), last...), 0)
}

// Nothing before a token depends on it.
func TestCausality(t *testing.T) {
	r := problem(6, Reference{Shape: Shape{1, 20, 1, 1, 3, 2}, Norm: true, Gate: Gate{LowerBound, -5}})
	before, _ := must2(t, func() ([]float64, []float64, error) { return r.ForwardChunked(16) })
	const at = 9
	for _, x := range []struct {
		x   []float64
		dim int
	}{{r.Input.Q, 3}, {r.Input.K, 3}, {r.Input.V, 2}, {r.Input.G, 3}, {r.Input.Beta, 1}} {
		for i := at * x.dim; i < len(x.x); i++ {
			x.x[i] = 1 - x.x[i]
		}
	}
	after, _ := must2(t, func() ([]float64, []float64, error) { return r.ForwardChunked(16) })
	near(t, "o before the change", after[:at*2], before[:at*2], 0)
	if after[at*2] == before[at*2] {
		t.Error("the change has no effect")
	}
}

// An infinite a saturates the gate by a lower bound: its slope is 0, not 0 times infinity.
func TestInfiniteALog(t *testing.T) {
	r := problem(7, Reference{Shape: Shape{1, 3, 1, 1, 2, 2}, Gate: Gate{LowerBound, -1}})
	r.Input.ALog[0] = 1000
	o, _ := must2(t, r.Forward)
	d, err := r.Backward(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range append(append(d.G, d.ALog...), d.DtBias...) {
		if x != 0 {
			t.Errorf("a gradient of a saturated gate is %g", x)
		}
	}
}

func TestRefusals(t *testing.T) {
	for want, edit := range map[string]func(*Reference){
		"3 value heads for 2 heads":         func(r *Reference) { r.Heads, r.ValueHeads = 2, 3 },
		"a state of 0 x 2":                  func(r *Reference) { r.KeyDim = 0 },
		"-1 sequences":                      func(r *Reference) { r.Batch = -1 },
		"a batch of 2":                      func(r *Reference) { r.Ends = []int{0, 7} },
		"not start at token 0":              func(r *Reference) { r.Batch, r.Ends = 1, []int{1, 7} },
		"end at token 6 of 7":               func(r *Reference) { r.Batch, r.Ends = 1, []int{0, 6} },
		"packed sequence 1 ends at token 3": func(r *Reference) { r.Batch, r.Ends = 1, []int{0, 4, 3, 7} },
		"a lower bound of -5.5":             func(r *Reference) { r.Gate = Gate{LowerBound, -5.5} },
		"a lower bound of 0":                func(r *Reference) { r.Gate = Gate{LowerBound, 0} },
		"a lower bound of NaN":              func(r *Reference) { r.Gate = Gate{LowerBound, math.NaN()} },
		"a bound of -1 with a gate by":      func(r *Reference) { r.Gate = Gate{Softplus, -1} },
		"unknown gate GateForm(9)":          func(r *Reference) { r.Gate.Form = 9 },
		"beta has 27 elements, want 28":     func(r *Reference) { r.Input.Beta = r.Input.Beta[1:] },
		"A_log has 0 elements, want 2":      func(r *Reference) { r.Gate.Form = Softplus },
		"A_log or dt_bias with a gate":      func(r *Reference) { r.Input.ALog = make([]float64, 2) },
		"the initial state has 1 elements":  func(r *Reference) { r.Input.State = make([]float64, 1) },
	} {
		r := problem(8, Reference{Shape: small})
		edit(&r)
		_, _, forward := r.Forward()
		_, backward := r.Backward(make([]float64, 2*7*2*2), nil)
		for _, err := range []error{forward, backward} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		}
	}
	r := problem(8, Reference{Shape: small})
	if _, _, err := r.ForwardChunked(0); err == nil {
		t.Error("chunks of no token pass")
	}
	if _, err := r.Backward(nil, nil); err == nil {
		t.Error("no gradient of o passes")
	}
	if _, err := r.Backward(make([]float64, 2*7*2*2), make([]float64, 1)); err == nil {
		t.Error("a gradient of a part of a state passes")
	}
}

func must2(t *testing.T, f func() ([]float64, []float64, error)) (a, b []float64) {
	t.Helper()
	a, b, err := f()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// near fails where the largest difference is above bar times the largest value.
func near(t *testing.T, what string, got, want []float64, bar float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	worst, largest := 0.0, 0.0
	for i := range want {
		if math.IsNaN(got[i]) || math.IsNaN(want[i]) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
		worst, largest = max(worst, math.Abs(got[i]-want[i])), max(largest, math.Abs(want[i]))
	}
	if worst > bar*largest {
		t.Errorf("%s: %g off at %g, bar %g", what, worst, largest, bar)
	}
}
