package plan

import (
	mathbits "math/bits"
	"slices"
)

// A bitset is a set of small numbers. The zero value is empty and all sets of one analysis have one length.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s bitset) add(i int)      { s[i/64] |= 1 << (i % 64) }

// join adds the members of others.
func (s bitset) join(others ...bitset) {
	for _, o := range others {
		for i, w := range o {
			s[i] |= w
		}
	}
}

// grow adds the members of another set and reports whether it had not all of them.
func (s bitset) grow(o bitset) bool {
	grown := false
	for i, w := range o {
		grown = grown || w&^s[i] != 0
		s[i] |= w
	}
	return grown
}

// meet leaves the members that another set has too.
func (s bitset) meet(o bitset) {
	for i, w := range o {
		s[i] &= w
	}
}

// drop takes the members of another set out.
func (s bitset) drop(o bitset) {
	for i, w := range o {
		s[i] &^= w
	}
}

func (s bitset) clone() bitset { return slices.Clone(s) }

// each visits the members in order.
func (s bitset) each(f func(i int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(64*i + mathbits.TrailingZeros64(w))
		}
	}
}
