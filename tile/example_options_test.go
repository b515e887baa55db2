package tile_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gotile/gotile/tile"
)

// What the heading of the CUDA says, how many blocks an SM is to hold, and how many ops a kernel may record before it is
// taken for a Go loop that unrolls.
func ExampleLimit() {
	k, err := tile.Define("scale", func(k *tile.Builder, a halfArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(1024, 8))
		tile.Store(k, a.X, x.Add(x))
	}, tile.Threads(128), tile.MinBlocks(8), tile.Doc("Scale doubles x."))
	if err != nil {
		fmt.Println(err)
		return
	}
	head, _, _ := strings.Cut(k.String(), "\n")
	fmt.Println(head)

	_, err = tile.Define("unrolled", func(k *tile.Builder, a halfArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(1024, 8))
		for range 100 {
			x = x.Add(x)
		}
		tile.Store(k, a.X, x)
	}, tile.Limit(50))
	if first, ok := errors.AsType[*tile.Error](err); ok {
		fmt.Println(errors.Is(first, tile.ErrLimit), first.Msg)
	}
	// Output:
	// kernel scale(x bf16[n] r w) threads 128 min_blocks 8
	// true the kernel records more than 50 ops: a Go loop unrolls; use tile.Range for a long one, or raise tile.Limit
}

// A grid of a block for each iteration, not of as many as the device holds at once. The loop, which runs once, is not
// printed; Looped keeps it.
func ExampleOneBlockEach() {
	for _, options := range [][]tile.LoopOption{{tile.OneBlockEach()}, {tile.OneBlockEach(), tile.Looped()}} {
		show(tile.Define("twice", func(k *tile.Builder, a rowArgs) {
			for row := range tile.Persistent(k, a.X.Dim(0), options...) {
				x := tile.Load(k, a.X.Row(row), k.Block().Striped(1024, 4))
				tile.Store(k, a.Y.Row(row), x.Add(x))
			}
		}))
	}
	// Output:
	// kernel twice(x f32[rows,n] r, y f32[rows,n] w, max f32[rows]) threads 256
	//   n <= 1024
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   persistent rows, 1 each { %1
	//     %2 = load x[%1, 0] : f32 #0{n}
	//     %3 = add %2, %2 : f32 #0{n}
	//     store %3 y[%1, 0] : #0{n}
	//   }
	// kernel twice(x f32[rows,n] r, y f32[rows,n] w, max f32[rows]) threads 256
	//   n <= 1024
	//   #0 = block [1024] thread (256:4@0) value (4:1@0)
	//   persistent rows, 1 each looped { %1
	//     %2 = load x[%1, 0] : f32 #0{n}
	//     %3 = add %2, %2 : f32 #0{n}
	//     store %3 y[%1, 0] : #0{n}
	//   }
}

// fills is a configuration of another kernel.
type fills int

func (f fills) KernelName() string { return fmt.Sprintf("fill_c%d", int(f)) }

// One package, several families of kernels: each has its Args type and gets a launch function.
func ExampleSets() {
	scale := tile.Configs(func(s size) (*tile.Kernel, error) {
		return tile.Define(s.KernelName(), func(k *tile.Builder, a scaleArgs) {
			tile.Store(k, a.Y, tile.Load(k, a.Y, k.Block().Striped(int(s), 4)).Exp())
		})
	}, 1024, 8192)
	fill := tile.Configs(func(f fills) (*tile.Kernel, error) {
		return tile.Define(f.KernelName(), func(k *tile.Builder, a chunkArgs) {
			tile.Store(k, a.Y, tile.Full(k, k.Block().Striped(int(f), 4), a.A))
		})
	}, 1024)
	for _, family := range tile.Sets(scale, fill).Families() {
		fmt.Println(family.Names())
	}
	// Output:
	// [scale_c1024 scale_c8192]
	// [fill_c1024]
}

// Of tests with many large kernels, which they launch by themselves, hashes are committed and no CUDA.
func ExampleHashed() {
	tests := tile.Hashed(tile.Configs(func(f fills) (*tile.Kernel, error) {
		return tile.Define(f.KernelName(), func(k *tile.Builder, a chunkArgs) {
			tile.Store(k, a.Y, tile.Full(k, k.Block().Striped(int(f), 4), a.A))
		})
	}, 1024))
	for _, family := range tests.Families() {
		fmt.Println(family.Names(), family.Hashed())
	}
	// Output:
	// [fill_c1024] true
}
