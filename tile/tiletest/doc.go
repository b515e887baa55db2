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
package tiletest
