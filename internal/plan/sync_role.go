package plan

import (
	"maps"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Roles run at the same time: no barrier of the dataflow orders what one does with what another does. Each is walked for
// itself, from the same hazards, with barriers of its own. Memory that two of them access, at least one writing, is an
// error, but for tiles that are the author's to order, which the dataflow does not see, and arguments that both only
// write, as blocks do.

// roleUse is what a role does with one memory.
type roleUse struct {
	at    ir.Pos // the first read, or write where it writes
	read  bool
	write bool
}

// accessed notes an access of the role.
func (y *syncer) accessed(at thr.At, t touch) {
	if y.role == nil {
		return
	}
	u := y.mine[t.mem]
	if !u.at.Known() || t.write && !u.write {
		u.at = at.Pos
	}
	u.read, u.write = u.read || !t.write, u.write || t.write
	y.mine[t.mem] = u
}

// roles walks roles. A barrier goes before them where one accesses what came before.
func (y *syncer) roles(out []thr.Stmt, s thr.If, h hazards, lap int) ([]thr.Stmt, hazards) {
	mems := map[any]bool{}
	thr.Each([]thr.Stmt{s}, func(s thr.Stmt) {
		mems[y.memOf(s, lap)] = true
		if d, ok := s.(thr.Do); ok && d.BufB != nil {
			mems[y.touch(thr.Shared, d.BufB, d.Scope, d.Op, lap, false).mem] = true
		}
	})
	for t := range h {
		if mems[t.mem] && t.past < ir.ScopeBlock {
			out = append(out, thr.Do{At: s.At, Fn: thr.BlockSync})
			y.clear(h, ir.ScopeBlock)
			break
		}
	}
	chain, after := y.chain(s, h, lap, nil)
	return append(out, chain), after
}

// memOf is the memory that a statement accesses.
func (y *syncer) memOf(s thr.Stmt, lap int) any {
	switch s := s.(type) {
	case thr.Load:
		return y.touch(s.Space, s.Buf, s.Scope, s.Op, lap, false).mem
	case thr.Store:
		return y.touch(s.Space, s.Buf, s.Scope, s.Op, lap, true).mem
	case thr.Do:
		if s.Fn == thr.CpAsync || s.Fn == thr.CpAsync8 || s.Fn == thr.CpAsync4 {
			return y.touch(thr.Shared, s.Buf, s.Scope, s.Op, lap, true).mem
		}
		if s.Fn == thr.WGMMA && s.Buf != nil {
			return y.touch(thr.Shared, s.Buf, s.Scope, s.Op, lap, false).mem
		}
		if s.Fn.Matrix() {
			return y.touch(thr.Shared, s.Buf, s.Scope, s.Op, lap, s.Fn.Writes()).mem
		}
		return y.global[s.Op].mem
	}
	return nil
}

// chain walks one role after the other; before is what those so far access.
func (y *syncer) chain(s thr.If, h hazards, lap int, before []map[any]roleUse) (thr.If, hazards) {
	walk := func(r *thr.Role, body []thr.Stmt) ([]thr.Stmt, hazards) {
		outside := *y
		y.role, y.mine, y.warpFlow, y.groupFlow, y.blockFlow = r, map[any]roleUse{}, 0, 0, 0
		body, after := y.block(body, h, lap)
		for _, other := range before {
			y.apartRoles(other, y.mine)
		}
		before = append(before, y.mine)
		y.role, y.mine, y.warpFlow, y.groupFlow, y.blockFlow = outside.role, outside.mine, outside.warpFlow, outside.groupFlow, outside.blockFlow
		return body, after
	}
	then, after := walk(s.Roles[0], s.Then)
	s.Then = then
	switch {
	case s.Roles[1] != nil:
		els, more := walk(s.Roles[1], s.Else)
		s.Else, after = els, join(after, more)
	case len(s.Else) == 1:
		els, more := y.chain(s.Else[0].(thr.If), h, lap, before)
		s.Else, after = []thr.Stmt{els}, join(after, more)
	default:
		after = join(after, h)
	}
	return s, maps.Clone(after)
}

// apartRoles refuses memory that two roles access.
func (y *syncer) apartRoles(a, b map[any]roleUse) {
	var worst touch
	for mem, u := range a {
		v, both := b[mem]
		_, global := mem.(*ir.Arg)
		if !both || !u.write && !v.write || global && !u.read && !v.read {
			continue
		}
		if t := (touch{mem: mem}); worst.mem == nil || t.name() < worst.name() {
			worst = t
		}
	}
	if worst.mem != nil && y.err == nil {
		u, v := a[worst.mem], b[worst.mem]
		y.err = positioned(ir.ErrScope, v.at, "%s is used by two roles, here and at %s, which run at the same time; hand it over through a pipeline, or make the tile with Manual and order it by mbarriers", worst.name(), u.at)
	}
}

// widestHere is the widest scope whose barrier may stand here, at least a block's outside of roles.
func (y *syncer) widestHere() ir.Scope {
	if y.role != nil {
		return y.agree()
	}
	return ir.ScopeBlock
}
