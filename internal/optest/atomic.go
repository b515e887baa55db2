package optest

import "github.com/gotile/gotile/tile"

// atomicArgs: the tile atomics of X on rows 0 to 4 of Tile, by every block; one value of every warp or block on the
// counters, with what they returned.
type atomicArgs[T tile.Integer] struct {
	X    tile.Global[T] `tile:"rows,n"`
	Tile tile.Global[T] `tile:"5,n"`
	One  tile.Global[T] `tile:"6"`          // counters: add, max, min, exch, cas of blocks; add of warps
	Old  tile.Global[T] `tile:"blocks,5"`   // what the blocks' atomics returned
	Warp tile.Global[T] `tile:"tickets,32"` // ticket w was returned to all lanes of one warp: 1 from each
}

func atomic[T tile.Integer](name string) (*tile.Kernel, error) {
	c := tile.Const[T]
	return tile.Define(name, func(k *tile.Builder, a atomicArgs[T]) {
		block, warp := k.Block(), k.Warp()
		span := block.Striped(96, 1)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.Blocks(a.Old.Dim(0))) {
			x := tile.Load(block, a.X.Row(row), span)
			tile.AtomicAdd(block, a.Tile.At(0), x)
			tile.AtomicMax(block, a.Tile.At(1), x)
			tile.AtomicMin(block, a.Tile.At(2), x)
			tile.AtomicExch(block, a.Tile.At(3), x)
			tile.AtomicCAS(block, a.Tile.At(4), c(1), x)
		}
		id := tile.Cast[T](k.BlockID().Int())
		for i, old := range []tile.Reg[T]{
			tile.AtomicAdd(block, a.One.At(0), c(3)), tile.AtomicMax(block, a.One.At(1), id), tile.AtomicMin(block, a.One.At(2), id),
			tile.AtomicExch(block, a.One.At(3), id), tile.AtomicCAS(block, a.One.At(4), c(77), id),
		} {
			tile.Store(block, a.Old.At(k.BlockID(), i), old)
		}
		ticket := tile.AtomicAdd(warp, a.One.At(5), c(1))
		tile.Store(warp, a.Warp.At(tile.AsIndex(tile.Cast[tile.I32](ticket))), tile.Full(warp, warp.Striped(32, 1), c(1)))
	}, tile.Threads(64), tile.Doc("Atomics of tiles and of single values."))
}

func atomicKernels() tile.Set {
	return family(kernel{"op_atomic_i32", atomic[tile.I32]}, kernel{"op_atomic_u32", atomic[tile.U32]}, kernel{"op_atomic_i64", atomic[tile.I64]})
}

// floatAtomicArgs: sums of small integers, which are exact in any order, and an exchange.
type floatAtomicArgs struct {
	X    tile.Global[tile.F32] `tile:"rows,n"`
	Sum  tile.Global[tile.F32] `tile:"n"`
	Exch tile.Global[tile.F32] `tile:"1"`
	Old  tile.Global[tile.F32] `tile:"rows"`
}

func floatAtomic(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a floatAtomicArgs) {
		block := k.Block()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			tile.AtomicAdd(block, a.Sum, tile.Load(block, a.X.Row(row), block.Striped(128, 4)))
			tile.Store(block, a.Old.At(row), tile.AtomicExch(block, a.Exch, row.AddInt(1).Float()))
		}
	}, tile.Threads(32), tile.Doc("Atomics in f32."))
}

func floatAtomicKernels() tile.Set { return family(kernel{"op_atomic_f32", floatAtomic}) }
