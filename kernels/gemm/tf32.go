package gemm

import "github.com/gotile/gotile/tile"

// The kernels of each accuracy of f32 have a launch of their own, so types of their own.
type (
	tf32Args   plainArgs
	tf32x3Args plainArgs
)

// The tile of a block of four warps, each with a quarter of it, and the steps along k.
const (
	tf32Side   = 64
	tf32Part   = tf32Side / 2
	tf32Depth  = 32
	tf32Stages = 3
	tf32Height = 8 // of a super-row
)

// tf32Config is an accuracy of the products of f32 by tensor cores.
type tf32Config struct {
	name string
	tile.Accuracy
}

// KernelName says all that configs differ in.
func (c tf32Config) KernelName() string { return "gemm_f32_" + c.name }

// tf32 multiplies f32 by tensor cores, as tf32: blockwide, with elements copied one by one, as plain does.
func tf32[A any](conv func(A) plainArgs) func(c tf32Config) (*tile.Kernel, error) {
	return func(c tf32Config) (*tile.Kernel, error) {
		return tile.Define(c.KernelName(), func(k *tile.Builder, args A) { recordTF32(k, conv(args), c.Accuracy) },
			tile.Threads(128), tile.Doc("D = A B + C + bias in f32, by tensor cores in "+c.name+"."))
	}
}

func recordTF32(k *tile.Builder, a plainArgs, accuracy tile.Accuracy) {
	block, warp := k.Block(), k.Warp()
	ring := func() tile.Shared[tile.F32] { return tile.NewShared[tile.F32](k, tf32Stages, tf32Depth, tf32Side) }
	as, bs := ring(), ring()
	g := grid{m: a.A.Dim(2), n: a.B.Dim(2), k: a.A.Dim(1), splits: tile.AsIndex(a.Splits.Reg()), tileM: tf32Side, tileN: tf32Side, tileK: tf32Depth, height: tf32Height}
	work := k.Schedule(tile.Linear(a.D.Dim(0).Mul(g.tiles()), 1))
	down, right := warp.Index().RemInt(2).Scale(tf32Part), warp.Index().DivInt(2).RemInt(2).Scale(tf32Part)
	for t := range work.Tiles(block) {
		at := g.piece(t.Item)
		row, col := at.row.Add(down), at.col.Add(right)
		acc := tile.NewAcc[tile.F32](warp, tf32Part, tf32Part)
		a.begin(warp, acc, warp.Fragment(tf32Part, tf32Part), at.batch, row, col)
		fetch := func(stage any, k tile.Index) { a.copyTo(block, as, bs, stage, at, k) }
		ahead(block, tf32Stages, tf32Depth, at, block.Sync, fetch, func(stage tile.Index) {
			x, y := as.At(stage, 0, down).Matrix(tf32Depth, tf32Part), bs.At(stage, 0, right).Matrix(tf32Depth, tf32Part)
			tile.MMA(acc, x, y, tile.AtB, accuracy)
		})
		tile.Store(warp, a.D.At(at.part, row, col), acc.Get())
	}
}

func tf32Kernels() tile.Set {
	return tile.Sets(
		tile.Configs(tf32(func(a tf32Args) plainArgs { return plainArgs(a) }), tf32Config{"tf32", tile.TF32}),
		tile.Configs(tf32(func(a tf32x3Args) plainArgs { return plainArgs(a) }), tf32Config{"tf32x3", tile.TF32x3}))
}
