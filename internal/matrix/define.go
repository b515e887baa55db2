package matrix

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// args are the arguments of all modules.
type args[T tile.Number] struct {
	X       tile.Global[T]        `tile:"4,2,64,64"` // a tile and a second operand for each worker
	Y       tile.Global[T]        `tile:"4,64,64"`   // what the tiles in shared memory hold in the end
	F       tile.Global[tile.F32] `tile:"4,64,64"`   // of families whose results are f32, in the place of Y
	Body    tile.Scalar[tile.I32]
	Workers tile.Scalar[tile.I32] // warps that take part, each with a tile
	Rows    tile.Scalar[tile.I32] // the valid part of clipped tiles
	Cols    tile.Scalar[tile.I32]
}

// env is what a body works with.
type env[T tile.Number] struct {
	body
	m         *module
	k         *tile.Builder
	a         args[T]
	scope     scope
	worker    any // the number of the tile: an int or a tile.Index
	validRows tile.Index
	validCols tile.Index
	s         tile.Shared[T]         // the tiles in shared memory
	more      map[int]tile.Shared[T] // others, of families that have some, by their columns
	span      tile.Span              // of the body's tile
}

// scope is what warps, blocks and warpgroups are.
type scope interface {
	tile.Scope
	Striped2(rows, cols, vec, across int) tile.Span
}

// fragmented is a scope that has fragments.
type fragmented = tile.TensorScope

// at is the worker's tile in shared memory, from an element on.
func (e *env[T]) at(offsets ...any) tile.View[T] {
	return e.s.At(append([]any{e.worker}, offsets...)...)
}

// load is the body's tile.
func (e *env[T]) load() tile.Reg[T] { return tile.Load(e.scope, e.at(), e.span) }

// store puts a tile, or a vector, back.
func (e *env[T]) store(x tile.Reg[T], offsets ...any) { tile.Store(e.scope, e.at(offsets...), x) }

// spread is a span of the module's way.
func (e *env[T]) spread(l string, rows, cols int) tile.Span {
	switch l {
	case "fragment":
		return e.scope.(fragmented).Fragment(rows, cols)
	case "turned":
		return e.scope.(fragmented).Fragment(cols, rows).Transpose()
	}
	vec, across := stripe(rows, cols)
	return e.scope.Striped2(rows, cols, vec, across)
}

// stripe is how many neighbouring elements a thread has of a striped tile, and how many threads share a row.
func stripe(rows, cols int) (vec, across int) {
	if (rows+cols)/base%2 == 1 {
		return 2, 8
	}
	return 4, 4
}

// ends clips a span of the body's tile as the body is.
func (e *env[T]) ends(s tile.Span) tile.Span {
	if e.clip {
		return s.Clip(e.validRows, e.validCols)
	}
	return s
}

// pick chooses by the size of the body's tile, so that neighbours in the matrix differ.
func (b body) pick(n int) int { return (b.rows/base + 2*b.cols/base) % n }

// define records the module.
func (m *module) define() (*tile.Kernel, error) {
	switch m.dt {
	case dtype.F32:
		return define(m, m.family.bodies.f32)
	case dtype.BF16:
		return define(m, m.family.bodies.bf16)
	case dtype.F16:
		return define(m, m.family.bodies.f16)
	case dtype.I32:
		return define(m, m.family.bodies.i32)
	case dtype.E4M3:
		return define(m, m.family.bodies.e4m3)
	case dtype.E5M2:
		return define(m, m.family.bodies.e5m2)
	case dtype.I8:
		return define(m, m.family.bodies.i8)
	}
	return nil, fmt.Errorf("matrix: %s of %v", m.family.name, m.dt)
}

func define[T tile.Number](m *module, f func(*env[T])) (*tile.Kernel, error) {
	return tile.Define(m.KernelName(), func(k *tile.Builder, a args[T]) {
		e := &env[T]{m: m, k: k, a: a, worker: 0, validRows: tile.AsIndex(a.Rows.Reg()), validCols: tile.AsIndex(a.Cols.Reg())}
		switch m.way.kind {
		case perWarp:
			w := k.Warp()
			e.scope, e.worker = w, w.Index()
			tile.If(w, w.Index().Int().Lt(a.Workers), func() { e.all(f) })
		case perBlock:
			e.scope = k.Block()
			e.all(f)
		case perGroup:
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				e.scope = c
				e.all(f)
			}))
		}
	}, tile.Threads(32*m.way.warps), tile.Targets(m.targets()...), tile.Doc("Of the conformance matrix: "+m.family.doc))
}

// targets are those that the module claims.
func (m *module) targets() []string {
	if m.family.targets != nil {
		return m.family.targets
	}
	return []string{"sm_90a", "sm_120a"}
}

// all records the way of a tile: to shared memory, through the body that the launch names, and back.
func (e *env[T]) all(f func(*env[T])) {
	vec := 16 / e.m.dt.Size()
	whole, w := e.scope.Striped2(side, side, vec, min(8, side/vec)), e.m.family
	if w.results != toGlobal {
		e.s = tile.NewShared[T](e.k, e.m.tiles(), side, side)
		if w.swizzled {
			e.s = e.s.Swizzle(e.m.variant.swizzle)
		}
		tile.Store(e.scope, e.at(), tile.Load(e.scope, e.a.X.At(e.worker), whole))
	}
	e.more = map[int]tile.Shared[T]{}
	for _, cols := range w.more {
		if e.m.variant.serves(e.m.dt, cols) {
			e.more[cols] = tile.NewShared[T](e.k, e.m.tiles(), side, cols).Swizzle(e.m.variant.swizzle)
		}
	}
	if w.results == ofProducts {
		tile.Store(e.scope, e.more[side].At(e.worker), tile.Load(e.scope, e.a.X.At(e.worker, 1), whole))
	}
	for _, e.body = range e.m.bodies() {
		tile.If(e.scope, e.a.Body.Reg().Eq(tile.I32(e.number)), func() {
			e.span = e.ends(e.spread(e.layout, e.rows, e.cols))
			f(e)
		})
	}
	if w.results == inPlace {
		tile.Store(e.scope, e.a.Y.At(e.worker), tile.Load(e.scope, e.at(), whole))
	}
}
