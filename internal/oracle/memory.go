package oracle

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// sharedPlace is a shared tile of one block.
type sharedPlace struct {
	s     *ir.SharedTile
	block int
}

// memory is a buffer.
type memory struct {
	name    string
	dt      dtype.Type
	dims    []int
	data    []Num
	written []bool // of shared memory; nil: all of it
}

// at is the element of a buffer at coordinates, or a fault.
func (b *memory) at(v *ir.Value, at []int) int {
	i := 0
	for d, c := range at {
		if c < 0 || c >= b.dims[d] {
			fail(v, "%v at %v of %s, whose sizes are %v", v.Op, at, b.name, b.dims)
		}
		i = i*b.dims[d] + c
	}
	return i
}

func (b *memory) get(v *ir.Value, at []int) Num {
	i := b.at(v, at)
	if b.written != nil && !b.written[i] {
		fail(v, "%v at %v of %s, which nothing has written", v.Op, at, b.name)
	}
	return b.data[i]
}

func (b *memory) put(v *ir.Value, at []int, x Num) {
	i := b.at(v, at)
	b.data[i] = x
	if b.written != nil {
		b.written[i] = true
	}
}

func (m *machine) global(a *ir.Arg) *memory {
	g := m.l.Arrays[a.Name]
	if g == nil {
		panic(fault{msg: "the launch gives no " + a.Name})
	}
	return &memory{name: a.Field, dt: g.DT, dims: g.Dims, data: g.Data}
}

func (m *machine) sharedOf(s *ir.SharedTile, block int) *memory {
	p := sharedPlace{s, block}
	if m.shared[p] == nil {
		n := s.Elems()
		m.shared[p] = &memory{name: "the shared tile of " + s.Pos.String(), dt: s.DT, dims: s.Shape, data: make([]Num, n), written: make([]bool, n)}
	}
	return m.shared[p]
}

// offsets are operands of rank 0.
func (m *machine) offsets(vs []*ir.Value, w int) []int {
	var out []int
	for _, v := range vs {
		out = append(out, m.index(v, w))
	}
	return out
}

// from adds a tile's coordinates to the last offsets.
func from(offs, at []int) []int {
	out := slices.Clone(offs)
	for a, c := range at {
		out[len(offs)-len(at)+a] += c
	}
	return out
}

// access executes loads, stores and atomics.
func (m *machine) access(v *ir.Value, w int) {
	a := v.Attr.(*ir.Access)
	n := len(v.Args) - a.Dims()
	offs := m.offsets(v.Args[n:], w)
	var buf *memory
	switch block := m.unit(ir.ScopeBlock, w); {
	case a.Arg != nil:
		buf = m.global(a.Arg)
	case a.Peer:
		size := max(1, m.k.Cluster)
		if offs[0] < 0 || offs[0] >= size {
			fail(v, "the peer of rank %d in a cluster of %d", offs[0], size)
		}
		buf, offs = m.sharedOf(a.Shared, block/size*size+offs[0]), offs[1:]
	default:
		buf = m.sharedOf(a.Shared, block)
	}
	box := m.empty(v.Type.Span, w)
	if v.Op == ir.Load {
		box.valid(func(i int, at []int) {
			p := from(offs, at)
			if row := len(p) - 2; a.Shift == 0 || p[row] >= 0 && p[row] < buf.dims[row] { // rows that a shift brings in are zero
				box.v[i] = buf.get(v, p)
			}
		})
		m.set(v, w, box)
		return
	}
	var vals []tile
	for _, x := range v.Args[:n] {
		vals = append(vals, m.val(x, w))
	}
	operand := func(j, i int) Num {
		if vals[j].shape == nil {
			return vals[j].v[0]
		}
		return vals[j].v[i]
	}
	box.valid(func(i int, at []int) {
		to := from(offs, at)
		if v.Op == ir.Store {
			buf.put(v, to, operand(0, i))
			return
		}
		old := buf.get(v, to)
		buf.put(v, to, atomic(v, buf.dt, old, operand(0, i), operand(n-1, i)))
		box.v[i] = old
	})
	if v.Type.DT != dtype.Invalid {
		m.set(v, w, box)
	}
}

// atomic is what an atomic leaves in memory. x is the operand, or what AtomicCAS compares with; y is the last operand.
func atomic(v *ir.Value, dt dtype.Type, old, x, y Num) Num {
	switch v.Op {
	case ir.AtomicAdd:
		return round(dt, combine(ir.Sum, dt, old, x))
	case ir.AtomicMax:
		return combine(ir.MaxOf, dt, old, x)
	case ir.AtomicMin:
		return combine(ir.MinOf, dt, old, x)
	case ir.AtomicExch:
		return x
	case ir.AtomicCAS:
		if old == x {
			return y
		}
		return old
	}
	fail(v, "the oracle does not know %v", v.Op)
	return old
}

// copyAsync fills its box at once, with zeros past the edge of the source.
func (m *machine) copyAsync(v *ir.Value, w int) {
	c := v.Attr.(*ir.CopyInfo)
	n := len(c.Dst.Shape)
	to, src := m.offsets(v.Args[:n], w), m.offsets(v.Args[n:], w)
	dst, g := m.sharedOf(c.Dst, m.unit(ir.ScopeBlock, w)), m.global(c.Src)
	each(v.Type.Span.Dist.Shape, func(_ int, at []int) {
		p, x := from(src, at), Num{}
		inside := true
		for d, c := range p {
			inside = inside && c < g.dims[d]
		}
		if inside {
			x = g.get(v, p)
		}
		dst.put(v, from(to, at), x)
	})
}
