// Package axpy is a small package of kernels on which the tool's tests work: three families, two element types, a
// grid that follows the device and one that the caller sizes.
package axpy

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

//go:generate go run github.com/gotile/gotile/cmd/gotile gen

// config is one kernel: element type and the longest row it holds.
type config struct {
	op  string
	dt  dtype.Type
	cap int
}

// KernelName says all that configs differ in.
func (c config) KernelName() string { return fmt.Sprintf("%s_%v_c%d", c.op, c.dt, c.cap) }

// axpyArgs: Y = Alpha*X + B, row by row.
type axpyArgs[T tile.Float] struct {
	X     tile.Global[T] `tile:"rows,n"`
	B     tile.Global[T] `tile:"n"`
	Y     tile.Global[T] `tile:"rows,n"`
	Alpha tile.Scalar[tile.F32]
}

func axpy[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a axpyArgs[T]) {
		block := k.Block()
		cols := block.Striped(c.cap, 4)
		b := tile.Cast[tile.F32](tile.Load(block, a.B, cols))
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), cols))
			tile.Store(block, a.Y.Row(row), tile.Cast[T](x.Mul(a.Alpha).Add(b)))
		}
	}, tile.Threads(64), tile.Doc("Y = Alpha*X + B."))
}

// sumArgs: each block adds up the rows it meets.
type sumArgs struct {
	X       tile.Global[tile.F32] `tile:"rows,n"`
	Partial tile.Global[tile.F32] `tile:"blocks,n"`
}

func sum(c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a sumArgs) {
		block := k.Block()
		cols := block.Striped(c.cap, 4).Clip(a.X.Dim(1))
		acc := tile.NewVar(block, tile.Full[tile.F32](block, cols, tile.F32(0)))
		for row := range tile.Persistent(k, a.X.Dim(0), tile.Blocks(a.Partial.Dim(0))) {
			acc.Set(acc.Get().Add(tile.Load(block, a.X.Row(row), cols)))
		}
		tile.Store(block, a.Partial.Row(k.BlockID()), acc.Get())
	}, tile.Threads(64), tile.Doc("Sums of rows, one a block."))
}

func build(c config) (*tile.Kernel, error) {
	switch {
	case c.op == "sum":
		return sum(c)
	case c.op == "pairs":
		return pairs(c)
	case c.dt == dtype.BF16:
		return axpy[tile.BF16](c)
	}
	return axpy[tile.F32](c)
}

// Kernels are the committed kernels.
func Kernels() tile.Set {
	return tile.Sets(
		tile.Configs(build, config{"axpy", dtype.F32, 64}, config{"axpy", dtype.F32, 1000}, config{"axpy", dtype.BF16, 1000}),
		tile.Configs(build, config{"sum", dtype.F32, 512}),
		tile.Configs(build, config{"pairs", dtype.F32, 4}),
	)
}
