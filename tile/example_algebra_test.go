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
