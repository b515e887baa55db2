package plan

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// The barriers of a cluster come from the same dataflow. An access to another block's shared memory may meet any access
// of that block, and one to an argument at cluster scope any access of the cluster's other blocks; a barrier of the
// block does not separate those. Two more hazards have no access of their own: a block's shared memory exists once the
// block has started, and until it leaves.

// entered stands for the start of the cluster's blocks.
var entered = new(int)

// entry is what the body begins with: where blocks touch one another's shared memory, that they start.
func (y *syncer) entry() hazards {
	if len(y.remote) == 0 {
		return hazards{}
	}
	y.remote[entered] = true
	return hazards{{mem: entered, write: true, scope: ir.ScopeCluster}: ir.Pos{}}
}

// exit is the barrier at the end of the body, for accesses to the shared memory of blocks that might have left.
func (h hazards) exit() []thr.Stmt {
	var open []touch
	for t := range h {
		if t.peer {
			open = append(open, t)
		}
	}
	if open == nil {
		return nil
	}
	last := slices.MaxFunc(open, func(a, b touch) int { return cmp.Or(a.op-b.op, a.lap-b.lap) })
	return []thr.Stmt{thr.Do{At: thr.At{Pos: h[last], Op: last.op}, Fn: thr.ClusterSync}}
}

// crossed finds the memory that some statement touches across the blocks of a cluster.
func (y *syncer) crossed(body []thr.Stmt) map[any]bool {
	found := map[any]bool{}
	note := func(t touch) {
		if t.mem != nil && (t.peer || t.scope == ir.ScopeCluster) {
			found[t.mem] = true
		}
	}
	var visit func(body []thr.Stmt)
	visit = func(body []thr.Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case thr.Load:
				note(y.touch(s.Space, s.Buf, s.Scope, s.Op, 0, false).of(s.Rank))
			case thr.Store:
				note(y.touch(s.Space, s.Buf, s.Scope, s.Op, 0, true).of(s.Rank))
			case thr.Do:
				note(y.global[s.Op])
			case thr.If:
				visit(s.Then)
				visit(s.Else)
			case thr.For:
				visit(s.Body)
			case thr.While:
				visit(s.Head)
				visit(s.Body)
			}
		}
	}
	visit(body)
	return found
}

// of makes an access one to the shared memory of a block of the cluster.
func (t touch) of(rank thr.Expr) touch {
	if t.peer = t.mem != nil && rank != nil; t.peer {
		t.where = "" // whoever it is, it is not the thread's own
		if n, ok := intOf(rank); ok {
			t.rank = strconv.Itoa(n)
		}
	}
	return t
}

// peers reports whether one of two accesses is to another block's shared memory.
func (t touch) peers(o touch) bool { return t.peer || o.peer }

// across reports whether two accesses may be of two blocks of a cluster to one place.
func (t touch) across(o touch) bool {
	return t.peers(o) || t.scope == ir.ScopeCluster || o.scope == ir.ScopeCluster
}

// agree is who agrees on the control flow at this point.
func (y *syncer) agree() ir.Scope {
	switch {
	case y.warpFlow > 0:
		return ir.ScopeWarp
	case y.blockFlow > 0:
		return ir.ScopeBlock
	}
	return ir.ScopeCluster
}
