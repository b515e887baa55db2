package tile_test

import "github.com/gotile/gotile/tile"

// A row of any length in chunks of one span: the last chunk is clipped at the end of the row, where Sum sees zeros.
func ExampleColumns() {
	show(tile.Define("mean", func(k *tile.Builder, a scaleArgs) {
		n, span := a.X.Dim(0), k.Block().Striped(1024, 4)
		sum := tile.NewVar(k, tile.F32(0))
		for col := range tile.Columns(k, n, span) {
			sum.Set(sum.Get().Add(tile.Cast[tile.F32](tile.Load(k, a.X.At(col), span)).Sum()))
		}
		mean := sum.Get().Div(n.Float())
		for col := range tile.Columns(k, n, span) {
			x := tile.Cast[tile.F32](tile.Load(k, a.X.At(col), span))
			tile.Store(k, a.Y.At(col), x.Sub(mean))
		}
	}))
	// Output:
	// kernel mean(x bf16[n] r, y f32[n] w, eps f32) threads 256
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   %0 = var 0.0 : f32
	//   range 0, n, 1024 { %2
	//     %3 = get %0 : f32
	//     %4 = sub n, %2 : i32
	//     %5 = load x[%2] : bf16 #0{%4}
	//     %6 = cast %5 : f32 #0{%4}
	//     %7 = sum %6 axes [0] : f32
	//     %8 = add %3, %7 : f32
	//     set %0, %8
	//   }
	//   %10 = get %0 : f32
	//   %11 = cast n : f32
	//   %12 = div %10, %11 : f32
	//   range 0, n, 1024 { %14
	//     %15 = sub n, %14 : i32
	//     %16 = load x[%14] : bf16 #0{%15}
	//     %17 = cast %16 : f32 #0{%15}
	//     %18 = sub %17, %12 : f32 #0{%15}
	//     store %18 y[%14] : #0{%15}
	//   }
}

// The blocks of a grid add up a vector: each stores a partial sum, and the one that counts last adds those.
func ExampleOrder() {
	type args struct {
		X     tile.Global[tile.F32] `tile:"n"`
		Part  tile.Global[tile.F32] `tile:"blocks"`
		Count tile.Global[tile.U32] `tile:"1"` // 0 before the launch and after it
		Sum   tile.Global[tile.F32] `tile:"1"`
	}
	show(tile.Define("sum", func(k *tile.Builder, a args) {
		span := k.Block().Striped(1024, 4)
		sum := tile.NewVar(k, tile.F32(0))
		for i := range tile.Persistent(k, a.X.Dim(0), tile.Step(1024), tile.Blocks(a.Part.Dim(0))) {
			sum.Set(sum.Get().Add(tile.Load(k, a.X.At(i), span).Sum()))
		}
		tile.Store(k, a.Part.At(k.BlockID()), sum.Get())
		old := tile.AtomicAdd(k, a.Count, tile.U32(1), tile.AcqRel)
		tile.If(k, tile.Cast[tile.I32](old).Eq(k.NumBlocks().SubInt(1).Int()), func() {
			total := tile.NewVar(k, tile.F32(0))
			for i := range tile.Range(k, 0, a.Part.Dim(0), 1) {
				total.Set(total.Get().Add(tile.LoadScalar(k, a.Part.At(i))))
			}
			tile.Store(k, a.Sum, total.Get())
			tile.Store(k, a.Count, tile.U32(0))
		})
	}))
	// Output:
	// kernel sum(x f32[n] r, part f32[blocks] r w, count u32[1] r w, sum f32[1] w) threads 256
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   %0 = var 0.0 : f32
	//   persistent n, 1024 blocks blocks { %2
	//     %3 = get %0 : f32
	//     %4 = sub n, %2 : i32
	//     %5 = load x[%2] : f32 #0{%4}
	//     %6 = sum %5 axes [0] : f32
	//     %7 = add %3, %6 : f32
	//     set %0, %7
	//   }
	//   %9 = block_id : i32
	//   %10 = get %0 : f32
	//   store %10 part[%9]
	//   %12 = atomic_add 1 count[0] acq_rel : u32
	//   %13 = cast %12 : i32
	//   %14 = num_blocks : i32
	//   %15 = sub %14, 1 : i32
	//   %16 = eq %13, %15 : bool
	//   if %16 {
	//     %18 = var 0.0 : f32
	//     range 0, blocks, 1 { %20
	//       %21 = get %18 : f32
	//       %22 = load part[%20] : f32
	//       %23 = add %21, %22 : f32
	//       set %18, %23
	//     }
	//     %25 = get %18 : f32
	//     store %25 sum[0]
	//     store 0 count[0]
	//   }
}

// A row streamed through three stages of shared memory. A copy is issued two chunks ahead of its use; what lies past the
// end of the row is zeros.
func ExampleCopyAsync() {
	show(tile.Define("sum", func(k *tile.Builder, a scaleArgs) {
		const stages, chunk = 3, 512
		block, n := k.Block(), a.X.Dim(0)
		ring := tile.NewShared[tile.BF16](k, stages, chunk)
		sum := tile.NewVar(block, tile.F32(0))
		for i := range stages - 1 {
			tile.CopyAsync(block, ring.At(i), a.X.At(i*chunk))
			tile.Commit(block)
		}
		for col := range tile.Range(block, 0, n, chunk) {
			i := col.DivInt(chunk)
			tile.WaitGroup(block, stages-2)
			tile.CopyAsync(block, ring.At(i.AddInt(stages-1).RemInt(stages)), a.X.At(col.AddInt((stages-1)*chunk)))
			tile.Commit(block)
			x := tile.Load(block, ring.At(i.RemInt(stages)), block.Striped(chunk, 2)) // zeros past n
			sum.Set(sum.Get().Add(tile.Cast[tile.F32](x).Sum()))
		}
		tile.WaitGroup(block, 0)
		tile.Store(block, a.Y.At(0), sum.Get())
	}))
	// Output:
	// kernel sum(x bf16[n] r, y f32[n] w, eps f32) threads 256
	//   shared s0 bf16[3 512]
	//   #0 = block [512] thread (256:8@0) value (8:1@0)
	//   #1 = block [512] thread (256:2@0) value (2:1@0)
	//   %0 = var 0.0 : f32
	//   copy_async s0[0, 0] from x[0] : #0{n}
	//   commit
	//   %3 = sub n, 512 : i32
	//   copy_async s0[1, 0] from x[512] : #0{%3}
	//   commit
	//   range 0, n, 512 { %7
	//     %8 = div %7, 512 : i32
	//     wait_group 1
	//     %10 = add %8, 2 : i32
	//     %11 = rem %10, 3 : i32
	//     %12 = add %7, 1024 : i32
	//     %13 = sub n, %12 : i32
	//     copy_async s0[%11, 0] from x[%12] : #0{%13}
	//     commit
	//     %16 = rem %8, 3 : i32
	//     %17 = load s0[%16, 0] : bf16 #1
	//     %18 = get %0 : f32
	//     %19 = cast %17 : f32 #1
	//     %20 = sum %19 axes [0] : f32
	//     %21 = add %18, %20 : f32
	//     set %0, %21
	//   }
	//   wait_group 0
	//   %24 = get %0 : f32
	//   store %24 y[0]
}
