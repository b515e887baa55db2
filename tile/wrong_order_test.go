package tile_test

import "github.com/gotile/gotile/tile"

var wrongOrders = []wrong{
	{name: "order of a tile", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.V, k.Block().Striped(128, 4))
		tile.Store(k, a.S, x, tile.Release)    // ERR Store with order release of a tile of 128: an order belongs to one element; store the tile, then release with one
		tile.AtomicAdd(k, a.S, x, tile.AcqRel) // ERR AtomicAdd with order acq_rel of a tile of 128: an order belongs to one element; store the tile, then release with one
	}},
	{name: "order that the access has not", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.S, tile.Release)         // ERR Load with order release: a load can acquire; release with a Store or an atomic
		tile.LoadScalar(k, a.S, tile.AcqRel)          // ERR Load with order acq_rel: a load can acquire; release with a Store or an atomic
		tile.Store(k, a.S, tile.F32(0), tile.Acquire) // ERR Store with order acquire: a store can release; acquire with a LoadScalar or an atomic
	}},
	{name: "order of shared memory", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		tile.Store(k, s, tile.F32(0), tile.Release) // ERR Store with order release on the shared tile of @-1: orders are for what blocks share, global memory; drop it, the planner places barriers
		tile.LoadScalar(k, s, tile.Acquire)         // ERR Load with order acquire on the shared tile of @-2: orders are for what blocks share, global memory; drop it, the planner places barriers
	}},
	{name: "order and hint", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.S, tile.Acquire, tile.L2Only)            // ERR Load with order acquire and cache hint cg: an ordered access has no hint; drop one of the two
		tile.Store(k, a.S, tile.F32(0), tile.Streaming, tile.Release) // ERR Store with order release and cache hint cs: an ordered access has no hint; drop one of the two
	}},
	{name: "two orders", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.AtomicAdd(k, a.I, tile.I32(1), tile.Acquire, tile.Release) // ERR AtomicAdd with 2 orders: an access has one; use AcqRel for both
	}},
	{name: "unknown order", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.AtomicAdd(k, a.I, tile.I32(1), tile.Order(9)) // ERR AtomicAdd with unknown order 9; use Acquire, Release or AcqRel
	}},
	{name: "nil option", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.S, nil) // ERR Load with a nil option; drop it
	}},
}
