package tile_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/tile"
)

type tableArgs struct {
	Table tile.Global[tile.F32] `tile:"rows,64"`
	Row   tile.Global[tile.I32] `tile:"n"`
	Out   tile.Global[tile.F32] `tile:"n,64"`
}

// A Global is memory with the shape in its tag. Row and At give a view from an element on, Dim a size: an Index where
// the tag has a name. AsIndex makes one of a number that was read.
func ExampleGlobal() {
	show(tile.Define("gather", func(k *tile.Builder, a tableArgs) {
		cols := k.Block().Striped(64, 1)
		for i := range tile.Persistent(k, a.Row.Dim(0)) {
			row := tile.AsIndex(tile.LoadScalar(k, a.Row.At(i)))
			tile.Store(k, a.Out.Row(i), tile.Load(k, a.Table.Row(row), cols))
		}
	}, tile.Threads(64)))
	// Output:
	// kernel gather(table f32[rows,64] r, row i32[n] r, out f32[n,64] w) threads 64
	//   #0 = block [64] thread (64:1@0) value ()
	//   persistent n, 1 { %1
	//     %2 = load row[%1] : i32
	//     %3 = load table[%2, 0] : f32 #0
	//     store %3 out[%1, 0] : #0
	//   }
}

// A span is a tile's capacity, and who holds what of it; Clip gives the part that is valid at run time. What lies past
// it is masked.
func ExampleSpan() {
	show(tile.Define("copy_head", func(k *tile.Builder, a rowArgs) {
		span := k.Block().Striped2(16, 64, 4, 16).Clip(8, nil) // 8 rows, which the memory must have, and of each what there is
		tile.Store(k, a.Y, tile.Load(k, a.X, span))
	}))
	// Output:
	// kernel copy_head(x f32[rows,n] r, y f32[rows,n] w, max f32[rows]) threads 256
	//   n <= 64
	//   #0 = block [16,64] thread (16:4@1,16:1@0) value (4:1@1)
	//   %0 = load x[0, 0] : f32 #0{8, n}
	//   store %0 y[0, 0] : #0{8, n}
}

// scaled is generic in the element type: numbers of the host are made with Const, 16-bit types are widened with Cast.
func scaled[T tile.Float](x tile.Reg[T]) tile.Reg[T] {
	return tile.Cast[T](tile.Cast[tile.F32](x).Exp()).Mul(tile.Const[T](0.5))
}

type halfArgs struct {
	X tile.Global[tile.BF16] `tile:"n"`
}

// Cast converts, and rounds once; arithmetic never changes a type by itself.
func ExampleCast() {
	show(tile.Define("half_exp", func(k *tile.Builder, a halfArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(1024, 4))
		tile.Store(k, a.X, scaled(x))
	}))
	// Output:
	// kernel half_exp(x bf16[n] r w) threads 256
	//   n <= 1024
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   %0 = load x[0] : bf16 #0{n}
	//   %1 = cast %0 : f32 #0{n}
	//   %2 = exp %1 : f32 #0{n}
	//   %3 = cast %2 : bf16 #0{n}
	//   %4 = mul %3, 0.5 : bf16 #0{n}
	//   store %4 x[0] : #0{n}
}

// Options say for how many threads and for what targets a kernel is. Lower plans it for one of them.
func ExampleOption() {
	k, err := tile.Define("scale", func(k *tile.Builder, a halfArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(1024, 8))
		tile.Store(k, a.X, x.Add(x))
	}, tile.Threads(128), tile.Targets("sm_90a", "sm_100a"), tile.WholeVectors())
	if err != nil {
		fmt.Println(err)
		return
	}
	ir, err := k.Lower("sm_90a")
	fmt.Println(ir.Name, ir.Threads, err)
	_, err = k.Lower("sm_80")
	fmt.Println(errors.Is(err, tile.ErrTarget), err)
	// Output:
	// scale 128 <nil>
	// true example_values_test.go:80: kernel scale is not for sm_80: tile.Targets names sm_90a, sm_100a; add it there
}

type chunkArgs struct {
	X, Y tile.Global[tile.F32] `tile:"n"`
	A    tile.Scalar[tile.F32]
}

// An Index is an offset that all threads share: it has methods, and for numbers of the host twins that end in Int. The
// hint of the store keeps what this kernel does not read again out of the caches' way.
func ExampleIndex() {
	show(tile.Define("reverse_chunks", func(k *tile.Builder, a chunkArgs) {
		span, n := k.Block().Striped(256, 1), a.X.Dim(0).DivInt(256)
		for i := range tile.Persistent(k, n) {
			last := n.Sub(i).SubInt(1)
			x := tile.Load(k, a.X.At(i.Scale(256)), span)
			tile.Store(k, a.Y.At(last.Scale(256)), x, tile.Streaming)
		}
	}))
	// Output:
	// kernel reverse_chunks(x f32[n] r, y f32[n] w, a f32) threads 256
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = div n, 256 : i32
	//   persistent %0, 1 { %2
	//     %3 = sub %0, %2 : i32
	//     %4 = sub %3, 1 : i32
	//     %5 = mul %2, 256 : i32
	//     %6 = sub n, %5 : i32
	//     %7 = load x[%5] : f32 #0{%6}
	//     %8 = mul %4, 256 : i32
	//     store %7 y[%8] cs : #0{%6}
	//   }
}

// An operand is a tile, an argument passed by value, or a number of the host with its type.
func ExampleOperand() {
	show(tile.Define("affine", func(k *tile.Builder, a chunkArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(256, 1))
		tile.Store(k, a.Y, x.Mul(x).Mul(a.A).Add(tile.F32(1)))
	}))
	// Output:
	// kernel affine(x f32[n] r, y f32[n] w, a f32) threads 256
	//   n <= 256
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = load x[0] : f32 #0{n}
	//   %1 = mul %0, %0 : f32 #0{n}
	//   %2 = mul %1, a : f32 #0{n}
	//   %3 = add %2, 1.0 : f32 #0{n}
	//   store %3 y[0] : #0{n}
}
