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

// panels are what warpgroups write their parts of a tile through: by tensor stores of as many columns as a swizzle has,
// some in flight for each warpgroup, so that the next tile begins while they are written.
type panels[T tile.Float] struct {
	*product[T]
	s tile.Shared[T]
}

const (
	panelRows = 64 // all that a warpgroup has
	panelCols = 64 // 128 bytes
)

func (p *product[T]) panels(k *tile.Builder) panels[T] {
	s := tile.NewShared[T](k, p.Down, p.Panels, panelRows, panelCols).Swizzle(swizzle(panelCols)).Manual()
	return panels[T]{p, s}
}

// end writes the part of a warpgroup of a tile, with what is added to it, and returns while the last panels are still read.
// It goes panel by panel, so that few registers beside the accumulators are needed. The accumulators themselves begin with
// zeros: where branches set them, ptxas has each multiply wait for the one before (C7515).
func (p panels[T]) end(c tile.Warpgroup, acc tile.Var[tile.F32], at piece, row, col tile.Index) {
	x := acc.Get()
	for j := range p.N / panelCols { // a multiple of Panels, so that a panel's place is that of Panels stores before
		col := col.AddInt(j * panelCols)
		part := tile.NewVar(c, x.Subtile(1, j*panelCols, panelCols))
		p.add(c, part, at, row, col)
		panel := p.s.At(c.Index(), j%p.Panels)
		tile.If(c, p.Wide.Dim(0).GtInt(0), func() {
			tile.Store(c, p.Wide.At(at.part, row, col), part.Get())
		}, func() {
			tile.WaitBulkRead(c, p.Panels-1)
			tile.StoreMatrix(c, panel, tile.Cast[T](part.Get()))
			tile.FenceAsync(c)
			c.Sync()
			tile.StoreTensor(c, p.D.At(at.part, row, col), panel)
			tile.CommitBulk(c)
		})
	}
}
