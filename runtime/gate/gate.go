// Package gate checks differentiable ops: that what they compute, and the gradients that they give, are right, and that
// it was their kernels that did it.
//
// Check runs an op on a device through these gates:
//
//	forward      outputs against a float64 reference
//	gradient     gradients against the reference's, given or found from the reference by differences in float64
//	difference   gradients against central differences of the op itself, with a model of the noise
//	non-zero     each gradient is finite and has an element that is not 0
//	repeat       results are the same bit for bit in every run
//	interior     the same, for inputs that are outputs of other ops, and by the strategy Recompute
//	unset        gradients where only one of several outputs has one
//	needs        the same gradient where only one input needs one
//	again        the same, where the op is applied to other inputs too
//	ref          what the op's Ref gives, against the reference
//	alias        the gradient of a tensor that is given to two ports is the sum of both
//	memory       inputs, outputs and their gradients are not changed; nothing is read that was not written, or was given back; nothing is leaked
//	path         the books say that the kernels ran, forward and backward, as often as they were asked to
//	launches     as many kernels were launched as the op declares, and no more where only one input needs a gradient
//
// Errors are relative to scale: max|a-b| / max|b| over a tensor, b the reference. An absolute error of 4.8e-7 on an
// element of 1.6e-3, in a tensor whose largest element is 47, is 1e-8, and not the 3e-4 that it is of its element: the
// other elements have rounding errors of that size as well.
package gate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Input is what one input port is given.
type Input struct {
	Type  dtype.Type
	Shape []int
	Data  []float64 // row-major; nil: uniform in [-1, 1), of another seed for each port
}

// Case is one set of inputs.
type Case[P any] struct {
	Name   string
	Params P
	In     []Input // by port; the zero Input leaves an optional port unset

	// Reference computes the outputs, by port, in float64. Inputs that are not set are nil.
	Reference func(p P, in [][]float64) [][]float64
	// Gradient gives the gradients of the inputs, by port, in float64; nil entries are not compared. Without it they are
	// found from Reference by differences.
	Gradient func(p P, in, dOut [][]float64) [][]float64

	Forward  float64 // bar of outputs; 0: 2e-6 for f32, 1e-3 for f16, 8e-3 for bf16
	Backward float64 // bar of gradients; 0: 1e-5, 2e-3, 1.6e-2
	Runs     int     // of the gate repeat; 0: 30
	Fast     bool    // differences along random directions only, not of single elements
}

// Result is how a gate ended.
type Result string

// The results.
const (
	Pass       Result = "pass"
	Fail       Result = "FAIL"
	Unresolved Result = "UNRESOLVED" // the noise of differences exceeds the gradient; the float64 reference decides
)

// Verdict is what one gate found about one tensor, or about the op.
type Verdict struct {
	Gate   string
	Port   string // "Y", "dX"; empty where the whole op is meant
	Result Result
	Worst  float64 // the error, where there is one
	Bar    float64
	Text   string
}

// String is the verdict in columns: result, gate, port, error and bar, text.
func (v Verdict) String() string {
	s := fmt.Sprintf("%-10s %-10s %-4s", v.Result, v.Gate, v.Port)
	if v.Bar > 0 {
		s += fmt.Sprintf(" %8.2g of %.2g", v.Worst, v.Bar)
	}
	if v.Text != "" {
		s += " " + v.Text
	}
	return strings.TrimRight(s, " ")
}

// Report is all verdicts about a case.
type Report struct {
	Op, Case string
	Verdicts []Verdict
}

// Err is nil where no gate failed, and says otherwise which did.
func (r *Report) Err() error {
	var errs []error
	for _, v := range r.Verdicts {
		if v.Result == Fail {
			errs = append(errs, fmt.Errorf("%s %s: %s", r.Op, r.Case, v))
		}
	}
	return errors.Join(errs...)
}

// String is the verdicts, one a line.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Op, r.Case)
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "  %s\n", v)
	}
	return b.String()
}

func (r *Report) add(v Verdict) { r.Verdicts = append(r.Verdicts, v) }

// compare adds the verdict of a bar.
func (r *Report) compare(gate, port string, worst, bar float64, text string) {
	result := Pass
	if !(worst <= bar) {
		result = Fail
	}
	r.add(Verdict{gate, port, result, worst, bar, text})
}

// demandOf is demand where a gate has several conditions: the verdict names its own, either way.
func (r *Report) demandOf(gate, of string, ok bool, format string, args ...any) {
	r.demand(gate, "", ok, "%s: %s", of, fmt.Sprintf(format, args...))
	if ok {
		r.Verdicts[len(r.Verdicts)-1].Text = of
	}
}

// demand adds a verdict without an error.
func (r *Report) demand(gate, port string, ok bool, format string, args ...any) {
	if ok {
		r.add(Verdict{Gate: gate, Port: port, Result: Pass})
	} else {
		r.add(Verdict{Gate: gate, Port: port, Result: Fail, Text: fmt.Sprintf(format, args...)})
	}
}

// Check runs a case of an op through all gates. The error is one of the case, such as inputs that do not fit the ports;
// what the gates found is in the report.
func Check[P, In, Out, S any](s *device.Stream, op *autodiff.Op[P, In, Out, S], c Case[P]) (*Report, error) {
	in, out := op.Ports()
	g := &gates{
		s: s, name: op.Name(), in: in, out: out, inputs: c.In, fast: c.Fast, runs: c.Runs,
		report: &Report{Op: op.Name(), Case: c.Name},
		hasRef: op.HasRef(), forwardBar: c.Forward, backwardBar: c.Backward,
		apply: func(t *autodiff.Tape, in []autodiff.Tensor) []autodiff.Tensor { return op.ApplyList(t, c.Params, in) },
		declared: func(t *autodiff.Tape, in []autodiff.Tensor) (autodiff.Launches, error) {
			return op.Declared(t, c.Params, in)
		},
	}
	if g.runs == 0 {
		g.runs = 30
	}
	if c.Reference == nil {
		return nil, fmt.Errorf("gate: %s %s: a case needs a Reference", op.Name(), c.Name)
	}
	g.reference = func(in [][]float64) [][]float64 { return c.Reference(c.Params, in) }
	if c.Gradient != nil {
		g.gradient = func(in, dOut [][]float64) [][]float64 { return c.Gradient(c.Params, in, dOut) }
	}
	if err := g.data(); err != nil {
		return nil, fmt.Errorf("gate: %s %s: %w", op.Name(), c.Name, err)
	}
	if err := g.run(); err != nil {
		return nil, fmt.Errorf("gate: %s %s: %w", op.Name(), c.Name, err)
	}
	return g.report, nil
}

// gates are the gates of one case, without the op's types.
type gates struct {
	s       *device.Stream
	name    string
	in, out []autodiff.Port
	inputs  []Input
	apply   func(t *autodiff.Tape, in []autodiff.Tensor) []autodiff.Tensor

	declared func(t *autodiff.Tape, in []autodiff.Tensor) (autodiff.Launches, error)

	reference               func(in [][]float64) [][]float64
	gradient                func(in, dOut [][]float64) [][]float64
	hasRef                  bool
	forwardBar, backwardBar float64
	runs                    int
	fast                    bool

	values [][]float64 // of the inputs, as their types hold them
	report *Report
}

// data makes the inputs.
func (g *gates) data() error {
	if len(g.inputs) != len(g.in) {
		return fmt.Errorf("the case has %d inputs, the op %d ports", len(g.inputs), len(g.in))
	}
	g.values = make([][]float64, len(g.in))
	for i, in := range g.inputs {
		if in.Type == dtype.Invalid {
			if !g.in[i].Optional {
				return fmt.Errorf("input %s is not set, and its port is not optional", g.in[i].Name)
			}
			continue
		}
		n := 1
		for _, d := range in.Shape {
			n *= d
		}
		switch {
		case in.Data == nil && !floating(in.Type):
			return fmt.Errorf("input %s of type %v needs data", g.in[i].Name, in.Type)
		case in.Data == nil:
			g.values[i] = fixture.Uniform(in.Type, uint64(i+1), n)
		case len(in.Data) != n:
			return fmt.Errorf("input %s has %d numbers for the shape %v", g.in[i].Name, len(in.Data), in.Shape)
		default:
			g.values[i] = in.Data
		}
	}
	return nil
}

func floating(t dtype.Type) bool { return t == dtype.F32 || t == dtype.F16 || t == dtype.BF16 }

// bar is the default where none is given.
func bar(given float64, t dtype.Type, f32, f16, bf16 float64) float64 {
	switch {
	case given > 0:
		return given
	case t == dtype.F16:
		return f16
	case t == dtype.BF16:
		return bf16
	}
	return f32
}
