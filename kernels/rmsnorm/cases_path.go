//go:build !gotilegen

package rmsnorm

import (
	"maps"

	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// forward runs Forward, which must be one launch of the kernel with the smallest capacity, or none without rows.
func (p problem) forward(r *tiletest.Run, in Inputs, out Outputs) error {
	want := map[string]int{p.kernel("rmsnorm_fwd", "rmsnorm_add_fwd"): 1}
	if p.rows == 0 {
		want = nil
	}
	return launches(r, want, func() error { return Forward(r.Stream, in, out) })
}

// backward runs Backward, which must be one launch of the kernel with the smallest capacity, and one that sums.
func (p problem) backward(r *tiletest.Run, in Saved, out Gradients, part device.Tensor) error {
	want := map[string]int{p.kernel("rmsnorm_bwd", "rmsnorm_add_bwd"): 1, Config{Name: "rmsnorm_dw", W: p.w}.KernelName(): 1}
	return launches(r, want, func() error { return Backward(r.Stream, in, out, part) })
}

// kernel is the name of the kernel that must serve the problem.
func (p problem) kernel(plain, add string) string {
	c := Config{Name: plain, X: p.x, W: p.w}
	if p.residual {
		c.Name = add
	}
	for _, n := range capacities {
		if n >= p.n && (c.Cap == 0 || n < c.Cap) {
			c.Cap = n
		}
	}
	return c.KernelName()
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
