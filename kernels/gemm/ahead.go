package gemm

import "github.com/gotile/gotile/tile"

// ahead goes through the steps along k of a tile, with the copies of as many steps under way as a ring has further stages.
// fetch has the block copy a step, which begins at k, into a stage; step is given the stage of each in turn. all orders
// what the block copies and what step reads: block.Sync where step is for warps, nothing where the planner knows.
func ahead(block tile.Block, stages, depth int, at piece, all func(), fetch func(stage any, k tile.Index), step func(stage tile.Index)) {
	next := func(stage any, k tile.Index) {
		fetch(stage, k)
		tile.Commit(block)
	}
	for i := range stages - 1 {
		next(i, at.first.AddInt(i*depth))
	}
	for k := range tile.Range(block, at.first, at.end, depth) {
		tile.WaitGroup(block, stages-2) // the copies of this step are there,
		all()                           // for all, and all have read what the next ones write over
		n := k.Sub(at.first).DivInt(depth)
		next(n.AddInt(stages-1).RemInt(stages), k.AddInt((stages-1)*depth))
		step(n.RemInt(stages))
	}
	tile.WaitGroup(block, 0)
	all()
}
