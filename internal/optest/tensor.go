package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// Y = 2X through shared memory by tensor copies of every rank.
type (
	tensor1Args[T tile.Number] struct {
		X, Y tile.Global[T] `tile:"n"`
	}
	tensor2Args[T tile.Number] struct {
		X, Y tile.Global[T] `tile:"rows,n"`
	}
	tensor3Args[T tile.Number] struct {
		X, Y tile.Global[T] `tile:"d0,rows,n"`
	}
	tensor4Args[T tile.Number] struct {
		X, Y tile.Global[T] `tile:"d0,d1,rows,n"`
	}
	tensor5Args[T tile.Number] struct {
		X, Y tile.Global[T] `tile:"d0,d1,d2,rows,n"`
	}
)

const tensorThreads = 64

// tensorKernel is a kernel that doubles a tensor box by box.
func tensorKernel[A any, T tile.Number](name string, sides func(a A) (x, y tile.Global[T]), swizzle layout.Swizzle, box ...int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a A) {
			x, y := sides(a)
			double(k, x, y, swizzle, box)
		}, tile.Threads(tensorThreads), tile.Targets(bulkTargets...), tile.Doc("y = 2x, box by box through shared memory by tensor copies."))
	}}
}

// double copies boxes of x to shared memory, doubles them and copies them to y.
func double[T tile.Number](k *tile.Builder, x, y tile.Global[T], swizzle layout.Swizzle, box []int) {
	block := k.Block()
	in, out := tile.NewShared[T](k, box...).Swizzle(swizzle).Manual(), tile.NewShared[T](k, box...).Swizzle(swizzle).Manual()
	full := tile.NewMBarriers(k, 1, 1).At(0)
	count := tile.NewVar(block, tile.I32(0))
	boxes(block, x, box, func(at []any) {
		full.ArriveExpect(block, tile.CopyTensor(block, in, x.At(at...), full))
		full.Wait(block, tile.AsIndex(count.Get()).RemInt(2))
		count.Set(count.Get().Add(tile.I32(1)))
		tile.WaitBulkRead(block, 0) // of the store before
		matrices(box, func(i ...any) {
			v := tile.Load(block, in.At(i...), matrix[T](block, box))
			tile.Store(block, out.At(i...), v.Add(v))
		})
		tile.FenceAsync(block)
		block.Sync()
		tile.StoreTensor(block, y.At(at...), out)
		tile.CommitBulk(block)
	})
	tile.WaitBulk(block, 0)
}

// boxes loops over the boxes of a tensor, the grid's blocks along its first dimension.
func boxes[T tile.Number](block tile.Block, x tile.Global[T], box []int, f func(at []any)) {
	var along func(at []any)
	along = func(at []any) {
		if d := len(at); d < len(box) {
			for i := range tile.Range(block, 0, x.Dim(d), box[d]) {
				along(append(at[:d:d], i))
			}
			return
		}
		f(at)
	}
	for i := range tile.Persistent(block, x.Dim(0), tile.Step(box[0])) {
		along([]any{i})
	}
}

// matrices visits the matrices of a box, by their place along the dimensions before the last two.
func matrices(box []int, f func(at ...any)) {
	var along func(at []any)
	along = func(at []any) {
		if d := len(at); d < len(box)-2 {
			for i := range box[d] {
				along(append(at[:d:d], i))
			}
			return
		}
		f(at...)
	}
	along(nil)
}

// matrix is how the last two dimensions of a box lie in registers.
func matrix[T tile.Number](block tile.Block, box []int) tile.Span {
	var t T
	last, vec := len(box)-1, 16/t.DType().Size()
	if last == 0 {
		return block.Striped(box[0], vec)
	}
	across := 1
	for across < 8 && 2*across*vec <= box[last] {
		across *= 2
	}
	return block.Striped2(box[last-1], box[last], vec, across)
}

func sides1[T tile.Number](a tensor1Args[T]) (x, y tile.Global[T]) { return a.X, a.Y }
func sides2[T tile.Number](a tensor2Args[T]) (x, y tile.Global[T]) { return a.X, a.Y }
func sides3[T tile.Number](a tensor3Args[T]) (x, y tile.Global[T]) { return a.X, a.Y }
func sides4[T tile.Number](a tensor4Args[T]) (x, y tile.Global[T]) { return a.X, a.Y }
func sides5[T tile.Number](a tensor5Args[T]) (x, y tile.Global[T]) { return a.X, a.Y }

func tensorKernels() tile.Set {
	return tile.Sets(
		family(tensorKernel("op_tensor1_f32", sides1[tile.F32], layout.NoSwizzle, 128), tensorKernel("op_tensor1_bf16", sides1[tile.BF16], layout.NoSwizzle, 256)),
		family(
			tensorKernel("op_tensor2_f32", sides2[tile.F32], layout.NoSwizzle, 8, 32), tensorKernel("op_tensor2_i64", sides2[tile.I64], layout.Swizzle64, 16, 8),
			tensorKernel("op_tensor2_bf16", sides2[tile.BF16], layout.Swizzle128, 16, 64), tensorKernel("op_tensor2_f16", sides2[tile.F16], layout.Swizzle32, 8, 16),
			tensorKernel("op_tensor2_i32", sides2[tile.I32], layout.Swizzle128, 8, 128), // four panels
		),
		family(tensorKernel("op_tensor3_bf16", sides3[tile.BF16], layout.Swizzle128, 3, 8, 128), tensorKernel("op_tensor3_f32", sides3[tile.F32], layout.Swizzle64, 3, 8, 16)),
		family(tensorKernel("op_tensor4_f16", sides4[tile.F16], layout.NoSwizzle, 2, 3, 4, 24), tensorKernel("op_tensor4_f32", sides4[tile.F32], layout.Swizzle32, 2, 2, 8, 16)),
		family(tensorKernel("op_tensor5_u32", sides5[tile.U32], layout.NoSwizzle, 2, 2, 2, 3, 8)),
	)
}
