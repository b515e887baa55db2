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
	for _, s := range y.widest {
		if s == ir.ScopeCluster {
			return hazards{{mem: entered, write: true, scope: ir.ScopeCluster}: ir.Pos{}}
		}
	}
	return hazards{}
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

// reach finds the widest scope that accesses each memory, and the widest that releases.
func (y *syncer) reach(body []thr.Stmt) {
	y.widest = map[any]ir.Scope{}
	note := func(t touch) {
		if t.mem != nil {
			y.widest[t.mem] = max(y.widest[t.mem], t.between(t))
		}
	}
	releases := func(o ir.Order, s ir.Scope) {
		if o.Releases() {
			y.releases = max(y.releases, s)
		}
	}
	thr.Each(body, func(s thr.Stmt) {
		switch s := s.(type) {
		case thr.Load:
			note(y.touch(s.Space, s.Buf, s.Scope, s.Op, 0, false).of(s.Rank))
		case thr.Store:
			note(y.touch(s.Space, s.Buf, s.Scope, s.Op, 0, true).of(s.Rank))
			releases(s.Order, s.Scope)
		case thr.Do:
			if s.Fn.CopyBytes() > 0 || s.Fn.Matrix() {
				note(y.touch(thr.Shared, s.Buf, s.Scope, s.Op, 0, s.Fn.CopyBytes() > 0 || s.Fn.Writes()))
				return
			}
			note(y.global[s.Op])
			releases(s.Order, y.global[s.Op].scope)
		}
	})
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

// between is the scope of the barrier that separates two accesses.
func (t touch) between(o touch) ir.Scope {
	if t.peers(o) {
		return ir.ScopeCluster
	}
	return max(t.scope, o.scope)
}

// across reports whether two accesses may be of two blocks of a cluster to one place.
func (t touch) across(o touch) bool {
	return t.between(o) == ir.ScopeCluster
}

// agree is who agrees on the control flow at this point.
func (y *syncer) agree() ir.Scope {
	switch {
	case y.warpFlow > 0 || y.role != nil && y.role.Barrier == 0:
		return ir.ScopeWarp
	case y.groupFlow > 0 || y.role != nil:
		return ir.ScopeGroup
	case y.blockFlow > 0:
		return ir.ScopeBlock
	}
	return ir.ScopeCluster
}
