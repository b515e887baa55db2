package gemm

import "github.com/gotile/gotile/tile"

// plainArgs are the arguments of the products of f32, of any strides: A is given as k x m and B as k x n, of whatever form.
type plainArgs struct {
	A      tile.Global[tile.F32] `tile:"batch,k,m strided"`
	B      tile.Global[tile.F32] `tile:"batch,k,n strided"`
	Bias   tile.Global[tile.F32] `tile:"biased"`
	C      tile.Global[tile.F32] `tile:"c0,c1,c2"`
	D      tile.Global[tile.F32] `tile:"parts,m,n"`
	Splits tile.Scalar[tile.I32]
}

// The tile of a block, of which each of its threads has 8x8 elements, and the steps along k.
const (
	plainSide    = 128
	plainDepth   = 8
	plainStages  = 4
	plainThreads = 256
	plainAcross  = 16 // threads
	plainVec     = 4  // neighbouring columns of a thread
	plainHeight  = 8  // of a super-row
)

// plain multiplies by the f32 units, a column of A with a row of B at a time. Elements go to shared memory one by one, by
// cp.async, so that strides do not matter.
func plain(c plainConfig) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a plainArgs) {
		block := k.Block()
		ring := func() tile.Shared[tile.F32] { return tile.NewShared[tile.F32](k, plainStages, plainDepth, plainSide) }
		as, bs := ring(), ring()
		span := block.Striped2(plainSide, plainSide, plainVec, plainAcross)
		g := grid{m: a.A.Dim(2), n: a.B.Dim(2), k: a.A.Dim(1), splits: tile.AsIndex(a.Splits.Reg()), tileM: plainSide, tileN: plainSide, tileK: plainDepth, height: plainHeight}
		work := k.Schedule(tile.Linear(a.D.Dim(0).Mul(g.tiles()), 1))
		for t := range work.Tiles(block) {
			at := g.piece(t.Item)
			acc := tile.NewVar(block, tile.Full(block, span, tile.F32(0)))
			a.begin(block, acc, span, at.batch, at.row, at.col)
			fetch := func(stage any, k tile.Index) { a.copyTo(block, as, bs, stage, at, k) }
			ahead(block, plainStages, plainDepth, at, func() {}, fetch, func(stage tile.Index) {
				for l := range plainDepth {
					x := tile.Expand(tile.Load(block, as.At(stage, l), span.Axis(0)), span, 1)
					y := tile.Expand(tile.Load(block, bs.At(stage, l), span.Axis(1)), span, 0)
					acc.Set(acc.Get().Add(x.Mul(y)))
				}
			})
			tile.Store(block, a.D.At(at.part, at.row, at.col), acc.Get())
		}
	}, tile.Threads(plainThreads), tile.Doc("D = A B + C + bias in f32."))
}

// begin sets a sum to what is added to the product.
func (a plainArgs) begin(s tile.Scope, acc tile.Var[tile.F32], span tile.Span, batch, row, col tile.Index) {
	tile.If(s, a.C.Dim(0).GtInt(0), func() {
		acc.Set(tile.Load(s, a.C.At(batch, row, col), span).Fill(tile.F32(0)))
	})
	tile.If(s, a.Bias.Dim(0).GtInt(0), func() {
		acc.Set(acc.Get().Add(tile.Expand(tile.Load(s, a.Bias.At(col), span.Axis(1)).Fill(tile.F32(0)), span, 0)))
	})
}

// copyTo has the block copy the step that begins at k to a stage, element by element.
func (a plainArgs) copyTo(block tile.Block, as, bs tile.Shared[tile.F32], stage any, at piece, k tile.Index) {
	tile.CopyAsync(block, as.At(stage), a.A.At(at.batch, k, at.row), tile.Pieces(4))
	tile.CopyAsync(block, bs.At(stage), a.B.At(at.batch, k, at.col), tile.Pieces(4))
}

type plainConfig struct{}

// KernelName is the name of the only one.
func (plainConfig) KernelName() string { return "gemm_f32_plain" }

func plainKernels() tile.Set { return tile.Configs(plain, plainConfig{}) }
