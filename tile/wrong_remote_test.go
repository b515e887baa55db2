package tile_test

import "github.com/gotile/gotile/tile"

var inPairs = []tile.Option{tile.ClusterSize(2)}

var wrongRemotes = []wrong{
	{name: "arrival without peers", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1).At(0)
		m.Peer(0).Arrive(k)  // ERR PeerMBarrier.Arrive in a kernel without clusters: a block has no peers; give Define tile.ClusterSize(2), 4 or 8
		tile.FenceCluster(k) // ERR FenceCluster in a kernel without clusters: a block has no peers; give Define tile.ClusterSize(2), 4 or 8
	}},
	{name: "rank of an arrival", rule: tile.ErrShape, opts: inPairs, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1)
		m.At(0).Peer(2).Arrive(k)      // ERR PeerMBarrier.Arrive at rank 2 of a cluster of 2 blocks: use a rank from 0 to 1
		m.At(1).Peer(0).ArriveOnce(k)  // ERR PeerMBarrier.Arrive with mbarrier 1 of the 1 made at @-2: use an index from 0 to 0
		m.At(0).Peer(-1).ArriveOnce(k) // ERR PeerMBarrier.Arrive at rank -1 of a cluster of 2 blocks: use a rank from 0 to 1
	}},
	{name: "scope of an arrival", rule: tile.ErrScope, opts: inPairs, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1).At(0)
		m.Peer(0).Arrive(k.Cluster())      // ERR PeerMBarrier.Arrive at scope cluster: the threads of one block act on another; name the block or the warp
		m.Peer(k.Warp().Index()).Arrive(k) // ERR the rank of PeerMBarrier.Arrive differs among the block's warps (it comes from @+0); use the warp as the scope
	}},
	{name: "asynchronous store to the wrong place", rule: tile.ErrTarget, opts: inPairs, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 64).Manual()
		x := tile.Load(k, a.V, k.Block().Striped(64, 1))
		tile.StoreAsync(k, s, x, m.Peer(0))         // ERR StoreAsync to the shared tile of @-2: it stores to another block's shared memory; give tile.Peer(tile, rank), and Store to the block's own
		tile.StoreAsync(k, a.S.At(0), x, m.Peer(0)) // ERR StoreAsync to S: it stores to another block's shared memory; give tile.Peer(tile, rank), and Store to the block's own
	}},
	{name: "asynchronous store that nobody orders", rule: tile.ErrScope, opts: inPairs, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 64)
		x := tile.Load(k, a.V, k.Block().Striped(64, 1))
		tile.StoreAsync(k, tile.Peer(s, 1), x, m.Peer(1))          // ERR StoreAsync to the shared tile of @-2, which the planner synchronises: it cannot see mbarriers; make the tile with Manual, and order its accesses
		tile.StoreAsync(k, tile.Peer(s.Manual(), 1), x, m.Peer(0)) // ERR StoreAsync to a tile of one block, with an mbarrier of another: the bytes are completed where they come; take both of one rank
	}},
	{name: "asynchronous store of the wrong type", rule: tile.ErrDType, opts: inPairs, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.BF16](k, 64).Manual()
		tile.StoreAsync(k, tile.Peer(s, 1), tile.Load(k, a.H.At(0), k.Block().Striped(64, 1)), m.Peer(1)) // ERR StoreAsync of bf16: st.async stores 4 or 8 bytes at a time; use f32, i32, u32 or i64
	}},
	{name: "asynchronous store of one value", rule: tile.ErrShape, opts: inPairs, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 64).Manual()
		tile.StoreAsync(k, tile.Peer(s, 1), a.Eps.Reg(), m.Peer(1)) // ERR StoreAsync of one value: each thread stores its elements of a tile; make a tile with Full, or Store the value to tile.Peer
	}},
	{name: "dependent launch within a branch", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.If(k, a.X.Dim(0).GtInt(4), func() {
			k.WaitPrerequisites() // ERR Builder.WaitPrerequisites in the If at @-1: a block that skipped it could end before the kernels that it depends on; put it at the top level of the kernel
			k.LaunchDependents()  // ERR Builder.LaunchDependents in the If at @-2: it is for all blocks; put it at the top level of the kernel
		})
	}},
	{name: "too early for the kernels ahead", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.Store(k, a.S, tile.F32(0)) // ERR Store to S before the WaitPrerequisites of the kernel: the kernels before it may still use S; put it behind
		k.LaunchDependents()            // ERR LaunchDependents before WaitPrerequisites: the next kernel could begin before those that this one waits for are over; put it behind
		k.WaitPrerequisites()
	}},
	{name: "two waits", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.WaitPrerequisites()
		k.WaitPrerequisites() // ERR a second WaitPrerequisites: the first has waited for all kernels before this one; drop it
	}},
	{name: "a fence of global memory where there is none", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			tile.FenceAsyncGlobal(k) // ERR FenceAsyncGlobal needs cp.async.bulk, which sm_86 has not; leave the target out with tile.Targets
		})
		return lower(k, err, "sm_86")
	}},
}
