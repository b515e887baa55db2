package gemm

import "github.com/gotile/gotile/tile"

// end writes a consumer's part of a tile from its registers.
func (p *product[T]) end(c tile.TensorScope, acc tile.Var[tile.F32], at piece, row, col tile.Index) {
	tile.If(c, p.Wide.Dim(0).GtInt(0), func() {
		tile.Store(c, p.Wide.At(at.part, row, col), acc.Get())
	}, func() {
		tile.Store(c, p.D.At(at.part, row, col), tile.Cast[T](acc.Get()))
	})
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
	cols := 64 // 128 bytes
	if p.N/p.Right%cols != 0 {
		cols /= 2
	}
	s := tile.NewShared[T](k, p.Down*p.Right, inFlight, panelRows, cols).Swizzle(swizzle(cols)).Manual()
	return panels[T]{p, cols, s}
}

// end writes the part of a warpgroup of a tile, and returns while the last panels are still read. What is in f32 is
// written from registers.
func (p panels[T]) end(c tile.Warpgroup, acc tile.Var[tile.F32], at piece, row, col tile.Index) {
	tile.If(c, p.Wide.Dim(0).GtInt(0), func() {
		tile.Store(c, p.Wide.At(at.part, row, col), acc.Get())
	}, func() {
		x, n := acc.Get(), 0
		for i := range p.M / p.Down / panelRows {
			for j := range p.N / p.Right / p.cols {
				panel := p.s.At(c.Index(), n%inFlight)
				n++
				left := inFlight - 1
				if n == 1 { // the last panel of the tile before may be of the same place
					left = 0
				}
				tile.WaitBulkRead(c, left)
				part := x.Subtile(0, i*panelRows, panelRows).Subtile(1, j*p.cols, p.cols)
				tile.StoreMatrix(c, panel, tile.Cast[T](part))
				tile.FenceAsync(c)
				c.Sync()
				tile.StoreTensor(c, p.D.At(at.part, row.AddInt(i*panelRows), col.AddInt(j*p.cols)), panel)
				tile.CommitBulk(c)
			}
		}
	})
}
