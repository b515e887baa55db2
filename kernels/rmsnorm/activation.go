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

// slope is act(z) and act'(z), which share the exponential. The derivative of silu, s + z*s', is s + silu(z)*(1 - s):
// its error, half an ulp of 1 in 1 - s times z, stays below that of s where that has not yet become 1.
func (a Activation) slope(z tile.Reg[tile.F32]) (act, slope tile.Reg[tile.F32]) {
	s := z.Sigmoid()
	rest := s.Neg().Add(tile.F32(1))
	if a == Sigmoid {
		return s, s.Mul(rest)
	}
	act = z.Mul(s)
	return act, act.Fma(rest, s)
}
