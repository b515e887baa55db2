package kda

import (
	"fmt"
	"math"
)

// GateForm says how g and the parameters of a head give the logarithm of the decay.
type GateForm int

// The forms, with z = g + dt_bias, each by key channel, and a = exp(A_log), by head.
const (
	LogDecay   GateForm = iota // g itself
	Softplus                   // -a softplus(z)
	LowerBound                 // bound * sigmoid(a z); a is 1 without A_log
)

// String names the form.
func (f GateForm) String() string {
	switch f {
	case LogDecay:
		return "the log of the decay"
	case Softplus:
		return "softplus"
	case LowerBound:
		return "a lower bound"
	}
	return fmt.Sprintf("GateForm(%d)", int(f))
}

// Gate is a form and its bound.
type Gate struct {
	Form  GateForm
	Bound float64 // of LowerBound, from -5 up to below 0
}

// lowest is the least bound. Kernels factor a block of 16 tokens about its first: exp(15 * 5.9) is where f32 ends, and -5
// is what other libraries take.
const lowest = -5

func (g Gate) check() error {
	switch g.Form {
	case LogDecay, Softplus:
		if g.Bound != 0 {
			return fmt.Errorf("kda: a bound of %g with a gate by %v", g.Bound, g.Form)
		}
	case LowerBound:
		if !(g.Bound >= lowest && g.Bound < 0) {
			return fmt.Errorf("kda: a lower bound of %g, want one from %d up to below 0", g.Bound, lowest)
		}
	default:
		return fmt.Errorf("kda: unknown gate %v", g.Form)
	}
	return nil
}

// gated is the logarithm of a token's decay in a head.
func (r Reference) gated(token, head int) []float64 {
	g := r.row(r.Input.G, token, r.ValueHeads, head, r.KeyDim)
	if r.Gate.Form == LogDecay {
		return g
	}
	out := make([]float64, r.KeyDim)
	for j := range out {
		out[j], _, _ = r.gate(g[j], head, j)
	}
	return out
}

// gate is an element of the log decay, its derivative by g, and by A_log.
func (r Reference) gate(x float64, head, j int) (y, byG, byALog float64) {
	z, a := x, 1.0
	if r.Input.DtBias != nil {
		z += r.Input.DtBias[head*r.KeyDim+j]
	}
	if r.Input.ALog != nil {
		a = math.Exp(r.Input.ALog[head])
	}
	if r.Gate.Form == Softplus {
		y = -a * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))))
		return y, -a * sigmoid(z), y
	}
	s := sigmoid(a * z)
	t := r.Gate.Bound * s * sigmoid(-a*z) // sigmoid(-x) is 1 - sigmoid(x), without its cancellation
	if t == 0 {                           // where a is infinite, too
		return r.Gate.Bound * s, 0, 0
	}
	return r.Gate.Bound * s, t * a, t * a * z
}

// ungate adds the gradients of g, A_log and dt_bias for that of a token's log decay.
func (r Reference) ungate(d *Tensors, token, head int, dy []float64) {
	g, dg := r.row(r.Input.G, token, r.ValueHeads, head, r.KeyDim), r.row(d.G, token, r.ValueHeads, head, r.KeyDim)
	for j := range dg {
		if r.Gate.Form == LogDecay {
			dg[j] = dy[j]
			continue
		}
		_, byG, byALog := r.gate(g[j], head, j)
		dg[j] = dy[j] * byG
		if d.DtBias != nil {
			d.DtBias[head*r.KeyDim+j] += dg[j]
		}
		if d.ALog != nil {
			d.ALog[head] += dy[j] * byALog
		}
	}
}

// BetaForm says how beta is given.
type BetaForm int

// The forms.
const (
	BetaGiven    BetaForm = iota // as it is
	BetaSigmoid                  // before a sigmoid
	BetaSigmoid2                 // before twice a sigmoid, which lets the delta rule reverse what a key reads
)

func (f BetaForm) factor() float64 {
	if f == BetaSigmoid2 {
		return 2
	}
	return 1
}

func (f BetaForm) of(x float64) float64 {
	if f == BetaGiven {
		return x
	}
	return f.factor() * sigmoid(x)
}

func (f BetaForm) slope(x float64) float64 {
	if f == BetaGiven {
		return 1
	}
	return f.factor() * sigmoid(x) * sigmoid(-x)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// normEps keeps a row of zeros finite.
const normEps = 1e-6

// normed is a row of q or k, divided by its norm where the problem asks for that.
func (r Reference) normed(x []float64) []float64 {
	if !r.Norm {
		return x
	}
	rnorm, out := rnormOf(x), make([]float64, len(x))
	for j := range x {
		out[j] = x[j] * rnorm
	}
	return out
}

// unnorm adds the gradient of a row of q or k for that of the normed row.
func (r Reference) unnorm(dx, x, dy []float64) {
	if !r.Norm {
		for j := range dx {
			dx[j] += dy[j]
		}
		return
	}
	rnorm, dot := rnormOf(x), 0.0
	for j := range x {
		dot += x[j] * rnorm * dy[j]
	}
	for j := range x {
		dx[j] += rnorm * (dy[j] - x[j]*rnorm*dot)
	}
}

func rnormOf(x []float64) float64 {
	sum := normEps
	for _, e := range x {
		sum += e * e
	}
	return 1 / math.Sqrt(sum)
}
