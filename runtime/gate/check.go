package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
)

// run goes through the gates.
func (g *gates) run() error {
	for i, in := range g.inputs {
		if g.values[i] == nil {
			continue
		}
		var err error
		if g.values[i], err = g.rounded(in, g.values[i]); err != nil {
			return err
		}
	}
	before := g.s.Device().Memory().InUse
	base, err := g.exec(how{}, g.values)
	if err != nil {
		return err
	}
	base.outside = g.s.Device().Memory().InUse - before
	g.path(base)
	if base.err != nil {
		return nil // the other gates have nothing to look at
	}
	g.forward(base)
	g.memory(base)
	want, err := g.wanted(base, nil)
	if err != nil {
		return err
	}
	g.gradients("gradient", base, want)
	g.nonzero(base)
	if err := g.difference(base, want); err != nil {
		return err
	}
	if err := g.repeat(base); err != nil {
		return err
	}
	if err := g.unset(base); err != nil {
		return err
	}
	if err := g.alone(base); err != nil {
		return err
	}
	if err := g.ref(base, want); err != nil {
		return err
	}
	return g.alias(base)
}

// alone demands the same gradient where only one input needs one, and where the op was applied once more before.
func (g *gates) alone(base outcome) error {
	for i, p := range g.in {
		if !g.tracked(i) {
			continue
		}
		o, err := g.exec(how{only: i + 1}, g.values)
		if err != nil {
			return err
		}
		text := ""
		switch {
		case o.err != nil:
			text = o.err.Error()
		case !same(o.grad[i], base.grad[i]):
			text = "the gradient differs where no other input is tracked"
		}
		g.report.demand("needs", "d"+p.Name, text == "", "%s", text)
		if is, most := o.counts.Launches.Backward, o.declared.Backward; is > most {
			g.report.demand("launches", "d"+p.Name, false, "backward launches %d kernels where only this gradient is needed, the op declares %d", is, most)
		}
	}
	o, err := g.exec(how{again: true}, g.values)
	if err != nil {
		return err
	}
	text := differs(base, o)
	g.report.demand("again", "", text == "", "beside another application: %s", text)
	return nil
}

// ref compares what Ref gives with the reference.
func (g *gates) ref(base outcome, want [][]float64) error {
	if !g.hasRef {
		return nil
	}
	o, err := g.exec(how{off: true}, g.values)
	if err != nil {
		return err
	}
	if o.err != nil || o.counts.Ref != 1 {
		g.report.demand("ref", "", false, "switched off, Ref ran %d times: %v", o.counts.Ref, o.err)
		return nil
	}
	// Ref rounds after each of its ops, to the coarsest type of the case, where the fused kernel rounds once.
	const looser = 4
	coarsest := dtype.F32
	for i, in := range g.inputs {
		if g.values[i] != nil && floating(in.Type) && roundoff(in.Type) > roundoff(coarsest) {
			coarsest = in.Type
		}
	}
	expected := g.reference(g.values)
	for i, p := range g.out {
		if i < len(expected) && expected[i] != nil {
			g.report.compare("ref", p.Name, scaled(o.out[i], expected[i]), looser*bar(g.forwardBar, coarsest, 2e-6, 1e-3, 8e-3), "")
		}
	}
	for i, p := range g.in {
		if g.tracked(i) && want[i] != nil {
			g.report.compare("ref", "d"+p.Name, scaled(o.grad[i], want[i]), looser*bar(g.backwardBar, coarsest, 1e-5, 2e-3, 1.6e-2), "")
		}
	}
	return nil
}

// path demands that the kernels ran.
func (g *gates) path(o outcome) {
	c := o.counts
	text := fmt.Sprintf("asked %d, fused %d, forward %d, backward %d, ref %d, declined %v", c.Asked, c.Fused, c.Forward, c.Backward, c.Ref, c.Declined)
	if o.err != nil {
		text = o.err.Error()
	}
	tracked := 0
	for i := range g.in {
		if g.tracked(i) {
			tracked = 1
		}
	}
	ok := c.Asked == 1 && c.Fused == 1 && c.Forward == tracked && c.Backward == tracked && c.Untracked == 1-tracked && c.Ref == 0
	g.report.demand("path", "", o.err == nil && ok, "%s", text)
	if o.err != nil {
		return
	}
	for _, l := range []struct {
		port           string
		declared, were int
	}{{"forward", o.declared.Forward, c.Launches.Forward}, {"backward", o.declared.Backward, c.Launches.Backward}} {
		if l.port == "forward" || tracked == 1 {
			g.report.demand("launches", "", l.declared == l.were, "%s launches %d kernels, the op declares %d", l.port, l.were, l.declared)
		}
	}
}

// forward compares the outputs with the reference.
func (g *gates) forward(o outcome) {
	want := g.reference(g.values)
	if len(want) != len(g.out) {
		g.report.demand("forward", "", false, "Reference gives %d outputs, the op has %d; those that are not to be compared are nil", len(want), len(g.out))
	}
	for i, p := range g.out {
		if i >= len(want) || want[i] == nil {
			continue
		}
		g.report.compare("forward", p.Name, scaled(o.out[i], want[i]), bar(g.forwardBar, o.types[i], 2e-6, 1e-3, 8e-3), "")
	}
}

// memory demands that inputs are as they were and nothing is left.
func (g *gates) memory(o outcome) {
	g.report.demand("memory", "", o.changed == "", "%s was changed", o.changed)
	g.report.demand("memory", "", o.leaked == 0 && o.outside <= 0, "%d bytes of the pool and %d others are left in use", o.leaked, o.outside)
}

// wanted are the gradients of the reference for the seeded outputs (nil: all).
func (g *gates) wanted(o outcome, seeded []int) ([][]float64, error) {
	dOut := g.dOut(o, seeded)
	if g.gradient != nil {
		want := g.gradient(g.values, dOut)
		if len(want) != len(g.in) {
			return nil, fmt.Errorf("the case's Gradient gives %d gradients for %d inputs; those that are not to be compared are nil", len(want), len(g.in))
		}
		return want, nil
	}
	out := make([][]float64, len(g.in))
	for i := range g.in {
		if g.tracked(i) {
			out[i] = make([]float64, len(g.values[i]))
			for j := range out[i] {
				out[i][j] = g.slope(i, j, dOut)
			}
		}
	}
	return out, nil
}

// dOut are the gradients of the outputs.
func (g *gates) dOut(o outcome, seeded []int) [][]float64 {
	dOut := make([][]float64, len(g.out))
	for i := range g.out {
		if o.out[i] == nil || !floating(o.types[i]) {
			continue
		}
		dOut[i] = make([]float64, len(o.out[i]))
		if seeded == nil || slices.Contains(seeded, i) {
			copy(dOut[i], seedData(i, o.types[i], len(o.out[i])))
		}
	}
	return dOut
}

func (g *gates) tracked(i int) bool {
	return g.values[i] != nil && !g.in[i].NoGrad && floating(g.inputs[i].Type)
}

// slope is the derivative of the reference, weighted by dOut, by element j of input i: a central difference of fourth
// order in float64, whose error is some 1e-11 of the scale.
func (g *gates) slope(i, j int, dOut [][]float64) float64 {
	in := slices.Clone(g.values)
	in[i] = slices.Clone(in[i])
	x := in[i][j]
	const h = 1e-3
	at := func(dx float64) float64 {
		in[i][j] = x + dx
		return dot(g.reference(in), dOut)
	}
	return (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
}

func dot(a, b [][]float64) float64 {
	sum := 0.0
	for i := range b {
		for j := range b[i] {
			if i < len(a) && a[i] != nil {
				sum += a[i][j] * b[i][j]
			}
		}
	}
	return sum
}

// gradients compares with the reference's.
func (g *gates) gradients(gate string, o outcome, want [][]float64) {
	for i, p := range g.in {
		if g.tracked(i) && want[i] != nil {
			g.report.compare(gate, "d"+p.Name, scaled(o.grad[i], want[i]), bar(g.backwardBar, g.inputs[i].Type, 1e-5, 2e-3, 1.6e-2), "")
		}
	}
}

// nonzero demands of each gradient that it is finite and not all 0.
func (g *gates) nonzero(o outcome) {
	for i, p := range g.in {
		if !g.tracked(i) || len(o.grad[i]) == 0 {
			continue
		}
		largest := scale(o.grad[i])
		g.report.demand("non-zero", "d"+p.Name, largest > 0 && !math.IsInf(largest, 0), "the largest element is %v", largest)
	}
}

// repeat demands the same bits in every run: as it was, by Recompute, and for inputs that are outputs of other ops.
func (g *gates) repeat(base outcome) error {
	for run := range g.runs {
		o, err := g.exec(how{}, g.values)
		if err != nil {
			return err
		}
		if text := differs(base, o); text != "" {
			g.report.demand("repeat", "", false, "run %d: %s", run+2, text)
			return nil
		}
	}
	g.report.demand("repeat", "", true, "")
	for _, h := range []how{
		{interior: true},
		{strategy: autodiff.Recompute},
		{strategy: autodiff.Recompute, interior: true},
	} {
		o, err := g.exec(h, g.values)
		if err != nil {
			return err
		}
		text := differs(base, o)
		g.report.demand("interior", "", text == "", "inputs of another op: %v, strategy %s: %s", h.interior, h.strategy, text)
	}
	o, err := g.exec(how{eval: true}, g.values)
	if err != nil {
		return err
	}
	o.grad = base.grad
	text := differs(base, o)
	if text == "" && (o.counts.Fused != 1 || o.counts.Untracked != 1) {
		text = fmt.Sprintf("fused %d, untracked %d", o.counts.Fused, o.counts.Untracked)
	}
	g.report.demand("interior", "", text == "", "evaluation: %s", text)
	return nil
}

// differs says where two outcomes differ.
func differs(a, b outcome) string {
	if b.err != nil {
		return b.err.Error()
	}
	for i := range a.out {
		if !same(a.out[i], b.out[i]) {
			return fmt.Sprintf("output %d differs", i)
		}
	}
	for i := range a.grad {
		if !same(a.grad[i], b.grad[i]) {
			return fmt.Sprintf("the gradient of input %d differs", i)
		}
	}
	return ""
}

// same compares bits, as far as float64 has them.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// unset gives a gradient to one output at a time.
func (g *gates) unset(base outcome) error {
	var outs []int
	for i := range g.out {
		if base.out[i] != nil && floating(base.types[i]) {
			outs = append(outs, i)
		}
	}
	if len(outs) < 2 {
		return nil
	}
	for _, i := range outs {
		o, err := g.exec(how{seeded: []int{i}}, g.values)
		if err != nil {
			return err
		}
		if o.err != nil {
			g.report.demand("unset", g.out[i].Name, false, "only output %s has a gradient: %v", g.out[i].Name, o.err)
			continue
		}
		want, err := g.wanted(base, []int{i})
		if err != nil {
			return err
		}
		g.gradients("unset", o, want)
	}
	return nil
}

// alias gives one tensor to two ports of one type and shape.
func (g *gates) alias(base outcome) error {
	for i := range g.in {
		for j := i + 1; j < len(g.in); j++ {
			if !g.tracked(i) || !g.tracked(j) || g.inputs[i].Type != g.inputs[j].Type || !slices.Equal(g.inputs[i].Shape, g.inputs[j].Shape) {
				continue
			}
			values := slices.Clone(g.values)
			values[i] = values[j] // those of the later port: the earlier one may be the dividend, with zeros
			apart, err := g.exec(how{}, values)
			if err != nil {
				return err
			}
			together, err := g.exec(how{same: [2]int{i, j}}, values)
			if err != nil {
				return err
			}
			if err := errors.Join(apart.err, together.err); err != nil {
				g.report.demand("alias", g.in[i].Name, false, "%s and %s are one tensor: %v", g.in[i].Name, g.in[j].Name, err)
				continue
			}
			sum := make([]float64, len(values[j]))
			for k := range sum {
				sum[k] = apart.grad[i][k] + apart.grad[j][k]
			}
			g.report.compare("alias", "d"+g.in[i].Name, scaled(together.grad[i], sum), roundoff(g.inputs[i].Type), "also given to "+g.in[j].Name)
		}
	}
	return nil
}

// roundoff is half the distance of 1 and the next number.
func roundoff(t dtype.Type) float64 {
	switch t {
	case dtype.F16:
		return 0x1p-11
	case dtype.BF16:
		return 0x1p-8
	}
	return 0x1p-24
}

// scale is the largest absolute value; NaN if there is one.
func scale(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		if math.IsNaN(x) {
			return x
		}
		s = max(s, math.Abs(x))
	}
	return s
}

// scaled is max|got-want| / max|want|; where want is 0 everywhere, max|got|. Another length or a NaN gives NaN.
func scaled(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	diff := make([]float64, len(want))
	for i := range want {
		diff[i] = got[i] - want[i]
	}
	d, s := scale(diff), scale(want)
	if s > 0 {
		return d / s
	}
	return d
}
