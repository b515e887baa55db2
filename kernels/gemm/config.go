package gemm

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// Config is one compiled kernel.
type Config struct {
	Form    Form
	T       dtype.Type // of A and B
	M, N, K int        // of a block's tile of D, and of a step along k

	Down, Right int  // consumers below and beside one another
	Group       bool // they are warpgroups; otherwise warps
	Stages      int  // of the pipeline
	Height      int  // of a super-row, in tiles

	ProducerRegs, ConsumerRegs int // of a thread; 0: what the kernel begins with
	MinBlocks                  int // that an SM holds
	Whole                      bool // for whole 16-byte vectors only: addresses, strides and rows are multiples of them
	Targets                    []string
}

// KernelName says all that configs differ in.
func (c Config) KernelName() string {
	how := "sync"
	if c.Group {
		how = "wg"
	}
	return fmt.Sprintf("gemm_%s_%v_%s_m%dn%dk%d", strings.ToLower(c.Form.String()), c.T, how, c.M, c.N, c.K)
}

// threads is the size of a block.
func (c Config) threads() int {
	const warp, group = 32, 128
	switch {
	case !c.Group:
		return warp * (c.Down*c.Right + 1)
	case c.ProducerRegs > 0:
		return group * (c.Down*c.Right + 1)
	}
	return group*c.Down*c.Right + warp
}

func (c Config) options() []tile.Option {
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
func define[A any, T tile.Float](conv func(A) operands[T]) func(Config) (*tile.Kernel, error) {
	return func(c Config) (*tile.Kernel, error) {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a A) { record(k, c, conv(a)) }, c.options()...)
	}
}

// byForm are the functions that build the kernels of each form.
type byForm [len(Forms)]func(Config) (*tile.Kernel, error)

func sync128[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnSync128Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntSync128Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnSync128Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttSync128Args[T]) operands[T] { return operands[T](a) }),
	}
}

func sync64[T tile.Float]() byForm {
	return byForm{
		NN: define(func(a nnSync64Args[T]) operands[T] { return operands[T](a) }),
		NT: define(func(a ntSync64Args[T]) operands[T] { return operands[T](a) }),
		TN: define(func(a tnSync64Args[T]) operands[T] { return operands[T](a) }),
		TT: define(func(a ttSync64Args[T]) operands[T] { return operands[T](a) }),
	}
}
