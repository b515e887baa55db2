package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// The products of a warpgroup, which are of wgmma where the target has it and of mma.sync elsewhere. D has C + A B twice,
// with A in shared memory and in registers; E has A times the first columns of B, and nothing added.
type (
	wgmmaABArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"m,k"`
		B tile.Global[T]        `tile:"k,n"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"2,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
	wgmmaABtArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"m,k"`
		B tile.Global[T]        `tile:"n,k"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"2,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
	wgmmaAtBArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"k,m"`
		B tile.Global[T]        `tile:"k,n"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"2,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
	wgmmaAtBtArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"k,m"`
		B tile.Global[T]        `tile:"n,k"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"2,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
)

// The sides of the product of a warpgroup, and the columns of E. Rows along each side are several panels of every swizzle.
const (
	wgmmaM = 64
	wgmmaN = 64
	wgmmaK = 128
	wgmmaE = 24
)

// wgmmaBody computes the products of a warpgroup.
func wgmmaBody[T tile.Float](k *tile.Builder, form tile.Form, sw layout.Swizzle, ga, gb tile.Global[T], gc, d, e tile.Global[tile.F32]) {
	transA, transB := form == tile.AtB || form == tile.AtBt, form == tile.ABt || form == tile.AtBt
	ar, ac := mmaSides(wgmmaM, wgmmaK, transA)
	br, bc := mmaSides(wgmmaN, wgmmaK, !transB)
	sa, sb := tile.NewShared[T](k, ar, ac).Swizzle(sw), tile.NewShared[T](k, br, bc).Swizzle(sw)
	k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
		tile.Store(c, sa, tile.Load(c, ga, c.Striped2(ar, ac, 2, 32)).Fill(tile.Const[T](0)))
		tile.Store(c, sb, tile.Load(c, gb, c.Striped2(br, bc, 2, 32)).Fill(tile.Const[T](0)))
		span := c.Fragment(wgmmaM, wgmmaK)
		if transA {
			span = span.Transpose()
		}
		ra := tile.Load(c, ga, span)
		first := tile.Load(c, gc, c.Fragment(wgmmaM, wgmmaN)).Fill(tile.F32(0))
		for i, f := range []func(acc tile.Var[tile.F32]){
			func(acc tile.Var[tile.F32]) { tile.MMA(acc, sa, sb, form) },
			func(acc tile.Var[tile.F32]) { tile.MMA(acc, ra, sb, form) },
		} {
			acc := tile.NewVar(c, first)
			f(acc)
			tile.Store(c, d.At(i), acc.Get())
		}
		part := tile.NewVar(c, tile.Full(c, c.Fragment(wgmmaM, wgmmaE), tile.F32(1)))
		er, ec := mmaSides(wgmmaE, wgmmaK, !transB)
		tile.MMA(part, sa, sb.At().Matrix(er, ec), form, tile.Overwrite)
		tile.Store(c, e, part.Get())
	}))
}

func wgmmaKernel[A any, T tile.Float](name string, form tile.Form, sw layout.Swizzle, sides func(a A) (x, y tile.Global[T], c, d, e tile.Global[tile.F32])) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a A) {
			x, y, c, d, e := sides(a)
			wgmmaBody(k, form, sw, x, y, c, d, e)
		}, tile.Threads(128), tile.Doc("A product of a warpgroup, with A in shared memory and in registers."))
	}}
}

func wgmmaAB[T tile.Float](a wgmmaABArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}
func wgmmaABt[T tile.Float](a wgmmaABtArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}
func wgmmaAtB[T tile.Float](a wgmmaAtBArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}
func wgmmaAtBt[T tile.Float](a wgmmaAtBtArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}

// wgmmaPipeArgs: C = A B.
type wgmmaPipeArgs struct {
	A tile.Global[tile.BF16] `tile:"m,k"`
	B tile.Global[tile.BF16] `tile:"k,n"`
	C tile.Global[tile.F32]  `tile:"m,n"`
}

// A tile of C, of two warpgroups, and the depth of a slot.
const (
	wgmmaPipeM      = 128
	wgmmaPipeN      = 64
	wgmmaPipeK      = 64
	wgmmaPipeStages = 3
)

type wgmmaSlot struct {
	tile.Slot
	A, B tile.Shared[tile.BF16]
}

// wgmmaPipe is a product tile by tile, through a pipeline of which two warpgroups read each slot, with their MMAs in flight
// from one slot to the next.
func wgmmaPipe(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a wgmmaPipeArgs) {
		pipe := tile.NewPipeline(k, wgmmaPipeStages, wgmmaSlot{
			A: tile.NewShared[tile.BF16](k, wgmmaPipeM, wgmmaPipeK).Swizzle(layout.Swizzle128),
			B: tile.NewShared[tile.BF16](k, wgmmaPipeK, wgmmaPipeN).Swizzle(layout.Swizzle128),
		})
		work, depth := k.Schedule(tile.SuperRows(a.C, wgmmaPipeM, wgmmaPipeN, 2)), a.A.Dim(1)
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			row := c.Index().Scale(wgmmaPipeM / 2)
			for t := range work.Tiles(c) {
				acc := tile.NewAcc[tile.F32](c, wgmmaPipeM/2, wgmmaPipeN)
				for range tile.Range(c, 0, depth, wgmmaPipeK) {
					s := pipe.Wait(c)
					tile.MMA(acc, s.A.Rows(row, wgmmaPipeM/2), s.B)
					s.Release(c)
				}
				tile.Store(c, a.C.At(t.Row.Add(row), t.Col), acc.Get())
			}
		}), tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				for at := range tile.Range(p, 0, depth, wgmmaPipeK) {
					s := pipe.Acquire(p)
					tile.CopyAsync(s, s.A, a.A.At(t.Row, at))
					tile.CopyAsync(s, s.B, a.B.At(at, t.Col))
				}
			}
		}))
	}, tile.Threads(288), tile.Targets(bulkTargets...), tile.Doc("A product tile by tile, in a pipeline that two warpgroups read."))
}

// The rows of the product of wgmmaChain, 64 twice, and its other sides.
const (
	wgmmaRows = 128
	wgmmaSide = 64
)

// wgmmaChainArgs are mmaChainArgs, of another family.
type wgmmaChainArgs mmaChainArgs

// wgmmaChain is mmaChain of a warpgroup: the accumulator of one product, in 16 bits, is the operand A of another, which
// begins while a third one runs.
func wgmmaChain(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a wgmmaChainArgs) {
		member := func(rows int) tile.Shared[tile.F16] {
			return tile.NewShared[tile.F16](k, rows, wgmmaSide).Swizzle(layout.Swizzle128)
		}
		sa, sb, sv := member(wgmmaRows), member(wgmmaSide), member(wgmmaSide)
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			fill := func(s tile.Shared[tile.F16], g tile.Global[tile.F16], rows int) {
				tile.Store(c, s, tile.Load(c, g, c.Striped2(rows, wgmmaSide, 2, 32)).Fill(tile.Const[tile.F16](0)))
			}
			fill(sa, a.A, wgmmaRows)
			fill(sb, a.B, wgmmaSide)
			fill(sv, a.V, wgmmaSide)
			p, d := tile.NewAcc[tile.F32](c, wgmmaRows, wgmmaSide), tile.NewAcc[tile.F32](c, wgmmaRows, wgmmaSide)
			h := tile.NewAcc[tile.F16](c, wgmmaRows, wgmmaSide)
			tile.MMA(p, sa, sb, tile.ABt)
			tile.MMA(h, sa, sb, tile.ABt) // in flight while p is used
			tile.WaitMMA(c, 1)
			tile.MMA(d, tile.Cast[tile.F16](p.Get()), sv)
			tile.Store(c, a.H, h.Get())
			tile.Store(c, a.D, d.Get())
		}))
	}, tile.Threads(128), tile.Doc("Products of a warpgroup, one of what another gave."))
}

// wgmmaClusterArgs: D has A B of each block of a cluster.
type wgmmaClusterArgs struct {
	A tile.Global[tile.BF16] `tile:"m,k"`
	B tile.Global[tile.BF16] `tile:"k,n"`
	D tile.Global[tile.F32]  `tile:"blocks,m,n"`
}

// The sides of the product of wgmmaCluster: B is two panels of its swizzle, whose distance is in the descriptor.
const (
	wgmmaClusterM = 64
	wgmmaClusterN = 128
	wgmmaClusterK = 64
)

// wgmmaCluster is the same product in each block of a cluster, where the rank of a block is a part of its addresses of
// shared memory.
func wgmmaCluster(name string) (*tile.Kernel, error) {
	return clustered(name, 128, 2, "A product of a warpgroup in each block of a cluster.", func(k *tile.Builder, a wgmmaClusterArgs) {
		sa := tile.NewShared[tile.BF16](k, wgmmaClusterM, wgmmaClusterK).Swizzle(layout.Swizzle128)
		sb := tile.NewShared[tile.BF16](k, wgmmaClusterK, wgmmaClusterN).Swizzle(layout.Swizzle128)
		rank := k.Cluster().Rank()
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			tile.Store(c, sa, tile.Load(c, a.A, c.Striped2(wgmmaClusterM, wgmmaClusterK, 2, 32)).Fill(tile.Const[tile.BF16](0)))
			tile.Store(c, sb, tile.Load(c, a.B, c.Striped2(wgmmaClusterK, wgmmaClusterN, 2, 32)).Fill(tile.Const[tile.BF16](0)))
			acc := tile.NewAcc[tile.F32](c, wgmmaClusterM, wgmmaClusterN)
			tile.MMA(acc, sa, sb)
			tile.Store(c, a.D.At(rank), acc.Get())
		}))
	})
}

func wgmmaKernels() tile.Set {
	return tile.Sets(
		family(wgmmaKernel("op_wgmma_ab_bf16", tile.AB, layout.Swizzle128, wgmmaAB[tile.BF16]), wgmmaKernel("op_wgmma_ab_f16", tile.AB, layout.Swizzle64, wgmmaAB[tile.F16])),
		family(wgmmaKernel("op_wgmma_abt_bf16", tile.ABt, layout.Swizzle32, wgmmaABt[tile.BF16]), wgmmaKernel("op_wgmma_abt_f16", tile.ABt, layout.Swizzle128, wgmmaABt[tile.F16])),
		family(wgmmaKernel("op_wgmma_atb_bf16", tile.AtB, layout.Swizzle32, wgmmaAtB[tile.BF16]), wgmmaKernel("op_wgmma_atb_f16", tile.AtB, layout.Swizzle128, wgmmaAtB[tile.F16])),
		family(wgmmaKernel("op_wgmma_atbt_bf16", tile.AtBt, layout.Swizzle64, wgmmaAtBt[tile.BF16])),
		family(kernel{"op_wgmma_pipe", wgmmaPipe}),
		family(kernel{"op_wgmma_chain", wgmmaChain}),
		family(kernel{"op_wgmma_cluster", wgmmaCluster}),
	)
}
