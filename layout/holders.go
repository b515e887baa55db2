package layout

import (
	"cmp"
	"slices"
)

// Holder is a value of a thread.
type Holder struct{ Thread, Value int }

// digit is a mode with what one step of it adds to the thread's or the value's number.
type digit struct {
	Mode
	thread, value int
}

// Holders is the inverse of Coord: who holds the element at coord, by thread, then value. There are Copies() of them
// where the distribution covers coord, and none where it does not.
func (d *Dist) Holders(coord ...int) []Holder {
	if len(coord) != len(d.Shape) {
		return nil
	}
	var digits []digit
	n := 1
	for _, m := range d.Thread {
		digits = append(digits, digit{m, n, 0})
		n *= m.Size
	}
	n = 1
	for _, m := range d.Value {
		digits = append(digits, digit{m, 0, n})
		n *= m.Size
	}
	// Large strides first: then of most digits only one value leaves what the smaller ones can reach.
	slices.SortStableFunc(digits, func(a, b digit) int { return cmp.Compare(b.Stride, a.Stride) })
	reach := make([][]int, len(digits)+1) // by digit, how far it and those after it get on each axis
	reach[len(digits)] = make([]int, len(d.Shape))
	for i := len(digits) - 1; i >= 0; i-- {
		reach[i] = slices.Clone(reach[i+1])
		if g := digits[i]; g.Axis != Replicated {
			reach[i][g.Axis] += (g.Size - 1) * g.Stride
		}
	}
	var out []Holder
	rest := slices.Clone(coord)
	var search func(i int, h Holder)
	search = func(i int, h Holder) {
		for axis, r := range rest {
			if r < 0 || r > reach[i][axis] {
				return
			}
		}
		if i == len(digits) {
			out = append(out, h)
			return
		}
		g := digits[i]
		for k := range g.Size {
			search(i+1, Holder{h.Thread + k*g.thread, h.Value + k*g.value})
			if g.Axis != Replicated {
				rest[g.Axis] -= g.Stride
			}
		}
		if g.Axis != Replicated {
			rest[g.Axis] += g.Size * g.Stride
		}
	}
	search(0, Holder{})
	slices.SortFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Value, b.Value))
	})
	return out
}
