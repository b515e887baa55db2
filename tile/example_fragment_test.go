package tile_test

import (
	"fmt"

	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type fragmentArgs struct {
	X   tile.Global[tile.BF16] `tile:"rows,n"`
	Sum tile.Global[tile.F32]  `tile:"16,n"`
}

// Tiles of 16 bits in the registers of a tensor core's operands, added up in f32. The transpose of a span has its
// elements in the same registers of the same threads.
func ExampleNewAcc() {
	show(tile.Define("sum", func(k *tile.Builder, a fragmentArgs) {
		warp := k.Warp()
		span := warp.Fragment(16, 32)
		acc := tile.NewAcc[tile.F32](warp, 16, 32)
		for row := range tile.Range(warp, 0, a.X.Dim(0), 16) {
			x := tile.Load(warp, a.X.At(row), span).Fill(tile.Const[tile.BF16](0))
			acc.Set(acc.Get().Add(tile.Cast[tile.F32](x)))
		}
		tile.Store(warp, a.Sum, acc.Get())
		fmt.Println(span.Shape(), span.Transpose().Shape())
	}, tile.Threads(32)))
	// Output:
	// [16 32] [32 16]
	// kernel sum(x bf16[rows,n] r, sum f32[16,n] w) threads 32
	//   n <= 32
	//   #0 = warp [16,32] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,4:8@1)
	//   %0 = broadcast 0.0 : f32 #0
	//   %1 = var %0 : f32 #0
	//   range 0, rows, 16 warp { %3
	//     %4 = sub rows, %3 : i32 warp
	//     %5 = load x[%3, 0] : bf16 #0{%4, n}
	//     %6 = fill %5, 0.0 axes [0 1] : bf16 #0
	//     %7 = get %1 : f32 #0
	//     %8 = cast %6 : f32 #0
	//     %9 = add %7, %8 : f32 #0
	//     set %1, %9 warp
	//   }
	//   %11 = get %1 : f32 #0
	//   store %11 sum[0, 0] : #0{_, n}
}

type attentionArgs struct {
	Q tile.Global[tile.BF16] `tile:"16,64"`
	K tile.Global[tile.BF16] `tile:"n,64"`
	V tile.Global[tile.BF16] `tile:"n,64"`
	O tile.Global[tile.F32]  `tile:"16,64"`
}

// Scores of 16 queries and 32 keys at a time, without a softmax: the accumulator of the first product, in 16 bits, is
// an operand of the second.
func ExampleMMA() {
	show(tile.Define("linear_attention", func(k *tile.Builder, a attentionArgs) {
		warp := k.Warp()
		plain := warp.Striped2(32, 64, 8, 8)
		keys, values := tile.NewShared[tile.BF16](k, 32, 64).Swizzle(layout.Swizzle128), tile.NewShared[tile.BF16](k, 32, 64).Swizzle(layout.Swizzle128)
		q, out := tile.Load(warp, a.Q, warp.Fragment(16, 64)), tile.NewAcc[tile.F32](warp, 16, 64)
		for row := range tile.Range(warp, 0, a.K.Dim(0), 32) {
			tile.Store(warp, keys, tile.Load(warp, a.K.At(row), plain).Fill(tile.Const[tile.BF16](0)))
			tile.Store(warp, values, tile.Load(warp, a.V.At(row), plain).Fill(tile.Const[tile.BF16](0)))
			scores := tile.NewAcc[tile.F32](warp, 16, 32)
			tile.MMA(scores, q, keys, tile.ABt)
			tile.MMA(out, tile.Cast[tile.BF16](scores.Get()), values)
		}
		tile.Store(warp, a.O, out.Get())
	}, tile.Threads(32)))
	// Output:
	// kernel linear_attention(q bf16[16,64] r, k bf16[n,64] r, v bf16[n,64] r, o f32[16,64] w) threads 32
	//   shared s0 bf16[32 64] swizzle 128
	//   shared s1 bf16[32 64] swizzle 128
	//   #0 = warp [16,64] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,8:8@1)
	//   #1 = warp [32,64] thread (8:8@1,4:1@0) value (8:1@1,8:4@0)
	//   #2 = warp [16,32] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,4:8@1)
	//   %0 = load q[0, 0] : bf16 #0
	//   %1 = broadcast 0.0 : f32 #0
	//   %2 = var %1 : f32 #0
	//   range 0, n, 32 warp { %4
	//     %5 = sub n, %4 : i32 warp
	//     %6 = load k[%4, 0] : bf16 #1{%5, _}
	//     %7 = fill %6, 0.0 axes [0] : bf16 #1
	//     store %7 s0[0, 0] : #1
	//     %9 = sub n, %4 : i32 warp
	//     %10 = load v[%4, 0] : bf16 #1{%9, _}
	//     %11 = fill %10, 0.0 axes [0] : bf16 #1
	//     store %11 s1[0, 0] : #1
	//     %13 = broadcast 0.0 : f32 #2
	//     %14 = var %13 : f32 #2
	//     mma %14 += %0 s0[0, 0] ABt m16n32k64 bf16 warp
	//     %16 = get %14 : f32 #2
	//     %17 = cast %16 : bf16 #2
	//     mma %2 += %17 s1[0, 0] AB m16n64k32 bf16 warp
	//   }
	//   %19 = get %2 : f32 #0
	//   store %19 o[0, 0] : #0
}

type productArgs struct {
	A tile.Global[tile.BF16] `tile:"m,k"`
	B tile.Global[tile.BF16] `tile:"k,n"`
	C tile.Global[tile.F32]  `tile:"m,n"`
}

type productSlot struct {
	tile.Slot
	A, B tile.Shared[tile.BF16]
}

// A product of matrices by two warpgroups, which read the same slots and have 64 rows of a tile each. Their MMAs stay in
// flight from one slot to the next, and are over where the accumulator is stored; WaitMMA says so where it is read.
func ExampleWaitMMA() {
	show(tile.Define("product", func(k *tile.Builder, a productArgs) {
		pipe := tile.NewPipeline(k, 4, productSlot{
			A: tile.NewShared[tile.BF16](k, 128, 64).Swizzle(layout.Swizzle128),
			B: tile.NewShared[tile.BF16](k, 64, 128).Swizzle(layout.Swizzle128),
		})
		work, depth := k.Schedule(tile.SuperRows(a.C, 128, 128, 8)), a.A.Dim(1)
		k.Roles(tile.Producer(40, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				for at := range tile.Range(p, 0, depth, 64) {
					s := pipe.Acquire(p)
					tile.CopyTensor(p, s.A, a.A.At(t.Row, at), s)
					tile.CopyTensor(p, s.B, a.B.At(at, t.Col), s)
				}
			}
		}), tile.Consumers(2, 232, func(c tile.Warpgroup) {
			row := c.Index().Scale(64)
			for t := range work.Tiles(c) {
				acc := tile.NewAcc[tile.F32](c, 64, 128)
				for range tile.Range(c, 0, depth, 64) {
					s := pipe.Wait(c)
					tile.MMA(acc, s.A.Rows(row, 64), s.B)
					s.Release(c)
				}
				tile.WaitMMA(c, 0)
				tile.Store(c, a.C.At(t.Row.Add(row), t.Col), acc.Get())
			}
		}))
	}, tile.Threads(384), tile.Targets("sm_90a")))
	// Output:
	// kernel product(a bf16[m,k] r, b bf16[k,n] r, c f32[m,n] w) threads 384 targets sm_90a
	//   shared pipe_a bf16[4 128 64] manual swizzle 128
	//   shared pipe_b bf16[4 64 128] manual swizzle 128
	//   work %5
	//   pipeline pipe of 4: pipe_a pipe_b
	//   #0 = group [64,128] thread (4:2@1,8:1@0,4:16@0) value (2:1@1,2:8@0,16:8@1)
	//   pipe_init pipe
	//   %1 = add m, 127 : i32
	//   %2 = div %1, 128 : i32
	//   %3 = add n, 127 : i32
	//   %4 = div %3, 128 : i32
	//   %5 = mul %2, %4 : i32
	//   roles producer warps 1 of 1 at warp from 0 {
	//     set_max_regs 40 warp
	//     %8 = block_id : i32
	//     %9 = num_blocks : i32
	//     range %8, %5, %9 warp { %11
	//       %12 = add m, 127 : i32
	//       %13 = div %12, 128 : i32
	//       %14 = add n, 127 : i32
	//       %15 = div %14, 128 : i32
	//       %16 = mul %15, 8 : i32
	//       %17 = div %11, %16 : i32 warp
	//       %18 = mul %17, 8 : i32 warp
	//       %19 = sub %13, %18 : i32 warp
	//       %20 = min %19, 8 : i32 warp
	//       %21 = rem %11, %16 : i32 warp
	//       %22 = rem %21, %20 : i32 warp
	//       %23 = add %18, %22 : i32 warp
	//       %24 = mul %23, 128 : i32 warp
	//       %25 = div %21, %20 : i32 warp
	//       %26 = mul %25, 128 : i32 warp
	//       range 0, k, 64 warp { %28
	//         %29 = slot_acquire pipe : i32 warp
	//         copy_tensor pipe_a[%29, 0, 0], a[%24, %28], box 128x64 warp
	//         copy_tensor pipe_b[%29, 0, 0], b[%28, %26], box 64x128 warp
	//       }
	//     }
	//   } consumers warps 8 of 2 at group from 4 {
	//     set_max_regs 232
	//     %33 = group_id : i32
	//     %34 = mul %33, 64 : i32
	//     %35 = block_id : i32
	//     %36 = num_blocks : i32
	//     range %35, %5, %36 { %38
	//       %39 = add m, 127 : i32
	//       %40 = div %39, 128 : i32
	//       %41 = add n, 127 : i32
	//       %42 = div %41, 128 : i32
	//       %43 = mul %42, 8 : i32
	//       %44 = div %38, %43 : i32
	//       %45 = mul %44, 8 : i32
	//       %46 = sub %40, %45 : i32
	//       %47 = min %46, 8 : i32
	//       %48 = rem %38, %43 : i32
	//       %49 = rem %48, %47 : i32
	//       %50 = add %45, %49 : i32
	//       %51 = mul %50, 128 : i32
	//       %52 = div %48, %47 : i32
	//       %53 = mul %52, 128 : i32
	//       %54 = broadcast 0.0 : f32 #0
	//       %55 = var %54 : f32 #0
	//       range 0, k, 64 { %57
	//         %58 = slot_wait pipe : i32
	//         mma %55 += pipe_a[%58, %34, 0] pipe_b[%58, 0, 0] AB m64n128k64 bf16
	//         slot_release pipe %58
	//       }
	//       wait_mma 0
	//       %62 = add %51, %34 : i32
	//       %63 = get %55 : f32 #0
	//       %64 = sub m, %62 : i32
	//       %65 = sub n, %53 : i32
	//       store %63 c[%62, %53] : #0{%64, %65}
	//     }
	//   }
}

type turnArgs struct {
	X tile.Global[tile.F16] `tile:"rows,n"`
	Y tile.Global[tile.F16] `tile:"n,rows"`
}

// A tile is transposed in registers: Transpose renames rows and columns, MoveMatrix gives the result the spread of a
// fragment again. Matrix loads and stores take both spreads, to and from shared tiles with any swizzle.
func ExampleMoveMatrix() {
	show(tile.Define("turn", func(k *tile.Builder, a turnArgs) {
		warp := k.Warp()
		s := tile.NewShared[tile.F16](k, 32, 32).Swizzle(layout.Swizzle64)
		x := tile.Load(warp, a.X, warp.Fragment(32, 32)).Fill(tile.Const[tile.F16](0))
		tile.StoreMatrix(warp, s, tile.MoveMatrix(x.Transpose()))
		tile.Store(warp, a.Y, tile.LoadMatrix(warp, s, warp.Fragment(32, 32)))
	}, tile.Threads(32)))
	// Output:
	// kernel turn(x f16[rows,n] r, y f16[n,rows] w) threads 32
	//   rows <= 32
	//   n <= 32
	//   shared s0 f16[32 32] swizzle 64
	//   #0 = warp [32,32] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,4:8@1,2:16@0)
	//   #1 = warp [32,32] thread (4:2@0,8:1@1) value (2:1@0,2:8@1,4:8@0,2:16@1)
	//   %0 = load x[0, 0] : f16 #0{rows, n}
	//   %1 = fill %0, 0.0 axes [0 1] : f16 #0
	//   %2 = transpose %1 : f16 #1
	//   %3 = move_matrix %2 : f16 #0
	//   store_matrix %3 s0[0, 0] : #0
	//   %5 = load_matrix s0[0, 0] : f16 #0
	//   store %5 y[0, 0] : #0{n, rows}
}
