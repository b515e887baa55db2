package progen

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/tile"
)

// args are the arguments of every program: inputs and outputs of both types.
type args[T, U tile.Number] struct {
	X  tile.Global[T] `tile:"batch,3,m,n"`
	V  tile.Global[T] `tile:"batch,m"`
	W  tile.Global[T] `tile:"batch,n"`
	S  tile.Global[T] `tile:"batch"`
	Y  tile.Global[T] `tile:"batch,4,m,n"`
	R  tile.Global[T] `tile:"batch,4,m"`
	C  tile.Global[T] `tile:"batch,4,n"`
	O  tile.Global[T] `tile:"batch,4"`
	B  tile.Global[T] `tile:"batch,m,n"` // written and read again
	A  tile.Global[T] `tile:"3,m,n"`     // of atomics
	AO tile.Global[T] `tile:"3"`
	P  tile.Global[T] `tile:"batch,8,n"` // a row for each block of a cluster

	X2 tile.Global[U] `tile:"batch,3,m,n"`
	V2 tile.Global[U] `tile:"batch,m"`
	W2 tile.Global[U] `tile:"batch,n"`
	S2 tile.Global[U] `tile:"batch"`
	Y2 tile.Global[U] `tile:"batch,4,m,n"`
	R2 tile.Global[U] `tile:"batch,4,m"`
	C2 tile.Global[U] `tile:"batch,4,n"`
	O2 tile.Global[U] `tile:"batch,4"`
	B2 tile.Global[U] `tile:"batch,m,n"`

	Trips tile.Global[tile.I32] `tile:"4"`
	Eps   tile.Scalar[T]
}

// Name is the name of every program's kernel.
const Name = "random"

// targets are those that the program's kernel is for; nil: all.
func (p Program) targets() []string {
	if p.Cluster == 0 {
		return nil
	}
	var out []string
	for _, name := range target.Names() {
		if t, err := target.Lookup(name); err == nil && t.Proxy == "" && p.Claims(t) {
			out = append(out, name)
		}
	}
	return out
}

// Claims reports whether the program's kernel is for a target.
func (p Program) Claims(t *target.Target) bool { return p.Cluster <= t.Cluster }

// Kernel records the program.
func (p Program) Kernel() (*tile.Kernel, error) { return kernels[p.T][p.U](p) }

var kernels = map[dtype.Type]map[dtype.Type]func(Program) (*tile.Kernel, error){
	dtype.F32: seconds[tile.F32](), dtype.BF16: seconds[tile.BF16](), dtype.F16: seconds[tile.F16](),
	dtype.I32: seconds[tile.I32](), dtype.U32: seconds[tile.U32](), dtype.I64: seconds[tile.I64](),
}

func seconds[T tile.Number]() map[dtype.Type]func(Program) (*tile.Kernel, error) {
	return map[dtype.Type]func(Program) (*tile.Kernel, error){
		dtype.F32: define[T, tile.F32], dtype.BF16: define[T, tile.BF16], dtype.F16: define[T, tile.F16],
		dtype.I32: define[T, tile.I32], dtype.U32: define[T, tile.U32], dtype.I64: define[T, tile.I64],
	}
}

func define[T, U tile.Number](p Program) (*tile.Kernel, error) {
	opts := []tile.Option{tile.Threads(p.Threads)}
	if p.Cluster > 0 {
		opts = append(opts, tile.ClusterSize(p.Cluster), tile.Targets(p.targets()...))
	}
	return tile.Define(Name, func(k *tile.Builder, a args[T, U]) {
		r := &recorder{p: p, k: k, trips: a.Trips}
		r.spread(a.X.Dim(2), a.X.Dim(3))
		first := &pool[T]{r: r, ports: ports[T]{X: a.X, V: a.V, W: a.W, S: a.S, Y: a.Y, R: a.R, C: a.C, O: a.O, B: a.B, A: a.A, AO: a.AO, P: a.P}}
		second := &pool[U]{r: r, ports: ports[U]{X: a.X2, V: a.V2, W: a.W2, S: a.S2, Y: a.Y2, R: a.R2, C: a.C2, O: a.O2, B: a.B2}, second: true}
		r.sides = [2]side{first, second}
		first.push(Single, value[T]{r: a.Eps.Reg()}, dataBound, false)
		body := func(batch tile.Index) {
			r.batch = batch
			r.apart(func() {
				for _, s := range r.sides {
					s.begin()
				}
				r.run(p.Steps)
				for _, s := range r.sides {
					s.end()
				}
			})
		}
		switch p.Loop {
		case Once:
			body(a.X.Dim(0).Scale(0))
		case EachBlock:
			for b := range tile.Persistent(r.s, a.X.Dim(0), tile.OneBlockEach()) {
				body(b)
			}
		default:
			for b := range tile.Persistent(r.s, a.X.Dim(0)) {
				body(b)
			}
		}
	}, opts...)
}

// recorder is what the steps of both types share.
type recorder struct {
	p     Program
	k     *tile.Builder
	s     tile.Scope
	spans [kinds]tile.Span
	batch tile.Index
	at    []tile.Index // the variables of the loops around
	trips tile.Global[tile.I32]
	sides [2]side
}

// side is the values of one type.
type side interface {
	dtype() dtype.Type
	begin()    // loads the first values
	step(Step) // records a step that is no control flow
	end()      // stores the last values
	mark() (undo func())
	below(a, b, op int) tile.Reg[tile.Bool]
	take(k Kind, x any, bound float64, full bool) // a Reg of the side's type
	number(i tile.Index, bound float64)           // adds an index as a single value
}

// spread makes the spans, which all end alike.
func (r *recorder) spread(m, n tile.Index) {
	p := r.p
	var matrix, other, vector tile.Span
	switch p.Scope {
	case Warp:
		w := r.k.Warp()
		r.s, matrix, other, vector = w, w.Striped2(p.Rows, p.Cols, p.Vec, p.Across), w.Striped2(p.Rows, p.Cols, p.Vec2, p.Across2), w.Striped(p.Cols, p.Vec2)
	case Cluster:
		c := r.k.Cluster()
		r.s, matrix, other, vector = c, c.Striped2(p.Rows, p.Cols, p.Vec, p.Across), c.Striped2(p.Rows, p.Cols, p.Vec2, p.Across2), c.Striped(p.Cols, p.Vec2)
	default:
		b := r.k.Block()
		r.s, matrix, other, vector = b, b.Striped2(p.Rows, p.Cols, p.Vec, p.Across), b.Striped2(p.Rows, p.Cols, p.Vec2, p.Across2), b.Striped(p.Cols, p.Vec2)
	}
	rows, cols := m, n
	switch p.Ends {
	case Short:
		rows, cols = m.MinInt(1+p.Rows/2), n.MinInt(1+p.Cols/2)
	case Half:
		rows, cols = m.AddInt(1).DivInt(2), n.AddInt(1).DivInt(2)
	}
	m.AtMost(p.Rows)
	n.AtMost(p.Cols)
	if p.Ends != Whole {
		matrix, other, vector = matrix.Clip(rows, cols), other.Clip(rows, cols), vector.Clip(cols)
	}
	r.spans = [kinds]tile.Span{Matrix: matrix, Other: other, Rows: matrix.Axis(0), Cols: matrix.Axis(1), Vector: vector}
}

// open reports whether a tile of a span, which no load has clipped, has no end.
func (r *recorder) open() bool { return r.p.Ends == Whole }

func (r *recorder) run(steps []Step) {
	for _, s := range steps {
		r.step(s)
	}
}

// apart records a region, with which its values end.
func (r *recorder) apart(f func()) {
	var undo []func()
	for _, s := range r.sides {
		undo = append(undo, s.mark())
	}
	f()
	for _, u := range undo {
		u()
	}
}

func (r *recorder) inside(steps []Step) { r.apart(func() { r.run(steps) }) }

func (r *recorder) sideOf(s Step) side {
	if s.Second {
		return r.sides[1]
	}
	return r.sides[0]
}

func (r *recorder) step(s Step) {
	switch s.Do {
	case "range":
		r.loop(s)
	case "while":
		r.while(s)
	case "if":
		var els []func()
		if s.Else != nil {
			els = append(els, func() { r.inside(s.Else) })
		}
		cond := r.sideOf(s).below(s.A, s.B, s.Op)
		if s.C%4 == 0 {
			cond = r.batch.RemInt(2).EqInt(s.A % 2)
		}
		tile.If(r.s, cond, func() { r.inside(s.Body) }, els...)
	default:
		r.sideOf(s).step(s)
	}
}

// trip is a number of iterations that is read from memory.
func (r *recorder) trip(s Step) tile.Reg[tile.I32] {
	return tile.LoadScalar(r.s, r.trips.At(s.A%Trips))
}

func (r *recorder) loop(s Step) {
	body := func(i tile.Index) {
		r.at = append(r.at, i)
		r.inside(s.Body)
		r.at = r.at[:len(r.at)-1]
	}
	switch s.B % 4 {
	case 0:
		for i := range tile.Range(r.s, 0, s.A%4, 1) {
			body(i)
		}
	case 1:
		for i := range tile.Range(r.s, s.A%2, 1+s.A%5, 2) {
			body(i)
		}
	case 2:
		for i := range tile.Range(r.s, 0, r.batch.AddInt(s.A).RemInt(4), 1) {
			body(i)
		}
	default:
		for i := range tile.Range(r.s, 0, tile.AsIndex(r.trip(s)), 1) {
			body(i)
		}
	}
}

func (r *recorder) while(s Step) {
	i, end := tile.NewVar(r.s, tile.I32(0)), r.trip(s)
	tile.While(r.s, func() tile.Reg[tile.Bool] { return i.Get().Lt(end) }, func() {
		r.at = append(r.at, tile.AsIndex(i.Get()))
		r.inside(s.Body)
		r.at = r.at[:len(r.at)-1]
		i.Set(i.Get().Add(tile.I32(1)))
	})
}

// index is a number below n, which a loop's variable counts where there is one.
func (r *recorder) index(s Step, n int) tile.Index {
	if len(r.at) > 0 && s.B%2 == 1 {
		return r.at[len(r.at)-1].AddInt(s.A).RemInt(n)
	}
	return r.batch.Scale(0).AddInt(s.A % n)
}
