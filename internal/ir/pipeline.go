package ir

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
)

// Pipeline is a ring of slots in shared memory, which producers fill and consumers read in turn. Each member is a tile
// with the stages as its first dimension.
type Pipeline struct {
	Name    string
	Stages  int
	Members []*SharedTile
	Fields  []string // of the author's struct, by member
	Pos     Pos
}

// SlotInfo is the attribute of the ops of slots.
type SlotInfo struct {
	Pipe   *Pipeline
	Member int // of SlotRelease: the one member that it gives back; below 0: all
}

// maxStages bounds the stages of a pipeline: as many mbarriers as an array may have.
const maxStages = maxBarriers

// NewPipeline makes a pipeline of tiles with the sizes of one slot.
func (b *Builder) NewPipeline(stages int, members []*SharedTile, fields []string) *Pipeline {
	switch {
	case b.cur != b.Kernel.Body:
		b.Errorf(PipeInit, ErrScope, "NewPipeline in the %s at %s: its mbarriers are made once, before anybody uses them; make it at the top level of the kernel",
			Table[b.cur.Owner.Op].Go, b.cur.Owner.Pos)
		return nil
	case stages < 1 || stages > maxStages:
		b.Errorf(PipeInit, ErrLimit, "NewPipeline of %s: use 2 to %d; a slot that is read and one that is filled are the least", Count(stages, "stage"), maxStages)
		return nil
	case len(members) == 0:
		b.Errorf(PipeInit, ErrShape, "NewPipeline of a slot without a tile.Shared field; give it one a tile")
		return nil
	}
	p := &Pipeline{Name: "pipe", Stages: stages, Members: members, Fields: fields, Pos: Here(0)}
	if n := len(b.Kernel.Pipelines); n > 0 {
		p.Name = fmt.Sprint("pipe", n+1)
	}
	for i, m := range members {
		switch {
		case m.Pipe != nil:
			b.Errorf(PipeInit, ErrShape, "field %s of the slot is the shared tile of %s, which belongs to the pipeline of %s; give each field a tile of its own", fields[i], m.Pos, m.Pipe.Pos)
			return nil
		case stages*m.Elems()*m.DT.Size() > MaxBytes:
			b.Errorf(PipeInit, ErrLimit, "NewPipeline of %d stages of %d bytes in field %s: no target has more than 227 KB a block; make the tile smaller, or use fewer stages",
				stages, m.Elems()*m.DT.Size(), fields[i])
			return nil
		case m.Elems()*m.DT.Size()%max(m.Swizzle.Align(), 1) != 0:
			n := m.Elems() * m.DT.Size()
			b.Errorf(PipeInit, ErrLayout, "NewPipeline of slots of %d bytes in field %s, with the %d-byte swizzle: each begins at a multiple of %d bytes; make its rows a multiple of %d, or drop the swizzle",
				n, fields[i], m.Swizzle.Width(), m.Swizzle.Align(), m.Swizzle.Rows())
			return nil
		}
		m.Pipe = p
	}
	for i, m := range members {
		m.Name = p.Name + "_" + strings.ToLower(fields[i])
		m.Shape, m.Manual = append([]int{stages}, m.Shape...), true
	}
	b.Kernel.Pipelines = append(b.Kernel.Pipelines, p)
	b.emit(&Value{Op: PipeInit, Scope: ScopeBlock, Attr: p})
	return p
}

// Slot records SlotAcquire or SlotWait and returns the slot.
func (b *Builder) Slot(op Op, s Scope, p *Pipeline) *Value {
	switch {
	case p == nil || !b.executes(op, s):
		return nil
	case s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster: a pipeline belongs to one block; name the block, a group or a warp", Table[op].Go)
		return nil
	}
	return b.emit(&Value{Op: op, Type: Type{DT: dtype.I32}, Scope: s, Attr: &SlotInfo{Pipe: p, Member: -1}})
}

// Release records that a scope has read a member of a slot, or, below 0, all of it.
func (b *Builder) Release(s Scope, p *Pipeline, member int, slot *Value) {
	switch {
	case p == nil || b.poisoned(SlotRelease, slot) || !b.executes(SlotRelease, s):
		return
	case slot.Op == SlotAcquire:
		b.Errorf(SlotRelease, ErrControl, "Release of the slot acquired at %s: a producer hands it over with its last copy or store; release what Wait gives", slot.Pos)
		return
	case slot.Scope != s:
		b.Errorf(SlotRelease, ErrScope, "Release at scope %v of a slot waited for at scope %v: each %v counts for itself; name one scope for both", s, slot.Scope, min(s, slot.Scope))
		return
	}
	b.emit(&Value{Op: SlotRelease, Args: []*Value{slot}, Scope: s, Attr: &SlotInfo{Pipe: p, Member: member}})
}

// SlotUse is an access of a tile of a slot.
type SlotUse struct {
	Slot   *Value
	Tile   *SharedTile
	Writes bool
}

// SlotUses are the accesses that an op makes of slots of its own block.
func SlotUses(v *Value) (out []SlotUse) {
	add := func(t *SharedTile, args []*Value, writes bool) {
		if t != nil && t.Pipe != nil {
			out = append(out, SlotUse{args[0], t, writes})
		}
	}
	switch a := v.Attr.(type) {
	case *CopyInfo:
		add(a.Dst, v.Args, true)
	case *BulkInfo:
		add(a.Shared, v.Args, v.Op == CopyBulk)
	case *TensorInfo:
		if v.Op != PrefetchTensor { // which does not access it
			add(a.Shared, v.Args, v.Op == CopyTensor)
		}
	case *Access:
		if !a.Peer {
			add(a.Shared, v.Args[values(v.Op):], values(v.Op) > 0)
		}
	case *MMAInfo:
		_, x, y := a.operands(v.Args)
		add(a.A, x, false)
		add(a.B, y, false)
	}
	return out
}

// FilledSlot is the slot whose tile an op writes, by a copy or a store; nil: none.
func FilledSlot(v *Value) *Value {
	for _, u := range SlotUses(v) {
		if u.Writes {
			return u.Slot
		}
	}
	return nil
}

// slot checks the ops of pipelines.
func (c *checker) slot(v *Value, r *Region) {
	if v.Op == PipeInit {
		if p, ok := v.Attr.(*Pipeline); !ok || !contains(c.k.Pipelines, p) || r != c.k.Body {
			c.fail(v, "its pipeline is not the kernel's, or made in a region")
		}
		return
	}
	i, ok := v.Attr.(*SlotInfo)
	if !ok || !contains(c.k.Pipelines, i.Pipe) || i.Member >= len(i.Pipe.Members) || v.Scope > ScopeBlock {
		c.fail(v, "its pipeline is not the kernel's, or it is of the cluster")
		return
	}
	want := Type{DT: dtype.I32}
	if v.Op == SlotRelease {
		want = Type{}
		if a := v.Args[0]; a.Type != (Type{DT: dtype.I32}) || a.Scope != v.Scope {
			c.fail(v, "its slot is no number that the %v shares", v.Scope)
		}
	}
	c.typed(v, want)
}
