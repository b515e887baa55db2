package rmsnorm

import (
	"fmt"

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

// gated is u*act(z). The precise form divides u itself, which saves a rounding.
func (c Config) gated(u, z tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	switch {
	case c.quick() && c.Act == Sigmoid:
		return u.Mul(z.SigmoidApprox())
	case c.quick():
		return u.Mul(z.SiluApprox())
	case c.Act == Silu:
		u = u.Mul(z)
	}
	return u.Div(z.Neg().Exp().Add(tile.F32(1)))
}

// slope is act(z) and act'(z), which share the exponential. 1 - s is the sigmoid of -z: as a difference it would lose
// what s is short of 1 where z is large. With e = e^-|z| the larger of the two is 1/(1 + e) and the smaller e times
// that.
func (c Config) slope(block tile.Block, z tile.Reg[tile.F32]) (act, slope tile.Reg[tile.F32]) {
	one, a := tile.Full(block, z.Span(), tile.F32(1)), z.Abs().Neg()
	var e, large tile.Reg[tile.F32]
	if c.quick() {
		e = a.ExpApprox()
		large = one.DivApprox(e.Add(tile.F32(1)))
	} else {
		e = a.Exp()
		large = one.Div(e.Add(tile.F32(1)))
	}
	small := e.Mul(large)
	positive := z.Ge(tile.F32(0))
	s, rest := tile.Select(positive, large, small), tile.Select(positive, small, large)
	if c.Act == Sigmoid {
		return s, s.Mul(rest)
	}
	act = z.Mul(s)
	return act, act.Fma(rest, s)
}
