package tile

import (
	"reflect"
	"slices"

	"github.com/gotile/gotile/internal/ir"
)

// Slot is a slot of a pipeline. A struct that embeds it, with fields of type Shared, is the form of a pipeline's slots.
type Slot struct {
	_ [0]func()
	b *ir.Builder
	p *ir.Pipeline
	v *ir.Value // the number of its stage
	s ir.Scope  // who acquired it or waited for it
}

// scope makes a slot the scope of the copies that fill it: that of its Acquire.
func (s Slot) scope() (*ir.Builder, ir.Scope) { return s.kernel(), s.s }

func (s Slot) kernel() *ir.Builder {
	if s.b == nil {
		ir.Fail(ErrScope, "the Slot was never assigned: it is the zero value of its type; take what Acquire or Wait gives")
	}
	return s.b
}

// Release gives the slot back to the producers, when its scope, which waited for it, has read it.
func (s Slot) Release(c Scope) {
	b, scope := scopeOf(c)
	s.kernel()
	b.Release(scope, s.p, -1, s.v)
}

// Pipeline is a ring of slots in shared memory between the warps that fill them and those that read them. S is a struct
// that embeds Slot and has a field of type Shared for each tile of a slot:
//
//	type slot struct {
//		tile.Slot
//		X, W tile.Shared[tile.BF16]
//	}
//	pipe := tile.NewPipeline(k, 4, slot{X: tile.NewShared[tile.BF16](k, 1024), W: tile.NewShared[tile.BF16](k, 1024)})
//
// Every producer acquires each slot, in order, and fills its part of it; every consumer waits for each slot, in order, and
// releases it. Who they are follows from the kernel: each warp, group or block that calls Acquire, or Wait. The stages go
// round over any number of slots, in whatever loops; a side may hold several slots at a time, as long as there are more
// stages than a consumer holds.
//
// A slot is filled by tile.CopyAsync and tile.Store, in the loop body or branch where it was acquired, and handed over
// with the last of them. CopyAsync takes what the target and the tensors allow: bulk copies, or tensor copies into a tile
// with a swizzle; else cp.async of 16 bytes a thread; else registers. Past the end of the source it fills in zeros, however
// it copies. CopyTensor that names the slot is a tensor copy and nothing else.
//
// Nobody writes barriers, phases or byte counts; the planner does (docs/architecture.md). What is wrong with the use of a
// pipeline by its text is refused; what depends on trip counts the simulator reports.
type Pipeline[S any] struct {
	_     [0]func()
	b     *ir.Builder
	p     *ir.Pipeline
	proto *S // the author's slot, whose fields are tiles of the pipeline
}

// member is a field of a slot that is a Shared.
type member interface {
	tile() *ir.SharedTile
	of(v *ir.Value)
}

func (s *Shared[T]) tile() *ir.SharedTile { return s.s }
func (s *Shared[T]) of(v *ir.Value) {
	if v == nil { // of a mistake: so is what is done with it
		s.s = nil
	}
	s.slot = v
}

// NewPipeline makes a pipeline of so many stages, each a slot of the form of slot, whose tiles it takes over: their sizes
// are those of one slot. It stands at the top level of the kernel.
func NewPipeline[S any](k *Builder, stages int, slot S) Pipeline[S] {
	b := k.kernel()
	p := Pipeline[S]{b: b, proto: &slot}
	v := reflect.ValueOf(p.proto).Elem()
	tiles, fields, ok := slotFields(b, v)
	if ok {
		p.p = b.NewPipeline(stages, tiles, fields)
	}
	return p
}

// slotFields finds the tiles of a slot's struct.
func slotFields(b *ir.Builder, v reflect.Value) (tiles []*ir.SharedTile, fields []string, ok bool) {
	t := v.Type()
	if t.Kind() != reflect.Struct {
		b.Errorf(ir.PipeInit, ErrPort, "a slot is of type %v: use a struct that embeds tile.Slot and has tile.Shared fields", t)
		return nil, nil, false
	}
	embedded := false
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type == reflect.TypeFor[Slot]() {
			embedded = true
			continue
		}
		m, isTile := reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer()).Interface().(member)
		switch {
		case !isTile:
			b.Errorf(ir.PipeInit, ErrPort, "field %s of slot %v is of type %v: use tile.Shared[T], and variables for what is not in shared memory", f.Name, t, f.Type)
			return nil, nil, false
		case !f.IsExported():
			b.Errorf(ir.PipeInit, ErrPort, "field %s of slot %v is not exported: Acquire and Wait set it; export it", f.Name, t)
			return nil, nil, false
		case m.tile() == nil:
			b.Errorf(ir.PipeInit, ErrPort, "field %s of slot %v has no tile; make it with tile.NewShared, with the sizes of one slot", f.Name, t)
			return nil, nil, false
		}
		tiles, fields = append(tiles, m.tile()), append(fields, f.Name)
	}
	if !embedded {
		b.Errorf(ir.PipeInit, ErrPort, "slot %v does not embed tile.Slot, which gives Release; add it as the first field", t)
	}
	return tiles, fields, embedded
}

// at is the author's struct for a slot.
func (p Pipeline[S]) at(s ir.Scope, slot *ir.Value) S {
	out := *p.proto
	v := reflect.ValueOf(&out).Elem()
	if v.Kind() != reflect.Struct {
		return out
	}
	for i := range v.NumField() {
		if !v.Field(i).CanSet() {
			continue
		}
		switch f := v.Field(i).Addr().Interface().(type) {
		case *Slot:
			*f = Slot{b: p.b, p: p.p, v: slot, s: s}
		case member:
			f.of(slot)
		}
	}
	return out
}

func (p Pipeline[S]) next(op ir.Op, s Scope) S {
	b, scope := scopeOf(s)
	if p.b != b {
		ir.Fail(ErrScope, "the Pipeline of %s was never assigned, or belongs to another kernel; make it with tile.NewPipeline", ir.Table[op].Go)
	}
	return p.at(scope, b.Slot(op, scope, p.p))
}

// Acquire waits until the next slot may be filled, and gives it to a producer.
func (p Pipeline[S]) Acquire(s Scope) S { return p.next(ir.SlotAcquire, s) }

// Wait waits until the next slot is filled, and gives it to a consumer, who releases it.
func (p Pipeline[S]) Wait(s Scope) S { return p.next(ir.SlotWait, s) }

// SlotVar is a variable that holds a slot: one that a loop keeps from one iteration to the next.
type SlotVar[S any] struct {
	_ [0]func()
	p Pipeline[S]
	s ir.Scope
	v *ir.Value
}

// slotted is a struct that embeds Slot.
type slotted interface{ handle() Slot }

func (s Slot) handle() Slot { return s }

// number is the slot that the author's struct names.
func (p Pipeline[S]) number(op ir.Op, slot S) *ir.Value {
	h, ok := any(slot).(slotted)
	if !ok || h.handle().b == nil {
		ir.Fail(ErrScope, "a slot that was never assigned: it is the zero value of its type; take what Wait gives")
	}
	s := h.handle()
	if s.p != p.p && s.p != nil && p.p != nil {
		p.b.Errorf(op, ErrScope, "a slot of the pipeline of %s in a variable of that of %s; declare one for each", s.p.Pos, p.p.Pos)
		return nil
	}
	return s.v
}

// NewVar declares a variable of a scope with its first slot.
func (p Pipeline[S]) NewVar(s Scope, slot S) SlotVar[S] {
	b, scope := scopeOf(s)
	return SlotVar[S]{p: p, s: scope, v: b.NewVar(scope, p.number(ir.Var, slot))}
}

// Get is the slot that the variable has at this point.
func (v SlotVar[S]) Get() S { return v.p.at(v.s, v.p.b.Get(v.v)) }

// Set assigns to the variable.
func (v SlotVar[S]) Set(slot S) { v.p.b.Set(v.v, v.p.number(ir.Set, slot)) }

// Release gives one tile of a slot back before the others, which its scope, who waited for it, has read. The producers
// fill a slot again when all its tiles are released.
func (s Shared[T]) Release(c Scope) {
	b, scope := scopeOf(c)
	if s.s == nil || s.s.Pipe == nil || s.slot == nil {
		b.Errorf(ir.SlotRelease, ErrScope, "Release of a shared tile that is in no slot: the planner sees when it may be written again; drop the call")
		return
	}
	b.Release(scope, s.s.Pipe, slices.Index(s.s.Pipe.Members, s.s), s.slot)
}
