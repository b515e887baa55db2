package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/internal/fixture"
)

const (
	differenceBar = 5e-2 // worst relative error of differences that are resolved
	unresolvedBar = 5e-3 // of the gradient against the reference, where none is
	elements      = 6    // differences of single elements, an input
	everywhere    = 2    // and along all elements
)

// difference compares gradients with central differences of the op itself.
//
// L = sum of dOut*out is computed in float64 from the op's rounded outputs, at the inputs x+h*d and x-h*d as their type
// rounds them; the gradient predicts the change of L along what the rounded inputs really moved. Each output is off by up
// to its unit roundoff u, independently, so that a difference of two L has the standard error sqrt(2 * sum (dOut*u*out)^2),
// the noise. The third derivative adds an error that grows with the square of h: the slopes found with h and with 2h differ
// by three times that of h. A change is resolved if it is above 40 times the noise, and the slopes differ by less than
// 1/20: then each of the two errors is below half the bar of 5e-2. The step 2h is the cube root of the roundoff, of the
// input's scale: there noise and third derivative cost about the same.
func (g *gates) difference(base outcome, want [][]float64) error {
	for i, p := range g.in {
		if !g.tracked(i) || len(g.values[i]) == 0 {
			continue
		}
		steps := g.directions(base.grad[i])
		resolved, worst, text := 0, 0.0, ""
		for _, d := range steps {
			h := math.Cbrt(roundoff(g.inputs[i].Type)) * max(scale(g.values[i]), 1e-3) / 2
			change, noise, moved, err := g.change(base, i, d, h)
			if err != nil {
				return err
			}
			twice, _, movedTwice, err := g.change(base, i, d, 2*h)
			if err != nil {
				return err
			}
			predicted := dot([][]float64{base.grad[i]}, [][]float64{moved})
			slope, slope2 := change/dot([][]float64{moved}, [][]float64{d}), twice/dot([][]float64{movedTwice}, [][]float64{d})
			if (math.Abs(change) <= 40*noise || math.Abs(slope-slope2) > math.Abs(slope)/20) && !math.IsNaN(predicted) {
				continue
			}
			resolved++
			if e := math.Abs(predicted-change) / math.Abs(change); e > worst || math.IsNaN(e) {
				worst, text = e, fmt.Sprintf("the gradient predicts a change of %.6g, it is %.6g", predicted, change)
			}
		}
		if resolved > 0 {
			if worst <= differenceBar {
				text = fmt.Sprintf("%d of %d resolved", resolved, len(steps))
			}
			g.report.compare("difference", "d"+p.Name, worst, differenceBar, text)
			continue
		}
		worst = math.NaN()
		if want[i] != nil {
			worst = scaled(base.grad[i], want[i])
		}
		v := Verdict{"difference", "d" + p.Name, Unresolved, worst, unresolvedBar, fmt.Sprintf("none of %d resolved; compared with the reference", len(steps))}
		if !(worst <= unresolvedBar) {
			v.Result = Fail
		}
		g.report.add(v)
	}
	return nil
}

// directions are along single elements, unless the case is fast, and along all of them at once: there mostly with the
// sign of the gradient, so that the changes add up to more than the noise.
func (g *gates) directions(grad []float64) [][]float64 {
	var out [][]float64
	if !g.fast {
		for _, j := range pick(grad) {
			d := make([]float64, len(grad))
			d[j] = 1
			out = append(out, d)
		}
	}
	for k := range everywhere {
		d := make([]float64, len(grad))
		for j := range d {
			d[j] = 1
			if grad[j] < 0 != (fixture.Bits(uint64(88+k), uint64(j))>>61 == 0) { // every eighth the other way
				d[j] = -1
			}
		}
		out = append(out, d)
	}
	return out
}

// pick chooses elements: the largest gradients, which are resolved best, and, spread over the tensor, others.
func pick(grad []float64) []int {
	order := make([]int, len(grad))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(grad[a]), math.Abs(grad[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	out := order[:min(elements/2, len(order))]
	for k := range elements / 2 {
		if j := int(fixture.Bits(99, uint64(k)) % uint64(len(grad))); !slices.Contains(out, j) {
			out = append(slices.Clone(out), j)
		}
	}
	return out
}

// change is the central difference of L along d with the step h, its noise, and how far the inputs moved.
func (g *gates) change(base outcome, i int, d []float64, h float64) (change, noise float64, moved []float64, err error) {
	dOut := g.dOut(base, nil)
	for k := range g.out {
		u := roundoff(base.types[k])
		for j := range dOut[k] {
			noise += 2 * math.Pow(dOut[k][j]*u*base.out[k][j], 2)
		}
	}
	moved = make([]float64, len(d))
	for _, sign := range []float64{1, -1} {
		v := slices.Clone(g.values[i])
		for j := range v {
			v[j] += sign * h * d[j]
		}
		if v, err = g.rounded(g.inputs[i], v); err != nil {
			return 0, 0, nil, err
		}
		values := slices.Clone(g.values)
		values[i] = v
		o, err := g.exec(how{eval: true}, values)
		if err == nil {
			err = o.err
		}
		if err != nil {
			return 0, 0, nil, err
		}
		change += sign * dot(o.out, dOut)
		for j := range v {
			moved[j] += sign * v[j]
		}
	}
	return change, math.Sqrt(noise), moved, nil
}
