package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// A pipeline of S stages has two arrays of S mbarriers. Phase k of full[i] is over when the producers have filled slot i
// for the k-th time, phase k of empty[i] when its consumers have read it. Every warp of a producer arrives once at full,
// with the bytes of its bulk copies, and every warp of a consumer once at empty, however the slots are filled: a warp's
// threads meet, then one lane arrives. Each side of each role has the stage and the parity that come next in registers,
// which run on over all loops; the producers' parity begins at 1, so that the first S waits pass.

// pipe is what the planner knows of a pipeline.
type pipe struct {
	*ir.Pipeline
	full, empty          *thr.SharedBuf
	producers, consumers int               // warps that arrive
	split                bool              // members are released one by one: each has an array of its own in empty
	bulk                 bool              // some copies are bulk copies or tensor copies
	async                bool              // some copies may go by cp.async
	stored               bool              // producers write by stores
	written              bool              // consumers write
	read                 bool              // the asynchronous proxy reads it: bulk stores, tensor stores, MMAs of warpgroups
	readers              map[*ir.Role]bool // the roles whose stores do, and
	multiply             map[*ir.Role]bool // whose MMAs do
	load                 map[*ir.Role]bool // the roles whose warps load it for mma.sync
}

// side is where slots of a pipeline are acquired, or waited for.
type side struct {
	pipe *ir.Pipeline
	op   ir.Op
}

// slotState is the slot that comes next on a side.
type slotState struct{ stage, parity *thr.Local }

// pipesOf finds how pipelines are used.
func pipesOf(l *lowering) map[*ir.Pipeline]*pipe {
	out := map[*ir.Pipeline]*pipe{}
	for _, p := range l.k.Pipelines {
		out[p] = &pipe{Pipeline: p, readers: map[*ir.Role]bool{}, multiply: map[*ir.Role]bool{}, load: map[*ir.Role]bool{}}
	}
	type who struct {
		side
		role *ir.Role
	}
	counted := map[who]bool{}
	var visit func(r *ir.Region, role *ir.Role)
	visit = func(r *ir.Region, role *ir.Role) {
		if r == nil {
			return
		}
		if r.Role != nil {
			role = r.Role
		}
		for _, v := range r.Ops {
			l.noteUse(out, v, role)
			if i, ok := v.Attr.(*ir.SlotInfo); ok && v.Op != ir.SlotRelease {
				if w := (who{side{i.Pipe, v.Op}, role}); !counted[w] {
					counted[w] = true
					n := warpsOf(l.k, role)
					if v.Op == ir.SlotAcquire {
						out[i.Pipe].producers += n
					} else {
						out[i.Pipe].consumers += n
					}
				}
			}
			for _, in := range v.Regions {
				visit(in, role)
			}
		}
	}
	visit(l.k.Body, nil)
	return out
}

// warpsOf is the number of warps of a role, or of the block.
func warpsOf(k *ir.Kernel, role *ir.Role) int {
	if role == nil {
		return k.Threads / 32
	}
	return role.Warps * role.Parts
}

// noteUse notes how an op accesses the slots of a pipeline.
func (l *lowering) noteUse(pipes map[*ir.Pipeline]*pipe, v *ir.Value, role *ir.Role) {
	uses := ir.SlotUses(v)
	switch a := v.Attr.(type) {
	case *ir.SlotInfo:
		if v.Op == ir.SlotRelease && a.Member >= 0 {
			pipes[a.Pipe].split = true
		}
	case *ir.CopyInfo:
		if p := pipes[a.Dst.Pipe]; p != nil {
			proxy, other := l.forms(v)
			p.bulk, p.async = p.bulk || proxy, p.async || other
		}
	case *ir.Access:
		for _, use := range uses {
			switch p := pipes[use.Tile.Pipe]; {
			case !use.Writes:
			case use.Slot.Op == ir.SlotAcquire:
				p.stored = true
			default:
				p.written = true
			}
		}
	case *ir.BulkInfo, *ir.TensorInfo:
		for _, use := range uses {
			if p := pipes[use.Tile.Pipe]; use.Writes {
				p.bulk = true
			} else {
				p.read, p.readers[role] = true, true
			}
		}
	case *ir.MMAInfo:
		if !byWarpgroup(l.t, v) {
			for _, use := range uses {
				pipes[use.Tile.Pipe].load[role] = true
			}
			return
		}
		for _, use := range uses {
			p := pipes[use.Tile.Pipe]
			p.read, p.multiply[role] = true, true
		}
	}
}

// forms says by which copies a slot's copy may go: those of the asynchronous proxy, which are tensor copies or bulk copies,
// and cp.async, where it is not certain that the source allows those. A tensor that is aligned has a map, so only a box that
// ends early goes by cp.async in place of a tensor copy.
func (l *lowering) forms(v *ir.Value) (proxy, other bool) {
	info := v.Attr.(*ir.CopyInfo)
	if tensor, _ := l.tensorCopy(v); tensor != nil {
		return true, info.Valid
	}
	if !l.t.Has(target.Bulk) || info.Src.Strided || info.Bytes != ir.CopyBytes || info.Dst.Swizzle.Bits() > 0 {
		return false, true
	}
	vec := ir.CopyBytes / info.Src.DT.Size()
	span, column := v.Type.Span, v.Args[len(v.Args)-1]
	whole := l.k.Whole && l.flow.isMultiple(column, vec)
	if ext := extentOf(span, span.Rank()-1); ext != nil && whole {
		_, whole = l.flow.wholeIf(ext, vec)
	}
	return true, !whole
}

// initPipe makes the mbarriers of a pipeline.
func (l *lowering) initPipe(v *ir.Value) {
	p := l.pipes[v.Attr.(*ir.Pipeline)]
	array := func(name, note string, n int) *thr.SharedBuf {
		b := &thr.SharedBuf{Name: l.names.fresh(p.Name + name), Bytes: barBytes * n, DT: dtype.I64, Note: ir.Count(n, "mbarrier") + note, Manual: true}
		l.addShared(b, origin{pos: p.Pos, pipe: p.Pipeline})
		return b
	}
	sets := 1
	if p.split {
		sets = len(p.Members)
	}
	p.full = array("_full", ": slots that are filled", p.Stages)
	p.empty = array("_empty", ": slots that may be filled", p.Stages*sets)
	p.full.Slots, p.full.Filled, p.empty.Slots = true, true, true
	l.comment("%s: %d slots, filled by %s and read by %s", p.Name, p.Stages, ir.Count(p.producers, "warp"), ir.Count(p.consumers, "warp"))
	l.initArray(p.full, p.Stages, i32(p.producers))
	l.initArray(p.empty, p.Stages*sets, i32(p.consumers))
	l.fenceInits()
	l.beginSide(p.Pipeline, nil)
}

// beginSides declares where a role stands in the pipelines that it uses.
func (l *lowering) beginSides(role *ir.Role) {
	for _, p := range l.k.Pipelines {
		l.beginSide(p, role)
	}
}

func (l *lowering) beginSide(p *ir.Pipeline, role *ir.Role) {
	for i, op := range []ir.Op{ir.SlotAcquire, ir.SlotWait} {
		if usesSide(l.k.Body, p, op, nil, role) {
			l.sides[side{p, op}] = &slotState{
				stage:  l.local(p.Name+"_stage", thr.Val(dtype.I32), i32(0)),
				parity: l.local(p.Name+"_parity", thr.Val(dtype.I32), i32(1-i)),
			}
		}
	}
}

// usesSide reports whether a role, nil for what is outside of roles, has an op of a side.
func usesSide(r *ir.Region, p *ir.Pipeline, op ir.Op, in, role *ir.Role) bool {
	if r == nil {
		return false
	}
	if r.Role != nil {
		in = r.Role
	}
	for _, v := range r.Ops {
		if i, ok := v.Attr.(*ir.SlotInfo); ok && i.Pipe == p && v.Op == op && in == role {
			return true
		}
		for _, sub := range v.Regions {
			if usesSide(sub, p, op, in, role) {
				return true
			}
		}
	}
	return false
}

// next takes the slot that comes next on a side, when the mbarriers of wait have the phase.
func (l *lowering) next(v *ir.Value, wait func(stage thr.Expr) []thr.Expr, bar *thr.SharedBuf) {
	info := v.Attr.(*ir.SlotInfo)
	s := l.sides[side{info.Pipe, v.Op}]
	slot := l.local(info.Pipe.Name+"_slot", thr.Val(dtype.I32), ref(s.stage))
	l.scalars[v] = ref(slot)
	for _, at := range wait(ref(slot)) {
		l.emit(thr.Do{At: l.at(), Fn: thr.MBarWait, Args: []thr.Expr{at, ref(s.parity)}, Bar: bar})
	}
	pick := func(c, a, b thr.Expr) thr.Expr {
		return thr.Apply{Op: ir.Select, T: dtype.I32, R: dtype.I32, Args: []thr.Expr{c, a, b}}
	}
	last := equal(ref(slot), i32(info.Pipe.Stages-1))
	l.emit(thr.Assign{At: l.at(), Dst: ref(s.stage), Src: pick(last, i32(0), add(ref(slot), i32(1)))},
		thr.Assign{At: l.at(), Dst: ref(s.parity), Src: pick(last, bin(ir.Xor, ref(s.parity), i32(1)), ref(s.parity))})
}

// slotBar is the place of the mbarrier of a slot in one of several arrays.
func slotBar(b *thr.SharedBuf, p *pipe, set int, slot thr.Expr) thr.Expr {
	return add(address(b, i32(set*p.Stages*barBytes)), mul(toU32(slot), literal(dtype.U32, barBytes)))
}

// acquireSlot waits until all members of the next slot are read.
func (l *lowering) acquireSlot(v *ir.Value) {
	p := l.pipes[v.Attr.(*ir.SlotInfo).Pipe]
	l.comment("%s: a slot to fill", p.Name)
	l.next(v, func(slot thr.Expr) (out []thr.Expr) {
		for set := range p.empty.Bytes / barBytes / p.Stages {
			out = append(out, slotBar(p.empty, p, set, slot))
		}
		return out
	}, p.empty)
	l.beginFill(v, p)
}

// waitSlot waits until the next slot is filled. What cp.async wrote is for the asynchronous proxy to see too, if it reads
// it or overwrites it: the producers cannot fence it, since it was under way when they arrived.
func (l *lowering) waitSlot(v *ir.Value) {
	p := l.pipes[v.Attr.(*ir.SlotInfo).Pipe]
	l.comment("%s: a slot to read", p.Name)
	l.next(v, func(slot thr.Expr) []thr.Expr { return []thr.Expr{slotBar(p.full, p, 0, slot)} }, p.full)
	if p.async && (p.bulk || p.read) {
		l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
	}
}

// releaseSlot gives a slot, or a member of it, back: each warp by itself. The bulk stores and tensor stores that the
// scope's leader has begun have read their tiles by then, and so have MMAs; where one may go on, the slot that is given back
// is that of the iteration before.
//
// Matrix loads are over by then, not only issued: an arrival overtakes those that wait in the queue of the SM's memory unit,
// behind the stores of other warps, say, for longer than a copy takes to overwrite what they are to read; and the compiler
// does not wait for what only registers wait for.
func (l *lowering) releaseSlot(v *ir.Value) {
	info := v.Attr.(*ir.SlotInfo)
	p, slot := l.pipes[info.Pipe], l.scalarLocal(v.Args[0])
	role := v.In.InRole()
	if p.written && p.bulk {
		l.emit(thr.Do{At: l.at(), Fn: thr.FenceAsync})
	}
	if p.load[role] && p.bulk {
		l.emit(thr.Do{At: l.at(), Fn: thr.FenceLoads})
	}
	if p.readers[role] {
		l.emit(thr.Do{At: l.at(), Fn: thr.BulkCommit, Pred: l.leader(v.Scope)}, thr.Do{At: l.at(), Fn: thr.BulkWaitRead, Args: []thr.Expr{i32(0)}})
	}
	if prev := l.deferred[v]; prev != nil {
		l.giveBack(v, p, ref(prev), 1, compare(ir.Ge, ref(prev), i32(0)))
		l.emit(thr.Assign{At: l.at(), Dst: ref(prev), Src: slot})
		return
	}
	l.giveBack(v, p, slot, 0, nil)
}

// giveBack arrives for a slot when at most so many newer ones are read by MMAs.
func (l *lowering) giveBack(v *ir.Value, p *pipe, slot thr.Expr, newer int, pred thr.Expr) {
	if p.multiply[v.In.InRole()] {
		for i, m := range p.Members {
			if !l.kept(v, i) {
				l.emit(thr.Do{At: l.at(), Fn: thr.WGMMAWait, Args: []thr.Expr{i32(newer)}, Buf: l.sharedTile(m)})
			}
		}
	}
	l.emit(thr.Do{At: l.at(), Fn: thr.WarpSync})
	for set := range p.empty.Bytes / barBytes / p.Stages {
		if p.split && l.kept(v, set) {
			continue
		}
		l.emit(thr.Do{At: l.at(), Fn: thr.MBarArrive, Args: []thr.Expr{slotBar(p.empty, p, set, slot), i32(1)}, Pred: and(l.oneLane(), pred), Bar: p.empty})
	}
}

// kept reports whether a release leaves a member out: it gives back another one, or this one was given back before.
func (l *lowering) kept(v *ir.Value, member int) bool {
	m := v.Attr.(*ir.SlotInfo).Member
	return m >= 0 && member != m || m < 0 && l.given(v, member)
}

// given reports whether a member of a slot was released before all the others are.
func (l *lowering) given(v *ir.Value, member int) bool {
	for _, o := range v.In.Ops {
		if o == v {
			break
		}
		if i, ok := o.Attr.(*ir.SlotInfo); ok && o.Op == ir.SlotRelease && i.Member == member && o.Args[0] == v.Args[0] {
			return true
		}
	}
	return false
}

// oneLane is the predicate of one lane of the warp, whichever.
func (l *lowering) oneLane() thr.Expr {
	if l.t.Has(target.Elect) {
		return call(thr.Elect, dtype.Bool)
	}
	return l.leader(ir.ScopeWarp)
}
