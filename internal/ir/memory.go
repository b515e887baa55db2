package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
)

// Place is a buffer with the element at which an access starts.
type Place struct {
	Arg    *Arg        // a global, or
	Shared *SharedTile // a shared tile, and
	Slot   bool        // of a slot of a pipeline: the first offset is the slot
	Peer   bool        // of another block of the cluster
	Rank   *Value      // of Peer: that block's number in the cluster, i32 of rank 0
	Offs   []*Value    // of the leading dimensions, i32 of rank 0; those that are missing are 0
}

// Dims are the buffer's dimensions.
func (p Place) Dims() []DimSpec {
	if p.Arg != nil {
		return p.Arg.Dims
	}
	var ds []DimSpec
	for _, n := range p.Shared.Shape {
		ds = append(ds, DimSpec{Size: n})
	}
	return ds
}

// Name is the buffer's name in messages: an argument's field, or where a shared tile, which has no name of the
// author's, was made.
func (p Place) Name() string {
	if p.Arg != nil {
		return p.Arg.Field
	}
	return "the shared tile of " + p.Shared.Pos.String()
}

// NewShared adds a tile in shared memory.
func (b *Builder) NewShared(name string, dt dtype.Type, shape []int) *SharedTile {
	s := &SharedTile{Name: name, DT: dt, Shape: shape, In: b.cur, Pos: Here(1)}
	b.Kernel.Shared = append(b.Kernel.Shared, s)
	return s
}

// place checks an access of scope s with a tile of a span and returns its offsets, one a dimension after the rank of a
// peer, and the span with the extents that the buffer implies.
func (b *Builder) place(op Op, s Scope, p Place, span *Span) ([]*Value, *Span, bool) {
	name, dims := Table[op].Go, p.Dims()
	if b.poisoned(op, p.Offs...) || !b.executes(op, s) {
		return nil, nil, false
	}
	switch {
	case p.Shared != nil && !b.reaches(p.Shared.In):
		in := p.Shared.In
		b.Errorf(op, ErrScope, "a shared tile made in %s at %s is used outside it: it ends with its region; make it before the %s",
			in.kind(), p.Shared.Pos, Table[in.Owner.Op].Go)
		return nil, nil, false
	case p.Shared != nil && p.Shared.Pipe != nil && !p.Slot:
		b.Errorf(op, ErrScope, "%s of the shared tile of %s, which the pipeline of %s hands over slot by slot; take it from the slot that Acquire or Wait gives", name, p.Shared.Pos, p.Shared.Pipe.Pos)
		return nil, nil, false
	case p.Shared != nil && s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster of %s: shared memory belongs to one block; name the block as the scope, and tile.Peer for another block's", name, p.Name())
		return nil, nil, false
	case p.Shared != nil && p.Shared.Swizzle.Bits() > 0 && (op == CopyBulk || op == StoreBulk):
		b.Errorf(op, ErrLayout, "%s of %s, which has a swizzle: a bulk copy moves bytes as they lie; use CopyTensor and StoreTensor, or drop the swizzle", name, p.Name())
		return nil, nil, false
	case p.Peer && (p.Rank == nil || !b.uniform(op, s, "the rank of a peer", p.Rank)):
		return nil, nil, false
	case span.Rank() > len(dims):
		b.Errorf(op, ErrShape, "%s of a tile of %s on %s, which has %s; use a span of rank %d", name, shape(span), p.Name(), Count(len(dims), "dimension"), len(dims))
		return nil, nil, false
	case span != nil && span.Scope != s:
		b.Errorf(op, ErrScope, "%s at scope %v of a tile of scope %v; name one scope for both", name, s, span.Scope)
		return nil, nil, false
	}
	offs := slices.Clone(p.Offs)
	for i, o := range offs {
		if !b.uniform(op, s, "an offset", o) {
			return nil, nil, false
		}
		if n, ok := intConst(o); ok {
			if n < 0 {
				b.Errorf(op, ErrShape, "%s at offset %d of %s's dimension %d: use an offset of at least 0", name, n, p.Name(), i)
				return nil, nil, false
			}
			if size := dims[i].Size; dims[i].Symbol == nil && n >= size {
				b.Errorf(op, ErrShape, "%s at offset %d of %s's dimension %d, which has %s; use an offset from 0 to %d", name, n, p.Name(), i, Count(size, "element"), size-1)
				return nil, nil, false
			}
		}
	}
	for len(offs) < len(dims) {
		offs = append(offs, b.Int(0))
	}
	if p.Shared != nil {
		p.Shared.used = true
	}
	clipped := b.clip(op, p, span, offs)
	if p.Peer {
		offs = slices.Insert(offs, 0, p.Rank)
	}
	return offs, clipped, true
}

// clip gives each axis without an extent what the buffer has left from the offset on; none where the whole capacity
// is certain to lie inside.
func (b *Builder) clip(op Op, p Place, span *Span, offs []*Value) *Span {
	if span == nil {
		return nil
	}
	dims, lead := p.Dims(), len(offs)-span.Rank()
	out := *span
	out.Extent = make([]*Value, span.Rank())
	copy(out.Extent, span.Extent)
	for i, e := range out.Extent {
		if e != nil {
			continue
		}
		dim, off, size := dims[lead+i], offs[lead+i], span.Dist.Shape[i]
		if _, last := bounds(off); dim.Symbol == nil && last+size <= dim.Size {
			continue
		}
		left := b.Index(Sub, b.Dim(dim), off)
		if op != CopyAsync { // which takes a part of a row, whatever its length
			LimitSymbol(left, size)
		}
		out.Extent[i] = left
	}
	out.Extent = trimExtents(out.Extent)
	if slices.Equal(out.Extent, span.Extent) {
		return span
	}
	return &out
}

// LimitSymbol notes that a capacity bounds an extent; where that is a dimension itself, launch refuses more.
func LimitSymbol(extent *Value, capacity int) {
	if extent == nil || extent.Op != Dim {
		return
	}
	s := extent.Attr.(*Symbol)
	if s.Max == 0 || capacity < s.Max {
		s.Max = capacity
	}
}

// Load records a load; span nil: one value.
func (b *Builder) Load(s Scope, p Place, span *Span, how How) *Value {
	offs, span, ok := b.place(Load, s, p, span)
	if !ok || !b.ordered(Load, p, span, how) {
		return nil
	}
	dt := dtype.Invalid
	if p.Arg != nil {
		p.Arg.Read, dt = true, p.Arg.DT
	} else {
		dt = p.Shared.DT
		if how.Cache != CacheDefault {
			b.Errorf(Load, ErrTarget, "cache hint %v on %s: hints are for global memory; drop it", how.Cache, p.Name())
			return nil
		}
	}
	return b.emit(&Value{Op: Load, Type: Type{DT: dt, Span: span}, Args: offs, Scope: s,
		Attr: &Access{Arg: p.Arg, Shared: p.Shared, Peer: p.Peer, How: how}})
}

// Store records a store or an atomic of values (one; two for AtomicCAS). An atomic of rank 0 returns the old value.
func (b *Builder) Store(op Op, s Scope, p Place, how How, vals ...*Value) *Value {
	if b.poisoned(op, vals...) {
		return nil
	}
	name, c := Table[op].Go, how.Cache
	dt := vals[0].Type.DT
	span, f := (*Span)(nil), (*fault)(nil)
	for _, v := range vals {
		if v.Type.Span == nil && !b.uniform(op, s, "the value", v) {
			return nil
		}
	}
	if span, _, f = merge(op, vals); f != nil {
		b.fault(op, f)
		return nil
	}
	offs, span, ok := b.place(op, s, p, span)
	if !ok {
		return nil
	}
	switch {
	case c == CacheReadOnly:
		b.Errorf(op, ErrTarget, "%s with the read-only hint: the read-only path cannot write; use another hint, or none", name)
		return nil
	case op != Store && p.Shared != nil:
		b.Errorf(op, ErrTarget, "%s on %s: atomics work on global memory; reduce, then Store", name, p.Name())
		return nil
	case p.Shared != nil && c != CacheDefault:
		b.Errorf(op, ErrTarget, "cache hint %v on %s: hints are for global memory; drop it", c, p.Name())
		return nil
	case op != Store && !Table[op].Domain.Has(dt):
		b.Errorf(op, ErrDType, "%s has no %v form: it takes %v; Cast first", name, dt, Table[op].Domain)
		return nil
	}
	if !b.ordered(op, p, span, how) {
		return nil
	}
	if p.Arg != nil {
		p.Arg.Written = true
		p.Arg.Read = p.Arg.Read || op != Store
	}
	t := Type{Span: span}
	if op != Store && span == nil {
		t.DT = dt
	}
	return b.emit(&Value{Op: op, Type: t, Args: append(slices.Clone(vals), offs...), Scope: s,
		Attr: &Access{Arg: p.Arg, Shared: p.Shared, Peer: p.Peer, How: how}})
}
