package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// haloArgs: Y[i, j] = X[i-1, j+vec], vec elements being 16 bytes; zero where X has no such element.
type haloArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"h,w"`
}

// The sides of a halo kernel's box, and its stages.
const (
	haloRows   = 8
	haloCols   = 32
	haloStages = 2
)

// halo copies boxes that end past the tensor, and fetches them ahead.
func halo[T tile.Number](name string, swizzle layout.Swizzle, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a haloArgs[T]) {
			block := k.Block()
			s := tile.NewShared[T](k, haloStages, haloRows, haloCols).Swizzle(swizzle).Manual()
			full := tile.NewMBarriers(k, haloStages, 1)
			count := tile.NewVar(block, tile.I32(0))
			for row := range tile.Persistent(block, a.Y.Dim(0), tile.Step(haloRows)) {
				for col := range tile.Range(block, 0, a.Y.Dim(1), haloCols) {
					i := tile.AsIndex(count.Get())
					stage, first := i.RemInt(haloStages), row.SubInt(1)
					tile.PrefetchTensor(block, s.At(stage), a.X.At(first, col.AddInt(haloCols+vec))) // of the next turn
					full.At(stage).ArriveExpect(block, tile.CopyTensor(block, s.At(stage), a.X.At(first, col.AddInt(vec)), full.At(stage)))
					full.At(stage).Wait(block, i.DivInt(haloStages).RemInt(2))
					tile.Store(block, a.Y.At(row, col), tile.Load(block, s.At(stage), matrix[T](block, []int{haloRows, haloCols})))
					block.Sync()
					count.Set(count.Get().Add(tile.I32(1)))
				}
			}
		}, tile.Threads(tensorThreads), tile.Targets(bulkTargets...), tile.Doc("y is x moved on by a row and back by 16 bytes, with zeros where nothing comes from, by tensor copies."))
	}}
}

// tensorReduceArgs: Y is combined with each part of X.
type tensorReduceArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"parts,rows,n"`
	Y tile.Global[T] `tile:"rows,n"`
}

func tensorReduce[T tile.Number](name string, how tile.TensorReduction, swizzle layout.Swizzle, rows, cols int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a tensorReduceArgs[T]) {
			block := k.Block()
			s := tile.NewShared[T](k, rows, cols).Swizzle(swizzle).Manual()
			full := tile.NewMBarriers(k, 1, 1).At(0)
			count := tile.NewVar(block, tile.I32(0))
			for part := range tile.Persistent(block, a.X.Dim(0)) {
				for row := range tile.Range(block, 0, a.X.Dim(1), rows) {
					for col := range tile.Range(block, 0, a.X.Dim(2), cols) {
						full.ArriveExpect(block, tile.CopyTensor(block, s, a.X.At(part, row, col), full))
						full.Wait(block, tile.AsIndex(count.Get()).RemInt(2))
						tile.ReduceTensor(block, a.Y.At(row, col), s, how)
						tile.CommitBulk(block)
						tile.WaitBulkRead(block, 0)
						count.Set(count.Get().Add(tile.I32(1)))
					}
				}
			}
		}, tile.Threads(tensorThreads), tile.Targets(bulkTargets...), tile.Doc("y is combined with each part of x in global memory, by tensor copies."))
	}}
}

// multicastArgs: Y[i, j] = X[i, j] + W[i % multicastRows, j].
type multicastArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
	W    tile.Global[T] `tile:"8,n"`
}

// The rows of a block's box, and the blocks of a cluster.
const (
	multicastRows   = 8
	multicastBlocks = 4
)

// multicast has blocks 0 and 1 of a cluster copy W, for the even blocks and for the odd ones.
func multicast[T tile.Number](name string, swizzle layout.Swizzle, cols int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a multicastArgs[T]) {
			block, cluster := k.Block(), k.Cluster()
			x := tile.NewShared[T](k, multicastRows, cols).Swizzle(swizzle).Manual()
			w := tile.NewShared[T](k, multicastRows, cols).Swizzle(swizzle).Manual()
			full := tile.NewMBarriers(k, 1, 1).At(0)
			count := tile.NewVar(cluster, tile.I32(0))
			rank := cluster.Rank()
			for first := range tile.Persistent(cluster, a.X.Dim(0), tile.Step(multicastRows*multicastBlocks)) {
				row := first.Add(rank.Scale(multicastRows))
				for col := range tile.Range(cluster, 0, a.X.Dim(1), cols) {
					tile.If(block, rank.LtInt(2), func() {
						tile.MulticastTensor(block, w, a.W.At(0, col), full, rank.AddInt(1).Scale(0b101))
					})
					full.ArriveExpect(block, tile.CopyTensor(block, x, a.X.At(row, col), full).Scale(2)) // both boxes
					full.Wait(block, tile.AsIndex(count.Get()).RemInt(2))
					span := matrix[T](block, []int{multicastRows, cols})
					tile.Store(block, a.Y.At(row, col), tile.Load(block, x, span).Add(tile.Load(block, w, span)))
					cluster.Sync() // all have read w
					count.Set(count.Get().Add(tile.I32(1)))
				}
			}
		}, tile.Threads(tensorThreads), tile.ClusterSize(multicastBlocks), tile.Targets("sm_90a", "sm_100a", "sm_103a"),
			tile.Doc("y = x + w, of which each block of a cluster copies its own x and two blocks w for all, by tensor copies."))
	}}
}

func tensorMoreKernels() tile.Set {
	return tile.Sets(
		family(halo[tile.F32]("op_halo_f32", layout.Swizzle128, 4), halo[tile.BF16]("op_halo_bf16", layout.NoSwizzle, 8)),
		family(
			tensorReduce[tile.F32]("op_tensor_add_f32", tile.ReduceAdd, layout.NoSwizzle, 4, 16),
			tensorReduce[tile.BF16]("op_tensor_add_bf16", tile.ReduceAdd, layout.Swizzle64, 8, 64),
			tensorReduce[tile.I32]("op_tensor_min_i32", tile.ReduceMin, layout.Swizzle32, 8, 8),
			tensorReduce[tile.F16]("op_tensor_max_f16", tile.ReduceMax, layout.NoSwizzle, 8, 40),
		),
		family(multicast[tile.F32]("op_multicast_f32", layout.Swizzle128, 32), multicast[tile.BF16]("op_multicast_bf16", layout.Swizzle128, 128)),
	)
}
