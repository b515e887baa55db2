package plan

import (
	"strings"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Acquires and releases are executed by the leader of their scope and hold for the whole scope: a barrier brings what
// the others did before a release to the leader, and the leader's acquire to the others.

// byLeader begins touch.where of what one thread of the scope does alone.
const byLeader = "the leader"

// acquires is the memory of the mark that an acquire leaves: what follows in global memory has to wait for it.
var acquires any = new(struct{ _ int })

// acquired notes that the leader of a scope has acquired.
func (h hazards) acquired(at thr.At, o ir.Order, scope ir.Scope) {
	if o.Acquires() {
		h[touch{mem: acquires, op: at.Op, scope: scope}] = at.Pos
	}
}

// acquire puts a barrier before an access of global memory that follows an acquire in other threads than the one that
// acquired. The result of an acquire is mostly shared by way of a barrier, so that none is missing.
func (y *syncer) acquire(out []thr.Stmt, h hazards, at thr.At, t touch) []thr.Stmt {
	if _, global := t.mem.(*ir.Arg); !global {
		return out
	}
	need := ir.NoScope
	for o := range h {
		if o.mem == acquires && o.past < o.scope && !(strings.HasPrefix(t.where, byLeader) && t.scope == o.scope) {
			need = max(need, o.scope)
		}
	}
	return y.meet(out, h, at, need, "an access of global memory after an acquire of the block")
}

// release puts a barrier before a release that follows accesses of global memory by other threads than the leader.
func (y *syncer) release(out []thr.Stmt, h hazards, at thr.At, o ir.Order, scope ir.Scope) []thr.Stmt {
	if !o.Releases() {
		return out
	}
	need := ir.NoScope
	var wider *touch
	for p := range h {
		_, global := p.mem.(*ir.Arg)
		switch {
		case p.past >= scope && (global || p.past >= p.scope): // a barrier of the scope has followed
		case p.mem == acquires && p.scope != scope: // what others acquired is handed on too
			need = max(need, p.scope, scope)
		case !global || strings.HasPrefix(p.where, byLeader) && p.scope == scope: // the leader's own
		case p.scope > scope:
			if wider == nil || p.op < wider.op {
				wider = &p
			}
		default:
			need = max(need, scope)
		}
	}
	if wider != nil {
		if y.err == nil {
			y.err = positioned(ir.ErrScope, at.Pos, "a release at %v scope follows an access of %s at %v scope at %s: it orders what the %v did, not the others; put a block.Sync() between the two",
				scope, wider.name(), wider.scope, h[*wider], scope)
		}
		return out
	}
	return y.meet(out, h, at, need, "a release of the block")
}

// meet puts in the barrier of a scope; none for NoScope.
func (y *syncer) meet(out []thr.Stmt, h hazards, at thr.At, scope ir.Scope, what string) []thr.Stmt {
	if scope == ir.NoScope {
		return out
	}
	if agree := y.agree(); agree < scope && y.err == nil {
		y.err = positioned(ir.ErrScope, at.Pos, "%s needs a barrier here, inside control flow on which only a %v agrees; use a loop or condition at %v scope", what, agree, scope)
	}
	y.clear(h, scope)
	return append(out, barrierOf(scope, at, y.role))
}
