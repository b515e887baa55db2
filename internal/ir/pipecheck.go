package ir

// What is wrong with a pipeline by its text alone: who fills and who reads, slots that are not filled or not given back,
// and more slots held than there are. What depends on trip counts the simulator finds.

// checkPipelines checks all pipelines once the kernel is recorded. A kernel with other mistakes is not checked: its ops
// are not all there.
func (b *Builder) checkPipelines() {
	if len(b.errs) > 0 {
		return
	}
	for _, p := range b.Kernel.Pipelines {
		u := &pipeUse{b: b, p: p, scopes: map[sideOf]*Value{}}
		u.region(b.Kernel.Body, nil)
		if len(b.errs) > 0 {
			return
		}
		u.sides()
	}
}

// sideOf is a side of a pipeline in a role: where slots are acquired, or waited for.
type sideOf struct {
	op   Op
	role *Role
}

// pipeUse is what is known of the use of one pipeline.
type pipeUse struct {
	b      *Builder
	p      *Pipeline
	scopes map[sideOf]*Value // the first op of each side
	most   int               // members of slots that a consumer holds at once, and
	at     *Value            // where
}

func (u *pipeUse) mine(v *Value, op Op) bool {
	i, ok := v.Attr.(*SlotInfo)
	return ok && v.Op == op && i.Pipe == u.p
}

// region walks a region of a role and returns how many members of slots it waits for more than it releases. held is what
// is held before.
func (u *pipeUse) region(r *Region, role *Role) int { return u.walk(r, role, 0) }

func (u *pipeUse) walk(r *Region, role *Role, held int) int {
	if r == nil {
		return 0
	}
	if r.Role != nil {
		role, held = r.Role, 0
	}
	b, net, given := u.b, 0, map[*Value][]*Value{}
	for _, v := range r.Ops {
		switch {
		case u.mine(v, SlotAcquire):
			u.oneScope(v, role)
			u.filled(v, r)
		case u.mine(v, SlotWait):
			u.oneScope(v, role)
			u.givenBack(v)
			net += len(u.p.Members)
			if held+net > u.most {
				u.most, u.at = held+net, v
			}
		case u.mine(v, SlotRelease):
			net -= u.release(v, given)
		default:
			u.access(v, given)
		}
		var in [2]int
		for i, sub := range v.Regions {
			in[i%2] = u.walk(sub, role, held+net)
			if sub != nil && sub.Role != nil && in[i%2] != 0 {
				b.errorAt(sub.Role.Pos, Roles, ErrControl, "the %s ends with %s: release every slot that it waits for", sub.Role.Name, u.count(in[i%2]))
			}
			if sub != nil && sub.Role != nil {
				in[i%2] = 0
			}
		}
		switch v.Op {
		case If:
			if in[0] != in[1] {
				b.errorAt(v.Pos, If, ErrControl, "one branch of this If keeps %s, the other %s: release as many slots as are waited for in both", u.count(in[0]), u.count(in[1]))
			}
			net += in[0]
		case Range, Persistent, While:
			if n := in[0] + in[1]; n != 0 {
				b.errorAt(v.Pos, v.Op, ErrControl, "each iteration of this %s keeps %s: a loop releases as many slots as it waits for; keep a slot for the next iteration in a variable, and release the one before",
					Table[v.Op].Go, u.count(n))
			}
		}
	}
	return net
}

// count says how many slots are held; members are the unit.
func (u *pipeUse) count(n int) string {
	switch m := len(u.p.Members); {
	case n < 0:
		return "released " + Count(-n, "member of slots") + " more than it waited for"
	case n%m == 0:
		return Count(n/m, "slot") + " unreleased"
	default:
		return Count(n, "member of slots") + " unreleased"
	}
}

// oneScope sees to it that a role uses a side of a pipeline at one scope, whose parts are counted.
func (u *pipeUse) oneScope(v *Value, role *Role) {
	key := sideOf{v.Op, role}
	first := u.scopes[key]
	if first == nil {
		u.scopes[key] = v
	} else if first.Scope != v.Scope {
		u.b.errorAt(v.Pos, v.Op, ErrScope, "%s at scope %v, and at scope %v at %s: who takes part is counted once for a role; name one scope for both", Table[v.Op].Go, v.Scope, first.Scope, first.Pos)
	}
}

// filled sees to it that a slot that is acquired is written in its region: its last write hands it over.
func (u *pipeUse) filled(v *Value, r *Region) {
	found := false
	EachOp(r, func(w *Value) { found = found || FilledSlot(w) == v })
	if !found {
		u.b.errorAt(v.Pos, SlotAcquire, ErrControl, "nothing fills the slot that is acquired here, so its consumers wait for ever: name it in a tile.CopyAsync or a tile.Store in the same loop body or branch")
	}
}

// givenBack sees to it that a slot that is waited for is released by name, or kept in a variable.
func (u *pipeUse) givenBack(v *Value) {
	found := false
	EachOp(u.b.Kernel.Body, func(w *Value) {
		if w.Op == SlotRelease || w.Op == Var || w.Op == Set {
			for _, a := range w.Args {
				found = found || a == v
			}
		}
	})
	if !found {
		u.b.errorAt(v.Pos, SlotWait, ErrControl, "nobody releases the slot that is waited for here, so its producers wait for ever: call its Release when it is read")
	}
}

// release notes a release and returns how many members it gives back; given are the releases of the region so far.
func (u *pipeUse) release(v *Value, given map[*Value][]*Value) int {
	slot, info := v.Args[0], v.Attr.(*SlotInfo)
	n := len(u.p.Members)
	for _, o := range given[slot] {
		other := o.Attr.(*SlotInfo).Member
		if other < 0 || other == info.Member {
			u.b.errorAt(v.Pos, SlotRelease, ErrControl, "the slot is released here and at %s: its producers would count it twice; drop one", o.Pos)
			return 0
		}
		n--
	}
	given[slot] = append(given[slot], v)
	if info.Member >= 0 {
		return 1
	}
	return n
}

// access refuses reads of what is not there, and accesses of what is given back.
func (u *pipeUse) access(v *Value, given map[*Value][]*Value) {
	for _, use := range SlotUses(v) {
		if use.Tile.Pipe != u.p {
			continue
		}
		if use.Slot.Op == SlotAcquire && !use.Writes {
			u.b.errorAt(v.Pos, v.Op, ErrControl, "%s of the slot acquired at %s: nothing is there yet; use what Wait gives", Table[v.Op].Go, use.Slot.Pos)
			return
		}
		for _, o := range given[use.Slot] {
			if m := o.Attr.(*SlotInfo).Member; m < 0 || u.p.Members[m] == use.Tile {
				u.b.errorAt(v.Pos, v.Op, ErrControl, "%s of a slot that is released at %s: its producers may be filling it again; release it afterwards", Table[v.Op].Go, o.Pos)
				return
			}
		}
	}
}

// sides checks what concerns the pipeline as a whole.
func (u *pipeUse) sides() {
	b, p, has := u.b, u.p, map[Op]bool{}
	for s := range u.scopes {
		has[s.op] = true
	}
	held := (u.most + len(p.Members) - 1) / len(p.Members)
	switch {
	case !has[SlotAcquire]:
		b.errorAt(p.Pos, PipeInit, ErrControl, "nobody acquires slots of this pipeline; use Acquire and tile.CopyAsync in a producer")
	case !has[SlotWait]:
		b.errorAt(p.Pos, PipeInit, ErrControl, "nobody waits for slots of this pipeline; use Wait and Release in a consumer")
	case p.Stages <= held:
		b.errorAt(u.at.Pos, SlotWait, ErrLimit, "a consumer holds %s here, and the pipeline of %s has %s: none is left to be filled meanwhile; use %d stages, or release one before",
			Count(held, "slot"), p.Pos, Count(p.Stages, "stage"), held+1)
	}
}
