package tile

import (
	"iter"

	"github.com/gotile/gotile/internal/ir"
)

// Policy says what the pieces of work of a kernel are, and in which order the blocks take them: Linear, SuperRows or
// WorkList.
type Policy struct {
	count func(b *ir.Builder) Index                      // the number of pieces
	piece func(b *ir.Builder, s Scope, item Index) Piece // the piece of a number
}

// Piece is a piece of work: where a block works next.
type Piece struct {
	Item     Index   // its number
	Row, Col Index   // its first element
	Fields   []Index // of a WorkList: all columns of its row
}

// Work is what the blocks of a grid share.
type Work struct {
	_      [0]func()
	b      *ir.Builder
	n      *ir.Value
	policy Policy
}

// Schedule shares work among the blocks of the grid, which is as many as the device holds at once and at most one a piece:
// block i takes the pieces i, i+blocks, i+2*blocks and so on. In a kernel with clusters the clusters share it. It stands
// at the top level, once; every role that works loops over its Tiles, so that all of a block's roles meet at the same
// pieces.
func (k *Builder) Schedule(p Policy) Work {
	b := k.kernel()
	if p.count == nil {
		ir.Fail(ErrScope, "the Policy of Schedule is the zero value of its type; use tile.Linear, tile.SuperRows or tile.WorkList")
	}
	w := Work{b: b, policy: p}
	if n := p.count(b).v; n != nil && b.Schedule(n) {
		w.n = n
	}
	return w
}

// Tiles is a loop over the pieces of work of the block, for a scope. Its body is recorded as that of Range.
func (w Work) Tiles(s Scope) iter.Seq[Piece] {
	b, _ := scopeOf(s)
	if w.b != b {
		ir.Fail(ErrScope, "the Work of Tiles was never assigned, or belongs to another kernel; make it with Schedule")
	}
	first, step := ir.BlockID, ir.NumBlocks
	if b.Kernel.Cluster > 0 {
		first, step = ir.ClusterID, ir.NumClusters
	}
	return func(yield func(Piece) bool) {
		if w.n == nil { // a mistake of Schedule
			return
		}
		for item := range Range(s, position(b, first), Index{b: b, v: w.n}, position(b, step)) {
			if !yield(w.policy.piece(b, s, item)) {
				return
			}
		}
	}
}

// Linear is n rows, an int or an Index, in pieces of so many, in order. A piece has the Row that it begins with.
func Linear[N Int](n N, rows int) Policy {
	return Policy{
		count: func(b *ir.Builder) Index { return pieces(b, n, rows) },
		piece: func(b *ir.Builder, _ Scope, item Index) Piece {
			return Piece{Item: item, Row: item.Scale(rows), Col: Index{b: b, v: b.Int(0)}}
		},
	}
}

// pieces is n in pieces of so many, rounded up.
func pieces[N Int](b *ir.Builder, n N, size int) Index {
	if size < 1 {
		b.Errorf(ir.Persistent, ErrShape, "a schedule of pieces of %d: a piece has at least 1 row and column; use a size of at least 1", size)
		size = 1
	}
	return Index{b: b, v: indexOf(b, ir.Persistent, "the size of the work", n)}.AddInt(size - 1).DivInt(size)
}

// SuperRows is the tiles of a matrix, rows x cols elements each, in super-rows of height tile rows: within one, tiles go
// down before they go right, so that blocks that run at the same time share rows and columns of the operands in L2. A
// piece has the Row and the Col of its first element.
func SuperRows[T Number](c Global[T], rows, cols, height int) Policy {
	size := func(b *ir.Builder) (down, right Index) {
		if c.Rank() != 2 || height < 1 {
			b.Errorf(ir.Persistent, ErrShape, "SuperRows of height %d of an argument of rank %d: it is for matrices, in super-rows of at least 1 tile; give an argument of rank 2 and such a height", height, c.Rank())
			return Index{b: b}, Index{b: b}
		}
		return pieces(b, c.Dim(0), rows), pieces(b, c.Dim(1), cols)
	}
	return Policy{
		count: func(b *ir.Builder) Index {
			down, right := size(b)
			return down.Mul(right)
		},
		piece: func(b *ir.Builder, _ Scope, item Index) Piece {
			down, right := size(b)
			each := right.Scale(height) // tiles of a whole super-row
			first := item.Div(each).Scale(height)
			high, within := down.Sub(first).MinInt(height), item.Rem(each)
			return Piece{Item: item, Row: first.Add(within.Rem(high)).Scale(rows), Col: within.Div(high).Scale(cols)}
		},
	}
}

// WorkList is the rows of a list in global memory, one a piece, of up to 8 columns: what a launch computes beforehand, such
// as the rows and lengths of the segments of a batch. A piece has the row's columns as Fields, the first also as Row and
// the second as Col. The kernel must not write the list.
func WorkList(list Global[I32]) Policy {
	return Policy{
		count: func(b *ir.Builder) Index {
			if list.a != nil && (list.Rank() != 2 || list.a.Dims[1].Symbol != nil || list.a.Dims[1].Size > 8) {
				b.Errorf(ir.Persistent, ErrShape, "WorkList of %s: a list has a row a piece, and a constant number of columns, 1 to 8; give it a tag such as `tile:\"items,2\"`", list.a.Field)
				return Index{b: b}
			}
			return list.Dim(0)
		},
		piece: func(b *ir.Builder, s Scope, item Index) Piece {
			p := Piece{Item: item, Row: Index{b: b, v: b.Int(0)}, Col: Index{b: b, v: b.Int(0)}}
			for i := range list.a.Dims[1].Size {
				p.Fields = append(p.Fields, AsIndex(LoadScalar(s, list.At(item, i))))
			}
			p.Row = p.Fields[0]
			if len(p.Fields) > 1 {
				p.Col = p.Fields[1]
			}
			return p
		},
	}
}
