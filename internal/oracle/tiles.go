package oracle

import "github.com/gotile/gotile/internal/ir"

// elementwise applies an op element by element; operands of rank 0 repeat.
func (m *machine) elementwise(v *ir.Value, w int) {
	out := m.empty(v.Type.Span, w)
	var args []tile
	for _, a := range v.Args {
		args = append(args, m.val(a, w))
	}
	in := make([]Num, len(args))
	for i := range out.v {
		for j, a := range args {
			in[j] = a.v[0]
			if a.shape != nil {
				in[j] = a.v[i]
			}
		}
		out.v[i] = apply(v, in)
	}
	m.set(v, w, out)
}

func (m *machine) reshape(v *ir.Value, w int) {
	out := m.empty(v.Type.Span, w)
	rank := len(out.shape)
	switch v.Op {
	case ir.Coord:
		each(out.shape, func(i int, at []int) { out.v[i] = Num{I: int64(at[v.Attr.(int)])} })
	case ir.Broadcast:
		x := m.val(v.Args[0], w)
		if x.shape == nil {
			for i := range out.v {
				out.v[i] = x.v[0]
			}
			break
		}
		lacks := -1
		for a := range rank {
			if v.Type.Span.Dist.Reduce(a).Equal(v.Args[0].Type.Span.Dist) {
				lacks = a
				break
			}
		}
		if rank != 2 || lacks < 0 {
			fail(v, "no axis is missing")
		}
		each(out.shape, func(i int, at []int) { out.v[i] = x.v[at[1-lacks]] })
	case ir.Transpose:
		x := m.val(v.Args[0], w)
		each(out.shape, func(i int, at []int) { out.v[i] = x.v[at[1]*x.shape[1]+at[0]] })
	case ir.Subtile:
		x, a := m.val(v.Args[0], w), v.Attr.(ir.SliceInfo)
		each(out.shape, func(i int, at []int) {
			j := 0
			for axis, c := range at {
				if axis == a.Axis {
					c += a.Start
				}
				j = j*x.shape[axis] + c
			}
			out.v[i] = x.v[j]
		})
	case ir.Fill:
		x, y := m.val(v.Args[0], w), m.val(v.Args[1], w)
		each(out.shape, func(i int, at []int) {
			out.v[i] = x.v[i]
			for _, a := range v.Attr.([]int) {
				if at[a] >= x.ext[a] {
					out.v[i] = y.v[0]
				}
			}
		})
	default:
		fail(v, "the oracle does not know %v", v.Op)
	}
	m.set(v, w, out)
}

// each visits all elements of a shape in row-major order.
func each(shape []int, f func(i int, at []int)) {
	t := tile{shape: shape, ext: shape}
	n := 1
	for _, c := range shape {
		n *= c
	}
	t.v = make([]Num, n)
	t.valid(f)
}

// reduce folds the valid elements along axes, from the identity on.
func (m *machine) reduce(v *ir.Value, w int) {
	x, out := m.val(v.Args[0], w), m.empty(v.Type.Span, w)
	gone := map[int]bool{}
	for _, a := range v.Attr.([]int) {
		gone[a] = true
	}
	for i := range out.v {
		out.v[i] = identity(v.Op, v.Type.DT)
	}
	x.valid(func(i int, at []int) {
		j := 0
		for a, c := range at {
			if !gone[a] {
				j = j*x.shape[a] + c
			}
		}
		out.v[j] = combine(v.Op, v.Type.DT, out.v[j], x.v[i])
	})
	for i := range out.v {
		out.v[i] = round(v.Type.DT, out.v[i])
	}
	m.set(v, w, out)
}

// fold sums the valid elements that each thread holds.
func (m *machine) fold(v *ir.Value, w int) {
	x, out, d := m.val(v.Args[0], w), m.empty(v.Type.Span, w), v.Args[0].Type.Span.Dist
	for thread := range d.Threads() {
		sum := identity(ir.Sum, v.Type.DT)
		for value := range d.Values() {
			i, in := 0, true
			for a, c := range d.Coord(thread, value) {
				i = i*x.shape[a] + c
				in = in && c < x.ext[a]
			}
			if in {
				sum = combine(ir.Sum, v.Type.DT, sum, x.v[i])
			}
		}
		out.v[thread] = round(v.Type.DT, sum)
	}
	m.set(v, w, out)
}
