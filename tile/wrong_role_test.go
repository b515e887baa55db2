package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// strideArgs has a matrix whose last stride is known at the launch only, and lists of other shapes.
type strideArgs struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n,strided"`
	Wide tile.Global[tile.I32] `tile:"items,9"`
	Long tile.Global[tile.F32] `tile:"a,b,c,d,e,f"`
	Odd  tile.Global[tile.F32] `tile:"rows,30"`
}

func strided(f func(k *tile.Builder, a strideArgs)) func() error {
	return func() error {
		k, err := tile.Define("wrong", f)
		return lower(k, err, "sm_90a")
	}
}

// on lowers a program for a target.
func on(target string, f func(k *tile.Builder, a wrongArgs), opts ...tile.Option) func() error {
	return func() error {
		k, err := tile.Define("wrong", f, opts...)
		return lower(k, err, target)
	}
}

var wrongRoles = []wrong{
	{name: "a group of threads that are no warps", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.ConsumerGroup(100, 0, func(tile.Group) {})) // ERR ConsumerGroup of 100 threads: a group is whole warps of 32; use 128
	}},
	{name: "no consumers", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(0, 0, func(tile.Warpgroup) {}), idle(8)) // ERR consumers of 0 parts of 4 warps: a block has 1 to 32 warps; use 1 to 8 parts
	}},
	{name: "more warps than a block has", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(9, 0, func(tile.Warpgroup) {})) // ERR consumers of 9 parts of 4 warps: a block has 1 to 32 warps; use 1 to 8 parts
	}},
	{name: "no roles", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles() // ERR Roles without a role; give tile.Producer and tile.Consumers
	}},
	{name: "a value of another role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var x tile.Reg[tile.F32]
		k.Roles(tile.ConsumerWarps(4, 0, func(w tile.Warp) { x = tile.LoadScalar(w, a.S) }),
			tile.ConsumerWarps(4, 0, func(w tile.Warp) { tile.Store(w, a.S, x) })) // ERR a value made in the consumer warps at @-1 is used by warps of another role, which do not have it; let them compute it too, or hand it over through a pipeline
	}},
	{name: "a warp of a role after it", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var kept tile.Warp
		k.Roles(tile.ConsumerWarps(8, 0, func(w tile.Warp) { kept = w }))
		tile.Store(kept, a.S, a.Eps) // ERR the scope that the consumer warps of @-1 is given is used outside its role, where there are other warps too; move what names it into the function of the role
	}},
	{name: "a warpgroup after its role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var kept tile.Warpgroup
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) { kept = c }))
		tile.NewAcc[tile.F32](kept, 64, 64) // ERR the scope that the consumers of @-1 is given is used outside its role, where there are other warps too; move what names it into the function of the role
	}},
	{name: "a group after its role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var kept tile.Group
		k.Roles(tile.ConsumerGroup(256, 0, func(c tile.Group) { kept = c }))
		kept.Sync() // ERR the scope that the consumer group of @-1 is given is used outside its role, where there are other warps too; move what names it into the function of the role
	}},
	{name: "a warpgroup of another role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var kept tile.Warpgroup
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) { kept = c }), tile.ConsumerGroup(128, 0, func(c tile.Group) {
			for range tile.Range(c, 0, 4, 1) {
				tile.NewAcc[tile.F32](kept, 64, 64) // ERR the scope that the consumers of @-2 is given is used in the consumer group, whose warps are others; use the one that this role is given
			}
		}))
	}},
	{name: "a warp of a group of another role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var kept tile.Warp
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) { kept = c.Warp() }), tile.ConsumerWarps(4, 0, func(w tile.Warp) {
			tile.WaitMMA(kept, 0) // ERR the scope that the consumers of @-1 is given is used in the consumer warps, whose warps are others; use the one that this role is given
		}))
	}},
	{name: "a span of another role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var kept tile.Span
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) { kept = c.Striped(128, 1) }), tile.ConsumerGroup(64, 0, func(c tile.Group) {
			tile.Load(c, a.S, kept) // ERR a tile spread over the 128 threads of another role in the consumer group, of 64; use a span of this role
		}), tile.ConsumerGroup(64, 0, func(c tile.Group) {}))
		tile.Coord(kept, 0) // ERR a tile of a role's threads outside the roles: the span ends with the function of the role; use one of the block or of a warp
	}},
	{name: "a slot of another role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		var s wrongSlot
		k.Roles(tile.ConsumerWarps(4, 0, func(w tile.Warp) { s = pipe.Acquire(w); tile.CopyAsync(s, s.X, a.X) }),
			tile.ConsumerWarps(4, 0, func(w tile.Warp) {
				tile.CopyAsync(s, s.X, a.X) // ERR a value made in the consumer warps at @-2 is used by warps of another role, which do not have it; let them compute it too, or hand it over through a pipeline
				pipe.Wait(w).Release(w)
			}))
	}},
	{name: "a shared tile of two roles", rule: tile.ErrScope, def: on("sm_90a", func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 32)
		k.Roles(tile.ConsumerWarps(1, 0, func(w tile.Warp) { tile.Store(w, s, tile.Full(w, w.Striped(32, 1), a.Eps)) }),
			tile.ConsumerWarps(1, 0, func(w tile.Warp) { tile.Store(w, a.S, tile.Load(w, s, w.Striped(32, 1))) })) // ERR s0 is used by two roles, here and at @-1, which run at the same time; hand it over through a pipeline, or make the tile with Manual and order it by mbarriers
	}, tile.Threads(64))},
	{name: "register budgets where registers do not move", rule: tile.ErrTarget, def: on("sm_89", func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Producer(24, func(tile.Warp) {}), tile.Consumers(1, 0, func(tile.Warpgroup) {})) // ERR Producer needs setmaxnreg, which sm_89 has not; leave the target out with tile.Targets
	})},
	{name: "an election where there is none", rule: tile.ErrTarget, def: on("sm_80", func(k *tile.Builder, a wrongArgs) {
		w := k.Warp()
		tile.Store(w, a.S, tile.Select(w.Elect(), tile.F32(1), tile.Full(w, w.Striped(32, 1), a.Eps))) // ERR Warp.Elect needs elect, which sm_80 has not; leave the target out with tile.Targets
	})},
	{name: "tensor copies where there are none", rule: tile.ErrTarget, def: on("sm_86", func(k *tile.Builder, a wrongArgs) {
		tile.StoreTensor(k, a.X, tile.NewShared[tile.F32](k, 8, 32).Manual()) // ERR StoreTensor needs tma, which sm_86 has not; leave the target out with tile.Targets
	})},
	{name: "one stage", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 1, oneRow(k))
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		pipe.Wait(k).Release(k) // ERR a consumer holds 1 slot here, and the pipeline of @-3 has 1 stage: none is left to be filled meanwhile; use 2 stages, or release one before
	}},
	{name: "more stages than mbarriers", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewPipeline(k, 65, oneRow(k)) // ERR NewPipeline of 65 stages: use 2 to 64; a slot that is read and one that is filled are the least
	}},
	{name: "pieces of no rows", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		k.Schedule(tile.Linear(a.X.Dim(0), 0)) // ERR a schedule of pieces of 0: a piece has at least 1 row and column; use a size of at least 1
	}},
	{name: "super-rows of no height", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		k.Schedule(tile.SuperRows(a.X, 8, 8, 0)) // ERR SuperRows of height 0 of an argument of rank 2: it is for matrices, in super-rows of at least 1 tile; give an argument of rank 2 and such a height
	}},
	{name: "super-rows of a vector", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		k.Schedule(tile.SuperRows(a.V, 8, 8, 2)) // ERR SuperRows of height 2 of an argument of rank 1: it is for matrices, in super-rows of at least 1 tile; give an argument of rank 2 and such a height
	}},
	{name: "two schedules", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		k.Schedule(tile.Linear(a.X.Dim(0), 1))
		k.Schedule(tile.Linear(a.X.Dim(0), 1)) // ERR a second Schedule, or one beside Persistent: a launch has one grid; use the Tiles of one Schedule in all roles
	}},
	{name: "a schedule without a policy", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		k.Schedule(tile.Policy{}) // ERR the Policy of Schedule is the zero value of its type; use tile.Linear, tile.SuperRows or tile.WorkList
	}},
	{name: "a work list of nine columns", rule: tile.ErrShape, def: strided(func(k *tile.Builder, a strideArgs) {
		k.Schedule(tile.WorkList(a.Wide)) // ERR WorkList of Wide: a list has a row a piece, and a constant number of columns, 1 to 8; give it a tag such as `tile:"items,2"`
	})},
	{name: "a tensor copy of any stride", rule: tile.ErrTarget, def: strided(func(k *tile.Builder, a strideArgs) {
		m := tile.NewMBarriers(k, 1, 1).At(0)
		tile.CopyTensor(k, tile.NewShared[tile.F32](k, 8, 32).Manual(), a.X, m) // ERR CopyTensor of X, whose last stride is not 1 for certain: a tensor map has neighbours in its innermost dimension; drop the tag's strided, or use CopyAsync
	})},
	{name: "a tensor copy of six dimensions", rule: tile.ErrShape, def: strided(func(k *tile.Builder, a strideArgs) {
		m := tile.NewMBarriers(k, 1, 1).At(0)
		tile.CopyTensor(k, tile.NewShared[tile.F32](k, 8, 32).Manual(), a.Long, m) // ERR CopyTensor of Long, which has 6 dimensions: a tensor map has at most 5; merge some in the tag
	})},
	{name: "a slot's box that is too large", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 2, wrongSlot{X: tile.NewShared[tile.F32](k, 264, 32).Swizzle(layout.Swizzle128)})
		in := pipe.Acquire(k)
		tile.CopyTensor(k, in.X, a.X, in) // ERR CopyTensor of a box of 264 elements along dimension 1 of the shared tile: a side of a box has at most 256; make the copy in parts, of a tile with one dimension more
		pipe.Wait(k).Release(k)
	}},
	{name: "a tensor store of rows that end within 16 bytes", rule: tile.ErrLayout, def: strided(func(k *tile.Builder, a strideArgs) {
		tile.StoreTensor(k, a.Odd, tile.NewShared[tile.F32](k, 8, 32).Manual()) // ERR StoreTensor to Odd, whose rows of 30 f32 end within 16 bytes, by which it is clipped; make rows a multiple of 4, or use Store
	})},
	{name: "a parity of two", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewMBarriers(k, 1, 1).At(0).Wait(k, 2) // ERR MBarrier.Wait of parity 2: the phases of an mbarrier have parities 0, 1, 0, 1 and so on; use 0 or 1
	}},
	{name: "more arrivals than a phase has", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewMBarriers(k, 1, 1<<20) // ERR NewMBarriers with 1048576 arrivals, which an mbarrier cannot count; use 1 to 1048575
	}},
	{name: "one branch waits for a slot", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 3)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		tile.If(k, a.X.Dim(0).EqInt(1), func() { // ERR one branch of this If keeps 1 slot unreleased, the other 0 slots unreleased: release as many slots as are waited for in both
			pipe.NewVar(k, pipe.Wait(k))
		})
	}},
	{name: "a member released twice", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		s := pipe.Wait(k)
		s.X.Release(k)
		s.X.Release(k) // ERR the slot is released here and at @-1: its producers would count it twice; drop one
	}},
	{name: "a release by a warp of what the block waited for", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		pipe.Wait(k).Release(k.Warp()) // ERR Release at scope warp of a slot waited for at scope block: each warp counts for itself; name one scope for both
	}},
}
