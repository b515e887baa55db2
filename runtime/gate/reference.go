package gate

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
)

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
