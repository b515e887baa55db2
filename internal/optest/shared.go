package optest

import "github.com/gotile/gotile/tile"

// sharedArgs: a tile that goes through shared memory, written with one distribution and read with another.
type sharedArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"rows,n"`
	V tile.Global[T] `tile:"rows,n"`
	S tile.Global[T] `tile:"rows"`
}

func shared[T tile.Number](name string) (*tile.Kernel, error) {
	const rows, cols = 16, 48
	return tile.Define(name, func(k *tile.Builder, a sharedArgs[T]) {
		block := k.Block()
		s, one := tile.NewShared[T](k, rows, cols), tile.NewShared[T](k, rows)
		x := tile.Load(block, a.X, block.Striped2(rows, cols, 4, 4))
		tile.Store(block, s, x.Fill(tile.Const[T](0)))
		tile.Store(block, a.Y, tile.Load(block, s, block.Striped2(rows, cols, 1, 32).Clip(a.X.Dim(0), a.X.Dim(1))))
		for row := range tile.Range(block, 0, a.X.Dim(0), 1) { // row by row, from the last
			at := a.X.Dim(0).SubInt(1).Sub(row)
			v := tile.Load(block, s.At(at), block.Striped(cols, 2).Clip(a.X.Dim(1)))
			tile.Store(block, a.V.Row(at), v)
			tile.Store(block, one.At(at), v.MaxOf())
		}
		for row := range tile.Range(block, 0, a.X.Dim(0), 1) {
			tile.Store(block, a.S.At(row), tile.LoadScalar(block, one.At(row)))
		}
	}, tile.Threads(128), tile.Doc("A tile through shared memory, read otherwise than it was written."))
}

func sharedKernels() tile.Set {
	return family(kernel{"op_shared_f32", shared[tile.F32]}, kernel{"op_shared_bf16", shared[tile.BF16]}, kernel{"op_shared_i32", shared[tile.I32]}, kernel{"op_shared_i64", shared[tile.I64]})
}

// carryArgs: Y[i] is the reverse of the pairs of X[i] plus what iteration i-1 left in shared memory.
type carryArgs struct {
	X tile.Global[tile.I32] `tile:"steps,n"`
	Y tile.Global[tile.I32] `tile:"steps,n"`
}

// carry reads, in each iteration, what the last one wrote with another distribution: barriers are needed before the
// read and, around the back edge, before the write.
func carry(name string) (*tile.Kernel, error) {
	const n = 128
	return tile.Define(name, func(k *tile.Builder, a carryArgs) {
		block := k.Block()
		s := tile.NewShared[tile.I32](k, n)
		wide, thin := block.Striped(n, 4).Clip(a.X.Dim(1)), block.Striped(n, 1).Clip(a.X.Dim(1))
		tile.Store(block, s, tile.Full(block, block.Striped(n, 1), tile.I32(0)))
		for i := range tile.Range(block, 0, a.X.Dim(0), 1) {
			y := tile.Load(block, a.X.Row(i), wide).Add(tile.Load(block, s, wide))
			tile.Store(block, a.Y.Row(i), y)
			tile.Store(block, s, tile.Load(block, a.X.Row(i), thin))
		}
	}, tile.Threads(128), tile.Doc("What one iteration leaves in shared memory for the next."))
}

func carryKernels() tile.Set { return family(kernel{"op_carry", carry}) }

// warpSharedArgs: each warp turns its rows over in its own row of shared memory.
type warpSharedArgs struct {
	X tile.Global[tile.F32] `tile:"rows,n"`
	Y tile.Global[tile.F32] `tile:"rows,n"`
}

func warpShared(name string) (*tile.Kernel, error) {
	const n = 64
	return tile.Define(name, func(k *tile.Builder, a warpSharedArgs) {
		warp := k.Warp()
		s := tile.NewShared[tile.F32](k, k.Warps(), n)
		cols := a.X.Dim(1)
		for row := range tile.Persistent(warp, a.X.Dim(0)) {
			mine := s.At(warp.Index())
			tile.Store(warp, mine, tile.Load(warp, a.X.Row(row), warp.Striped(n, 2)))
			tile.Store(warp, a.Y.Row(row), tile.Load(warp, mine, warp.Striped(n, 1).Clip(cols)))
		}
	}, tile.Threads(96), tile.Doc("Shared memory of each warp for itself."))
}

func warpSharedKernels() tile.Set { return family(kernel{"op_warp_shared", warpShared}) }
