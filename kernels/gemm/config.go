package gemm

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// way is how a block computes its tile.
type way uint8

const (
	blockwide  way = iota // all warps copy and multiply, by mma.sync
	warps                 // a producer feeds warps, which multiply by mma.sync
	warpgroups            // a producer feeds warpgroups, which multiply by wgmma
)

// config is one compiled kernel.
type config struct {
	Form    Form
	T       dtype.Type // of A and B
	M, N, K int        // of a block's tile of D, and of a step along k

	Down, Right int // consumers below and beside one another
	Way         way // how the block computes its tile
	Stages      int // of the pipeline
	Panels      int // of a warpgroup's part of D that it has in shared memory
	Height      int // of a super-row, in tiles

	ProducerRegs, ConsumerRegs int  // of a thread; 0: what the kernel begins with
	MinBlocks                  int  // that an SM holds
	Whole                      bool // for whole 16-byte vectors only: addresses, strides and rows are multiples of them
	Targets                    []string
}

// KernelName says all that configs differ in.
func (c config) KernelName() string {
	return fmt.Sprintf("gemm_%s_%v_%s_m%dn%dk%d", strings.ToLower(c.Form.String()), c.T, c.Way, c.M, c.N, c.K)
}

func (w way) String() string { return [...]string{"async", "tma", "wgmma"}[w] }

// threads is the size of a block.
func (c config) threads() int {
	const warp, group = 32, 128
	switch n := c.Down * c.Right; {
	case c.Way == blockwide:
		return warp * n
	case c.Way == warps: // register budgets are those of warpgroups, and the producer has one
		return warp*n + group
	default:
		return group * (n + 1)
	}
}

func (c config) options() []tile.Option {
	out := []tile.Option{tile.Threads(c.threads()), tile.Doc("D = A B + C + bias by tensor cores, in " + c.Form.String() + " form.")}
	if c.Whole {
		out = append(out, tile.WholeVectors())
	}
	if c.MinBlocks > 0 {
		out = append(out, tile.MinBlocks(c.MinBlocks))
	}
	if c.Targets != nil {
		out = append(out, tile.Targets(c.Targets...))
	}
	return out
}

// define records the kernel of a form, whose arguments conv makes the operands of.
func define[A any, T tile.Float](conv func(A) operands[T]) func(config) (*tile.Kernel, error) {
	return func(c config) (*tile.Kernel, error) {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a A) { record(k, c, conv(a)) }, c.options()...)
	}
}

// byForm are the functions that build the kernels of each form.
type byForm [len(Forms)]func(config) (*tile.Kernel, error)

func tma128[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnTma128Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntTma128Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnTma128Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttTma128Args[T]) operands[T] { return operands[T](a) }),
	}
}

func async128[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnAsync128Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntAsync128Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnAsync128Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttAsync128Args[T]) operands[T] { return operands[T](a) }),
	}
}

func async64[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnAsync64Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntAsync64Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnAsync64Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttAsync64Args[T]) operands[T] { return operands[T](a) }),
	}
}

func wgmma128x192[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnWgmma128x192Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntWgmma128x192Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnWgmma128x192Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttWgmma128x192Args[T]) operands[T] { return operands[T](a) }),
	}
}

func wgmma128x256[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnWgmma128x256Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntWgmma128x256Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnWgmma128x256Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttWgmma128x256Args[T]) operands[T] { return operands[T](a) }),
	}
}

func wgmma128x128[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnWgmma128x128Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntWgmma128x128Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnWgmma128x128Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttWgmma128x128Args[T]) operands[T] { return operands[T](a) }),
	}
}
