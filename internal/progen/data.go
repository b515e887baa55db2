package progen

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/oracle"
	"github.com/gotile/gotile/tile"
)

// mix is splitmix64's last step.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// number is element i of argument arg: -11 to 11, or 0 to 22 where there is no sign.
func (p Program) number(dt dtype.Type, arg, i int) oracle.Num {
	x := int64(mix(uint64(p.Salt)<<40+uint64(arg)<<32+uint64(i))%(2*dataBound+1)) - dataBound
	if dt == dtype.U32 {
		x += dataBound
	}
	return oracle.Num{F: float64(x), I: x}.In(dt)
}

// Launch is the program's launch with its inputs, for the oracle and as what Run gives a device.
func (p Program) Launch(k *tile.Kernel) *oracle.Launch {
	l := &oracle.Launch{Grid: p.Grid(), Arrays: map[string]*oracle.Array{}, Scalars: map[string]oracle.Num{},
		Dims: map[string]int{"batch": p.Batch, "m": p.M, "n": p.N}}
	for i, a := range k.IR().Args {
		if a.Scalar() {
			l.Scalars[a.Name] = p.number(a.DT, i, 0)
			continue
		}
		g := &oracle.Array{DT: a.DT, Dims: dims(a, l.Dims)}
		n := 1
		for _, d := range g.Dims {
			n *= d
		}
		for j := range n {
			switch a.Field {
			case "A", "AO": // sums begin at 0
				g.Data = append(g.Data, oracle.Num{})
			case "Trips":
				g.Data = append(g.Data, oracle.Num{I: int64(mix(uint64(p.Salt+j)) % 4)})
			default:
				g.Data = append(g.Data, p.number(a.DT, i, j))
			}
		}
		l.Arrays[a.Name] = g
	}
	return l
}

// dims are an argument's sizes at a launch.
func dims(a *ir.Arg, symbols map[string]int) []int {
	var out []int
	for _, d := range a.Dims {
		if d.Symbol != nil {
			out = append(out, symbols[d.Symbol.Name])
		} else {
			out = append(out, d.Size)
		}
	}
	return out
}

// Mean is what the program computes, according to the oracle.
func (p Program) Mean(k *tile.Kernel) (*oracle.Launch, error) {
	l := p.Launch(k)
	return l, oracle.Run(k.IR(), l)
}

// strides are those of a tensor whose rows are pad elements apart; vectors have none.
func strides(dims []int, pad int) []int {
	out := make([]int, len(dims))
	n := 1
	for i, d := range slices.Backward(dims) {
		out[i] = n
		n *= d
		if i == len(dims)-1 && len(dims) > 1 {
			n += pad
		}
	}
	return out
}
