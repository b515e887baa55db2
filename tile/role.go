package tile

import "github.com/gotile/gotile/internal/ir"

// Role is what a part of the block's warps does: see Builder.Roles.
type Role struct {
	role    *ir.Role
	threads int // of a ConsumerGroup
	body    func(b *ir.Builder, r *ir.Role)
}

// Roles deals the block's warps to roles, in order, for the whole kernel: what a role's function records is executed by
// the warps of that role alone, at the same time as the others. It stands at the top level, once; a block has as many
// threads as its roles.
//
//	k.Roles(tile.Producer(40, func(p tile.Warp) {
//		...
//	}), tile.Consumers(2, 232, func(c tile.Warpgroup) {
//		...
//	}))
//
// A role with a register budget, a multiple of 8 from 24 to 256 a thread, has whole warpgroups of 128 threads; the warps
// that it does not use are parked. The budgets of all threads together are at most the registers that the kernel begins
// with. 0 leaves a role's registers as they are, and takes no more warps than it uses.
//
// Within a role there is no block: its ops name the scope that its function is given, which no other role can use, or a
// warp. Shared tiles that one
// role alone accesses keep their automatic barriers, which are the role's own. What roles hand to one another goes
// through pipelines, or through tiles with Manual that their author orders.
func (k *Builder) Roles(roles ...Role) {
	b := k.kernel()
	var rs []*ir.Role
	var bodies []func()
	for _, r := range roles {
		if r.role == nil {
			b.Errorf(ir.Roles, ErrScope, "a role was never made: it is the zero value of its type; use tile.Producer, tile.Consumers, tile.ConsumerGroup or tile.ConsumerWarps")
			return
		}
		if r.threads%warpSize != 0 {
			b.Errorf(ir.Roles, ErrLimit, "ConsumerGroup of %d threads: a group is whole warps of %d; use %d", r.threads, warpSize, max(r.threads+warpSize-1, warpSize)/warpSize*warpSize)
			return
		}
		rs = append(rs, r.role)
		bodies = append(bodies, func() { r.body(b, r.role) })
	}
	b.Roles(rs, bodies)
}

func newRole(r ir.Role, given bool, body func(b *ir.Builder, r *ir.Role)) Role {
	if !given {
		ir.Fail(ErrScope, "the function of the %s is nil: give one that records what it does", r.Name)
	}
	return Role{role: &r, body: body}
}

// Producer is a role of one warp, which fills the slots of pipelines.
func Producer(regs int, f func(p Warp)) Role {
	return newRole(ir.Role{Name: "producer", Scope: ir.ScopeWarp, Warps: 1, Parts: 1, Regs: regs}, f != nil, func(b *ir.Builder, r *ir.Role) { f(Warp{b: b, role: r}) })
}

// Consumers is a role of n warpgroups, which do the same, each for itself.
func Consumers(n, regs int, f func(c Warpgroup)) Role {
	return newRole(ir.Role{Name: "consumers", Scope: ir.ScopeGroup, Warps: ir.WarpgroupWarps, Parts: n, Regs: regs}, f != nil,
		func(b *ir.Builder, r *ir.Role) { f(Warpgroup{Group{b: b, role: r}}) })
}

// ConsumerGroup is a role of threads, a multiple of 32, that work together, as those of a block do.
func ConsumerGroup(threads, regs int, f func(c Group)) Role {
	r := newRole(ir.Role{Name: "consumer group", Scope: ir.ScopeGroup, Warps: threads / warpSize, Parts: 1, Regs: regs}, f != nil,
		func(b *ir.Builder, r *ir.Role) { f(Group{b: b, role: r}) })
	r.threads = threads // no whole warps are reported by Roles
	return r
}

// ConsumerWarps is a role of n warps, which do the same, each for itself.
func ConsumerWarps(n, regs int, f func(c Warp)) Role {
	return newRole(ir.Role{Name: "consumer warps", Scope: ir.ScopeWarp, Warps: 1, Parts: n, Regs: regs}, f != nil, func(b *ir.Builder, r *ir.Role) { f(Warp{b: b, role: r}) })
}

// Group is the scope of the threads of a role that work together: spans spread tiles over them, reductions combine what
// they hold, and their barriers are their own. It ends with the function of its role.
type Group struct {
	_    [0]func()
	b    *ir.Builder
	role *ir.Role
}

// Warpgroup is a Group of four warps: 128 threads.
type Warpgroup struct{ Group }

func (s Group) scope() (*ir.Builder, ir.Scope) { return s.kernel(), ir.ScopeGroup }

func (s Group) kernel() *ir.Builder {
	if s.b == nil {
		ir.Fail(ErrScope, "the Group was never assigned: it is the zero value of its type; take the one that the role is given")
	}
	s.b.Within(s.role)
	return s.b
}

// Index is the group's number in its role, i32; it differs among the groups of a role.
func (s Group) Index() Index { return Index{b: s.kernel(), v: s.b.GroupID(s.role)} }

// Threads is the number of threads of the group.
func (s Group) Threads() int { s.kernel(); return s.role.Warps * warpSize }

// Warp is the scope of each warp of the group; its Index counts over the warps of the role.
func (s Group) Warp() Warp { return Warp{b: s.kernel(), role: s.role} }

// Striped spreads a vector over the threads of the group, as Block.Striped does over those of a block.
func (s Group) Striped(capacity, vec int) Span {
	return striped(s.kernel(), ir.ScopeGroup, s.Threads(), capacity, vec)
}

// Striped2 spreads a tile over the threads of the group, as Block.Striped2 does over those of a block.
func (s Group) Striped2(rows, cols, vec, across int) Span {
	return striped2(s.kernel(), ir.ScopeGroup, s.Threads(), rows, cols, vec, across)
}

// Sync is a barrier of the group's threads, for Manual tiles and for communication that the planner cannot see.
func (s Group) Sync() { s.kernel().Sync(ir.ScopeGroup) }
