package tile_test

import "github.com/gotile/gotile/tile"

// Wrong programs about clusters. What only a target or the barriers refuse is in internal/plan.
var ofTwo = []tile.Option{tile.ClusterSize(2)}

func sized(n int) func() error {
	return func() error {
		_, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) { tile.Store(k, a.S.At(0), a.Eps) }, tile.ClusterSize(n)) // ERR ClusterSize(3): a cluster has 2, 4 or 8 blocks; without the option the kernel has no clusters // ERR ClusterSize(16): a cluster has 2, 4 or 8 blocks; without the option the kernel has no clusters // ERR ClusterSize(1): a cluster has 2, 4 or 8 blocks; without the option the kernel has no clusters
		return err
	}
}

var wrongClusters = []wrong{
	{name: "a cluster of three", rule: tile.ErrLimit, def: sized(3)},
	{name: "a cluster of sixteen", rule: tile.ErrLimit, def: sized(16)},
	{name: "a cluster of one", rule: tile.ErrLimit, def: sized(1)},
	{name: "the scope without ClusterSize", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster() // ERR Cluster of a kernel without clusters: give Define tile.ClusterSize(2), 4 or 8
		cluster.Sync()
		tile.Store(cluster, a.S.At(0), tile.Load(cluster, a.V, cluster.Striped(256, 1)).Sum())
	}},
	{name: "positions without ClusterSize", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		id := k.ClusterID()  // ERR Builder.ClusterID of a kernel without clusters: give Define tile.ClusterSize(2), 4 or 8
		n := k.NumClusters() // ERR Builder.NumClusters of a kernel without clusters: give Define tile.ClusterSize(2), 4 or 8
		tile.Store(k, a.I.At(id.Add(n)), id.Int())
	}},
	{name: "a peer without ClusterSize", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		tile.Store(k, a.S, tile.Load(k, tile.Peer(s, 0), k.Block().Striped(128, 1))) // ERR Peer in a kernel without clusters: a block has no peers; give Define tile.ClusterSize(2), 4 or 8
	}},
	{name: "the zero cluster", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		var cluster tile.Cluster
		cluster.Sync() // ERR the Cluster was never assigned: it is the zero value of its type; take the Builder's Cluster()
	}},
	{name: "a barrier where one block comes", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		tile.If(k, cluster.Rank().EqInt(0), func() {
			cluster.Sync() // ERR Cluster.Sync of scope cluster stands in the block's If at @-1: the other blocks do not come here; move it out, or give the If scope cluster
		})
	}},
	{name: "a sum of the cluster where one block comes", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		x := tile.Load(cluster, a.V, cluster.Striped(512, 1))
		for range tile.Range(k, 0, 4, 1) {
			x.Sum() // ERR Sum of scope cluster stands in the block's Range at @-1: the other blocks do not come here; move it out, or give the Range scope cluster
		}
	}},
	{name: "a condition that blocks differ in", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		tile.If(cluster, cluster.Rank().EqInt(0), func() {}) // ERR the condition of If differs among the cluster's blocks (it comes from @+0); use the block as the scope
	}},
	{name: "a bound that blocks differ in", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		for range tile.Range(cluster, 0, k.BlockID(), 1) { // ERR the upper bound of Range differs among the cluster's blocks (it comes from @+0); use the block as the scope
		}
	}},
	{name: "an offset that blocks differ in", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		tile.Load(cluster, a.X.Row(cluster.Rank()), cluster.Striped(512, 1)) // ERR an offset of Load differs among the cluster's blocks (it comes from @+0); use the block as the scope
	}},
	{name: "an extent that blocks differ in", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		cluster.Striped(512, 1).Clip(cluster.Rank()) // ERR an extent of Clip differs among the cluster's blocks; use a span of the block
	}},
	{name: "a value that blocks differ in", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		x := tile.Load(cluster, a.V, cluster.Striped(512, 1))
		x.Add(cluster.Rank().Float()) // ERR Add mixes a tile of scope cluster with one value of scope block, which differs among the blocks; load the tile at scope block
	}},
	{name: "a tile of the block in one of the cluster", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		x := tile.Load(cluster, a.V, cluster.Striped(512, 1))
		x.Add(tile.Load(k, a.V, k.Block().Striped(512, 1))) // ERR operands of Add belong to the cluster and to the block; load both at one scope
	}},
	{name: "a shared tile of the cluster", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		cluster := k.Cluster()
		s := tile.NewShared[tile.F32](k, 512)
		tile.Store(cluster, s, tile.Load(cluster, a.V, cluster.Striped(512, 1))) // ERR Store at scope cluster of the shared tile of @-1: shared memory belongs to one block; name the block as the scope, and tile.Peer for another block's
	}},
	{name: "a copy to a peer", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 64)
		tile.CopyAsync(k, tile.Peer(s, 1), a.X) // ERR CopyAsync to another block's tile: a copy is to the block's own shared memory; copy there, and let the peer Load it by tile.Peer
	}},
	{name: "a rank past the cluster", rule: tile.ErrShape, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		tile.Store(k, tile.Peer(s, 2), a.Eps)  // ERR Peer of rank 2 in a cluster of 2 blocks: use a rank from 0 to 1
		tile.Store(k, tile.Peer(s, -1), a.Eps) // ERR Peer of rank -1 in a cluster of 2 blocks: use a rank from 0 to 1
	}},
	{name: "a peer of global memory", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		tile.Store(k, tile.Peer(a.S, 1), a.Eps) // ERR Peer of S: global memory belongs to all blocks alike; drop the call
	}},
	{name: "a peer of a peer", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		tile.Store(k, tile.Peer(tile.Peer(s, 1), 0), a.Eps) // ERR Peer of a peer's tile; give Peer the shared tile itself
	}},
	{name: "a rank that warps differ in", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		tile.Store(k, tile.Peer(s, k.Warp().Index()), a.Eps) // ERR the rank of a peer of Store differs among the block's warps (it comes from @+0); use the warp as the scope
	}},
	{name: "a nil tile of a peer", rule: tile.ErrScope, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		tile.Peer[tile.F32](nil, 1) // ERR the tile of Peer is nil: give a Shared
	}},
	{name: "an atomic on a peer", rule: tile.ErrTarget, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		tile.AtomicAdd(k, tile.Peer(s, 1), tile.F32(1)) // ERR AtomicAdd on the shared tile of @-1: atomics work on global memory; reduce, then Store
	}},
	{name: "Blocks of a loop of the block", rule: tile.ErrControl, opts: ofTwo, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Persistent(k, a.X.Dim(0), tile.Blocks(a.X.Dim(0))) { // ERR Blocks with a loop of the block in a kernel with clusters: a grid is whole clusters, so Blocks counts those; give Persistent the cluster as its scope
		}
	}},
}
