package plan

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Roles become branches on the number of the warp. Where a role has a register budget its whole warpgroups set it, and
// those of their warps that have no work pass by the rest:
//
//	if (warp < 4) { setmaxnreg.dec 40; if (warp < 1) { producer } } else { setmaxnreg.inc 232; consumers }

// roles lowers Roles.
func (l *lowering) roles(v *ir.Value) {
	l.prepare(v)
	list := v.Attr.(ir.RoleList)
	if !l.numberBarriers(v, list) {
		return
	}
	gets := l.gets
	bodies := make([][]thr.Stmt, len(list))
	for i, r := range list {
		leave := l.enter(v)
		l.role = l.parts[r]
		bodies[i] = l.into(func() { l.roleBody(v, v.Regions[i]) })
		l.role = nil
		leave()
		l.gets = gets
	}
	l.cur = v
	last := len(list) - 1
	chain := thr.If{At: l.at(), Scope: ir.ScopeWarp, Cond: l.below(list[last]), Then: bodies[last], Roles: [2]*thr.Role{l.parts[list[last]]}}
	for i := last - 1; i >= 0; i-- {
		next := thr.If{At: l.at(), Scope: ir.ScopeWarp, Cond: l.below(list[i]), Then: bodies[i], Roles: [2]*thr.Role{l.parts[list[i]]}}
		if i == last-1 { // who is left has the last role
			next.Else, next.Roles[1] = chain.Then, chain.Roles[0]
		} else {
			next.Else = []thr.Stmt{chain}
		}
		chain = next
	}
	l.emit(chain)
}

// below is the test that a warp comes before the end of a role.
func (l *lowering) below(r *ir.Role) thr.Expr {
	return less(call(thr.Warp, dtype.I32), i32(r.First+r.Held()))
}

// numberBarriers gives each group of a role a named barrier, after those that the author has.
func (l *lowering) numberBarriers(v *ir.Value, list ir.RoleList) bool {
	next := len(l.k.Named) + 1
	for _, r := range list {
		p := &thr.Role{First: r.First, Warps: r.Warps, Parts: r.Parts}
		l.parts[r] = p
		if r.Scope == ir.ScopeGroup {
			p.Barrier = next
			next += r.Parts
		}
	}
	if next-1 > ir.MaxNamed {
		l.err = positioned(ir.ErrLimit, v.Pos, "the groups of the roles and the kernel's own take %d named barriers, and a block has %d; make fewer groups", next-1, ir.MaxNamed)
		return false
	}
	return true
}

// roleBody lowers what one role does.
func (l *lowering) roleBody(v *ir.Value, r *ir.Region) {
	role, ops := r.Role, r.Ops
	l.comment("%s", role.Name)
	if role.Regs > 0 {
		l.setRegs(ops[0])
		l.done[ops[0]] = true
	}
	work := func() {
		l.beginSides(role)
		l.region(r)
	}
	if role.Held() == role.Warps*role.Parts {
		work()
		return
	}
	body := l.into(work)
	l.cur = v
	l.emit(thr.If{At: l.at(), Scope: role.Scope, Cond: less(call(thr.Warp, dtype.I32), i32(role.First+role.Warps*role.Parts)), Then: body})
}

// setRegs moves registers between warpgroups.
func (l *lowering) setRegs(v *ir.Value) {
	l.cur = v
	n, entry := v.Attr.(*ir.Role).Regs, l.k.EntryRegs()
	switch {
	case n < entry:
		l.emit(thr.Do{At: l.at(), Fn: thr.RegsDec, Args: []thr.Expr{i32(n)}})
	case n > entry:
		l.emit(thr.Do{At: l.at(), Fn: thr.RegsInc, Args: []thr.Expr{i32(n)}})
	}
}

// groupThread is the number of a thread in its group.
func (l *lowering) groupThread() thr.Expr {
	r := l.role
	n, tid := 32*r.Warps, call(thr.TID, dtype.I32)
	_, power := log2(n)
	switch first := 32 * r.First; {
	case r.Parts == 1:
		return sub(tid, i32(first))
	case power && first%n == 0:
		return rem(tid, n)
	default:
		return rem(sub(tid, i32(first)), n)
	}
}

// groupIndex is the number of a group in its role.
func (l *lowering) groupIndex() thr.Expr {
	if l.role.Parts == 1 {
		return i32(0)
	}
	return div(l.roleWarp(), l.role.Warps)
}

// roleWarp is the number of a warp in its role.
func (l *lowering) roleWarp() thr.Expr { return sub(call(thr.Warp, dtype.I32), i32(l.role.First)) }

// leader is the predicate of the one thread of a scope that acts for all.
func (l *lowering) leader(s ir.Scope) thr.Expr {
	if s == ir.ScopeCluster {
		return and(equal(call(thr.ClusterRank, dtype.I32), i32(0)), equal(call(thr.TID, dtype.I32), i32(0)))
	}
	return equal(l.position(s), i32(0))
}

// position is a thread's number in a scope within a block.
func (l *lowering) position(s ir.Scope) thr.Expr {
	switch s {
	case ir.ScopeWarp:
		return call(thr.Lane, dtype.I32)
	case ir.ScopeGroup:
		return l.groupThread()
	}
	return call(thr.TID, dtype.I32)
}

// meet emits the barrier of a scope within a block.
func (l *lowering) meet(s ir.Scope) { l.emit(barrierOf(s, l.at(), l.role)) }

// barrierOf is the barrier of a scope; of a group it is the one of its number.
func barrierOf(s ir.Scope, at thr.At, r *thr.Role) thr.Stmt {
	switch s {
	case ir.ScopeWarp:
		return thr.Do{At: at, Fn: thr.WarpSync}
	case ir.ScopeGroup:
		number := i32(r.Barrier)
		if r.Parts > 1 {
			number = add(div(sub(call(thr.Warp, dtype.I32), i32(r.First)), r.Warps), number)
		}
		return thr.Do{At: at, Fn: thr.NamedSync, Args: []thr.Expr{number, i32(32 * r.Warps)}, Scope: s}
	case ir.ScopeCluster:
		return thr.Do{At: at, Fn: thr.ClusterSync}
	}
	return thr.Do{At: at, Fn: thr.BlockSync}
}

// spanKey names a span's thread coordinates along an axis: those of a group are its role's.
func (l *lowering) spanKey(s *ir.Span, axis int) string {
	key := fmt.Sprint(s.Scope, s.Dist, axis)
	if s.Scope == ir.ScopeGroup {
		key += fmt.Sprint(" of warp ", l.role.First)
	}
	return key
}
