package optest

import "github.com/gotile/gotile/tile"

// ringArgs: the first M columns of X twice themselves, and their sums.
type ringArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	M tile.Scalar[tile.I32]
	Y tile.Global[T] `tile:"rows,n"` // past M as before
	S tile.Global[T] `tile:"rows"`
}

// ringChunk is the number of columns of a stage.
const ringChunk = 64

// ring streams rows through stages of one shared tile, which others read than those who copied. The copies ahead of the
// last chunk lie past the end of the row, and are zeros.
func ring[T tile.Number](name string, stages int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a ringArgs[T]) {
			block, ahead := k.Block(), stages-1
			s := tile.NewShared[T](k, stages, ringChunk)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				end := tile.AsIndex(a.M.Reg())
				sum := tile.NewVar(block, tile.Const[T](0))
				for i := range ahead {
					tile.CopyAsync(block, s.At(i), a.X.At(row, i*ringChunk))
					tile.Commit(block)
				}
				for col := range tile.Range(block, 0, end, ringChunk) {
					i := col.DivInt(ringChunk)
					tile.WaitGroup(block, ahead-1)
					tile.CopyAsync(block, s.At(i.AddInt(ahead).RemInt(stages)), a.X.At(row, col.AddInt(ahead*ringChunk)))
					tile.Commit(block)
					x := tile.Load(block, s.At(i.RemInt(stages)), block.Striped(ringChunk, 1).Clip(end.Sub(col).MinInt(ringChunk)))
					tile.Store(block, a.Y.At(row, col), x.Add(x))
					sum.Set(sum.Get().Add(x.Sum()))
				}
				tile.WaitGroup(block, 0)
				tile.Store(block, a.S.At(row), sum.Get())
			}
		}, tile.Threads(64), tile.Doc("Rows streamed through a ring of shared memory by asynchronous copies."))
	}}
}

func ringKernels() tile.Set {
	return family(ring[tile.F32]("op_ring_f32", 3), ring[tile.BF16]("op_ring_bf16", 4), ring[tile.I64]("op_ring_i64", 2))
}

// pingPongArgs are ringArgs, of another family.
type pingPongArgs[T tile.Number] ringArgs[T]

// pingPong is ring with two tiles and two chunks an iteration, so that the planner knows who reads what.
func pingPong[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a pingPongArgs[T]) {
			block := k.Block()
			s := [2]tile.Shared[T]{tile.NewShared[T](k, ringChunk), tile.NewShared[T](k, ringChunk)}
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				end := tile.AsIndex(a.M.Reg())
				sum := tile.NewVar(block, tile.Const[T](0))
				tile.CopyAsync(block, s[0], a.X.Row(row))
				tile.Commit(block)
				for col := range tile.Range(block, 0, end, 2*ringChunk) {
					for i := range s {
						at := col.AddInt(i * ringChunk)
						tile.CopyAsync(block, s[1-i], a.X.At(row, at.AddInt(ringChunk)))
						tile.Commit(block)
						tile.WaitGroup(block, 1)
						x := tile.Load(block, s[i], block.Striped(ringChunk, 1).Clip(end.Sub(at).MinInt(ringChunk)))
						tile.Store(block, a.Y.At(row, at), x.Add(x))
						sum.Set(sum.Get().Add(x.Sum()))
					}
				}
				tile.WaitGroup(block, 0)
				tile.Store(block, a.S.At(row), sum.Get())
			}
		}, tile.Threads(64), tile.Doc("Rows streamed through two shared tiles in turn."))
	}}
}

func pingPongKernels() tile.Set {
	return family(pingPong[tile.F32]("op_ping_pong_f32"), pingPong[tile.F16]("op_ping_pong_f16"))
}

// boxArgs: boxes of X, of a tensor with strides and of a vector, each read otherwise than it was copied.
type boxArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"rows,n"`
	V tile.Global[T] `tile:"n strided"`
	W tile.Global[T] `tile:"n"`
}

func box[T tile.Number](name string) kernel {
	const rows, cols = 6, 80
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a boxArgs[T]) {
			block, warp := k.Block(), k.Warp()
			s, v := tile.NewShared[T](k, rows, cols), tile.NewShared[T](k, k.Warps(), cols)
			for row := range tile.Range(block, 0, a.X.Dim(0), rows) {
				for col := range tile.Range(block, 0, a.X.Dim(1), cols) {
					tile.CopyAsync(block, s, a.X.At(row, col))
					tile.Commit(block)
					tile.WaitGroup(block, 0)
					span := block.Striped2(rows, cols, 1, 32).Clip(a.X.Dim(0).Sub(row).MinInt(rows), a.X.Dim(1).Sub(col).MinInt(cols))
					tile.Store(block, a.Y.At(row, col), tile.Load(block, s, span))
				}
			}
			mine := v.At(warp.Index())
			for col := range tile.Persistent(warp, a.W.Dim(0), tile.Step(cols)) {
				tile.CopyAsync(warp, mine, a.V.At(col))
				tile.Commit(warp)
				tile.WaitGroup(warp, 0)
				tile.Store(warp, a.W.At(col), tile.Load(warp, mine, warp.Striped(cols, 1).Clip(a.W.Dim(0).Sub(col).MinInt(cols))))
			}
		}, tile.Threads(96), tile.Doc("Boxes by asynchronous copies."))
	}}
}

func boxKernels() tile.Set {
	return family(box[tile.F32]("op_box_f32"), box[tile.BF16]("op_box_bf16"), box[tile.I64]("op_box_i64"))
}
