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

// value is act(z).
func (a Activation) value(z tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	if a == Sigmoid {
		return z.Sigmoid()
	}
	return z.Silu()
}

// slope is act(z) and act'(z), which share the exponential. 1 - s is the sigmoid of -z: as a difference it would lose
// what s is short of 1 where z is large. With e = e^-|z| the larger of the two is 1/(1 + e) and the smaller e times that.
func (a Activation) slope(block tile.Block, z tile.Reg[tile.F32]) (act, slope tile.Reg[tile.F32]) {
	e := z.Abs().Neg().Exp()
	large := tile.Full(block, z.Span(), tile.F32(1)).Div(e.Add(tile.F32(1)))
	small := e.Mul(large)
	positive := z.Ge(tile.F32(0))
	s, rest := tile.Select(positive, large, small), tile.Select(positive, small, large)
	if a == Sigmoid {
		return s, s.Mul(rest)
	}
	act = z.Mul(s)
	return act, act.Fma(rest, s)
}
