package optest

import "github.com/gotile/gotile/tile"

// moveArgs: X copied with every hint, twice added to itself, and its scalars.
type moveArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"6,rows,n"`
	S tile.Global[T] `tile:"rows"`
}

func move[T tile.Number](name string, cap, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a moveArgs[T]) {
			block := k.Block()
			span := block.Striped(cap, vec)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				x := tile.Load(block, a.X.Row(row), span, tile.Streaming)
				again := tile.Load(block, a.X.Row(row), span, tile.L2Only)
				tile.Store(block, a.Y.At(0, row), x) // in registers already
				tile.Store(block, a.Y.At(1, row), again, tile.Streaming)
				tile.Store(block, a.Y.At(2, row), tile.Load(block, a.X.Row(row), span, tile.ReadOnly), tile.L2Only)
				tile.Store(block, a.Y.At(3, row), x.Max(again))
				tile.Store(block, a.Y.At(4, row), tile.Load(block, a.X.Row(row), span, tile.EvictLast), tile.EvictFirst)
				tile.Store(block, a.Y.At(5, row), tile.Load(block, a.X.Row(row), span, tile.EvictFirst), tile.EvictLast)
				tile.Store(block, a.S.At(row), tile.LoadScalar(block, a.X.At(row)))
			}
		}, tile.Threads(64), tile.Doc("Rows loaded and stored with every cache hint."))
	}}
}

func moveKernels() tile.Set {
	return family(move[tile.F32]("op_move_f32", 300, 4), move[tile.BF16]("op_move_bf16", 700, 8), move[tile.F16]("op_move_f16", 128, 2),
		move[tile.I32]("op_move_i32", 64, 1), move[tile.U32]("op_move_u32", 300, 4), move[tile.I64]("op_move_i64", 200, 2))
}

// staticArgs: fixed sizes need no extents, and offsets along the tile's own axes move it.
type staticArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"12,64"`
	Y tile.Global[T] `tile:"12,64"`
	Z tile.Global[T] `tile:"64"`
}

func static[T tile.Number](name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a staticArgs[T]) {
		block := k.Block()
		half := block.Striped2(4, 32, 4, 8)
		for i := range tile.Range(block, 0, 12, 4) {
			tile.Store(block, a.Y.At(i), tile.Load(block, a.X.At(i, 32), half))
			tile.Store(block, a.Y.At(i, 32), tile.Load(block, a.X.At(i), half))
		}
		tile.Store(block, a.Z, tile.Load(block, a.X.Row(tile.AsIndex(tile.Full(block, block.Striped(1, 1), tile.I32(11)).MaxOf())), block.Striped(64, 2)))
	}, tile.Threads(32), tile.Doc("Tensors of fixed size; halves of rows exchanged."))
}

func staticKernels() tile.Set {
	return family(kernel{"op_static_f32", static[tile.F32]}, kernel{"op_static_f16", static[tile.F16]}, kernel{"op_static_i64", static[tile.I64]})
}

// stridedArgs: any stride along every dimension.
type stridedArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n strided"`
	Y tile.Global[T] `tile:"rows,n,strided"`
	V tile.Global[T] `tile:"n strided"`
}

func strided[T tile.Number](name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a stridedArgs[T]) {
		block := k.Block()
		x := tile.Load(block, a.X, block.Striped2(10, 32, 2, 16))
		tile.Store(block, a.Y, x)
		tile.Store(block, a.V, x.MaxOf(0))
	}, tile.Threads(64), tile.Doc("Tensors whose last dimension is strided too."))
}

func stridedKernels() tile.Set {
	return family(kernel{"op_strided_f32", strided[tile.F32]}, kernel{"op_strided_bf16", strided[tile.BF16]}, kernel{"op_strided_i64", strided[tile.I64]})
}

// gatherArgs: Y[i] = X[Index[i]], and the element X[Index[i], Index[i] mod n].
type gatherArgs[T tile.Number] struct {
	X     tile.Global[T]        `tile:"rows,n"`
	Index tile.Global[tile.I32] `tile:"m"`
	Y     tile.Global[T]        `tile:"m,n"`
	S     tile.Global[T]        `tile:"m"`
}

func gather[T tile.Number](name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a gatherArgs[T]) {
		warp := k.Warp()
		for i := range tile.Persistent(warp, a.Index.Dim(0)) {
			row := tile.AsIndex(tile.LoadScalar(warp, a.Index.At(i), tile.ReadOnly))
			tile.Store(warp, a.Y.Row(i), tile.Load(warp, a.X.Row(row), warp.Striped(200, 4)))
			tile.Store(warp, a.S.At(i), tile.LoadScalar(warp, a.X.At(row, row.Rem(a.X.Dim(1)))))
		}
	}, tile.Threads(64), tile.Doc("Rows chosen by numbers read from data."))
}

func gatherKernels() tile.Set {
	return family(kernel{"op_gather_f32", gather[tile.F32]}, kernel{"op_gather_bf16", gather[tile.BF16]})
}
