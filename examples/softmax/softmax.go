// Package softmax is a small package of kernels to start from: one family, two configs, a table of cases.
//
//	y = exp(x - max(x)) / sum(exp(x - max(x))), row by row
package softmax

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

//go:generate go run github.com/gotile/gotile/cmd/gotile gen

type softmaxArgs[T tile.Float] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
}

func softmax[T tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a softmaxArgs[T]) {
		block := k.Block()
		cols := block.Striped(c.Cap, c.vec())
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), cols))
			e := x.Sub(x.MaxOf()).Exp()
			tile.Store(block, a.Y.Row(row), tile.Cast[T](e.Div(e.Sum())))
		}
	}, tile.Doc("Softmax of rows."))
}

// Config is one compiled kernel: the type of x and y, and the longest row it takes.
type Config struct {
	T   dtype.Type
	Cap int
}

// KernelName says all that configs differ in.
func (c Config) KernelName() string { return fmt.Sprintf("softmax_%v_c%d", c.T, c.Cap) }

// vec is the number of elements in 16 bytes.
func (c Config) vec() int { return 16 / c.T.Size() }

func build(c Config) (*tile.Kernel, error) {
	if c.T == dtype.BF16 {
		return softmax[tile.BF16](c)
	}
	return softmax[tile.F32](c)
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Configs(build, Config{dtype.BF16, 4096}, Config{dtype.F32, 4096})
}
