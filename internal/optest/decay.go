package optest

import "github.com/gotile/gotile/tile"

// decayArgs: contractions of the rows of A[g] and B[g] with the decays 2^G.
type decayArgs[T tile.Float] struct {
	A tile.Global[T]        `tile:"groups,16,n"`
	B tile.Global[T]        `tile:"groups,16,n"`
	G tile.Global[tile.F32] `tile:"groups,16,n"`
	C tile.Global[tile.F32] `tile:"groups,16,16"`
}

// decayKernel reads its matrices where they lie: in global memory, of any depth, or in shared memory, of one depth.
func decayKernel[T tile.Float](name string, shared int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a decayArgs[T]) {
			warp := k.Warp()
			out := warp.Fragment(16, 16)
			if shared == 0 {
				for g := range tile.Persistent(warp, a.A.Dim(0)) {
					c := tile.DecayDot(warp, tile.Decayed[T]{X: a.A.At(g), G: a.G.At(g)}, tile.Decayed[T]{X: a.B.At(g), G: a.G.At(g)}, a.A.Dim(2), out)
					tile.Store(warp, a.C.At(g), tile.Causal(c, 0, tile.F32(0)))
				}
				return
			}
			x, y, decays := tile.NewShared[T](k, k.Warps(), 16, shared), tile.NewShared[T](k, k.Warps(), 16, shared), tile.NewShared[tile.F32](k, k.Warps(), 16, shared)
			span, w := warp.Striped2(16, shared, 4, 8), warp.Index()
			for g := range tile.Persistent(warp, a.A.Dim(0)) {
				tile.Store(warp, x.At(w), tile.Load(warp, a.A.At(g), span).Fill(tile.Const[T](0)))
				tile.Store(warp, y.At(w), tile.Load(warp, a.B.At(g), span).Fill(tile.Const[T](0)))
				tile.Store(warp, decays.At(w), tile.Load(warp, a.G.At(g), span).Fill(tile.F32(0)))
				c := tile.DecayDot(warp, tile.Decayed[T]{X: x.At(w), G: decays.At(w)}, tile.Decayed[T]{X: y.At(w), G: decays.At(w)}, shared, out)
				tile.Store(warp, a.C.At(g), tile.Causal(c, 0, tile.F32(0)))
			}
		}, tile.Threads(64), tile.Doc("Contractions with a decay for each column."))
	}}
}

func decayKernels() tile.Set {
	return family(decayKernel[tile.F32]("op_decay_f32", 0), decayKernel[tile.BF16]("op_decay_bf16", 64))
}

// blocksArgs: the inverses of I plus what is below the diagonals of L[g], by blocks.
type blocksArgs struct {
	L tile.Global[tile.F32] `tile:"groups,n,n"`
	Y tile.Global[tile.F32] `tile:"groups,n,n"`
}

func blocksKernel(name string, n int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a blocksArgs) {
			warp := k.Warp()
			l, y := tile.NewShared[tile.F32](k, k.Warps(), n, n), tile.NewShared[tile.F32](k, k.Warps(), n, n)
			span, w := warp.Striped2(n, n, 4, 16), warp.Index()
			for g := range tile.Persistent(warp, a.L.Dim(0)) {
				tile.Store(warp, l.At(w), tile.Load(warp, a.L.At(g), span).Fill(tile.F32(0)))
				tile.InverseUnitLowerBlocks(warp, l.At(w), y.At(w), n)
				tile.Store(warp, a.Y.At(g), tile.Load(warp, y.At(w), span.Clip(a.L.Dim(1), a.L.Dim(2))))
			}
		}, tile.Threads(64), tile.Doc("Inverses of unit lower triangular matrices, by blocks."))
	}}
}

func blocksKernels() tile.Set {
	return family(blocksKernel("op_blocks_32", 32), blocksKernel("op_blocks_64", 64))
}
