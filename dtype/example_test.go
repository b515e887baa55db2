package dtype_test

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
)

// A Type is a small value that knows its size and its rounding.
func ExampleType() {
	for _, t := range dtype.All() {
		fmt.Println(t, t.Size(), t.IsFloat())
	}
	fmt.Println("computed with:", dtype.Arithmetic())
	t, err := dtype.Parse("bf16")
	fmt.Println(t.Round(1.0/3), err)
	// Output:
	// f32 4 true
	// bf16 2 true
	// f16 2 true
	// i32 4 false
	// u32 4 false
	// i64 8 false
	// e4m3 1 true
	// e5m2 1 true
	// i8 1 false
	// computed with: [f32 bf16 f16 i32 u32 i64]
	// 0.33398438 <nil>
}

// A 16-bit number is made by rounding or from bits, never from an integer by mistake.
func ExampleBFloat16() {
	x := dtype.BF16FromFloat32(3.1415927)
	fmt.Printf("%v %#04x\n", x.Float(), x.Bits())
	fmt.Println(dtype.BF16FromBits(0x7f80).Float32())
	// Output:
	// 3.140625 0x4049
	// +Inf
}

// Float16 has more digits than BFloat16 and a far smaller range: what is too large becomes infinite.
func ExampleFloat16() {
	x := dtype.F16FromFloat32(3.1415927)
	fmt.Printf("%v %#04x\n", x.Float(), x.Bits())
	fmt.Println(dtype.F16FromFloat32(65519).Float32(), dtype.F16FromFloat32(65520).Float32(), dtype.BF16FromFloat32(65520).Float32())
	// Output:
	// 3.140625 0x4248
	// 65504 +Inf 65536
}

// The other element types are Go's own numbers under names that kernels take as operands. Bool exists in registers only.
func ExampleFloat32() {
	fmt.Println(dtype.Float32(1.5).DType(), dtype.Int32(-1).DType(), dtype.Uint32(1).DType(), dtype.Int64(1<<40).DType())
	fmt.Println(dtype.Boolean(true).DType(), dtype.F16FromBits(0x3e00).Float32())
	// Output:
	// f32 i32 u32 i64
	// bool 1.5
}

// An 8-bit float has few digits; what is too large becomes the largest number there is.
func ExampleFloat8E4M3() {
	for _, x := range []float32{3.1415927, 1e-3, 1000} {
		fmt.Println(dtype.E4M3FromFloat32(x).Float32(), dtype.E5M2FromFloat32(x).Float32())
	}
	fmt.Printf("%#02x %v\n", dtype.E4M3FromFloat32(1).Bits(), dtype.E4M3FromBits(1).Float())
	// Output:
	// 3.25 3
	// 0.001953125 0.0009765625
	// 448 1024
	// 0x38 0.001953125
}

// Float8E5M2 has the exponents of Float16, and infinities; conversions make none.
func ExampleFloat8E5M2() {
	fmt.Println(dtype.E5M2FromBits(0x7c).Float32(), dtype.E5M2FromFloat32(1e9).Float(), dtype.E5M2FromBits(1).Float())
	// Output:
	// +Inf 57344 1.52587890625e-05
}

// Int8 is Go's int8; a float is truncated into its range.
func ExampleInt8() {
	fmt.Println(dtype.I8FromFloat32(-3.9), dtype.I8FromFloat32(1000), dtype.Int8(5).DType())
	// Output:
	// -3 127 i8
}
