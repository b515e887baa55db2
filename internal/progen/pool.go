package progen

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// ports are the arguments of one type; A, AO and P are the first type's only.
type ports[T tile.Number] struct {
	X, V, W, S, Y, R, C, O, B, A, AO, P tile.Global[T]
}

// value is a value with what is known of it.
type value[T tile.Number] struct {
	r     tile.Reg[T]
	bound float64 // of floats: the largest absolute value
	full  bool    // it has no extents
}

// variable is a Var likewise; what is set is clamped to its bound.
type variable[T tile.Number] struct {
	v     tile.Var[T]
	bound float64
	full  bool
}

// pool is the values and variables of one type that a step may name.
type pool[T tile.Number] struct {
	r      *recorder
	ports  ports[T]
	second bool
	vals   [kinds][]value[T]
	vars   [kinds][]variable[T]
}

// dataBound bounds the input data.
const dataBound = 11

// limit is up to where a float type has all integers; integers wrap and have none.
func limit(t dtype.Type) float64 {
	switch t {
	case dtype.F32:
		return 1 << 24
	case dtype.F16:
		return 1 << 11
	case dtype.BF16:
		return 1 << 8
	}
	return math.Inf(1)
}

func (p *pool[T]) dtype() dtype.Type {
	var t T
	return t.DType()
}

func (p *pool[T]) limit() float64 { return limit(p.dtype()) }

func (p *pool[T]) float() bool { return p.dtype().IsFloat() }

func (p *pool[T]) push(k Kind, v value[T], bound float64, full bool) {
	v.bound, v.full = bound, full
	p.vals[k] = append(p.vals[k], v)
}

func (p *pool[T]) take(k Kind, x any, bound float64, full bool) {
	p.push(k, value[T]{r: x.(tile.Reg[T])}, bound, full)
}

func (p *pool[T]) val(k Kind, i int) value[T] { return p.vals[k][i%len(p.vals[k])] }

// clampTo makes a float value's absolute value at most b, an integer, and leaves smaller ones alone.
func clampTo[T tile.Number](v value[T], b float64) value[T] {
	var t T
	if !t.DType().IsFloat() || v.bound <= b {
		return v
	}
	v.r, v.bound = v.r.Min(tile.Const[T](b)).Max(tile.Const[T](-b)), b
	return v
}

// mark remembers what there is; undo drops what came since.
func (p *pool[T]) mark() (undo func()) {
	vals, vars := p.vals, p.vars
	return func() {
		for k := range kinds {
			p.vals[k], p.vars[k] = vals[k][:len(vals[k]):len(vals[k])], vars[k][:len(vars[k]):len(vars[k])]
		}
	}
}

// begin loads one value of each kind.
func (p *pool[T]) begin() {
	s, b := p.r.s, p.r.batch
	spans := p.r.spans
	p.push(Matrix, value[T]{r: tile.Load(s, p.ports.X.At(b, 0), spans[Matrix])}, dataBound, false)
	p.push(Other, value[T]{r: tile.Load(s, p.ports.X.At(b, 1), spans[Other])}, dataBound, false)
	p.push(Rows, value[T]{r: tile.Load(s, p.ports.V.At(b), spans[Rows])}, dataBound, false)
	p.push(Cols, value[T]{r: tile.Load(s, p.ports.W.At(b), spans[Cols])}, dataBound, false)
	p.push(Vector, value[T]{r: tile.Load(s, p.ports.W.At(b), spans[Vector])}, dataBound, false)
	p.push(Single, value[T]{r: tile.LoadScalar(s, p.ports.S.At(b))}, dataBound, false)
}

// end stores the last value of each kind.
func (p *pool[T]) end() {
	for k := range kinds {
		p.store(k, 1, p.vals[k][len(p.vals[k])-1])
	}
}

// store writes a value to one of the two slots of its kind: kinds that share an output have slots of their own, since
// nothing orders two stores of one element by different threads.
func (p *pool[T]) store(k Kind, slot int, v value[T]) {
	out := [kinds]tile.Global[T]{p.ports.Y, p.ports.Y, p.ports.R, p.ports.C, p.ports.C, p.ports.O}[k]
	slot %= Slots / 2
	if k == Other || k == Vector {
		slot += Slots / 2
	}
	tile.Store(p.r.s, out.At(p.r.batch, slot), v.r)
}

// number adds an index, which is at least 0.
func (p *pool[T]) number(i tile.Index, bound float64) {
	p.push(Single, value[T]{r: tile.Cast[T](i.Int())}, bound, false)
}

// below compares two single values.
func (p *pool[T]) below(a, b, op int) tile.Reg[tile.Bool] {
	return compare(op, p.val(Single, a).r, p.val(Single, b).r)
}

func compare[T tile.Number](op int, a, b tile.Reg[T]) tile.Reg[tile.Bool] {
	switch op % 6 {
	case 0:
		return a.Lt(b)
	case 1:
		return a.Le(b)
	case 2:
		return a.Gt(b)
	case 3:
		return a.Ge(b)
	case 4:
		return a.Eq(b)
	}
	return a.Ne(b)
}
