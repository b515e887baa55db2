// Package plan turns a recorded kernel into thread IR for one target: it checks that the target has what the kernel
// asks for, lays out arguments and shared memory, lowers tile ops, inserts barriers and forms fused multiply-adds.
package plan

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// A state is what the passes hand on: the tile IR, which no pass changes, and the thread IR that grows.
type state struct {
	k    *ir.Kernel
	t    *target.Target
	out  *thr.Kernel
	flow *flow // who uses what, of the tile IR
	// origins are what shared buffers were made for.
	origins map[*thr.SharedBuf]origin
}

// A pass is one step of the planner.
type pass struct {
	name string
	run  func(*state) error
}

// passes is the whole planner, in order.
var passes = []pass{
	{"legal", legal},
	{"args", layoutArgs},
	{"lower", lowerKernel},
	{"fma", contract},
	{"await", awaitMMAs},
	{"sync", synchronise},
	{"shared", layoutShared},
}

// Verify makes Lower run the verifiers between passes; tests set it.
var Verify = false

// Lower plans a kernel for a target. The kernel is not changed; the same kernel and target give the same result.
// With GOTILE_DUMP set to a directory, the IR after every pass is written there as KERNEL.TARGET.N.PASS.txt.
func Lower(k *ir.Kernel, t *target.Target) (*thr.Kernel, error) {
	s := newState(k, t)
	dir := os.Getenv("GOTILE_DUMP")
	if dir != "" {
		if err := dump(dir, s, 0, "tile", ir.Print(k)); err != nil {
			return nil, err
		}
	}
	for i, p := range passes {
		if err := p.run(s); err != nil {
			return nil, fmt.Errorf("%s for %s: %w", k.Name, t.Name, err)
		}
		if dir != "" {
			if err := dump(dir, s, i+1, p.name, thr.Print(s.out)); err != nil {
				return nil, err
			}
		}
		if Verify {
			if err := thr.Verify(s.out); err != nil {
				return nil, fmt.Errorf("%s for %s: after pass %s: %w", k.Name, t.Name, p.name, err)
			}
		}
	}
	return s.out, nil
}

// newState is what the first pass begins with.
func newState(k *ir.Kernel, t *target.Target) *state {
	s := &state{k: k, t: t, flow: newFlow(k), origins: map[*thr.SharedBuf]origin{}, out: &thr.Kernel{
		Name: k.Name, IR: k, Target: t.Name, Lowering: loweringSet(k, t), Threads: k.Threads, Cluster: k.Cluster, MinBlocks: k.MinBlocks, Waits: k.Waits, Triggers: k.Triggers}}
	if k.HasBudgets() { // setmaxnreg is ignored where the number of blocks is not given
		s.out.MinBlocks = max(1, k.MinBlocks)
	}
	return s
}

func dump(dir string, s *state, n int, pass, text string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("GOTILE_DUMP: %w", err)
	}
	name := fmt.Sprintf("%s.%s.%d.%s.txt", s.k.Name, s.t.Name, n, pass)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("GOTILE_DUMP: %w", err)
	}
	return nil
}

// positioned is an error at a line of the user's code.
func positioned(rule error, pos ir.Pos, format string, args ...any) error {
	return &ir.Error{Pos: pos.Alone(), Rule: rule, Msg: fmt.Sprintf(format, args...)}
}
