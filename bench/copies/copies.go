// Package copies has plain copy kernels, the practical ceiling of memory-bound kernels that read and write as many
// tensors of one size: copy reads one and writes one, copy2 reads two and writes one; the others say both numbers.
// They move 32-bit words, whatever the tensors hold.
package copies

import (
	"fmt"

	"github.com/gotile/gotile/tile"
)

// words is how many words a block copies of each tensor: 4 KB, a vector of 16 bytes a thread. Of what was tried, with 1 to
// 8 vectors a thread, 128 to 1024 threads and cache hints, small blocks without hints are the fastest on an H200.
const (
	words   = 1024
	threads = 256
)

// config is one kernel: how many tensors it reads and writes.
type config struct{ reads, writes int }

// KernelName is the name of the arm in results, too.
func (c config) KernelName() string {
	switch {
	case c.reads == 1 && c.writes == 1:
		return "copy"
	case c.writes == 1 && c.reads == 2:
		return "copy2"
	}
	return fmt.Sprintf("copy%d%d", c.reads, c.writes)
}

type (
	copyArgs struct {
		X0, Y0 tile.Global[tile.U32] `tile:"n"`
	}
	copy2Args struct {
		X0, X1, Y0 tile.Global[tile.U32] `tile:"n"`
	}
	copy22Args struct {
		X0, X1, Y0, Y1 tile.Global[tile.U32] `tile:"n"`
	}
	copy31Args struct {
		X0, X1, X2, Y0 tile.Global[tile.U32] `tile:"n"`
	}
	copy32Args struct {
		X0, X1, X2, Y0, Y1 tile.Global[tile.U32] `tile:"n"`
	}
)

// move writes the exclusive or of the tensors in xs, which for one is that tensor, to each in ys: as little arithmetic
// as needs all that is read.
func move(k *tile.Builder, xs, ys []tile.Global[tile.U32]) {
	block := k.Block()
	span := block.Striped(words, 4)
	for i := range tile.Persistent(k, xs[0].Dim(0), tile.Step(words), tile.OneBlockEach()) {
		v := tile.Load(block, xs[0].At(i), span)
		for _, x := range xs[1:] {
			v = v.Xor(tile.Load(block, x.At(i), span))
		}
		for _, y := range ys {
			tile.Store(block, y.At(i), v)
		}
	}
}

// define makes the build function of a family; split lists what its arguments read and write.
func define[A any](split func(a A) (xs, ys []tile.Global[tile.U32])) func(config) (*tile.Kernel, error) {
	return func(c config) (*tile.Kernel, error) {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a A) {
			xs, ys := split(a)
			move(k, xs, ys)
		}, tile.Threads(threads), tile.Doc(fmt.Sprintf("Tensors read: %d; written: %d.", c.reads, c.writes)))
	}
}

// list shortens the functions below.
func list(g ...tile.Global[tile.U32]) []tile.Global[tile.U32] { return g }

type globals = []tile.Global[tile.U32]

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Sets(
		tile.Configs(define(func(a copyArgs) (globals, globals) { return list(a.X0), list(a.Y0) }), config{1, 1}),
		tile.Configs(define(func(a copy2Args) (globals, globals) { return list(a.X0, a.X1), list(a.Y0) }), config{2, 1}),
		tile.Configs(define(func(a copy22Args) (globals, globals) { return list(a.X0, a.X1), list(a.Y0, a.Y1) }), config{2, 2}),
		tile.Configs(define(func(a copy31Args) (globals, globals) { return list(a.X0, a.X1, a.X2), list(a.Y0) }), config{3, 1}),
		tile.Configs(define(func(a copy32Args) (globals, globals) { return list(a.X0, a.X1, a.X2), list(a.Y0, a.Y1) }), config{3, 2}),
	)
}
