package tile_test

import "github.com/gotile/gotile/tile"

type squareArgs struct {
	X, Y tile.Global[tile.F32] `tile:"16,16"`
	V    tile.Global[tile.F32] `tile:"16"`
}

// A scan goes along an axis; what it combines may leave the element itself out, and come from the other end.
func ExampleReg_CumSum() {
	show(tile.Define("decay", func(k *tile.Builder, a squareArgs) {
		warp := k.Warp()
		g := tile.Load(warp, a.X, warp.Fragment(16, 16))
		tile.Store(warp, a.Y, g.CumSum(0))                               // of each column from the top
		tile.Store(warp, a.Y, g.CumSum(1, tile.Exclusive, tile.Reverse)) // of what is right of each element
	}, tile.Threads(32)))
	// Output:
	// kernel decay(x f32[16,16] r, y f32[16,16] w, v f32[16]) threads 32
	//   #0 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   %0 = load x[0, 0] : f32 #0
	//   %1 = cum_sum %0 axis 0 : f32 #0
	//   store %1 y[0, 0] : #0
	//   %3 = cum_sum %0 axis 1 exclusive reverse : f32 #0
	//   store %3 y[0, 0] : #0
}

// Transpose costs nothing, and gives a tile that is spread in another way. Redistribute moves its elements.
func ExampleRedistribute() {
	show(tile.Define("turn", func(k *tile.Builder, a squareArgs) {
		warp := k.Warp()
		span := warp.Fragment(16, 16)
		x := tile.Load(warp, a.X, span)
		tile.Store(warp, a.Y, x.Add(tile.Redistribute(x.Transpose(), span))) // x plus its transpose
	}, tile.Threads(32)))
	// Output:
	// kernel turn(x f32[16,16] r, y f32[16,16] w, v f32[16]) threads 32
	//   #0 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   #1 = warp [16,16] thread (4:2@0,8:1@1) value (2:1@0,2:8@1,2:8@0)
	//   %0 = load x[0, 0] : f32 #0
	//   %1 = transpose %0 : f32 #1
	//   %2 = redistribute %1 : f32 #0
	//   %3 = add %0, %2 : f32 #0
	//   store %3 y[0, 0] : #0
}

// Subtile takes a part of a tile of which each thread has its share: here the right half of a fragment.
func ExampleReg_Subtile() {
	show(tile.Define("right_half", func(k *tile.Builder, a squareArgs) {
		warp := k.Warp()
		x := tile.Load(warp, a.X, warp.Fragment(16, 16))
		tile.Store(warp, a.Y.At(0, 8), x.Subtile(1, 8, 8).Exp())
	}, tile.Threads(32)))
	// Output:
	// kernel right_half(x f32[16,16] r, y f32[16,16] w, v f32[16]) threads 32
	//   #0 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   #1 = warp [16,8] thread (4:2@1,8:1@0) value (2:1@1,2:8@0)
	//   %0 = load x[0, 0] : f32 #0
	//   %1 = subtile %0 axis 1 [8:16] : f32 #1
	//   %2 = exp %1 : f32 #1
	//   store %2 y[0, 8] : #1
}

// Map is for what depends on where an element is; Causal, CausalStrict and Mask put a value where one does not count.
func ExampleMap() {
	show(tile.Define("scores", func(k *tile.Builder, a squareArgs) {
		warp := k.Warp()
		x := tile.Load(warp, a.X, warp.Fragment(16, 16))
		slope := tile.Map(x, func(row, col tile.Reg[tile.I32], v tile.Reg[tile.F32]) tile.Reg[tile.F32] {
			return v.Sub(tile.Cast[tile.F32](row.Sub(col)))
		})
		y := tile.Causal(slope, 0, tile.F32(-1e30))
		y = tile.CausalStrict(y, 8, tile.F32(-1e30)) // no tighter: of columns up to 7 to the right
		tile.Store(warp, a.Y, tile.Mask(y, y.Gt(tile.F32(-100)), tile.F32(-100)))
	}, tile.Threads(32)))
	// Output:
	// kernel scores(x f32[16,16] r, y f32[16,16] w, v f32[16]) threads 32
	//   #0 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   %0 = load x[0, 0] : f32 #0
	//   %1 = coord axis 0 : i32 #0
	//   %2 = coord axis 1 : i32 #0
	//   %3 = sub %1, %2 : i32 #0
	//   %4 = cast %3 : f32 #0
	//   %5 = sub %0, %4 : f32 #0
	//   %6 = coord axis 0 : i32 #0
	//   %7 = coord axis 1 : i32 #0
	//   %8 = le %7, %6 : bool #0
	//   %9 = select %8, %5, -1e+30 : f32 #0
	//   %10 = coord axis 0 : i32 #0
	//   %11 = coord axis 1 : i32 #0
	//   %12 = add %10, 8 : i32 #0
	//   %13 = lt %11, %12 : bool #0
	//   %14 = select %13, %9, -1e+30 : f32 #0
	//   %15 = gt %14, -100.0 : bool #0
	//   %16 = select %15, %14, -100.0 : f32 #0
	//   store %16 y[0, 0] : #0
}

// The sums so far of an online softmax are scaled in place, row by row, before the next product is added.
func ExampleScaleRows() {
	show(tile.Define("rescale", func(k *tile.Builder, a squareArgs) {
		warp := k.Warp()
		acc := tile.NewAcc[tile.F32](warp, 16, 16)
		x := tile.Load(warp, a.X, warp.Fragment(16, 16))
		for range tile.Range(warp, 0, 4, 1) {
			tile.ScaleRows(acc, x.MaxOf(1).Neg().Exp2())
			acc.Set(acc.Get().Add(x))
		}
		tile.ScaleCols(acc, tile.Load(warp, a.V, warp.Fragment(16, 16).Axis(1)))
		tile.Store(warp, a.Y, acc.Get())
	}, tile.Threads(32)))
	// Output:
	// kernel rescale(x f32[16,16] r, y f32[16,16] w, v f32[16] r) threads 32
	//   #0 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   #1 = warp [16] thread (4:0,8:1@0) value (2:8@0)
	//   #2 = warp [16] thread (4:2@0,8:0) value (2:1@0,2:8@0)
	//   %0 = broadcast 0.0 : f32 #0
	//   %1 = var %0 : f32 #0
	//   %2 = load x[0, 0] : f32 #0
	//   range 0, 4, 1 warp { %4
	//     %5 = max_of %2 axes [1] : f32 #1
	//     %6 = neg %5 : f32 #1
	//     %7 = exp2 %6 : f32 #1
	//     %8 = get %1 : f32 #0
	//     %9 = broadcast %7 : f32 #0
	//     %10 = mul %8, %9 : f32 #0
	//     set %1, %10 warp
	//     %12 = get %1 : f32 #0
	//     %13 = add %12, %2 : f32 #0
	//     set %1, %13 warp
	//   }
	//   %15 = load v[0] : f32 #2
	//   %16 = get %1 : f32 #0
	//   %17 = broadcast %15 : f32 #0
	//   %18 = mul %16, %17 : f32 #0
	//   set %1, %18 warp
	//   %20 = get %1 : f32 #0
	//   store %20 y[0, 0] : #0
}

type sequenceArgs struct {
	X, Y tile.Global[tile.BF16] `tile:"rows,64"`
}

// A causal convolution of width 2: each row plus the row before it, which is zero before the first.
func ExampleLoadShifted() {
	show(tile.Define("conv", func(k *tile.Builder, a sequenceArgs) {
		block := k.Block()
		span := block.Striped2(32, 64, 8, 8)
		for row := range tile.Persistent(block, a.X.Dim(0), tile.Step(32)) {
			x := tile.Load(block, a.X.At(row, 0), span)
			before := tile.LoadShifted(block, a.X.At(row, 0), span, 1)
			tile.Store(block, a.Y.At(row, 0), x.Add(before))
		}
	}))
	// Output:
	// kernel conv(x bf16[rows,64] r, y bf16[rows,64] w) threads 256
	//   #0 = block [32,64] thread (8:8@1,32:1@0) value (8:1@1)
	//   persistent rows, 32 { %1
	//     %2 = sub rows, %1 : i32
	//     %3 = load x[%1, 0] : bf16 #0{%2, _}
	//     %4 = sub rows, %1 : i32
	//     %5 = sub %1, 1 : i32
	//     %6 = load x[%5, 0] rows -1 : bf16 #0{%4, _}
	//     %7 = add %3, %6 : bf16 #0{%2, _}
	//     store %7 y[%1, 0] : #0{%2, _}
	//   }
}

// The inverse of I + L, where L is what a tile has below its diagonal.
func ExampleInverseUnitLower() {
	show(tile.Define("solve", func(k *tile.Builder, a squareArgs) {
		warp := k.Warp()
		l := tile.Load(warp, a.X, warp.Fragment(16, 16))
		tile.Store(warp, a.Y, tile.InverseUnitLower(l))
	}, tile.Threads(32)))
	// Output:
	// kernel solve(x f32[16,16] r, y f32[16,16] w, v f32[16]) threads 32
	//   #0 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   #1 = warp [16,16] thread (16:1@1,2:0) value (16:1@0)
	//   %0 = load x[0, 0] : f32 #0
	//   %1 = redistribute %0 : f32 #1
	//   %2 = inverse_unit_lower %1 : f32 #1
	//   %3 = redistribute %2 : f32 #0
	//   store %3 y[0, 0] : #0
}

type scoreArgs struct {
	Q, K tile.Global[tile.BF16] `tile:"chunks,16,64"`
	G    tile.Global[tile.F32]  `tile:"chunks,16,64"`
	C    tile.Global[tile.F32]  `tile:"chunks,16,16"`
}

// The scores of a chunk of linear attention whose channels decay each in its own way.
func ExampleDecayDot() {
	show(tile.Define("scores", func(k *tile.Builder, a scoreArgs) {
		warp := k.Warp()
		for i := range tile.Persistent(warp, a.Q.Dim(0)) {
			q, key := tile.Decayed[tile.BF16]{X: a.Q.At(i), G: a.G.At(i)}, tile.Decayed[tile.BF16]{X: a.K.At(i), G: a.G.At(i)}
			c := tile.DecayDot(warp, q, key, 64, warp.Fragment(16, 16))
			tile.Store(warp, a.C.At(i), tile.Causal(c, 0, tile.F32(0)))
		}
	}, tile.Threads(32)))
	// Output:
	// kernel scores(q bf16[chunks,16,64] r, k bf16[chunks,16,64] r, g f32[chunks,16,64] r, c f32[chunks,16,16] w) threads 32
	//   #0 = warp [16,16] thread (4:0,8:1@0) value (2:8@0,16:1@1)
	//   #1 = warp [16,32] thread (4:4@1,8:1@0) value (4:1@1,2:16@1,2:8@0)
	//   #2 = warp [32] thread (4:4@0,8:0) value (4:1@0,2:16@0)
	//   #3 = warp [16] thread (4:0,8:1@0) value (2:8@0)
	//   #4 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   persistent chunks, 1 warp { %1
	//     %2 = broadcast 0.0 : f32 #0
	//     %3 = var %2 : f32 #0
	//     range 0, 64, 32 warp { %5
	//       %6 = load q[%1, 0, %5] : bf16 #1
	//       %7 = cast %6 : f32 #1
	//       %8 = load g[%1, 0, %5] : f32 #1
	//       range 0, 16, 1 warp { %10
	//         %11 = load k[%1, %10, %5] : bf16 #2
	//         %12 = cast %11 : f32 #2
	//         %13 = load g[%1, %10, %5] : f32 #2
	//         %14 = broadcast %12 : f32 #1
	//         %15 = mul %7, %14 : f32 #1
	//         %16 = broadcast %13 : f32 #1
	//         %17 = sub %8, %16 : f32 #1
	//         %18 = exp2 %17 : f32 #1
	//         %19 = mul %15, %18 : f32 #1
	//         %20 = sum %19 axes [1] : f32 #3
	//         %21 = broadcast %20 : f32 #0
	//         %22 = get %3 : f32 #0
	//         %23 = coord axis 1 : i32 #0
	//         %24 = eq %23, %10 : bool #0
	//         %25 = select %24, %21, 0.0 : f32 #0
	//         %26 = add %22, %25 : f32 #0
	//         set %3, %26 warp
	//       }
	//     }
	//     %28 = get %3 : f32 #0
	//     %29 = redistribute %28 : f32 #4
	//     %30 = coord axis 0 : i32 #4
	//     %31 = coord axis 1 : i32 #4
	//     %32 = le %31, %30 : bool #4
	//     %33 = select %32, %29, 0.0 : f32 #4
	//     store %33 c[%1, 0, 0] : #4
	//   }
}

type solveArgs struct {
	L, Y tile.Global[tile.F32] `tile:"32,32"`
}

// A matrix in shared memory and its inverse, by blocks of 16.
func ExampleInverseUnitLowerBlocks() {
	show(tile.Define("solve_blocks", func(k *tile.Builder, a solveArgs) {
		warp := k.Warp()
		l, y := tile.NewShared[tile.F32](k, 32, 32), tile.NewShared[tile.F32](k, 32, 32)
		span := warp.Striped2(32, 32, 4, 8)
		tile.Store(warp, l, tile.Load(warp, a.L, span))
		tile.InverseUnitLowerBlocks(warp, l, y, 32)
		tile.Store(warp, a.Y, tile.Load(warp, y, span))
	}, tile.Threads(32)))
	// Output:
	// kernel solve_blocks(l f32[32,32] r, y f32[32,32] w) threads 32
	//   shared s0 f32[32 32]
	//   shared s1 f32[32 32]
	//   shared s2 f32[1 16 16]
	//   #0 = warp [32,32] thread (8:4@1,4:1@0) value (4:1@1,8:4@0)
	//   #1 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   #2 = warp [16,16] thread (16:1@1,2:0) value (16:1@0)
	//   #3 = warp [16,16] thread (4:2@0,8:1@1) value (2:1@0,2:8@1,2:8@0)
	//   #4 = warp [16] thread (4:0,8:1@0) value (2:8@0)
	//   #5 = warp [16] thread (4:2@0,8:0) value (2:1@0,2:8@0)
	//   %0 = load l[0, 0] : f32 #0
	//   store %0 s0[0, 0] : #0
	//   %2 = warp_id : i32 warp
	//   %3 = broadcast 0.0 : f32 #1
	//   %4 = load s0[0, 0] : f32 #1
	//   %5 = redistribute %4 : f32 #2
	//   %6 = inverse_unit_lower %5 : f32 #2
	//   %7 = redistribute %6 : f32 #1
	//   store %7 s1[0, 0] : #1
	//   store %3 s1[0, 16] : #1
	//   %10 = load s0[16, 16] : f32 #1
	//   %11 = redistribute %10 : f32 #2
	//   %12 = inverse_unit_lower %11 : f32 #2
	//   %13 = redistribute %12 : f32 #1
	//   store %13 s1[16, 16] : #1
	//   %15 = var %3 : f32 #1
	//   %16 = var %3 : f32 #1
	//   %17 = load s0[16, 0] : f32 #1
	//   %18 = transpose %17 : f32 #3
	//   store %18 s2[%2, 0, 0] : #3
	//   range 0, 16, 1 warp { %21
	//     %22 = load s2[%2, %21, 0] : f32 #4
	//     %23 = load s1[%21, 0] : f32 #5
	//     %24 = get %15 : f32 #1
	//     %25 = broadcast %22 : f32 #1
	//     %26 = broadcast %23 : f32 #1
	//     %27 = mul %25, %26 : f32 #1
	//     %28 = add %24, %27 : f32 #1
	//     set %15, %28 warp
	//   }
	//   %30 = get %15 : f32 #1
	//   store %30 s1[16, 0] : #1
	//   %32 = load s1[16, 16] : f32 #1
	//   %33 = transpose %32 : f32 #3
	//   store %33 s2[%2, 0, 0] : #3
	//   range 0, 16, 1 warp { %36
	//     %37 = load s2[%2, %36, 0] : f32 #4
	//     %38 = add 16, %36 : i32 warp
	//     %39 = load s1[%38, 0] : f32 #5
	//     %40 = get %16 : f32 #1
	//     %41 = broadcast %37 : f32 #1
	//     %42 = broadcast %39 : f32 #1
	//     %43 = mul %41, %42 : f32 #1
	//     %44 = add %40, %43 : f32 #1
	//     set %16, %44 warp
	//   }
	//   %46 = get %16 : f32 #1
	//   %47 = neg %46 : f32 #1
	//   store %47 s1[16, 0] : #1
	//   %49 = load s1[0, 0] : f32 #0
	//   store %49 y[0, 0] : #0
}
