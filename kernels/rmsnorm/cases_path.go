//go:build !gotilegen

package rmsnorm

import (
	"maps"
	"slices"

	"github.com/gotile/gotile/tile/tiletest"
)

// forward runs Forward, which must be one launch of the kernel with the smallest capacity, or none without rows.
func (p problem) forward(r *tiletest.Run, in Inputs, out Outputs) error {
	want := map[string]int{p.kernel(r, "fwd").KernelName(): 1}
	if p.rows == 0 {
		want = nil
	}
	return launches(r, want, func() error { return Forward(r.Stream, in, out) })
}

// backward runs Backward, which must be one launch of the kernel with the smallest capacity, and one that sums unless the
// problem is small; for wide rows also one, if there are rows, for their means.
func (p problem) backward(r *tiletest.Run, in Saved, out Gradients, scratch *Scratch) error {
	c := p.kernel(r, "bwd")
	want := map[string]int{}
	if p.rows*p.n <= p.work() && c.Whole && c.Cap <= smallCap {
		c.Name += "_one"
	} else {
		plan, err := planBackward(r.Stream, in, out, false, p.work())
		if err != nil {
			return err
		}
		dw := Config{Name: "rmsnorm_dw", W: p.w}
		switch {
		case plan.parts <= fewestCap:
			dw.Cap = fewestCap
		case plan.parts <= fewCap:
			dw.Cap = fewCap
		}
		want[dw.KernelName()] = 1
	}
	want[c.KernelName()] = 1
	if c.Wide && p.rows > 0 {
		c.Name = "rmsnorm_mean" // a residual's too: its gradient is added later
		if p.act != 0 {
			c.Name = "rmsnorm_gated_mean"
		}
		want[c.KernelName()] = 1
	}
	return launches(r, want, func() error { return backwardWithin(r.Stream, in, out, scratch, p.work()) })
}

// work is the most elements of a backward pass in one launch; -1, if it must be two even for none.
func (p problem) work() int {
	if p.split {
		return -1
	}
	return smallWork
}

// whole reports whether all rows are whole 16-byte vectors.
func (p problem) whole() bool {
	vec := Config{X: p.x}.vec()
	return p.n%vec == 0 && (p.pad%vec == 0 || p.rows <= 1) && p.offset%vec == 0
}

// kernel is the config that must serve a pass of the problem on the device: the smallest that holds a row.
func (p problem) kernel(r *tiletest.Run, pass string) Config {
	name, fits := "rmsnorm_"+pass, map[string]func(*Config){"fwd": fitForward, "bwd": fitBackward}
	switch {
	case p.residual:
		name, fits = "rmsnorm_add_"+pass, map[string]func(*Config){"fwd": fitForwardAdd, "bwd": fitBackwardAdd}
	case p.act != 0:
		name, fits = "rmsnorm_gated_"+pass, map[string]func(*Config){"fwd": fitGatedForward, "bwd": fitGatedBackward}
	}
	t, all := r.Device.Target(), forwardConfigs(name, p.act, fits[pass])
	if pass == "bwd" { // how a wide config works is not in its name
		all = append(backwardConfigs(name, p.act, fits[pass]), wides(name, p.act, fitWide)...)
	}
	return all[slices.IndexFunc(all, func(c Config) bool {
		return c.X == p.x && c.W == p.w && (c.Wide || c.Cap >= p.n) && (!c.Whole || p.whole()) &&
			(c.Targets == nil || slices.Contains(c.Targets, t.Name) || slices.Contains(c.Targets, t.Proxy))
	})]
}

// launches runs f and records a failure unless the device counts just the launches wanted, by kernel.
func launches(r *tiletest.Run, want map[string]int, f func() error) error {
	before := r.Device.Launches()
	if err := f(); err != nil {
		return err
	}
	got := r.Device.Launches()
	for name, n := range before {
		if got[name] -= n; got[name] == 0 {
			delete(got, name)
		}
	}
	if !maps.Equal(got, want) {
		r.Errorf("launched %v, not %v", got, want)
	}
	return nil
}
