// Package tiletest tests kernels: a table of cases that runs on every device, memory with guard bands whose outputs
// are poisoned before the launch, reproducible data, a scale-relative error with its cmp.Option, and golden files.
//
// A package of kernels exports its table as `func Cases() []tiletest.Case`. The same table serves `go test` (RunCases),
// `gotile sim` and `gotile verify`:
//
//	func Cases() []tiletest.Case {
//		return []tiletest.Case{{Name: "n1000", Run: func(r *tiletest.Run) error {
//			x := r.Uniform(dtype.F32, 1, 1000)
//			y := r.Out(dtype.F32, 1000)
//			if err := launchDouble(r.Stream, doubleParams{X: r.In(dtype.F32, x, 1000), Y: y}); err != nil {
//				return err
//			}
//			r.Compare("y", r.Floats(y), double(x), 0)
//			return nil
//		}}}
//	}
//
// The bar of Compare is what correct rounding costs, relative to the largest result. One rounding to nearest moves a
// value by up to 2^-8 in bf16, 2^-11 in f16 and 2^-24 in f32, so results rounded once from f32 meet 4e-3 in bf16 and
// 5e-4 in f16, and sums in f32, which round once a level of their tree, meet 1e-6; what is exact (copies, sums of small
// integers) meets 0. A bar that must be wider asks for a reason.
//
// RunCases runs the kernels as they are in Go, whatever the generated files hold: run `gotile gen -check ./...` beside
// go test in a continuous build.
package tiletest
