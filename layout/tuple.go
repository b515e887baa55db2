package layout

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Tuple is an integer or a tuple of tuples: a shape, a stride or a coordinate, such as (2,(1,6)). The zero value is the
// empty tuple (). A Tuple is immutable.
type Tuple struct {
	kind  tupleKind
	n     int
	parts []Tuple
}

type tupleKind uint8

const (
	isTuple tupleKind = iota
	isInt
	isAll
)

// All is the free place of a coordinate that [Layout.Slice] takes; it prints as _.
var All = Tuple{kind: isAll}

// Int is the tuple n, which has no parentheses.
func Int(n int) Tuple { return Tuple{kind: isInt, n: n} }

// Ints is a flat tuple: Ints(8, 4) is (8,4), and Ints(8) is (8), which is not 8.
func Ints(ns ...int) Tuple {
	t := Tuple{parts: make([]Tuple, len(ns))}
	for i, n := range ns {
		t.parts[i] = Int(n)
	}
	return t
}

// Nest is the tuple of the given tuples: Nest(Int(2), Ints(1, 6)) is (2,(1,6)).
func Nest(parts ...Tuple) Tuple { return Tuple{parts: slices.Clone(parts)} }

// Int is the integer that t is, and whether it is one.
func (t Tuple) Int() (int, bool) { return t.n, t.kind == isInt }

// Parts are the tuples that t consists of; an integer and All consist of themselves.
func (t Tuple) Parts() []Tuple {
	if t.kind != isTuple {
		return []Tuple{t}
	}
	return slices.Clone(t.parts)
}

// Equal reports whether t and u have the same text.
func (t Tuple) Equal(u Tuple) bool {
	return t.kind == u.kind && t.n == u.n && slices.EqualFunc(t.parts, u.parts, Tuple.Equal)
}

// String is the text of t, such as (2,(1,6)); [ParseTuple] reads it.
func (t Tuple) String() string {
	var b strings.Builder
	t.print(&b, math.MaxInt)
	return b.String()
}

// clipped is the text of t for a message; a Tuple may hold another one many times, so its text may be very long.
func (t Tuple) clipped() string {
	var b strings.Builder
	t.print(&b, 100)
	return clip(b.String())
}

// print stops where the text is longer than most.
func (t Tuple) print(b *strings.Builder, most int) {
	switch t.kind {
	case isInt:
		b.WriteString(strconv.Itoa(t.n))
	case isAll:
		b.WriteByte('_')
	default:
		b.WriteByte('(')
		for i, p := range t.parts {
			if b.Len() > most {
				return
			}
			if i > 0 {
				b.WriteByte(',')
			}
			p.print(b, most)
		}
		b.WriteByte(')')
	}
}
