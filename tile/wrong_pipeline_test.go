package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type wrongSlot struct {
	tile.Slot
	X tile.Shared[tile.F32]
}

// rowsOf is a pipeline of rows of 64 elements.
func rowsOf(k *tile.Builder, stages int) tile.Pipeline[wrongSlot] {
	return tile.NewPipeline(k, stages, oneRow(k))
}

func oneRow(k *tile.Builder) wrongSlot { return wrongSlot{X: tile.NewShared[tile.F32](k, 64)} }

// oneBox is a slot of 8 rows of 128 bytes.
func oneBox(k *tile.Builder) wrongSlot { return wrongSlot{X: tile.NewShared[tile.F32](k, 8, 32)} }

// idle is a role of what is left of a block.
func idle(warps int) tile.Role { return tile.ConsumerWarps(warps, 0, func(tile.Warp) {}) }

var wrongPipelines = []wrong{
	{name: "roles of too few threads", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Producer(0, func(tile.Warp) {}), tile.Consumers(1, 0, func(tile.Warpgroup) {})) // ERR the roles take 160 threads (producer 32, consumers 128) of a block of 256; define the kernel with tile.Threads(160)
	}},
	{name: "a budget that is no multiple of 8", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Producer(42, func(tile.Warp) {}), idle(4)) // ERR producer with 42 registers a thread: setmaxnreg takes multiples of 8 from 24 to 256, and 0 leaves them as they are; use 40
	}},
	{name: "a budget below 24", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Producer(16, func(tile.Warp) {}), idle(4)) // ERR producer with 16 registers a thread: setmaxnreg takes multiples of 8 from 24 to 256, and 0 leaves them as they are; use 24
	}},
	{name: "more registers than there are", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(1, 256, func(tile.Warpgroup) {}), tile.Consumers(1, 256, func(tile.Warpgroup) {})) // ERR the roles ask for 65536 registers (consumers 128*256, consumers 128*256) and a block of 256 threads begins with 63488, 248 a thread; give the consumers 240 at most
	}},
	{name: "a budget behind a part of a warpgroup", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(idle(4+1), tile.Producer(24, func(tile.Warp) {})) // ERR producer with a register budget begins at warp 5: setmaxnreg is of whole warpgroups of 4 warps; put the roles without a budget last
	}},
	{name: "roles in a loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			k.Roles(idle(8)) // ERR Roles in the Range at @-1: the warps of a block have one role each for the whole kernel; put it at the top level, and the loop into each role
		}
	}},
	{name: "roles twice", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(idle(8))
		k.Roles(idle(8)) // ERR a second Roles in one kernel: a warp has one role; join the two
	}},
	{name: "the block in a role", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.ConsumerGroup(256, 0, func(tile.Group) {
			k.Block().Sync() // ERR Block.Sync of scope block stands in the consumer group of @-1: the block's other warps do not come here; give it the role's own scope, or move it out of Roles
		}))
	}},
	{name: "after roles with budgets", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Producer(24, func(tile.Warp) {}), idle(4))
		k.Block().Sync() // ERR Block.Sync behind the Roles of @-1, which have register budgets: the block's warps no longer have the same registers; put it into a role, or drop the budgets
	}},
	{name: "a pipeline in a loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			tile.NewPipeline(k, 2, oneRow(k)) // ERR NewPipeline in the Range at @-1: its mbarriers are made once, before anybody uses them; make it at the top level of the kernel
		}
	}},
	{name: "a pipeline of no stages", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewPipeline(k, 0, oneRow(k)) // ERR NewPipeline of 0 stages: use 2 to 64; a slot that is read and one that is filled are the least
	}},
	{name: "one tile in two pipelines", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := wrongSlot{X: tile.NewShared[tile.F32](k, 64)}
		tile.NewPipeline(k, 2, s)
		tile.NewPipeline(k, 2, s) // ERR field X of the slot is the shared tile of @-2, which belongs to the pipeline of @-1; give each field a tile of its own
	}},
	{name: "more shared memory than any block has", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewPipeline(k, 40, wrongSlot{X: tile.NewShared[tile.F32](k, 128, 128)}) // ERR NewPipeline of 40 stages of 65536 bytes in field X: no target has more than 227 KB a block; make the tile smaller, or use fewer stages
	}},
	{name: "a slot without Slot", rule: tile.ErrPort, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewPipeline(k, 2, struct{ X tile.Shared[tile.F32] }{tile.NewShared[tile.F32](k, 64)}) // ERR slot struct { X tile.Shared[github.com/gotile/gotile/dtype.Float32] } does not embed tile.Slot, which gives Release; add it as the first field
	}},
	{name: "a slot of what is no tile", rule: tile.ErrPort, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewPipeline(k, 2, struct { // ERR field N of slot struct { tile.Slot; N int } is of type int: use tile.Shared[T], and variables for what is not in shared memory
			tile.Slot
			N int
		}{})
	}},
	{name: "a slot without its tile", rule: tile.ErrPort, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewPipeline(k, 2, wrongSlot{}) // ERR field X of slot tile_test.wrongSlot has no tile; make it with tile.NewShared, with the sizes of one slot
	}},
	{name: "nobody waits", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 2, oneRow(k)) // ERR nobody waits for slots of this pipeline; use Wait and Release in a consumer
		s := pipe.Acquire(k)
		tile.CopyAsync(s, s.X, a.X)
	}},
	{name: "nobody fills", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 2, oneRow(k)) // ERR nobody acquires slots of this pipeline; use Acquire and tile.CopyAsync in a producer
		pipe.Wait(k).Release(k)
	}},
	{name: "a slot that is not filled", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		pipe.Acquire(k) // ERR nothing fills the slot that is acquired here, so its consumers wait for ever: name it in a tile.CopyAsync or a tile.Store in the same loop body or branch
		pipe.Wait(k).Release(k)
	}},
	{name: "a slot that is not released", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		s := pipe.Acquire(k)
		tile.CopyAsync(s, s.X, a.X)
		pipe.Wait(k) // ERR nobody releases the slot that is waited for here, so its producers wait for ever: call its Release when it is read
	}},
	{name: "a slot released twice", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		s := pipe.Wait(k)
		s.Release(k)
		s.Release(k) // ERR the slot is released here and at @-1: its producers would count it twice; drop one
	}},
	{name: "a slot read after its release", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		s := pipe.Wait(k)
		s.Release(k)
		tile.Store(k, a.Y, tile.Load(k, s.X, k.Block().Striped(64, 1))) // ERR Load of a slot that is released at @-1: its producers may be filling it again; release it afterwards
	}},
	{name: "a slot read by its producer", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		tile.Load(k, in.X, k.Block().Striped(64, 1)) // ERR Load of the slot acquired at @-2: nothing is there yet; use what Wait gives
		pipe.Wait(k).Release(k)
	}},
	{name: "a producer releases", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		in.Release(k) // ERR Release of the slot acquired at @-2: a producer hands it over with its last copy or store; release what Wait gives
		pipe.Wait(k).Release(k)
	}},
	{name: "a consumer copies", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 2)
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.X)
		s := pipe.Wait(k)
		tile.CopyAsync(s, s.X, a.X) // ERR CopyAsync to the slot waited for at @-1: its readers release it, and a producer fills it again; copy to what Acquire gives
		s.Release(k)
	}},
	{name: "a loop that keeps a slot", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := rowsOf(k, 4)
		last := pipe.NewVar(k, pipe.Wait(k))
		for row := range tile.Range(k, 0, 8, 1) { // ERR each iteration of this Range keeps 1 slot unreleased: a loop releases as many slots as it waits for; keep a slot for the next iteration in a variable, and release the one before
			in := pipe.Acquire(k)
			tile.CopyAsync(in, in.X, a.X.At(row))
			last.Set(pipe.Wait(k))
		}
		last.Get().Release(k)
	}},
	{name: "stages that are all held", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 2, oneRow(k))
		for row := range tile.Range(k, 0, 8, 1) {
			in := pipe.Acquire(k)
			tile.CopyAsync(in, in.X, a.X.At(row))
			s := pipe.Wait(k)
			t := pipe.Wait(k) // ERR a consumer holds 2 slots here, and the pipeline of @-5 has 2 stages: none is left to be filled meanwhile; use 3 stages, or release one before
			s.Release(k)
			t.Release(k)
		}
	}},
	{name: "a tile of a pipeline outside of slots", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.NewShared[tile.F32](k, 64)
		pipe := tile.NewPipeline(k, 2, wrongSlot{X: x})
		tile.Load(k, x, k.Block().Striped(64, 1)) // ERR Load of the shared tile of @-2, which the pipeline of @-1 hands over slot by slot; take it from the slot that Acquire or Wait gives
		pipe.Wait(k).Release(k)
	}},
	{name: "a tensor copy into a slot, completed elsewhere", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1)
		pipe := tile.NewPipeline(k, 2, oneBox(k))
		in := pipe.Acquire(k)
		tile.CopyTensor(k, in.X, a.X, m.At(0)) // ERR CopyTensor into a slot of the pipeline of @-2 is completed at the mbarriers of @-3: the slot's consumers do not wait for those; name the slot in their place
		pipe.Wait(k).Release(k)
	}},
	{name: "a tensor copy completed at a slot that it does not fill", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		pipe, other := tile.NewPipeline(k, 2, oneBox(k)), tile.NewShared[tile.F32](k, 8, 32).Manual()
		in := pipe.Acquire(k)
		tile.CopyTensor(k, other, a.X, in) // ERR CopyTensor to the shared tile of @-2, which is in no slot, is completed at a slot of the pipeline of @-2: a slot waits for what fills it; copy to a field of the slot, or name an MBarrier
		pipe.Wait(k).Release(k)
	}},
	{name: "a tensor copy into one slot, completed at another", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 3, oneBox(k))
		in, next := pipe.Acquire(k), pipe.Acquire(k)
		tile.CopyTensor(k, in.X, a.X, next) // ERR CopyTensor into one slot, completed at another: its consumers would not wait for it; name the slot whose field is filled
		pipe.Wait(k).Release(k)
	}},
	{name: "a tensor copy of another scope than its slot", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 2, oneBox(k))
		in := pipe.Acquire(k)
		tile.CopyTensor(k.Warp(), in.X, a.X, in) // ERR CopyTensor at scope warp into a slot acquired at scope block; name one scope for both
		pipe.Wait(k).Release(k)
	}},
	{name: "a consumer copies a tensor", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe := tile.NewPipeline(k, 2, oneBox(k))
		in := pipe.Acquire(k)
		tile.CopyTensor(k, in.X, a.X, in)
		s := pipe.Wait(k)
		tile.CopyTensor(k, s.X, a.X, s) // ERR CopyTensor to the slot waited for at @-1: its readers release it, and a producer fills it again; copy to what Acquire gives
		s.Release(k)
	}},
	{name: "multicast into a slot", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1)
		pipe := tile.NewPipeline(k, 2, oneBox(k))
		in := pipe.Acquire(k)
		tile.MulticastTensor(k, in.X, a.X, m.At(0), 3) // ERR MulticastTensor into a slot of the pipeline of @-2: it would write the slots of other blocks, which are released there and not here; use CopyTensor in each block, or tiles and mbarriers by hand
		pipe.Wait(k).Release(k)
	}, opts: []tile.Option{tile.ClusterSize(2)}},
	{name: "a tensor copy without completion", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.CopyTensor(k, tile.NewShared[tile.F32](k, 8, 32).Manual(), a.X, nil) // ERR the completion of CopyTensor is nil; give an MBarrier, or the slot that it fills
	}},
	{name: "a bulk copy into a slot", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1)
		pipe := tile.NewPipeline(k, 2, oneRow(k))
		in := pipe.Acquire(k)
		tile.CopyBulk(k, in.X, a.X, m.At(0)) // ERR CopyBulk into a slot of the pipeline of @-2 is completed at the mbarriers of @-3: the slot's consumers do not wait for those; use CopyAsync, which is a bulk copy where the tensor allows it
		pipe.Wait(k).Release(k)
	}},
	{name: "slots that a swizzle cannot begin at", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewPipeline(k, 2, wrongSlot{X: tile.NewShared[tile.F32](k, 12, 32).Swizzle(layout.Swizzle128)}) // ERR NewPipeline of slots of 1536 bytes in field X, with the 128-byte swizzle: each begins at a multiple of 1024 bytes; make its rows a multiple of 8, or drop the swizzle
	}},
	{name: "a swizzle after the pipeline", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		s := oneBox(k)
		tile.NewPipeline(k, 2, s)
		s.X.Swizzle(layout.Swizzle128) // ERR Swizzle of a tile of the pipeline of @-1: its slots lie as they were made; call Swizzle before NewPipeline
	}},
	{name: "a template without Load", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		tile.LCSF[wrongSlot, struct{}]{Work: tile.Linear(a.X.Dim(0), 1), Input: oneRow(k), Stages: 2, Consumers: 2}.Record(k) // ERR LCSF without Load or without Compute: the one fills slots, the other reads them; give both
	}},
	{name: "a template that reads nothing", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		tile.LCSF[wrongSlot, struct{}]{Work: tile.Linear(a.X.Dim(0), 1), Input: oneRow(k), Stages: 2, Consumers: 1,
			Load:    func(p tile.Warp, in wrongSlot, t tile.Piece, i tile.Index) { tile.CopyAsync(in, in.X, a.X.At(t.Row)) },
			Compute: func(tile.Warpgroup, tile.Piece) (s tile.Steps[wrongSlot, struct{}]) { return s },
		}.Record(k) // ERR the Steps of LCSF.Compute have no Chunk, so nobody reads the slots; give one that does
	}, opts: []tile.Option{tile.Threads(160)}},
	{name: "a template whose results are not written", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		tile.LCSF[wrongSlot, wrongSlot]{Work: tile.Linear(a.X.Dim(0), 1), Input: oneRow(k), Stages: 2, Output: oneRow(k), OutStages: 2, Consumers: 1,
			Load: func(p tile.Warp, in wrongSlot, t tile.Piece, i tile.Index) { tile.CopyAsync(in, in.X, a.X.At(t.Row)) },
			Compute: func(c tile.Warpgroup, t tile.Piece) tile.Steps[wrongSlot, wrongSlot] {
				return tile.Steps[wrongSlot, wrongSlot]{Chunk: func(in, out wrongSlot, _ tile.Index) { tile.Load(c, in.X, c.Striped(64, 1)) }} // ERR nothing fills the slot that is acquired here, so its consumers wait for ever: name it in a tile.CopyAsync or a tile.Store in the same loop body or branch (called from @+5)
			},
			Store: func(s tile.Warp, out wrongSlot, t tile.Piece, _ tile.Index) {
				tile.Store(s, a.Y.At(t.Row), tile.Load(s, out.X, s.Striped(64, 1)))
			},
		}.Record(k)
	}, opts: []tile.Option{tile.Threads(192)}},
	{name: "a schedule beside Persistent", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		k.Schedule(tile.Linear(a.X.Dim(0), 1))
		for range tile.Persistent(k, a.X.Dim(0)) { // ERR Persistent in a kernel with a Schedule: a launch has one grid; use the Tiles of the schedule
		}
	}},
	{name: "a schedule in a loop", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			k.Schedule(tile.Linear(a.X.Dim(0), 1)) // ERR Schedule stands inside the Range at @-1: it shares out the grid, so it stands at the top level; put it there, and loop over its Tiles here
		}
	}},
	{name: "a work list without columns", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		k.Schedule(tile.WorkList(a.I)) // ERR WorkList of I: a list has a row a piece, and a constant number of columns, 1 to 8; give it a tag such as `tile:"items,2"`
	}},
}
