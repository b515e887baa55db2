package gemm

import "github.com/gotile/gotile/tile"

// end writes a warp's part of a tile from its registers, with what is added to it, so many columns at a time: for more, what
// is loaded to be added has no registers beside the accumulators.
func (p *product[T]) end(c tile.TensorScope, acc tile.Var[tile.F32], at piece, row, col tile.Index) {
	const cols = 16
	x := acc.Get()
	for j := range p.N / p.Right / cols {
		col := col.AddInt(j * cols)
		part := tile.NewVar(c, x.Subtile(1, j*cols, cols))
		p.add(c, part, at, row, col)
		tile.If(c, p.Wide.Dim(0).GtInt(0), func() {
			tile.Store(c, p.Wide.At(at.part, row, col), part.Get())
		}, func() {
			tile.Store(c, p.D.At(at.part, row, col), tile.Cast[T](part.Get()))
		})
	}
}

// panels are what warpgroups write their parts of a tile through: by tensor stores of as many columns as a swizzle has, two
// in flight for each warpgroup.
type panels[T tile.Float] struct {
	*product[T]
	cols int
	s    tile.Shared[T]
}

const (
	panelRows = 64
	inFlight  = 2 // panels of a warpgroup
)

func (p *product[T]) panels(k *tile.Builder) panels[T] {
	cols := 64                 // 128 bytes
	if p.N/p.Right%cols != 0 { // rows of an odd number of 16 bytes need no swizzle
		cols = p.N / p.Right / 2
		return panels[T]{p, cols, tile.NewShared[T](k, p.Down*p.Right, inFlight, panelRows, cols).Manual()}
	}
	s := tile.NewShared[T](k, p.Down*p.Right, inFlight, panelRows, cols).Swizzle(swizzle(cols)).Manual()
	return panels[T]{p, cols, s}
}

// end writes the part of a warpgroup of a tile, with what is added to it, and returns while the last panels are still read.
// It goes panel by panel, so that few registers beside the accumulators are needed. The accumulators themselves begin with
// zeros: where branches set them, ptxas has each multiply wait for the one before (C7515).
func (p panels[T]) end(c tile.Warpgroup, acc tile.Var[tile.F32], at piece, row, col tile.Index) {
	x, n := acc.Get(), 0
	for i := range p.M / p.Down / panelRows {
		for j := range p.N / p.Right / p.cols {
			row, col := row.AddInt(i*panelRows), col.AddInt(j*p.cols)
			part := tile.NewVar(c, x.Subtile(0, i*panelRows, panelRows).Subtile(1, j*p.cols, p.cols))
			p.add(c, part, at, row, col)
			panel, left := p.s.At(c.Index(), n%inFlight), inFlight-1
			if n == 0 { // the last panel of the tile before may be of the same place
				left = 0
			}
			n++
			tile.If(c, p.Wide.Dim(0).GtInt(0), func() {
				tile.Store(c, p.Wide.At(at.part, row, col), part.Get())
			}, func() {
				tile.WaitBulkRead(c, left)
				tile.StoreMatrix(c, panel, tile.Cast[T](part.Get()))
				tile.FenceAsync(c)
				c.Sync()
				tile.StoreTensor(c, p.D.At(at.part, row, col), panel)
				tile.CommitBulk(c)
			})
		}
	}
}
