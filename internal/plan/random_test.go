package plan_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
	"pgregory.net/rapid"
)

// Random programs: what the planner and the simulator make of a program is what plain Go makes of it. All values are
// small integers or wrap, and 16-bit types and floats only move, so results are exact.

// kind is the shape of a value.
type kind int

const (
	matrix    kind = iota
	rowVector      // one value a row: a reduction over axis 1
	colVector      // one value a column
	single
	kinds
)

// step is one statement. Its operands are numbers, taken modulo how many values of the kind there are.
type step struct {
	do      string
	k       kind
	op      int
	a, b, c int
	body    []step
	other   []step
}

func (s step) String() string {
	out := fmt.Sprintf("%s k%d op%d (%d %d %d)", s.do, s.k, s.op, s.a, s.b, s.c)
	if s.body != nil {
		out += fmt.Sprintf(" %v", s.body)
	}
	if s.other != nil {
		out += fmt.Sprintf(" else %v", s.other)
	}
	return out
}

// program is what rapid draws.
type program struct {
	threads, rows, cols, vec, across int // the distribution
	warp                             bool
	cluster                          int // blocks; 0: none
	m, n                             int // the extents
	steps                            []step
}

const (
	inputs  = 3
	outputs = 4 // slots of each kind
)

func drawProgram(t *rapid.T) program {
	num := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
	p := program{threads: 32 << num(0, 2, "threads"), vec: 1 << num(0, 3, "vec"), across: 1 << num(0, 5, "across")}
	p.rows, p.cols = num(1, 12, "rows"), num(1, 40, "cols")
	p.m, p.n = num(1, p.rows, "m"), num(1, p.cols, "n")
	if p.warp = p.threads == 32 && num(0, 1, "warp") == 1; !p.warp && num(0, 1, "wide") == 1 && p.threads > 32 {
		p.across = p.threads
	}
	if !p.warp && num(0, 2, "clustered") == 0 {
		p.cluster = 2 << num(0, 2, "cluster")
		if num(0, 1, "several blocks a row") == 1 {
			p.across = p.threads << num(0, bits.Len(uint(p.cluster))-1, "blocks a row")
		}
	}
	p.steps = drawSteps(t, num(3, 14, "length"), 2)
	return p
}

func drawSteps(t *rapid.T, n, depth int) []step {
	doing := []string{"binary", "binary", "binary", "mixed", "select", "reduce", "reduce", "expand", "full", "coord", "var", "get", "set", "set", "store", "store", "share"}
	if depth > 0 {
		doing = append(doing, "loop", "loop", "if")
	}
	num := func(hi int, what string) int { return rapid.IntRange(0, hi).Draw(t, what) }
	out := []step{}
	for range n {
		s := step{do: rapid.SampledFrom(doing).Draw(t, "do"), k: kind(num(int(kinds)-1, "kind")), op: num(7, "op"), a: num(9, "a"), b: num(9, "b"), c: num(9, "c")}
		switch s.do {
		case "loop":
			s.body = drawSteps(t, 1+num(4, "body"), depth-1)
		case "if":
			s.body, s.other = drawSteps(t, 1+num(3, "then"), depth-1), drawSteps(t, num(2, "else"), depth-1)
		}
		out = append(out, s)
	}
	return out
}

// host evaluates a program in Go.
type host struct {
	p      program
	t      dtype.Type
	values [kinds][][]int64
	vars   [kinds][][]int64
	out    [kinds][outputs][]int64
}

func (h *host) size(k kind) int { return [kinds]int{h.p.m * h.p.n, h.p.m, h.p.n, 1}[k] }

func (h *host) wrap(x int64) int64 {
	if h.t == dtype.I32 {
		return int64(int32(x))
	}
	return x
}

// opOf folds the drawn op into those that are exact in the type.
func opOf(t dtype.Type, op int) int {
	if t.IsFloat() {
		return op % 2
	}
	return op
}

func (h *host) binary(op int, a, b int64) int64 {
	switch opOf(h.t, op) {
	case 0:
		return min(a, b)
	case 1:
		return max(a, b)
	case 2:
		return h.wrap(a + b)
	case 3:
		return h.wrap(a - b)
	case 4:
		return h.wrap(a * b)
	case 5:
		return a & b
	case 6:
		return a | b
	}
	return a ^ b
}

// reduction folds like binary: minimum, maximum, sum, product.
func reductionOf(t dtype.Type, op int) int {
	if t.IsFloat() {
		return op % 2
	}
	return []int{0, 1, 2, 4}[op%4]
}

func pick[V any](xs []V, i int) V { return xs[i%len(xs)] }

func (h *host) push(k kind, n int, f func(i int) int64) {
	x := make([]int64, n)
	for i := range x {
		x[i] = f(i)
	}
	h.values[k] = append(h.values[k], x)
}

func (h *host) scope(f func()) {
	values, vars := h.values, h.vars
	f()
	for k := range kinds {
		h.values[k], h.vars[k] = h.values[k][:len(values[k])], h.vars[k][:len(vars[k])]
	}
}

func (h *host) run(steps []step) {
	for _, s := range steps {
		size := h.size(s.k)
		switch s.do {
		case "binary":
			a, b := pick(h.values[s.k], s.a), pick(h.values[s.k], s.b)
			h.push(s.k, size, func(i int) int64 { return h.binary(s.op, a[i], b[i]) })
		case "mixed":
			a, b := pick(h.values[s.k], s.a), pick(h.values[single], s.b)
			h.push(s.k, size, func(i int) int64 { return h.binary(s.op, a[i], b[0]) })
		case "select":
			a, b, c := pick(h.values[s.k], s.a), pick(h.values[s.k], s.b), pick(h.values[s.k], s.c)
			h.push(s.k, size, func(i int) int64 {
				if a[i] < b[i] {
					return b[i]
				}
				return c[i]
			})
		case "reduce":
			h.reduce(s)
		case "expand":
			if s.k == colVector {
				v := pick(h.values[colVector], s.a)
				h.push(matrix, h.size(matrix), func(i int) int64 { return v[i%h.p.n] })
			} else {
				v := pick(h.values[rowVector], s.a)
				h.push(matrix, h.size(matrix), func(i int) int64 { return v[i/h.p.n] })
			}
		case "full":
			v := pick(h.values[single], s.a)
			h.push(matrix, h.size(matrix), func(int) int64 { return v[0] })
		case "coord":
			h.push(matrix, h.size(matrix), func(i int) int64 { return int64([]int{i / h.p.n, i % h.p.n}[s.a%2]) })
		case "var":
			h.vars[s.k] = append(h.vars[s.k], append([]int64(nil), pick(h.values[s.k], s.a)...))
		case "get":
			if len(h.vars[s.k]) > 0 {
				v := pick(h.vars[s.k], s.a)
				h.push(s.k, size, func(i int) int64 { return v[i] })
			}
		case "set":
			if len(h.vars[s.k]) > 0 {
				copy(pick(h.vars[s.k], s.a), pick(h.values[s.k], s.b))
			}
		case "store":
			h.out[s.k][s.a%outputs] = append([]int64(nil), pick(h.values[s.k], s.b)...)
		case "share":
			v := pick(h.values[matrix], s.a)
			h.push(matrix, h.size(matrix), func(i int) int64 { return v[i] })
		case "loop":
			for range s.a % 4 {
				h.scope(func() { h.run(s.body) })
			}
		case "if":
			taken := s.other
			if pick(h.values[single], s.a)[0] < pick(h.values[single], s.b)[0] {
				taken = s.body
			}
			h.scope(func() { h.run(taken) })
		}
	}
}

func (h *host) reduce(s step) {
	op := reductionOf(h.t, s.op)
	fold := func(xs []int64, n int, at func(i int) int) int64 {
		acc := xs[at(0)]
		for i := 1; i < n; i++ {
			acc = h.binary(op, acc, xs[at(i)])
		}
		return acc
	}
	m, n := h.p.m, h.p.n
	switch {
	case s.k == rowVector || s.k == colVector: // to one value
		v := pick(h.values[s.k], s.a)
		h.push(single, 1, func(int) int64 { return fold(v, len(v), func(i int) int { return i }) })
	case s.b%3 == 0:
		v := pick(h.values[matrix], s.a)
		h.push(rowVector, m, func(r int) int64 { return fold(v, n, func(i int) int { return r*n + i }) })
	case s.b%3 == 1:
		v := pick(h.values[matrix], s.a)
		h.push(colVector, n, func(c int) int64 { return fold(v, m, func(i int) int { return i*n + c }) })
	default:
		v := pick(h.values[matrix], s.a)
		h.push(single, 1, func(int) int64 { return fold(v, m*n, func(i int) int { return i }) })
	}
}

// randomArgs are the arguments of a random kernel.
type randomArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"3,m,n"`
	V tile.Global[T] `tile:"m"`
	W tile.Global[T] `tile:"n"`
	S tile.Global[T] `tile:"1"`
	Y tile.Global[T] `tile:"4,m,n"`
	R tile.Global[T] `tile:"4,m"`
	C tile.Global[T] `tile:"4,n"`
	O tile.Global[T] `tile:"4"`
}

// device records a program as a kernel.
type device[T tile.Number] struct {
	p      program
	t      dtype.Type
	k      *tile.Builder
	a      randomArgs[T]
	s      tile.Scope
	span   tile.Span
	values [kinds][]tile.Reg[T]
	vars   [kinds][]tile.Var[T]
}

func (d *device[T]) binary(op int, a tile.Reg[T], b tile.Operand[T]) tile.Reg[T] {
	f := []func(tile.Reg[T], tile.Operand[T]) tile.Reg[T]{tile.Reg[T].Min, tile.Reg[T].Max, tile.Reg[T].Add, tile.Reg[T].Sub, tile.Reg[T].Mul, tile.Reg[T].And, tile.Reg[T].Or, tile.Reg[T].Xor}
	return f[opOf(d.t, op)](a, b)
}

func (d *device[T]) push(k kind, x tile.Reg[T]) { d.values[k] = append(d.values[k], x) }

func (d *device[T]) scope(f func()) {
	values, vars := d.values, d.vars
	f()
	for k := range kinds {
		d.values[k], d.vars[k] = d.values[k][:len(values[k]):len(values[k])], d.vars[k][:len(vars[k]):len(vars[k])]
	}
}

func (d *device[T]) run(steps []step) {
	for _, s := range steps {
		switch s.do {
		case "binary":
			d.push(s.k, d.binary(s.op, pick(d.values[s.k], s.a), pick(d.values[s.k], s.b)))
		case "mixed":
			d.push(s.k, d.binary(s.op, pick(d.values[s.k], s.a), pick(d.values[single], s.b)))
		case "select":
			a, b, c := pick(d.values[s.k], s.a), pick(d.values[s.k], s.b), pick(d.values[s.k], s.c)
			d.push(s.k, tile.Select(a.Lt(b), b, c))
		case "reduce":
			d.reduce(s)
		case "expand":
			if s.k == colVector {
				d.push(matrix, tile.Expand(pick(d.values[colVector], s.a), d.span, 0))
			} else {
				d.push(matrix, tile.Expand(pick(d.values[rowVector], s.a), d.span, 1))
			}
		case "full":
			d.push(matrix, tile.Full(d.s, d.span, pick(d.values[single], s.a)))
		case "coord":
			d.push(matrix, tile.Cast[T](tile.Coord(d.span, s.a%2)))
		case "var":
			d.vars[s.k] = append(d.vars[s.k], tile.NewVar(d.s, pick(d.values[s.k], s.a)))
		case "get":
			if len(d.vars[s.k]) > 0 {
				d.push(s.k, pick(d.vars[s.k], s.a).Get())
			}
		case "set":
			if len(d.vars[s.k]) > 0 {
				pick(d.vars[s.k], s.a).Set(pick(d.values[s.k], s.b))
			}
		case "store":
			to := []tile.Global[T]{d.a.Y, d.a.R, d.a.C, d.a.O}[s.k]
			tile.Store(d.s, to.At(s.a%outputs), pick(d.values[s.k], s.b))
		case "share":
			if d.p.cluster > 0 { // shared memory is a block's
				d.push(matrix, pick(d.values[matrix], s.a))
				break
			}
			t := tile.NewShared[T](d.k, d.p.rows, d.p.cols)
			tile.Store(d.s, t, pick(d.values[matrix], s.a))
			d.push(matrix, tile.Load(d.s, t, d.span))
		case "loop":
			for range tile.Range(d.s, 0, s.a%4, 1) {
				d.scope(func() { d.run(s.body) })
			}
		case "if":
			cond := pick(d.values[single], s.a).Lt(pick(d.values[single], s.b))
			tile.If(d.s, cond, func() { d.scope(func() { d.run(s.body) }) }, func() { d.scope(func() { d.run(s.other) }) })
		}
	}
}

func (d *device[T]) reduce(s step) {
	f := map[int]func(tile.Reg[T], ...int) tile.Reg[T]{0: tile.Reg[T].MinOf, 1: tile.Reg[T].MaxOf, 2: tile.Reg[T].Sum, 4: tile.Reg[T].Prod}[reductionOf(d.t, s.op)]
	switch {
	case s.k == rowVector || s.k == colVector:
		d.push(single, f(pick(d.values[s.k], s.a)))
	case s.b%3 == 0:
		d.push(rowVector, f(pick(d.values[matrix], s.a), 1))
	case s.b%3 == 1:
		d.push(colVector, f(pick(d.values[matrix], s.a), 0))
	default:
		d.push(single, f(pick(d.values[matrix], s.a)))
	}
}

func (p program) kernel(t dtype.Type) (*tile.Kernel, error) {
	switch t {
	case dtype.I32:
		return record[tile.I32](p)
	case dtype.I64:
		return record[tile.I64](p)
	case dtype.F32:
		return record[tile.F32](p)
	}
	return record[tile.BF16](p)
}

func record[T tile.Number](p program) (*tile.Kernel, error) {
	var zero T
	opts := []tile.Option{tile.Threads(p.threads)}
	if p.cluster > 0 {
		opts = append(opts, tile.ClusterSize(p.cluster))
	}
	return tile.Define("random", func(k *tile.Builder, a randomArgs[T]) {
		d := &device[T]{p: p, t: zero.DType(), k: k, a: a, s: k.Block()}
		var span tile.Span
		switch {
		case p.warp:
			d.s, span = k.Warp(), k.Warp().Striped2(p.rows, p.cols, p.vec, p.across)
		case p.cluster > 0:
			d.s, span = k.Cluster(), k.Cluster().Striped2(p.rows, p.cols, p.vec, p.across)
		default:
			span = k.Block().Striped2(p.rows, p.cols, p.vec, p.across)
		}
		d.span = span.Clip(a.X.Dim(1), a.X.Dim(2))
		for i := range inputs {
			d.push(matrix, tile.Load(d.s, a.X.At(i), d.span))
		}
		d.push(rowVector, tile.Load(d.s, a.V, d.span.Axis(0)))
		d.push(colVector, tile.Load(d.s, a.W, d.span.Axis(1)))
		d.push(single, tile.LoadScalar(d.s, a.S))
		d.run(p.steps)
		for i, g := range []tile.Global[T]{a.Y, a.R, a.C, a.O} {
			tile.Store(d.s, g.At(outputs-1), d.values[i][len(d.values[i])-1])
		}
	}, opts...)
}

// data are the inputs: small numbers, negative ones among them.
func data(salt, n int) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64((i*7+salt*13+i*i*salt)%23 - 11)
	}
	return x
}

// check runs a program both ways.
func (p program) check(t *rapid.T, dt dtype.Type) {
	h := &host{p: p, t: dt}
	in := map[string][]int64{}
	var xs []int64
	for i := range inputs {
		x := data(i, p.m*p.n)
		xs = append(xs, x...)
		h.values[matrix] = append(h.values[matrix], x)
	}
	in["x"], in["v"], in["w"], in["s"] = xs, data(5, p.m), data(6, p.n), data(7, 1)
	h.values[rowVector], h.values[colVector], h.values[single] = [][]int64{in["v"]}, [][]int64{in["w"]}, [][]int64{in["s"]}
	h.run(p.steps)
	for k := range kinds {
		h.out[k][outputs-1] = h.values[k][len(h.values[k])-1]
	}

	k, err := p.kernel(dt)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	in["y"], in["r"], in["c"], in["o"] = make([]int64, outputs*p.m*p.n), make([]int64, outputs*p.m), make([]int64, outputs*p.n), make([]int64, outputs)
	got, text, err := execute(k, dt, in, map[string]int{"m": p.m, "n": p.n})
	if err != nil {
		t.Fatalf("%v\n%v\n%s", err, k, text)
	}
	for i, name := range []string{"y", "r", "c", "o"} {
		size := h.size(kind(i))
		for slot, want := range h.out[i] {
			for i := range want {
				if g := got[name][slot*size+i]; g != want[i] {
					t.Fatalf("%s[%d][%d] is %d, want %d\n%v\n%s", name, slot, i, g, want[i], k, text)
				}
			}
		}
	}
}

// TestRandomPrograms draws 100 programs for each type; -rapid.checks asks for more.
func TestRandomPrograms(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.I32, dtype.I64, dtype.F32, dtype.BF16} {
		t.Run(dt.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { drawProgram(t).check(t, dt) })
		})
	}
}
