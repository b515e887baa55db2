package tile_test

import "github.com/gotile/gotile/tile"

type histogramArgs struct {
	X     tile.Global[tile.F32] `tile:"n"`
	Range tile.Global[tile.U32] `tile:"2"` // the smallest and the largest bits
	Count tile.Global[tile.I32] `tile:"bins"`
	Owner tile.Global[tile.I32] `tile:"1"` // -1 before the launch
}

// The bits of floats that are not negative have the floats' order, so integer atomics find their extremes.
func ExampleAtomicMax() {
	show(tile.Define("extremes", func(k *tile.Builder, a histogramArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(1024, 4)).Abs()
		tile.AtomicMin(k, a.Range.At(0), tile.Bitcast[tile.U32](x.MinOf()))
		tile.AtomicMax(k, a.Range.At(1), tile.Bitcast[tile.U32](x.MaxOf()))
	}))
	// Output:
	// kernel extremes(x f32[n] r, range u32[2] r w, count i32[bins], owner i32[1]) threads 256
	//   n <= 1024
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   %0 = load x[0] : f32 #0{n}
	//   %1 = abs %0 : f32 #0{n}
	//   %2 = min_of %1 axes [0] : f32
	//   %3 = bitcast %2 : u32
	//   %4 = atomic_min %3 range[0] : u32
	//   %5 = max_of %1 axes [0] : f32
	//   %6 = bitcast %5 : u32
	//   %7 = atomic_max %6 range[1] : u32
}

// The first block that comes puts its number where -1 was; the last one resets the count, and gets what it was.
func ExampleAtomicCAS() {
	show(tile.Define("first", func(k *tile.Builder, a histogramArgs) {
		old := tile.AtomicCAS(k, a.Owner, tile.I32(-1), k.BlockID().Int(), tile.Acquire)
		tile.If(k, old.Eq(tile.I32(-1)), func() {
			was := tile.AtomicExch(k, a.Count.At(0), tile.I32(0))
			tile.Store(k, a.Count.At(1), was)
		})
	}))
	// Output:
	// kernel first(x f32[n], range u32[2], count i32[bins] r w, owner i32[1] r w) threads 256
	//   %0 = block_id : i32
	//   %1 = atomic_cas -1, %0 owner[0] acquire : i32
	//   %2 = eq %1, -1 : bool
	//   if %2 {
	//     %4 = atomic_exch 0 count[0] : i32
	//     store %4 count[1]
	//   }
}
