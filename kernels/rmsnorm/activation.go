package rmsnorm

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/tile"
)

// Activation is the function of the gate in the gated form. The zero value is none.
type Activation uint8

// The activations: 1/(1 + e^-z), and z times that.
const (
	Sigmoid Activation = iota + 1
	Silu
)

// String is the name in kernels' and cases' names: none, sigmoid or silu.
func (a Activation) String() string {
	switch a {
	case 0:
		return "none"
	case Sigmoid:
		return "sigmoid"
	case Silu:
		return "silu"
	}
	return fmt.Sprintf("Activation(%d)", uint8(a))
}

// known reports whether a is one of the activations.
func (a Activation) known() bool { return a == Sigmoid || a == Silu }

// quick reports whether approximate functions do: their error, a few units of 2^-23, is lost where results are rounded
// to 16 bits. The precise ones would keep these kernels waiting for arithmetic instead of memory.
func (c Config) quick() bool { return c.X.Is16() }

// gated is u*act(z).
func (c Config) gated(block tile.Block, u, z tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	switch {
	case c.quick() && c.Act == Sigmoid:
		return u.Mul(z.SigmoidApprox())
	case c.quick():
		return u.Mul(z.SiluApprox())
	}
	return c.precise(block, u, z)
}

// precise is u/(1 + e^-z), or u*z/(1 + e^-z), rounded about once: what rounding takes from 1 + e^-z and from u*z is
// known exactly (Fast2Sum, and the error of a product by fma) and, with the remainder of the quotient, divided and
// added. A z below -87 counts as that, so that the sum is finite: the result is then 0 to within 2e-36 of u.
func (c Config) precise(block tile.Block, u, z tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	full := func(x float32) tile.Reg[tile.F32] { return tile.Full(block, z.Span(), tile.F32(x)) }
	z = tile.Select(z.Lt(full(-87)), full(-87), z) // a NaN stays one
	e := z.Neg().Exp()
	d := e.Add(tile.F32(1))
	lost := e.Sub(d.Sub(tile.F32(1))) // by d
	p := u
	if c.Act == Silu {
		p = u.Mul(z)
	}
	q := p.Div(d)
	rest := q.Neg().Fma(d, p)
	if c.Act == Silu {
		rest = rest.Add(u.Fma(z, p.Neg()))
	}
	y := q.Add(rest.Sub(q.Mul(lost)).DivApprox(d))
	return tile.Select(q.Abs().Le(full(math.MaxFloat32)), y, q) // of infinities there is no remainder
}

// slope is act(z) and act'(z), which share the exponential. 1 - s is the sigmoid of -z: as a difference it would lose
// what s is short of 1 where z is large.
func (c Config) slope(scope tile.Scope, z tile.Reg[tile.F32]) (act, slope tile.Reg[tile.F32]) {
	var s, rest tile.Reg[tile.F32]
	if c.quick() { // e^-z times s, which is 1 where that is infinity times 0
		s = z.SigmoidApprox()
		rest = z.Neg().ExpApprox().Mul(s).Min(tile.F32(1))
	} else { // with e = e^-|z| the larger of the two is 1/(1 + e), and the smaller e times that
		e := z.Abs().Neg().Exp()
		large := tile.Full(scope, z.Span(), tile.F32(1)).Div(e.Add(tile.F32(1)))
		small := e.Mul(large)
		positive := z.Ge(tile.F32(0))
		s, rest = tile.Select(positive, large, small), tile.Select(positive, small, large)
	}
	if c.Act == Sigmoid {
		return s, s.Mul(rest)
	}
	act = z.Mul(s)
	return act, act.Fma(rest, s)
}
