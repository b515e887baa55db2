package progen

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// step records one statement that is no control flow.
func (p *pool[T]) step(s Step) {
	a, b, c := p.val(s.Kind, s.A), p.val(s.Kind, s.B), p.val(s.Kind, s.C)
	full := a.full && b.full
	switch s.Do {
	case "unary":
		p.unary(s, a)
	case "binary":
		if s.C%3 == 0 && s.Kind != Single {
			b, full = p.val(Single, s.B), a.full
		}
		p.binary(s, a, b, full)
	case "ternary":
		p.ternary(s, a, b, c)
	case "const":
		p.constant(s, a)
	case "select":
		cond := compare(s.Op, a.r, b.r)
		if s.Op%4 == 3 {
			cond = cond.Not().Or(compare(s.Op/2, b.r, c.r)).Xor(compare(s.Op/3, a.r, c.r))
		}
		p.push(s.Kind, value[T]{r: tile.Select(cond, b.r, c.r)}, max(b.bound, c.bound), full && c.full)
	case "reduce":
		p.reduce(s)
	case "fold":
		p.fold(s)
	case "expand":
		p.expand(s)
	case "full":
		if v := p.val(Single, s.A); s.Kind != Single {
			span, open := p.span(s)
			p.push(s.Kind, value[T]{r: tile.Full(p.r.s, span, v.r)}, v.bound, open)
		}
	case "coord":
		p.coord(s)
	case "cast":
		p.cast(s, a)
	case "exact":
		p.exact(s, a)
	case "fill":
		if s.Kind != Single {
			v := p.val(Single, s.C)
			p.push(s.Kind, value[T]{r: a.r.Fill(v.r)}, max(a.bound, v.bound), true)
		}
	case "var":
		a = clampTo(a, p.held())
		p.vars[s.Kind] = append(p.vars[s.Kind], variable[T]{tile.NewVar(p.r.s, a.r), p.held(), a.full})
	case "get":
		if vs := p.vars[s.Kind]; len(vs) > 0 {
			v := vs[s.A%len(vs)]
			p.push(s.Kind, value[T]{r: v.v.Get()}, v.bound, v.full)
		}
	case "set":
		if vs := p.vars[s.Kind]; len(vs) > 0 {
			v := vs[s.B%len(vs)]
			a = clampTo(a, v.bound)
			if v.full && !a.full && s.Kind != Single {
				a.r = a.r.Fill(tile.Const[T](1))
			}
			v.v.Set(a.r)
		}
	case "store":
		p.store(s.Kind, s.B, a)
	default:
		p.memory(s)
	}
}

// held is the bound of variables: small enough to be added up for a while.
func (p *pool[T]) held() float64 { return math.Min(p.limit()/4, 1<<20) }

func (p *pool[T]) unary(s Step, a value[T]) {
	switch s.Op % 3 {
	case 0:
		p.push(s.Kind, value[T]{r: a.r.Neg()}, a.bound, a.full)
	case 1:
		p.push(s.Kind, value[T]{r: a.r.Abs()}, a.bound, a.full)
	default:
		if !p.float() {
			p.push(s.Kind, value[T]{r: a.r.Not()}, 0, a.full)
		}
	}
}

// binary clamps what it takes so that the result is exact.
func (p *pool[T]) binary(s Step, a, b value[T], full bool) {
	op := s.Op
	if p.float() {
		op %= 5
	}
	r, bound := p.apply(op%len(p.ops()), a, b)
	p.push(s.Kind, value[T]{r: r}, bound, full)
}

type binaryOp[T tile.Number] func(tile.Reg[T], tile.Operand[T]) tile.Reg[T]

// ops are the binary ops, those of all types first.
func (p *pool[T]) ops() []binaryOp[T] {
	return []binaryOp[T]{tile.Reg[T].Add, tile.Reg[T].Sub, tile.Reg[T].Mul, tile.Reg[T].Min, tile.Reg[T].Max,
		tile.Reg[T].And, tile.Reg[T].Or, tile.Reg[T].Xor, tile.Reg[T].Shl, tile.Reg[T].Shr, tile.Reg[T].Div, tile.Reg[T].Rem, tile.Reg[T].MulHi}
}

func (p *pool[T]) apply(op int, a, b value[T]) (tile.Reg[T], float64) {
	bound := max(a.bound, b.bound)
	switch op {
	case 0, 1:
		if a.bound+b.bound > p.limit() {
			a, b = clampTo(a, p.limit()/2), clampTo(b, p.limit()/2)
		}
		bound = a.bound + b.bound
	case 2:
		if a.bound*b.bound > p.limit() {
			root := math.Floor(math.Sqrt(p.limit()))
			a, b = clampTo(a, root), clampTo(b, root)
		}
		bound = a.bound * b.bound
	}
	return p.ops()[op](a.r, b.r), bound
}

// constant is an op with a small constant.
func (p *pool[T]) constant(s Step, a value[T]) {
	x := float64(s.A - 4)
	if p.dtype() == dtype.U32 {
		x = float64(s.A)
	}
	b := value[T]{bound: math.Abs(x)}
	op := s.Op % 5
	switch op {
	case 0, 1:
		a = clampTo(a, p.limit()-b.bound)
		b.bound += a.bound
	case 2:
		a = clampTo(a, math.Floor(p.limit()/max(1, b.bound)))
		b.bound *= a.bound
	default:
		b.bound = max(a.bound, b.bound)
	}
	p.push(s.Kind, value[T]{r: p.ops()[op](a.r, tile.Const[T](x))}, b.bound, a.full)
}

// ternary is a*b + c: one op of floats, two of integers, or two that the planner may make one.
func (p *pool[T]) ternary(s Step, a, b, c value[T]) {
	root := math.Floor(math.Sqrt(p.limit() / 2))
	a, b, c = clampTo(a, root), clampTo(b, root), clampTo(c, p.limit()/2)
	r := a.r.Mul(b.r).Add(c.r)
	if p.float() && s.Op%2 == 0 {
		r = a.r.Fma(b.r, c.r)
	}
	p.push(s.Kind, value[T]{r: r}, a.bound*b.bound+c.bound, a.full && b.full && c.full)
}

// reduce reduces a tile of the step's kind to a smaller one.
func (p *pool[T]) reduce(s Step) {
	if s.Kind == Single {
		s.Kind = Matrix
	}
	v := p.val(s.Kind, s.A)
	to, axes, n := Single, []int(nil), 1
	for _, c := range p.r.spans[s.Kind].Shape() {
		n *= c
	}
	if s.Kind == Matrix && s.B%3 < 2 {
		to, axes = Rows, []int{1}
		n = p.r.p.Cols
		if s.B%3 == 1 {
			to, axes, n = Cols, []int{0}, p.r.p.Rows
		}
	}
	op := s.Op % 4
	most := math.Floor(p.limit() / float64(n))
	if op == 0 && most < 1 {
		op = 1
	}
	full := v.full
	switch op {
	case 0:
		v = clampTo(v, most)
		p.push(to, value[T]{r: v.r.Sum(axes...)}, v.bound*float64(n), full)
	case 1:
		p.push(to, value[T]{r: v.r.MaxOf(axes...)}, v.bound, full)
	case 2:
		p.push(to, value[T]{r: v.r.MinOf(axes...)}, v.bound, full)
	default:
		v = clampTo(v, 1)
		p.push(to, value[T]{r: v.r.Prod(axes...)}, v.bound, full)
	}
}

// fold sums what each thread holds, then over the threads.
func (p *pool[T]) fold(s Step) {
	k := []Kind{Matrix, Other, Vector}[s.Op%3]
	v, n := p.val(k, s.A), 1
	for _, c := range p.r.spans[k].Shape() {
		n *= c
	}
	if most := math.Floor(p.limit() / float64(n)); most >= 1 {
		v = clampTo(v, most)
		p.push(Single, value[T]{r: v.r.Fold().Sum()}, v.bound*float64(n), false)
	}
}

// span is the span of the step's kind: without an end, if open, or as loads have it.
func (p *pool[T]) span(s Step) (span tile.Span, open bool) {
	if s.C%2 == 0 {
		return p.r.spans[s.Kind], p.r.open()
	}
	return p.vals[s.Kind][0].r.Span(), false
}

// expand repeats a vector over a tile that ends as loads do.
func (p *pool[T]) expand(s Step) {
	k, axis := Rows, 1
	if s.B%2 == 1 {
		k, axis = Cols, 0
	}
	v := p.val(k, s.A)
	p.push(Matrix, value[T]{r: tile.Expand(v.r, p.vals[Matrix][0].r.Span(), axis)}, v.bound, false)
}

// maxCount bounds loop variables and numbers in the batch.
const maxCount = 8

// coord is the coordinates along an axis; of a single value the loop's variable, or the number in the batch.
func (p *pool[T]) coord(s Step) {
	if s.Kind == Single {
		i := p.r.batch
		if n := len(p.r.at); n > 0 {
			i = p.r.at[n-1]
		}
		p.number(i, maxCount)
		return
	}
	span, open := p.span(s)
	axis := s.A % span.Rank()
	p.push(s.Kind, value[T]{r: tile.Cast[T](tile.Coord(span, axis))}, float64(span.Shape()[axis]), open)
}

// cast gives the other type's values one of this type's.
func (p *pool[T]) cast(s Step, a value[T]) {
	to := p.r.sides[1]
	if p.second {
		to = p.r.sides[0]
	}
	const most = 100 // of integers, which may have any value
	a.bound = min(a.bound, p.limit())
	if t := to.dtype(); t.IsFloat() && p.float() {
		a = clampTo(a, limit(t))
	} else if t.IsFloat() {
		a.bound = most
		a.r = a.r.Min(tile.Const[T](most))
		if p.dtype() != dtype.U32 {
			a.r = a.r.Max(tile.Const[T](-most))
		}
	}
	to.take(s.Kind, converted(to.dtype(), a.r), a.bound, a.full)
}

// converted is a Cast to a type that is known at run time.
func converted[T tile.Number](to dtype.Type, x tile.Reg[T]) any {
	switch to {
	case dtype.F32:
		return tile.Cast[tile.F32](x)
	case dtype.BF16:
		return tile.Cast[tile.BF16](x)
	case dtype.F16:
		return tile.Cast[tile.F16](x)
	case dtype.I32:
		return tile.Cast[tile.I32](x)
	case dtype.U32:
		return tile.Cast[tile.U32](x)
	}
	return tile.Cast[tile.I64](x)
}

// exact is a function at a place where its result is an integer; of integers, inline PTX.
func (p *pool[T]) exact(s Step, a value[T]) {
	if t := p.dtype(); !p.float() {
		if t != dtype.I64 {
			b := p.val(s.Kind, s.B)
			p.push(s.Kind, value[T]{r: tile.PTX[T]("xor.b32 %0, %1, %2;", func(in []uint64) uint64 { return in[0] ^ in[1] }, a.r, b.r)}, 0, a.full && b.full)
		}
		return
	}
	switch s.Op % 3 {
	case 0:
		a = clampTo(a, math.Floor(math.Sqrt(p.limit())))
		p.push(s.Kind, value[T]{r: a.r.Mul(a.r).Sqrt()}, a.bound, a.full)
	case 1:
		c := float64(1 + s.C)
		a = clampTo(a, math.Floor(p.limit()/c))
		p.push(s.Kind, value[T]{r: a.r.Mul(tile.Const[T](c)).Div(tile.Const[T](c))}, a.bound, a.full)
	default:
		p.push(s.Kind, value[T]{r: a.r.Sub(a.r).Exp()}, 1, a.full)
	}
}
