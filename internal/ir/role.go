package ir

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
)

// WarpgroupWarps is the number of warps of a warpgroup.
const WarpgroupWarps = 4

// The registers that setmaxnreg gives to a thread, and those of a multiprocessor.
const (
	minRegs, maxRegs, regStep = 24, 256, 8
	allRegs                   = 64 << 10
	mostRegs                  = 248 // of a thread before setmaxnreg: below 256, a multiple of 8
)

// Role is a part of the block's warps with work of its own.
type Role struct {
	Name  string // producer, consumers: in messages
	Scope Scope  // ScopeWarp or ScopeGroup: of a part
	First int    // the number of its first warp in the block
	Warps int    // of a part
	Parts int    // that do the same, each for itself
	Regs  int    // registers of a thread; 0: what the kernel begins with
	Pos   Pos
}

// Held is how many warps the role takes: its own and, with a register budget, those that fill up its last warpgroup, which
// are parked.
func (r *Role) Held() int {
	n := r.Warps * r.Parts
	if r.Regs > 0 {
		n = wholeGroups(n)
	}
	return n
}

// wholeGroups are so many warps and those that fill up the last warpgroup.
func wholeGroups(warps int) int {
	return (warps + WarpgroupWarps - 1) / WarpgroupWarps * WarpgroupWarps
}

// RoleList is the attribute of Roles.
type RoleList []*Role

// InRole is the role that a region lies in; nil: none.
func (r *Region) InRole() *Role {
	for ; r != nil; r = r.Parent {
		if r.Role != nil {
			return r.Role
		}
	}
	return nil
}

// Within ends the author's function if a handle of a role's, which ends with the role's function, is used elsewhere.
func (b *Builder) Within(r *Role) {
	switch in := b.cur.InRole(); {
	case r == nil || in == r:
	case in == nil:
		Fail(ErrScope, "the scope that the %s of %s is given is used outside its role, where there are other warps too; move what names it into the function of the role", r.Name, r.Pos)
	default:
		Fail(ErrScope, "the scope that the %s of %s is given is used in the %s, whose warps are others; use the one that this role is given", r.Name, r.Pos, in.Name)
	}
}

// spreads checks that a tile of a group, whose span may come from another role, is spread over threads of this one.
func (b *Builder) spreads(v *Value) bool {
	s := v.Type.Span
	if s == nil || s.Scope != ScopeGroup {
		return true
	}
	r := b.cur.InRole()
	switch {
	case r == nil:
		b.errorAt(v.Pos, v.Op, ErrScope, "a tile of a role's threads outside the roles: the span ends with the function of the role; use one of the block or of a warp")
	case s.Dist.Threads() != 32*r.Warps:
		b.errorAt(v.Pos, v.Op, ErrScope, "a tile spread over the %d threads of another role in the %s, of %d; use a span of this role", s.Dist.Threads(), r.Name, 32*r.Warps)
	default:
		return true
	}
	return false
}

// Roles records roles with what each of them does.
func (b *Builder) Roles(roles []*Role, bodies []func()) {
	v := &Value{Op: Roles, Scope: ScopeBlock, Attr: RoleList(roles)}
	warp := 0
	for _, r := range roles {
		r.First, r.Pos = warp, Here(0)
		warp += r.Held()
	}
	if !b.placeRoles(roles, warp) {
		v.Attr = nil
	}
	b.emit(v)
	for i, r := range roles {
		v.Regions = append(v.Regions, b.region(v, false, func(in *Region) {
			in.Role = r
			if r.Regs > 0 {
				b.emit(&Value{Op: SetMaxRegs, Scope: r.Scope, Attr: r})
			}
			bodies[i]()
		}))
	}
}

// placeRoles checks that roles have the block's warps between them.
func (b *Builder) placeRoles(roles []*Role, warps int) bool {
	switch {
	case b.cur != b.Kernel.Body:
		b.Errorf(Roles, ErrScope, "Roles in the %s at %s: the warps of a block have one role each for the whole kernel; put it at the top level, and the loop into each role",
			Table[b.cur.Owner.Op].Go, b.cur.Owner.Pos)
		return false
	case len(roles) == 0:
		b.Errorf(Roles, ErrScope, "Roles without a role; give tile.Producer and tile.Consumers")
		return false
	case b.budgets() != nil || b.hasRoles():
		b.Errorf(Roles, ErrScope, "a second Roles in one kernel: a warp has one role; join the two")
		return false
	}
	for _, r := range roles {
		if !b.roleFits(r) {
			return false
		}
	}
	if n := 32 * warps; n != b.Kernel.Threads {
		var each []string
		for _, r := range roles {
			each = append(each, fmt.Sprintf("%s %d", r.Name, 32*r.Held()))
		}
		b.Errorf(Roles, ErrLimit, "the roles take %d threads (%s) of a block of %d; define the kernel with tile.Threads(%d)", n, strings.Join(each, ", "), b.Kernel.Threads, n)
		return false
	}
	return b.registersFit(roles)
}

func (b *Builder) hasRoles() bool {
	for _, v := range b.Kernel.Body.Ops {
		if v.Op == Roles {
			return true
		}
	}
	return false
}

func (b *Builder) roleFits(r *Role) bool {
	switch {
	case r.Parts < 1 || r.Warps < 1 || r.Parts*r.Warps > 32:
		b.Errorf(Roles, ErrLimit, "%s of %d parts of %s: a block has 1 to 32 warps; use 1 to %d parts", r.Name, r.Parts, Count(r.Warps, "warp"), max(32/max(r.Warps, 1), 1))
	case r.Regs != 0 && (r.Regs < minRegs || r.Regs > maxRegs || r.Regs%regStep != 0):
		b.Errorf(Roles, ErrLimit, "%s with %d registers a thread: setmaxnreg takes multiples of %d from %d to %d, and 0 leaves them as they are; use %d",
			r.Name, r.Regs, regStep, minRegs, maxRegs, min(max(r.Regs/regStep*regStep, minRegs), maxRegs))
	case r.Regs != 0 && r.First%WarpgroupWarps != 0:
		b.Errorf(Roles, ErrLimit, "%s with a register budget begins at warp %d: setmaxnreg is of whole warpgroups of %d warps; put the roles without a budget last", r.Name, r.First, WarpgroupWarps)
	default:
		return true
	}
	return false
}

// EntryRegs are the registers of a thread that a kernel with register budgets begins with. A quarter of them belongs to
// each of the four parts of a multiprocessor, among which the warps are dealt out: the part that has most decides.
func (k *Kernel) EntryRegs() int {
	threads := 32 * wholeGroups((k.Threads+31)/32)
	return min(allRegs/(threads*max(1, k.MinBlocks))/regStep*regStep, mostRegs)
}

// registersFit checks that the budgets are no more than the block has.
func (b *Builder) registersFit(roles []*Role) bool {
	entry, sum, any := b.Kernel.EntryRegs(), 0, false
	var each []string
	for _, r := range roles {
		n, held := r.Regs, 32*r.Held()
		if any = any || n > 0; n == 0 {
			n = entry
		}
		sum += n * held
		each = append(each, fmt.Sprintf("%s %d*%d", r.Name, held, n))
	}
	if has := entry * b.Kernel.Threads; any && sum > has {
		most := slices.MaxFunc(roles, func(r, s *Role) int { return cmp.Compare(r.Regs*r.Held(), s.Regs*s.Held()) })
		way := "use fewer warps with budgets"
		if n := most.Regs - (sum-has+32*most.Held()*regStep-1)/(32*most.Held()*regStep)*regStep; n >= minRegs {
			way = fmt.Sprintf("give the %s %d at most", most.Name, n)
		}
		b.Errorf(Roles, ErrLimit, "the roles ask for %d registers (%s) and a block of %d threads begins with %d, %d a thread; %s",
			sum, strings.Join(each, ", "), b.Kernel.Threads, has, entry, way)
		return false
	}
	return true
}

// budgets is the Roles of the kernel that has register budgets; nil: none has.
func (b *Builder) budgets() *Value { return b.Kernel.budgets() }

// HasBudgets reports whether a role of the kernel has a register budget.
func (k *Kernel) HasBudgets() bool { return k.budgets() != nil }

func (k *Kernel) budgets() *Value {
	for _, v := range k.Body.Ops {
		if v.Op != Roles {
			continue
		}
		list, _ := v.Attr.(RoleList)
		for _, r := range list {
			if r.Regs > 0 {
				return v
			}
		}
	}
	return nil
}

// checkRoles refuses what follows Roles with register budgets: the warps have no longer the registers that it is compiled
// for.
func (b *Builder) checkRoles() {
	roles := b.budgets()
	if roles == nil {
		return
	}
	if last := b.Kernel.Body.Ops[len(b.Kernel.Body.Ops)-1]; last != roles {
		b.errorAt(last.Pos, last.Op, ErrScope, "%s behind the Roles of %s, which have register budgets: the block's warps no longer have the same registers; put it into a role, or drop the budgets",
			Table[last.Op].Go, roles.Pos)
	}
}

// GroupID records the number of the part of a role.
func (b *Builder) GroupID(r *Role) *Value {
	return b.emit(&Value{Op: GroupID, Type: Type{DT: dtype.I32}, Scope: ScopeGroup, Attr: r})
}

// roles checks Roles.
func (c *checker) roles(v *Value) {
	list, ok := v.Attr.(RoleList)
	if !ok || len(list) != len(v.Regions) {
		c.fail(v, "it has %d regions for %d roles", len(v.Regions), len(list))
		return
	}
	warp := 0
	for i, r := range list {
		if v.Regions[i] == nil || v.Regions[i].Role != r || r.First != warp || r.Scope != ScopeWarp && r.Scope != ScopeGroup {
			c.fail(v, "role %d is not its region's, or begins at another warp than %d", i, warp)
		}
		warp += r.Held()
	}
	if 32*warp != c.k.Threads {
		c.fail(v, "its roles have %d of %d threads", 32*warp, c.k.Threads)
	}
}
