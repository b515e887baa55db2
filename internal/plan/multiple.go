package plan

import (
	"github.com/gotile/gotile/internal/ir"
)

// isMultiple reports whether an index is certain to be a multiple of n: a constant, the variable of a loop that begins
// at one and moves by them, and what is computed of such. A loop over the columns of a row in chunks so keeps the
// alignment of the row.
func (f *flow) isMultiple(v *ir.Value, n int) bool {
	v = f.canonical(v)
	all := func(vs ...*ir.Value) bool {
		for _, x := range vs {
			if !f.isMultiple(x, n) {
				return false
			}
		}
		return true
	}
	switch v.Op {
	case ir.Const:
		bits, ok := v.Attr.(ir.Bits)
		return ok && int(int32(bits))%n == 0
	case ir.Invalid: // a loop's variable
		switch loop := v.In.Owner; loop.Op {
		case ir.Range:
			return all(loop.Args[0], loop.Args[2])
		case ir.Persistent:
			return all(loop.Args[1])
		}
	case ir.Add, ir.Sub, ir.Min, ir.Max:
		return all(v.Args...)
	case ir.Mul:
		return all(v.Args[0]) || all(v.Args[1])
	}
	return false
}

// remainderOf is a value with the same remainder by n, without the summands that are multiples: what is left of a row of
// n elements after whole vectors ends like the row.
func (f *flow) remainderOf(v *ir.Value, n int) *ir.Value {
	v = f.canonical(v)
	switch {
	case v.Op != ir.Add && v.Op != ir.Sub:
	case f.isMultiple(v.Args[1], n):
		return f.remainderOf(v.Args[0], n)
	case v.Op == ir.Add && f.isMultiple(v.Args[0], n):
		return f.remainderOf(v.Args[1], n)
	}
	return v
}
