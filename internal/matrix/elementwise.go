package matrix

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/tile"
)

var elementwise = &family{
	name: "elementwise", doc: "arithmetic, comparisons and selections.", ways: allWays,
	bodies: bodies{f32: arithmetic[tile.F32], bf16: arithmetic[tile.BF16], f16: arithmetic[tile.F16], i32: arithmetic[tile.I32]},
	want: func(p *problem) {
		p.each(func(_, _ int, x float64) float64 {
			a := 2*x + x*x - 1
			b := max(a, -x)
			if c := math.Abs(x) + 4; b > c {
				return c
			}
			return min(b, x+5)
		})
	},
}

func arithmetic[T tile.Number](e *env[T]) {
	c := func(x float64) tile.Operand[T] { return tile.Const[T](x) }
	x := e.load()
	a := x.Mul(c(2)).Add(x.Mul(x)).Sub(c(1))
	b := a.Max(x.Neg())
	bound := x.Abs().Add(c(4))
	e.store(tile.Select(b.Gt(bound), tile.Operand[T](bound), b.Min(x.Add(c(5)))))
}

// maths are functions, in f32, of numbers at which none is large. The bars are some units in the last place of the
// largest result, 20.
var maths = &family{
	name: "maths", doc: "functions.", ways: []way{warpwise, stripes[1]},
	bodies: bodies{f32: functions[tile.F32], bf16: functions[tile.BF16], f16: functions[tile.F16]},
	bar: func(t dtype.Type) float64 {
		switch t {
		case dtype.BF16:
			return 0x1p-7
		case dtype.F16:
			return 0x1p-10
		}
		return 0x1p-21
	},
	want: func(p *problem) {
		p.each(func(_, _ int, x float64) float64 {
			switch p.pick(4) {
			case 0:
				return math.Exp(x)
			case 1:
				return math.Sqrt(math.Abs(x)) + math.Log2(math.Abs(x)+1)
			case 2:
				return 1 / math.Sqrt(math.Abs(x)+1)
			}
			return math.Tanh(x) + 1/(1+math.Exp(-x))
		})
	},
}

func functions[T tile.Float](e *env[T]) {
	x := e.load()
	one := tile.Const[T](1)
	switch e.pick(4) {
	case 0:
		e.store(x.Exp())
	case 1:
		e.store(x.Abs().Sqrt().Add(x.Abs().Add(one).Log2()))
	case 2:
		e.store(x.Abs().Add(one).Rsqrt())
	default:
		e.store(x.Tanh().Add(x.Sigmoid()))
	}
}

var mapped = &family{
	name: "map", doc: "functions of rows, columns and values.", ways: allWays,
	bodies: bodies{f32: mapTile[tile.F32], bf16: mapTile[tile.BF16], i32: mapTile[tile.I32]},
	want: func(p *problem) {
		p.each(func(i, j int, x float64) float64 { return x + float64(2*i-j) })
	},
}

func mapTile[T tile.Number](e *env[T]) {
	e.store(tile.Map(e.load(), func(row, col tile.Reg[tile.I32], v tile.Reg[T]) tile.Reg[T] {
		return v.Add(tile.Cast[T](row.Mul(tile.I32(2)).Sub(col)))
	}))
}

// masks are two diagonals and a predicate.
var masks = &family{
	name: "mask", doc: "masks along diagonals and by predicates.", ways: allWays,
	bodies: bodies{f32: mask[tile.F32], bf16: mask[tile.BF16]},
	want: func(p *problem) {
		shift := p.pick(5) - 2
		p.each(func(i, j int, x float64) float64 {
			a, b := x, -x
			if j > i+shift {
				a = 5
			}
			if j >= i-shift {
				b = 7
			}
			if x > 1 {
				return a
			}
			return a + b
		})
	},
}

func mask[T tile.Number](e *env[T]) {
	x, shift := e.load(), e.pick(5)-2
	a, b := tile.Causal(x, shift, tile.Const[T](5)), tile.CausalStrict(x.Neg(), -shift, tile.Const[T](7))
	e.store(a.Add(tile.Mask(b, x.Le(tile.Const[T](1)), tile.Const[T](0))))
}

// casts go to another type and back, of numbers that neither has.
var casts = &family{
	name: "cast", doc: "conversions, to another type and back.", ways: allWays,
	bodies: bodies{f32: castTile[tile.F32], bf16: castTile[tile.BF16], f16: castTile[tile.F16], i32: castTile[tile.I32]},
	want: func(p *problem) {
		to := casted(p.module.dt, p.body)
		p.each(func(i, j int, x float64) float64 {
			x = p.round(x * 37)
			if to == dtype.I32 {
				return math.Trunc(x)
			}
			return p.round(exact.Narrow(to, x))
		})
	},
}

// casted is the type that the tiles of a body are converted to.
func casted(from dtype.Type, b body) dtype.Type {
	all := []dtype.Type{dtype.F32, dtype.BF16, dtype.F16, dtype.I32}
	for i, t := range all {
		if t == from {
			all = append(all[:i], all[i+1:]...)
			break
		}
	}
	return all[b.pick(3)]
}

func castTile[T tile.Number](e *env[T]) {
	x := e.load().Mul(tile.Const[T](37))
	switch casted(e.m.dt, e.body) {
	case dtype.F32:
		e.store(tile.Cast[T](tile.Cast[tile.F32](x)))
	case dtype.BF16:
		e.store(tile.Cast[T](tile.Cast[tile.BF16](x)))
	case dtype.F16:
		e.store(tile.Cast[T](tile.Cast[tile.F16](x)))
	default:
		e.store(tile.Cast[T](tile.Cast[tile.I32](x)))
	}
}
