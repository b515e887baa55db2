package progen

import (
	"github.com/gotile/gotile/tile"
)

// memory records the steps that read and write memory.
func (p *pool[T]) memory(s Step) {
	switch s.Do {
	case "load":
		p.load(s)
	case "gather":
		p.gather(s)
	case "bounce":
		p.bounce(s)
	case "share":
		p.share(s)
	case "copy":
		p.copyAsync(s)
	case "atomic":
		p.atomic(s)
	case "peer":
		p.peer(s)
	}
}

// hints are cache hints of loads of what nobody writes.
func hints(n int) []tile.Hint {
	return [][]tile.Hint{nil, nil, {tile.Streaming}, {tile.ReadOnly}, {tile.L2Only}}[n%5]
}

// load reads an input; in a loop it may be another one each time.
func (p *pool[T]) load(s Step) {
	r, b := p.r, p.r.batch
	var x tile.Reg[T]
	switch k := s.Kind; k {
	case Matrix, Other:
		x = tile.Load(r.s, p.ports.X.At(b, r.index(s, Inputs)), r.spans[k], hints(s.C)...)
	case Rows:
		x = tile.Load(r.s, p.ports.V.At(b), r.spans[k], hints(s.C)...)
	case Cols, Vector:
		x = tile.Load(r.s, p.ports.X.At(b, r.index(s, Inputs), 0), r.spans[k], hints(s.C)...) // the first row
	case Single:
		x = tile.LoadScalar(r.s, p.ports.X.At(b, r.index(s, Inputs), 0, 0))
	}
	p.push(s.Kind, value[T]{r: x}, dataBound, false)
}

// gather reads a row whose number is in memory.
func (p *pool[T]) gather(s Step) {
	r := p.r
	row := tile.AsIndex(r.trip(s)).Rem(p.ports.X.Dim(2))
	k := []Kind{Cols, Vector}[s.B%2]
	p.push(k, value[T]{r: tile.Load(r.s, p.ports.X.At(r.batch, s.C%Inputs, row), r.spans[k])}, dataBound, false)
}

// bounce stores a tile to global memory and loads it as other threads hold it.
func (p *pool[T]) bounce(s Step) {
	from, to := Matrix, Other
	if s.A%2 == 1 {
		from, to = to, from
	}
	v := p.val(from, s.B)
	tile.Store(p.r.s, p.ports.B.At(p.r.batch), v.r)
	p.push(to, value[T]{r: tile.Load(p.r.s, p.ports.B.At(p.r.batch), p.r.spans[to])}, v.bound, false)
}

// sharedOf is a new shared tile of the scope.
func (p *pool[T]) sharedOf(shape ...int) tile.Source[T] {
	k := p.r.k
	if p.r.p.Scope == Warp {
		return tile.NewShared[T](k, append([]int{k.Warps()}, shape...)...).At(k.Warp().Index())
	}
	return tile.NewShared[T](k, shape...)
}

// share passes a tile through shared memory to another distribution, whole or, for vectors, as it is.
func (p *pool[T]) share(s Step) {
	r, from, to := p.r, Matrix, Other
	shape := []int{r.p.Rows, r.p.Cols}
	switch s.A % 4 {
	case 1:
		from, to = Other, Matrix
	case 2:
		from, to, shape = Cols, Vector, shape[1:]
	case 3:
		from, to, shape = Vector, Cols, shape[1:]
	}
	v := p.val(from, s.B)
	if r.open() && !v.full { // all of the tile is read
		v.r = v.r.Fill(tile.Const[T](2))
		v.bound = max(v.bound, 2)
	}
	sh := p.sharedOf(shape...)
	tile.Store(r.s, sh, v.r)
	p.push(to, value[T]{r: tile.Load(r.s, sh, r.spans[to])}, v.bound, r.open())
}

// copyAsync brings an input to registers by way of an asynchronous copy.
func (p *pool[T]) copyAsync(s Step) {
	r := p.r
	const vec = 16 // rows of a copy are multiples of 16 bytes
	cols := (r.p.Cols + vec - 1) / vec * vec
	sh := p.sharedOf(r.p.Rows, cols)
	tile.CopyAsync(r.s, sh, tile.Source[T](p.ports.X.At(r.batch, r.index(s, Inputs))))
	tile.Commit(r.s)
	k := []Kind{Matrix, Other}[s.C%2]
	x := p.val(k, s.A) // something to do meanwhile
	p.push(k, value[T]{r: x.r.Max(tile.Const[T](1))}, max(x.bound, 1), x.full)
	tile.WaitGroup(r.s, 0)
	p.push(k, value[T]{r: tile.Load(r.s, sh, r.spans[k])}, dataBound, r.open())
}

// atomicBound keeps sums of floats exact: the units add at most some thousand times.
const atomicBound = 16

// atomic adds to, or compares with, what all units share. Each op has memory of its own, so that their order does not
// matter.
func (p *pool[T]) atomic(s Step) {
	if p.second || p.dtype().Is16() {
		return
	}
	k := s.Kind
	if k != Single {
		k = []Kind{Matrix, Other}[s.A%2]
	}
	v := clampTo(p.val(k, s.B), atomicBound)
	to := func(i int) tile.Source[T] {
		if k == Single {
			return p.ports.AO.At(i)
		}
		return p.ports.A.At(i)
	}
	if p.float() || s.Op%3 == 0 {
		tile.AtomicAdd(p.r.s, to(0), v.r)
		return
	}
	switch x := any(v.r).(type) {
	case tile.Reg[tile.I32]:
		extreme(p.r.s, s.Op, to, x)
	case tile.Reg[tile.U32]:
		extreme(p.r.s, s.Op, to, x)
	case tile.Reg[tile.I64]:
		extreme(p.r.s, s.Op, to, x)
	}
}

// extreme is an atomic minimum or maximum, which integers have.
func extreme[T tile.Number, I tile.Integer](s tile.Scope, op int, to func(int) tile.Source[T], x tile.Reg[I]) {
	i := 1 + op%2
	dst := any(to(i)).(tile.Source[I])
	if i == 1 {
		tile.AtomicMax(s, dst, x)
		return
	}
	tile.AtomicMin(s, dst, x)
}

// peer lets each block of the cluster read what another has put into its shared memory.
func (p *pool[T]) peer(s Step) {
	if p.second {
		return
	}
	r, block, rank := p.r, p.r.k.Block(), p.r.k.Cluster().Rank()
	span := block.Striped(r.p.Cols, r.p.Vec).Clip(p.ports.W.Dim(1))
	x := tile.Load(block, p.ports.X.At(r.batch, rank.AddInt(s.A).RemInt(Inputs), 0), span).Add(tile.Cast[T](rank.Int()))
	sh := tile.NewShared[T](r.k, r.p.Cols)
	tile.Store(block, sh, x)
	y := tile.Load(block, tile.Peer(sh, rank.AddInt(1+s.B).RemInt(r.p.Cluster)), span)
	tile.Store(block, p.ports.P.At(r.batch, rank), y)
}
