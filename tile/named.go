package tile

import "github.com/gotile/gotile/internal/ir"

// NamedBarrier is a barrier for a part of the block's warps: those that Sync wait until as many threads as it was made for
// have come, by Sync or by Arrive, which does not wait. Then it begins anew. It orders what the threads did before for
// those that wait, in tiles with Manual; the planner does not see it.
type NamedBarrier struct {
	_ [0]func()
	b *ir.Builder
	n *ir.Named
}

// NewNamedBarrier takes one of the block's 15 named barriers, for so many threads, a multiple of 32. It stands at the top
// level of the kernel.
func NewNamedBarrier(k *Builder, threads int) NamedBarrier {
	b := k.kernel()
	return NamedBarrier{b: b, n: b.NewNamed(threads)}
}

func (n NamedBarrier) record(op ir.Op, s Scope) {
	b, scope := scopeOf(s)
	if n.b != b {
		ir.Fail(ErrScope, "the NamedBarrier of %s was never assigned, or belongs to another kernel; make it with tile.NewNamedBarrier", ir.Table[op].Go)
	}
	b.NamedBarrier(op, scope, n.n)
}

// Sync waits, with each warp of the scope, until all its threads have come.
func (n NamedBarrier) Sync(s Scope) { n.record(ir.NamedSync, s) }

// Arrive comes with each warp of the scope, and goes on.
func (n NamedBarrier) Arrive(s Scope) { n.record(ir.NamedArrive, s) }
