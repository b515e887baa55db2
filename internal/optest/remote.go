package optest

import "github.com/gotile/gotile/tile"

// passArgs: Y = 2 X, rows of at most passCap elements.
type passArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
}

const (
	passSize = 4 // blocks of a cluster
	passCap  = 192
)

// pass has each block of a cluster send the next one its row, by asynchronous stores, and take its own from the one
// before. Who has read a row says so to its sender, how is what the kernels differ in: how many threads arrive, and read.
func pass[T tile.Number](name string, arrivals int, read func(block tile.Block, empty tile.PeerMBarrier)) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return clustered(name, passThreads, passSize, "Rows passed round in clusters by asynchronous stores.", func(k *tile.Builder, a passArgs[T]) {
			cluster, block, rows, n := k.Cluster(), k.Block(), a.X.Dim(0), a.X.Dim(1)
			s := tile.NewShared[T](k, passCap).Manual()
			bars := tile.NewMBarriers(k, 1, 1)
			empties := tile.NewMBarriers(k, 1, arrivals)
			full, empty := bars.At(0), empties.At(0)
			rank := cluster.Rank()
			next, before := rank.AddInt(1).RemInt(passSize), rank.AddInt(passSize-1).RemInt(passSize)
			span := block.Striped(passCap, 1).Clip(n)
			count := tile.NewVar(cluster, tile.I32(0))
			for first := range tile.Persistent(cluster, rows, tile.Step(passSize)) {
				parity := tile.AsIndex(count.Get()).RemInt(2)
				row := func(rank tile.Index) tile.Index { return first.Add(rank).Min(rows.SubInt(1)) } // the last one several times
				x := tile.Load(block, a.X.Row(row(next)), span)
				empty.Wait(block, parity.AddInt(1).RemInt(2)) // the first one passes
				block.Sync()                                  // all have passed it: a thread that stores nothing must not come a phase late
				full.ArriveExpect(block, tile.StoreAsync(block, tile.Peer(s, next), x, full.Peer(next)))
				full.Wait(block, parity)
				y := tile.Load(block, s, span)
				tile.If(block, first.Add(rank).Lt(rows), func() { tile.Store(block, a.Y.Row(row(rank)), y.Add(y)) })
				read(block, empty.Peer(before))
				count.Set(count.Get().Add(tile.I32(1)))
			}
			cluster.Sync() // nobody leaves while others still arrive
		})
	}}
}

const passThreads = 64

func passKernels() tile.Set {
	return family(
		pass[tile.F32]("op_pass_f32", passThreads, func(b tile.Block, empty tile.PeerMBarrier) { empty.Arrive(b) }),
		pass[tile.I64]("op_pass_i64", 1, func(b tile.Block, empty tile.PeerMBarrier) { empty.ArriveOnce(b) }),
		pass[tile.U32]("op_pass_u32", passThreads, func(b tile.Block, empty tile.PeerMBarrier) {
			tile.FenceCluster(b)
			empty.ArriveRelaxed(b)
		}),
	)
}
