package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
		pass           string
		declared, were int
	}{{"forward", o.declared.Forward, c.Launches.Forward}, {"backward", o.declared.Backward, c.Launches.Backward}} {
		if l.pass == "forward" || tracked == 1 {
			g.report.demandOf("launches", l.pass, l.declared == l.were, "launches %d kernels, the op declares %d", l.were, l.declared)
		}
	}
}

// memory demands that inputs are as they were and nothing is left.
func (g *gates) memory(o outcome) {
	g.report.demandOf("memory", "contents", o.changed == "", "%s was changed", o.changed)
	g.report.demandOf("memory", "what is in use", o.leaked == 0 && o.outside <= 0, "%d bytes of the pool and %d others are left", o.leaked, o.outside)
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
	for _, h := range []struct {
		of string
		how
	}{
		{"inputs of other ops", how{interior: true}},
		{"recompute", how{strategy: autodiff.Recompute}},
		{"recompute, inputs of other ops", how{strategy: autodiff.Recompute, interior: true}},
	} {
		o, err := g.exec(h.how, g.values)
		if err != nil {
			return err
		}
		text := differs(base, o)
		g.report.demandOf("interior", h.of, text == "", "%s", text)
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
	g.report.demandOf("interior", "evaluation", text == "", "%s", text)
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
