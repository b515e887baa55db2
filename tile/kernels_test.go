package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type everyArgs struct {
	X, Y tile.Global[tile.F32] `tile:"n"`
	I, J tile.Global[tile.I32] `tile:"n"`
	Eps  tile.Scalar[tile.F32]
}

// everyOp records each elementwise op, reduction and conversion.
func everyOp(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a everyArgs) {
		cols := k.Block().Striped(1024, 4)
		x, y := tile.Load(k, a.X, cols), tile.Load(k, a.Y, cols)
		for _, f := range []func(tile.Reg[tile.F32]) tile.Reg[tile.F32]{
			tile.Reg[tile.F32].Neg, tile.Reg[tile.F32].Abs, tile.Reg[tile.F32].Exp, tile.Reg[tile.F32].Exp2, tile.Reg[tile.F32].Log,
			tile.Reg[tile.F32].Log2, tile.Reg[tile.F32].Sqrt, tile.Reg[tile.F32].Rsqrt, tile.Reg[tile.F32].Tanh, tile.Reg[tile.F32].Sigmoid,
			tile.Reg[tile.F32].Silu, tile.Reg[tile.F32].Softplus, tile.Reg[tile.F32].ExpApprox, tile.Reg[tile.F32].Exp2Approx,
			tile.Reg[tile.F32].LogApprox, tile.Reg[tile.F32].Log2Approx, tile.Reg[tile.F32].SqrtApprox, tile.Reg[tile.F32].RsqrtApprox,
			tile.Reg[tile.F32].TanhApprox, tile.Reg[tile.F32].SigmoidApprox, tile.Reg[tile.F32].SiluApprox, tile.Reg[tile.F32].RoundTF32,
		} {
			y = y.Add(f(x))
		}
		y = y.Sub(x).Mul(x).Div(x).DivApprox(a.Eps).Fma(x, tile.F32(0.5)).Min(tile.Const[tile.F32](3)).Max(x)
		for _, c := range []tile.Reg[tile.Bool]{x.Lt(y), x.Le(y), x.Gt(y), x.Ge(y), x.Eq(y), x.Ne(y)} {
			y = tile.Select(c.And(c.Not()).Or(c).Xor(c), y, tile.F32(1))
		}
		tile.Store(k, a.Y, y)

		i := tile.Load(k, a.I, cols)
		j := i.Rem(tile.I32(7)).MulHi(i).And(i).Shl(tile.I32(1)).Shr(tile.I32(2)).Not()
		u := tile.Bitcast[tile.U32](x).Xor(tile.Cast[tile.U32](i))
		w := tile.Cast[tile.I64](u).MulHi(tile.I64(1 << 40))
		add := func(in []uint64) uint64 { return uint64(uint32(in[0] + in[1])) }
		j = tile.PTX[tile.I32]("add.s32 %0, %1, %2;", add, j, tile.Cast[tile.I32](w))
		tile.Store(k, a.J, j.Add(tile.Coord(j.Span(), 0)).Fill(tile.I32(-1)))

		h := tile.Cast[tile.F16](tile.Cast[tile.BF16](x).Add(tile.Const[tile.BF16](2))).Mul(tile.Const[tile.F16](0.5))
		s := x.Sum().Add(x.MaxOf()).Add(x.MinOf()).Add(x.Prod()).Add(x.Fold().Sum()).Add(tile.Cast[tile.F32](h).Sum(0))
		tile.Store(k, a.X.At(0), s)
	})
}

// controlFlow records loops, branches and variables, nested and at both scopes.
func controlFlow(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a everyArgs) {
		block, warp := k.Block(), k.Warp()
		n := a.X.Dim(0)
		total := tile.NewVar(block, tile.F32(0))
		for i := range tile.Persistent(block, n, tile.Step(4), tile.Blocks(n)) {
			acc := tile.NewVar(block, tile.Full(block, block.Striped(256, 1), tile.F32(0)))
			for j := range tile.Range(block, i, i.AddInt(4).Min(n), 2) {
				for l := range tile.Range(block, 0, j.Scale(3), j.SubInt(1)) {
					x := tile.LoadScalar(block, a.X.At(l.Rem(n)))
					tile.If(block, x.Gt(a.Eps).And(l.Ne(j)), func() {
						acc.Set(acc.Get().Add(x))
					}, func() {
						tile.If(block, l.EqInt(3), func() { total.Set(tile.F32(1)) })
					})
				}
			}
			total.Set(total.Get().Add(acc.Get().Sum()))
		}
		tile.Store(block, a.Y.At(k.BlockID()), total.Get().Div(k.NumBlocks().Float()))

		// Indices: each op with an Index and with a Go int.
		i := k.BlockID()
		j := i.Add(n).Sub(i).Mul(n).Div(i).Rem(n).Min(i).Max(n).DivInt(2).MaxInt(1)
		for _, c := range []tile.Reg[tile.Bool]{i.Lt(j), i.Le(j), i.Gt(j), i.Ge(j), i.Eq(j), i.LtInt(1), i.LeInt(1), i.GtInt(1), i.GeInt(1), i.NeInt(1)} {
			tile.If(block, c, func() { total.Set(j.Float()) })
		}

		at := tile.NewVar(warp, warp.Index().Int())
		tile.While(warp, func() tile.Reg[tile.Bool] { return at.Get().Lt(n.Int()) }, func() {
			i := tile.AsIndex(at.Get())
			tile.Store(warp, a.J.At(i), tile.LoadScalar(warp, a.I.At(i)))
			at.Set(at.Get().Add(tile.Const[tile.I32](float64(k.Warps()))))
		})
	}, tile.Threads(128), tile.MinBlocks(4), tile.Targets("sm_90a", "sm_120a"), tile.Doc("Control flow."))
}

type memoryArgs struct {
	X    tile.Global[tile.BF16] `tile:"rows,16,n strided"`
	Y    tile.Global[tile.F32]  `tile:"rows,n"`
	Hist tile.Global[tile.I32]  `tile:"64"`
	Sum  tile.Global[tile.F32]  `tile:"1"`
}

// memoryOps records views, hints, shared tiles and atomics.
func memoryOps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a memoryArgs) {
		block, warp := k.Block(), k.Warp()
		s := tile.NewShared[tile.F32](k, 8, 128)
		span := block.Striped2(8, 128, 4, 32)
		x := tile.Cast[tile.F32](tile.Load(block, a.X.At(3, 8), span, tile.Streaming))
		tile.Store(block, s, x)
		block.Sync()
		row := tile.Load(block, s.At(2), block.Striped(128, 1))
		tile.Store(block, a.Y.At(1, 2), row, tile.L2Only)
		tile.Store(warp, a.Y.At(warp.Index()), tile.Load(warp, s.At(warp.Index()), warp.Striped(128, 4)))

		old := tile.AtomicAdd(block, a.Sum, row.Sum())
		tile.AtomicAdd(block, a.Sum, old)
		one := tile.Full(block, block.Striped(64, 1), tile.I32(1))
		tile.AtomicAdd(block, a.Hist, one)
		tile.AtomicMax(block, a.Hist, one)
		tile.AtomicMin(block, a.Hist, one)
		tile.AtomicExch(block, a.Hist.At(1), tile.I32(7))
		tile.AtomicCAS(block, a.Hist.At(2), tile.I32(7), tile.I32(8))
	})
}

type clusterArgs struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n"`
	I    tile.Global[tile.I32] `tile:"rows"`
}

// clusters records what the scope of a cluster adds.
func clusters(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a clusterArgs) {
		cluster, block := k.Cluster(), k.Block()
		s, n := tile.NewShared[tile.F32](k, 2, 256), a.X.Dim(1)
		rank := cluster.Rank()
		acc := tile.NewVar(cluster, tile.F32(0))
		for row := range tile.Persistent(cluster, a.X.Dim(0), tile.OneBlockEach()) {
			for col := range tile.Range(cluster, 0, n, 4096) {
				x := tile.Load(cluster, a.X.At(row, col), cluster.Striped(4096, 4))
				acc.Set(acc.Get().Add(x.Sum()))
			}
			tile.Store(cluster, a.Y.At(row, 0), acc.Get())
			tile.Store(cluster, a.I.At(row), tile.AtomicAdd(cluster, a.I.At(row), tile.I32(cluster.Size())))
		}
		mine := block.Striped(256, 2)
		tile.Store(block, tile.Peer(s.At(1), rank.AddInt(1).RemInt(4)), tile.Load(block, a.X.Row(k.BlockID()), mine))
		tile.Store(block, a.Y.Row(k.BlockID()), tile.Load(block, tile.Peer(s.At(1), 0), mine))
		cluster.Sync()
		wide := tile.Load(cluster, a.X, cluster.Striped2(16, 64, 2, 32))
		tile.Store(cluster, a.Y.At(k.NumClusters()), wide.Add(tile.Expand(wide.Sum(1), wide.Span(), 1)))
		tile.Store(block, a.I.At(k.ClusterID()), rank.Int())
	}, tile.Threads(128), tile.ClusterSize(4), tile.Doc("Clusters."))
}

type clipArgs struct {
	X tile.Global[tile.F32] `tile:"rows,n"`
	S tile.Global[tile.F32] `tile:"1024"`
}

// clipping records accesses whose extents come from the buffers.
func clipping(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a clipArgs) {
		cols := k.Block().Striped(256, 1)
		whole := tile.Load(k, a.S, cols)                               // inside: no extent
		tail := tile.Load(k, a.S.At(1000), cols)                       // 24 are left
		row := tile.Load(k, a.X.At(5), cols)                           // n are left, which launch bounds
		tile.Store(k, a.X.At(6, 4), whole)                             // n-4 are left
		tile.Store(k, a.S, tail.Add(tile.Load(k, a.S.At(1000), cols))) // the value's own
		tile.Store(k, a.S, row)
		for c := range tile.Range(k, 0, 1024, 256) {
			tile.Store(k, a.S.At(c), tile.Load(k, a.S.At(c), cols)) // certain to lie inside
			tile.Store(k, a.S.At(c.AddInt(1)), whole)               // not certain
		}
		span := k.Block().Striped2(8, 32, 1, 32)
		t := tile.Load(k, a.X.At(8), span.Clip(nil, 16))
		tile.Store(k, a.X, t)
	})
}

// asyncOps records asynchronous copies, a loop over columns and orders.
func asyncOps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a clipArgs) {
		block, warp := k.Block(), k.Warp()
		s := tile.NewShared[tile.F32](k, 2, 256)
		tile.CopyAsync(warp, s.At(1), a.X.At(3, 8))
		tile.Commit(warp)
		span := block.Striped(256, 4)
		for col := range tile.Columns(block, a.X.Dim(1), span) {
			tile.CopyAsync(block, s, a.X.At(0, col))
			tile.Commit(block)
			tile.WaitGroup(block, 1)
			tile.Store(block, a.S, tile.Load(block, a.X.At(7, col), span).Sum(), tile.Release)
		}
		tile.WaitGroup(block, 0)
		tile.AtomicExch(block, a.S.At(1), tile.LoadScalar(block, a.S, tile.Acquire), tile.AcqRel)
	})
}

// pipelineOps records roles with two pipelines, of which one is read member by member.
func pipelineOps(name string) (*tile.Kernel, error) {
	type slot struct {
		tile.Slot
		X, T tile.Shared[tile.F32]
	}
	type sums struct {
		tile.Slot
		S tile.Shared[tile.F32]
	}
	return tile.Define(name, func(k *tile.Builder, a clipArgs) {
		pipe := tile.NewPipeline(k, 3, slot{X: tile.NewShared[tile.F32](k, 256), T: tile.NewShared[tile.F32](k, 256)})
		next := tile.NewPipeline(k, 2, sums{S: tile.NewShared[tile.F32](k, 2, 128)})
		work := k.Schedule(tile.Linear(a.X.Dim(0), 2))
		k.Roles(tile.Producer(24, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.X, a.X.At(t.Row))
				tile.CopyAsync(s, s.T, a.X.At(t.Row.AddInt(1)), tile.Valid(100))
			}
		}), tile.Consumers(2, 176, func(c tile.Warpgroup) {
			span := c.Striped(128, 1)
			for range work.Tiles(c) {
				s := pipe.Wait(c)
				x := tile.Load(c, s.X.At(c.Index().Scale(128)), span)
				s.X.Release(c)
				y := tile.Load(c, s.T.At(c.Index().Scale(128)), span)
				s.Release(c)
				out := next.Acquire(c)
				tile.Store(c, out.S.At(c.Index()), x.Add(y))
				c.Sync()
			}
		}), tile.ConsumerWarps(1, 0, func(w tile.Warp) {
			for range work.Tiles(w) {
				s := next.Wait(w)
				x := tile.Load(w, s.S.At(w.Index()), w.Striped(128, 4))
				tile.Store(w, a.S, tile.Select(w.Elect(), tile.Full(w, w.Striped(32, 1), x.Sum()), tile.F32(0)))
				s.Release(w)
			}
		}))
	}, tile.Threads(416))
}

// remoteOps records what reaches beyond the block's threads.
func remoteOps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a clipArgs) {
		block, warp := k.Block(), k.Warp()
		full := tile.NewMBarriers(k, 2, 1).At(1)
		s, small := tile.NewShared[tile.F32](k, 2, 256).Manual(), tile.NewShared[tile.F32](k, 66)
		tile.CopyAsync(block, small, a.X)
		tile.CopyAsync(block, small, a.X.At(1), tile.Pieces(4))
		tile.Commit(block)
		tile.WaitGroup(block, 0)
		k.WaitPrerequisites()
		k.LaunchDependents()
		next := k.Cluster().Rank().AddInt(1).RemInt(2)
		x := tile.Load(block, a.X, block.Striped(256, 1))
		full.ArriveExpect(block, tile.StoreAsync(block, tile.Peer(s.At(1), next), x, full.Peer(next)))
		full.Wait(block, 0)
		full.Peer(0).Arrive(warp)
		full.Peer(next).ArriveOnce(block)
		tile.FenceCluster(block)
		full.Peer(next).ArriveRelaxed(block)
		full.ArriveExpect(block, tile.BroadcastAsync(block, s.At(0, next), x.Sum(), full))
		full.ArriveEverywhere(warp)
		tile.FenceAsyncGlobal(block)
	}, tile.ClusterSize(2))
}

// barrierOps records mbarriers and bulk copies.
func barrierOps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a clipArgs) {
		block, warp := k.Block(), k.Warp()
		bars := tile.NewMBarriers(k, 2, k.Threads())
		s := tile.NewShared[tile.F32](k, 2, 256).Manual()
		for row := range tile.Range(block, 0, a.X.Dim(0), 1) {
			stage := row.RemInt(2)
			bars.At(stage).Expect(block, tile.CopyBulk(block, s.At(stage), a.X.At(row, 8), bars.At(stage)))
			bars.At(stage).ArriveExpect(block, 16)
			bars.At(stage).Wait(block, row.DivInt(2).RemInt(2))
		}
		m := bars.At(1)
		m.ArriveOnce(warp)
		m.ArriveAndWait(block)
		token := m.ArriveCount(warp, 2)
		tile.While(warp, func() tile.Reg[tile.Bool] { return m.TestWait(warp, token).Or(m.TryWait(warp, 1)).Not() }, func() {})
		m.Inval(block)
		m.Track(block)
		named := tile.NewNamedBarrier(k, 64)
		named.Arrive(warp)
		named.Sync(warp)
		tile.FenceAsync(block)
		warp.Sync()
		tile.StoreBulk(block, a.S, s.At(1))
		tile.CommitBulk(block)
		tile.WaitBulkRead(block, 1)
		tile.WaitBulk(block, 0)
	})
}

type tensorArgs struct {
	X, Y tile.Global[tile.BF16] `tile:"rows,n"`
	Z    tile.Global[tile.BF16] `tile:"parts,rows,n"`
}

// tensorOps records tensor copies.
func tensorOps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a tensorArgs) {
		block := k.Block()
		full := tile.NewMBarriers(k, 1, 1).At(0)
		s := tile.NewShared[tile.BF16](k, 2, 8, 128).Swizzle(layout.Swizzle128).Manual()
		for row := range tile.Range(block, 0, a.X.Dim(0), 8) {
			tile.PrefetchTensor(block, s.At(0), a.X.At(row.AddInt(8)))
			full.Expect(block, tile.CopyTensor(block, s.At(0), a.X.At(row), full))
			full.ArriveExpect(block, tile.MulticastTensor(block, s.At(1), a.X.At(row, 128), full, 3))
			full.Wait(block, row.DivInt(8).RemInt(2))
			tile.StoreTensor(block, a.Y.At(row), s.At(0))
			tile.ReduceTensor(block, a.Z.At(0, row), s, tile.ReduceMax)
			tile.CommitBulk(block)
			tile.WaitBulkRead(block, 0)
		}
	}, tile.ClusterSize(2))
}
