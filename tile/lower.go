package tile

import (
	"fmt"
	"slices"
	"strings"

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
		return nil, &Error{Pos: k.ir.Pos, Rule: ErrTarget,
			Msg: fmt.Sprintf("kernel %s is not for %s: tile.Targets names %s; add it there", k.Name(), name, strings.Join(ts, ", "))}
	}
	return plan.Lower(k.ir, t)
}
