// Package oracle says what a kernel means. It evaluates tile IR op by op on whole tiles, in float64 and int64, by the
// definitions of the op table: without threads, layouts, barriers or addresses. The planner, the simulator and the
// printers share none of its code, so that it can judge them.
//
// Floats are rounded once an op as the table says. Reductions go element by element and round once at the end: where
// all partial results are exact, as those of small integers are, any order gives the same.
package oracle

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// Num is a number of any element type: F for floats, I for integers (wrapped to the type) and bools (0 or 1).
type Num struct {
	F float64
	I int64
}

// Array is an argument in global memory, contiguous, outermost dimension first.
type Array struct {
	DT   dtype.Type
	Dims []int
	Data []Num
}

// Launch is what a kernel is given.
type Launch struct {
	Grid    int               // blocks
	Arrays  map[string]*Array // by the arguments' names in C
	Scalars map[string]Num
	Dims    map[string]int // by symbol
}

// warpsOf is the number of warps of a block.
func warpsOf(k *ir.Kernel) int { return k.Threads / 32 }

// Run executes a kernel on l, whose arrays it changes. Clusters, and within them what is not ordered, run one after the
// other, in their order: a program whose results depend on that has no meaning here. The error names the Go line.
func Run(k *ir.Kernel, l *Launch) (err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(fault)
			if !ok {
				panic(p)
			}
			err = f
		}
	}()
	size := max(1, k.Cluster)
	if l.Grid%size != 0 {
		return fmt.Errorf("oracle: a grid of %d blocks is no whole clusters of %d", l.Grid, size)
	}
	for c := range l.Grid / size {
		m := &machine{k: k, l: l, vals: map[place]tile{}, shared: map[sharedPlace]*memory{}}
		var all []int
		for w := range size * warpsOf(k) {
			all = append(all, c*size*warpsOf(k)+w)
		}
		m.region(k.Body, all)
	}
	return nil
}

// fault is an error of the program, thrown.
type fault struct {
	pos ir.Pos
	msg string
}

func (f fault) Error() string { return fmt.Sprintf("oracle: %v: %s", f.pos, f.msg) }

func fail(v *ir.Value, format string, args ...any) {
	panic(fault{v.Pos, fmt.Sprintf(format, args...)})
}

// tile is a value: elements in row-major order over the capacity, of which those before the extents are valid.
type tile struct {
	shape, ext []int // nil: one value
	v          []Num
}

// valid calls f for each element before the extents.
func (t tile) valid(f func(i int, at []int)) {
	at := make([]int, len(t.shape))
	for i := range t.v {
		in := true
		rest := i
		for a := len(t.shape) - 1; a >= 0; a-- {
			at[a] = rest % t.shape[a]
			rest /= t.shape[a]
			in = in && at[a] < t.ext[a]
		}
		if in {
			f(i, at)
		}
	}
}

// place is a value of one unit of its scope.
type place struct {
	v    *ir.Value
	unit int
}

// machine is a cluster that runs.
type machine struct {
	k      *ir.Kernel
	l      *Launch
	vals   map[place]tile
	shared map[sharedPlace]*memory
}

// unit is the number of the warp, block or cluster that a warp, counted over the grid, belongs to.
func (m *machine) unit(s ir.Scope, warp int) int {
	switch s {
	case ir.ScopeWarp:
		return warp
	case ir.ScopeBlock:
		return warp / warpsOf(m.k)
	}
	return warp / warpsOf(m.k) / max(1, m.k.Cluster)
}

// units splits warps by the unit of a scope that they belong to.
func (m *machine) units(s ir.Scope, warps []int) [][]int {
	var out [][]int
	for _, w := range warps {
		if n := len(out); n > 0 && m.unit(s, out[n-1][0]) == m.unit(s, w) {
			out[n-1] = append(out[n-1], w)
			continue
		}
		out = append(out, []int{w})
	}
	return out
}

// total is the number of units of a scope in the grid.
func (m *machine) total(s ir.Scope) int { return m.unit(s, m.l.Grid*warpsOf(m.k)-1) + 1 }

// val is an operand as a warp sees it.
func (m *machine) val(x *ir.Value, warp int) tile {
	switch x.Op {
	case ir.Const:
		return single(FromBits(x.Type.DT, uint64(x.Attr.(ir.Bits))))
	case ir.Param:
		return single(m.l.Scalars[x.Name])
	case ir.Dim:
		return single(Num{I: int64(m.dim(ir.DimSpec{Symbol: x.Attr.(*ir.Symbol)}))})
	}
	t, ok := m.vals[place{x, m.unit(x.Scope, warp)}]
	if !ok {
		fail(x, "%v has no value where it is used", x.Op)
	}
	return t
}

func (m *machine) set(x *ir.Value, warp int, t tile) { m.vals[place{x, m.unit(x.Scope, warp)}] = t }

// index is an operand of rank 0 as an int.
func (m *machine) index(x *ir.Value, warp int) int { return int(m.val(x, warp).v[0].I) }

func (m *machine) dim(d ir.DimSpec) int {
	if d.Symbol == nil {
		return d.Size
	}
	n, ok := m.l.Dims[d.Symbol.Name]
	if !ok {
		panic(fault{msg: "the launch gives no " + d.Symbol.Name})
	}
	return n
}

func single(n Num) tile { return tile{v: []Num{n}} }

// empty is a tile of a span with its extents, of zeros.
func (m *machine) empty(s *ir.Span, warp int) tile {
	if s == nil {
		return single(Num{})
	}
	t := tile{shape: s.Dist.Shape}
	n := 1
	for a, c := range s.Dist.Shape {
		n *= c
		if len(s.Extent) > 0 && s.Extent[a] != nil {
			c = min(c, max(0, m.index(s.Extent[a], warp)))
		}
		t.ext = append(t.ext, c)
	}
	t.v = make([]Num, n)
	return t
}
