package tile

import (
	"slices"

	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// Lower plans the kernel for a target, such as "sm_90a": thread IR, which codegen prints and the simulator runs. A
// target that the kernel does not claim is an error of rule ErrTarget.
func (k *Kernel) Lower(name string) (*thr.Kernel, error) {
	t, err := target.Lookup(name)
	if err != nil {
		return nil, &Error{Rule: ErrTarget, Msg: err.Error()}
	}
	if ts := k.ir.Targets; ts != nil && !slices.Contains(ts, name) && (t.Proxy == "" || !slices.Contains(ts, t.Proxy)) {
		return nil, &Error{Rule: ErrTarget, Msg: "kernel " + k.Name() + " is not for " + name + ": its Targets option does not name it"}
	}
	return plan.Lower(k.ir, t)
}
