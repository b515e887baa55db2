package tile_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/tile"
)

// show prints the IR of a kernel, or what is wrong with it.
func show(k *tile.Kernel, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(k)
}

type scaleArgs struct {
	X   tile.Global[tile.BF16] `tile:"n"`
	Y   tile.Global[tile.F32]  `tile:"n"`
	Eps tile.Scalar[tile.F32]
}

// A kernel is a function over its arguments. A tile is loaded, computed with and stored; what lies past n is masked.
func ExampleDefine() {
	show(tile.Define("scale", func(k *tile.Builder, a scaleArgs) {
		cols := k.Block().Striped(1024, 4)
		x := tile.Cast[tile.F32](tile.Load(k, a.X, cols))
		tile.Store(k, a.Y, x.Mul(tile.F32(2)).Add(a.Eps))
	}))
	// Output:
	// kernel scale(x bf16[n] r, y f32[n] w, eps f32) threads 256
	//   n <= 1024
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   %0 = load x[0] : bf16 #0{n}
	//   %1 = cast %0 : f32 #0{n}
	//   %2 = mul %1, 2.0 : f32 #0{n}
	//   %3 = add %2, eps : f32 #0{n}
	//   store %3 y[0] : #0{n}
}

// The body of a Range is recorded once; i stands for all its values.
func ExampleRange() {
	show(tile.Define("sum", func(k *tile.Builder, a scaleArgs) {
		cols := k.Block().Striped(1024, 4)
		total := tile.NewVar(k, tile.F32(0))
		for i := range tile.Range(k, 0, a.X.Dim(0), 1024) {
			x := tile.Cast[tile.F32](tile.Load(k, a.X.At(i), cols))
			total.Set(total.Get().Add(x.Sum()))
		}
		tile.Store(k, a.Y.At(0), total.Get())
	}))
	// Output:
	// kernel sum(x bf16[n] r, y f32[n] w, eps f32) threads 256
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   %0 = var 0.0 : f32
	//   range 0, n, 1024 { %2
	//     %3 = sub n, %2 : i32
	//     %4 = load x[%2] : bf16 #0{%3}
	//     %5 = cast %4 : f32 #0{%3}
	//     %6 = get %0 : f32
	//     %7 = sum %5 axes [0] : f32
	//     %8 = add %6, %7 : f32
	//     set %0, %8
	//   }
	//   %10 = get %0 : f32
	//   store %10 y[0]
}

// A Go variable does not live on the GPU: changing one in a loop body is found out.
func ExampleVar() {
	_, err := tile.Define("sum", func(k *tile.Builder, a scaleArgs) {
		total := tile.LoadScalar(k, a.Y)
		for i := range tile.Range(k, 1, a.Y.Dim(0), 1) {
			total = total.Add(tile.LoadScalar(k, a.Y.At(i))) // should be total.Set, with total := tile.NewVar(...)
		}
	})
	fmt.Println(errors.Is(err, tile.ErrControl))
	fmt.Println(err)
	// Output:
	// true
	// example_test.go:76: host state carried between iterations; use tile.NewVar: operand 1 of Add is the Load of example_test.go:74 the first time, the Add of example_test.go:76 the second
}

type rowArgs struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n"`
	Max  tile.Global[tile.F32] `tile:"rows"`
}

// The blocks of the grid share the rows.
func ExamplePersistent() {
	show(tile.Define("row_max", func(k *tile.Builder, a rowArgs) {
		cols := k.Block().Striped(4096, 4)
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			tile.Store(k, a.Max.At(row), tile.Load(k, a.X.Row(row), cols).MaxOf())
		}
	}))
	// Output:
	// kernel row_max(x f32[rows,n] r, y f32[rows,n], max f32[rows] w) threads 256
	//   n <= 4096
	//   #0 = block [4096] thread (256:4@0) value (4:1@0,4:1024@0)
	//   persistent rows, 1 { %1
	//     %2 = load x[%1, 0] : f32 #0{n}
	//     %3 = max_of %2 axes [0] : f32
	//     store %3 max[%1]
	//   }
}

// At warp scope each warp of the grid has rows of its own, and no barrier is needed.
func ExampleWarp() {
	show(tile.Define("row_max", func(k *tile.Builder, a rowArgs) {
		warp := k.Warp()
		cols := warp.Striped(256, 4)
		for row := range tile.Persistent(warp, a.X.Dim(0)) {
			tile.Store(warp, a.Max.At(row), tile.Load(warp, a.X.Row(row), cols).MaxOf())
		}
	}))
	// Output:
	// kernel row_max(x f32[rows,n] r, y f32[rows,n], max f32[rows] w) threads 256
	//   n <= 256
	//   #0 = warp [256] thread (32:4@0) value (4:1@0,2:128@0)
	//   persistent rows, 1 warp { %1
	//     %2 = load x[%1, 0] : f32 #0{n}
	//     %3 = max_of %2 axes [0] : f32 warp
	//     store %3 max[%1] warp
	//   }
}

// A reduction along an axis gives a vector; Expand repeats it for the op with the tile.
func ExampleExpand() {
	show(tile.Define("center", func(k *tile.Builder, a rowArgs) {
		span := k.Block().Striped2(16, 256, 4, 16)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.Step(16)) {
			x := tile.Load(k, a.X.Row(row), span)
			mean := x.Sum(1).Div(a.X.Dim(1).Float())
			tile.Store(k, a.Y.Row(row), x.Sub(tile.Expand(mean, x.Span(), 1)))
		}
	}))
	// Output:
	// kernel center(x f32[rows,n] r, y f32[rows,n] w, max f32[rows]) threads 256
	//   n <= 256
	//   #0 = block [16,256] thread (16:4@1,16:1@0) value (4:1@1,4:64@1)
	//   #1 = block [16] thread (16:0,16:1@0) value ()
	//   persistent rows, 16 { %1
	//     %2 = sub rows, %1 : i32
	//     %3 = load x[%1, 0] : f32 #0{%2, n}
	//     %4 = sum %3 axes [1] : f32 #1{%2}
	//     %5 = cast n : f32
	//     %6 = div %4, %5 : f32 #1{%2}
	//     %7 = broadcast %6 : f32 #0{%2, n}
	//     %8 = sub %3, %7 : f32 #0{%2, n}
	//     store %8 y[%1, 0] : #0{%2, n}
	//   }
}

// If branches on one value; what the branches change is a Var.
func ExampleIf() {
	show(tile.Define("clamp", func(k *tile.Builder, a scaleArgs) {
		x := tile.NewVar(k, tile.LoadScalar(k, a.Y))
		tile.If(k, x.Get().Gt(a.Eps), func() { x.Set(a.Eps) }, func() { x.Set(x.Get().Neg()) })
		tile.Store(k, a.Y, x.Get())
	}))
	// Output:
	// kernel clamp(x bf16[n], y f32[n] r w, eps f32) threads 256
	//   %0 = load y[0] : f32
	//   %1 = var %0 : f32
	//   %2 = get %1 : f32
	//   %3 = gt %2, eps : bool
	//   if %3 {
	//     set %1, eps
	//   } {
	//     %6 = get %1 : f32
	//     %7 = neg %6 : f32
	//     set %1, %7
	//   }
	//   %9 = get %1 : f32
	//   store %9 y[0]
}

// While runs its body as long as a recorded condition holds.
func ExampleWhile() {
	show(tile.Define("halve", func(k *tile.Builder, a scaleArgs) {
		x := tile.NewVar(k, tile.LoadScalar(k, a.Y))
		tile.While(k, func() tile.Reg[tile.Bool] { return x.Get().Gt(a.Eps) }, func() {
			x.Set(x.Get().Mul(tile.F32(0.5)))
		})
		tile.Store(k, a.Y, x.Get())
	}))
	// Output:
	// kernel halve(x bf16[n], y f32[n] r w, eps f32) threads 256
	//   %0 = load y[0] : f32
	//   %1 = var %0 : f32
	//   while {
	//     %3 = get %1 : f32
	//     %4 = gt %3, eps : bool
	//     yield %4
	//   } {
	//     %5 = get %1 : f32
	//     %6 = mul %5, 0.5 : f32
	//     set %1, %6
	//   }
	//   %8 = get %1 : f32
	//   store %8 y[0]
}

// Select chooses element by element; Coord is where an element stands.
func ExampleSelect() {
	show(tile.Define("even", func(k *tile.Builder, a scaleArgs) {
		x := tile.Load(k, a.Y, k.Block().Striped(256, 1))
		even := tile.Coord(x.Span(), 0).And(tile.I32(1)).Eq(tile.I32(0))
		tile.Store(k, a.Y, tile.Select(even, x, tile.F32(0)))
	}))
	// Output:
	// kernel even(x bf16[n], y f32[n] r w, eps f32) threads 256
	//   n <= 256
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = load y[0] : f32 #0{n}
	//   %1 = coord axis 0 : i32 #0{n}
	//   %2 = and %1, 1 : i32 #0{n}
	//   %3 = eq %2, 0 : bool #0{n}
	//   %4 = select %3, %0, 0.0 : f32 #0{n}
	//   store %4 y[0] : #0{n}
}

// A tile that ends at a run-time extent has anything in its masked elements; Fill makes it whole, here for a variable
// that keeps one partial sum an element over a row longer than a tile.
func ExampleReg_Fill() {
	show(tile.Define("long_rows", func(k *tile.Builder, a scaleArgs) {
		cols := k.Block().Striped(1024, 4)
		acc := tile.NewVar(k, tile.Full(k, cols, tile.F32(0)))
		for c := range tile.Range(k, 0, a.Y.Dim(0), 1024) {
			x := tile.Load(k, a.Y.At(c), cols)
			acc.Set(acc.Get().Add(x.Mul(x).Fill(tile.F32(0))))
		}
		tile.Store(k, a.Y.At(0), acc.Get().Sum())
	}))
	// Output:
	// kernel long_rows(x bf16[n], y f32[n] r w, eps f32) threads 256
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   %0 = broadcast 0.0 : f32 #0
	//   %1 = var %0 : f32 #0
	//   range 0, n, 1024 { %3
	//     %4 = sub n, %3 : i32
	//     %5 = load y[%3] : f32 #0{%4}
	//     %6 = get %1 : f32 #0
	//     %7 = mul %5, %5 : f32 #0{%4}
	//     %8 = fill %7, 0.0 axes [0] : f32 #0
	//     %9 = add %6, %8 : f32 #0
	//     set %1, %9
	//   }
	//   %11 = get %1 : f32 #0
	//   %12 = sum %11 axes [0] : f32
	//   store %12 y[0]
}

// A shared tile is written and read by all threads of a block; the planner adds the barriers.
func ExampleNewShared() {
	show(tile.Define("last", func(k *tile.Builder, a scaleArgs) {
		s := tile.NewShared[tile.F32](k, 256)
		tile.Store(k, s, tile.Load(k, a.Y, k.Block().Striped(256, 1)).Fill(tile.F32(0)))
		tile.Store(k, a.Y.At(0), tile.LoadScalar(k, s.At(255)))
	}))
	// Output:
	// kernel last(x bf16[n], y f32[n] r w, eps f32) threads 256
	//   n <= 256
	//   shared s0 f32[256]
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = load y[0] : f32 #0{n}
	//   %1 = fill %0, 0.0 axes [0] : f32 #0
	//   store %1 s0[0] : #0
	//   %3 = load s0[255] : f32
	//   store %3 y[0]
}

// Atomics on one value return the old one: here each block takes a ticket.
func ExampleAtomicAdd() {
	type args struct {
		Ticket tile.Global[tile.I32] `tile:"1"`
		Out    tile.Global[tile.I32] `tile:"blocks"`
	}
	show(tile.Define("tickets", func(k *tile.Builder, a args) {
		mine := tile.AsIndex(tile.AtomicAdd(k, a.Ticket, tile.I32(1)))
		tile.Store(k, a.Out.At(mine), k.BlockID().Int())
	}))
	// Output:
	// kernel tickets(ticket i32[1] r w, out i32[blocks] w) threads 256
	//   %0 = atomic_add 1 ticket[0] : i32
	//   %1 = block_id : i32
	//   store %1 out[%0]
}

// PTX is for an instruction that the language lacks.
func ExamplePTX() {
	type args struct {
		X tile.Global[tile.U32] `tile:"n"`
	}
	show(tile.Define("popc", func(k *tile.Builder, a args) {
		ones := func(in []uint64) (n uint64) {
			for x := uint32(in[0]); x != 0; x &= x - 1 {
				n++
			}
			return n
		}
		x := tile.Load(k, a.X, k.Block().Striped(256, 1))
		tile.Store(k, a.X, tile.PTX[tile.U32]("popc.b32 %0, %1;", ones, x))
	}))
	// Output:
	// kernel popc(x u32[n] r w) threads 256
	//   n <= 256
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = load x[0] : u32 #0{n}
	//   %1 = asm "popc.b32 %0, %1;" %0 : u32 #0{n}
	//   store %1 x[0] : #0{n}
}

// size is a configuration of the scale kernel.
type size int

func (s size) KernelName() string { return fmt.Sprintf("scale_c%d", int(s)) }

// A package's Kernels function returns its committed configurations; Build makes one by name.
func ExampleConfigs() {
	set := tile.Configs(func(s size) (*tile.Kernel, error) {
		return tile.Define(s.KernelName(), func(k *tile.Builder, a scaleArgs) {
			tile.Store(k, a.Y, tile.Load(k, a.Y, k.Block().Striped(int(s), 4)).Exp())
		})
	}, 1024, 8192)
	fmt.Println(set.Names())
	show(set.Build("scale_c8192"))
	// Output:
	// [scale_c1024 scale_c8192]
	// kernel scale_c8192(x bf16[n], y f32[n] r w, eps f32) threads 256
	//   n <= 8192
	//   #0 = block [8192] thread (256:4@0) value (4:1@0,8:1024@0)
	//   %0 = load y[0] : f32 #0{n}
	//   %1 = exp %0 : f32 #0{n}
	//   store %1 y[0] : #0{n}
}

// All mistakes of a kernel come at once, each with its line, the numbers and a way out.
func ExampleErrors() {
	_, err := tile.Define("bad", func(k *tile.Builder, a rowArgs) {
		cols := k.Block().Striped(1000, 3)
		tile.Load(k, a.X, cols).Exp()
		x := tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32))
		tile.Store(k, a.Y, x.Div(x.Sum(1)))
		tile.LoadScalar(k, a.Max.At(0, 1))
	}, tile.Threads(250))
	fmt.Println(err)
	// Output:
	// example_test.go:343: Threads(250): a block has a multiple of 32 threads, at most 1024; use 256
	// example_test.go:344: vectors of 3 elements: use 1, 2, 4, 8 or 16
	// example_test.go:347: operands of Div are 8x128 and 8; tile.Expand adds the missing axis
	// example_test.go:348: At with 2 offsets of Max, which has 1 dimension; give at most one each
}
