package tile_test

import "github.com/gotile/gotile/tile"

// What takes too much shared memory, at the line of what takes most.

type bigSlot struct {
	tile.Slot
	X tile.Shared[tile.F32]
}

// rows is a pipeline of slots of so many rows of 128 elements, which moves the rows of X to Y.
func rows(k *tile.Builder, a wrongArgs, pipe tile.Pipeline[bigSlot], n int) {
	block := k.Block()
	span := block.Striped2(n, 128, 4, 32)
	for row := range tile.Range(k, 0, a.X.Dim(0), n) {
		s := pipe.Acquire(k)
		tile.CopyAsync(s, s.X, a.X.At(row))
		s = pipe.Wait(k)
		x := tile.Load(k, s.X, span)
		s.Release(k)
		tile.Store(k, a.Y.At(row), x)
	}
}

func slots(k *tile.Builder, n int) bigSlot { return bigSlot{X: tile.NewShared[tile.F32](k, n, 128)} }

var wrongShared = []wrong{
	{name: "too many stages", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			pipe := tile.NewPipeline(k, 4, slots(k, 64)) // ERR the kernel takes 131136 bytes of shared memory and sm_86 has 101376 a block, of which the 4 stages of this pipeline take 131136; use 3 stages, with which it takes 98368, or leave the target out with tile.Targets: pipe_full (4 mbarriers: slots that are filled) has 32, lives 0-1; pipe_empty (4 mbarriers: slots that may be filled) has 32, lives 0-1; pipe_x (tile [4 64 128]) has 131072, lives 0-1
			rows(k, a, pipe, 64)
		})
		return lower(k, err, "sm_86")
	}},
	{name: "too many stages of two pipelines", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			pipe := tile.NewPipeline(k, 5, slots(k, 32)) // ERR the kernel takes 131232 bytes of shared memory and sm_120a has 101376 a block, of which the 5 stages of this pipeline take 82000; use 3 stages, with which it takes 98432, or leave the target out with tile.Targets: pipe_full (5 mbarriers: slots that are filled) has 40, lives 0-2; pipe_empty (5 mbarriers: slots that may be filled) has 40, lives 0-2; pipe_x (tile [5 32 128]) has 81920, lives 0-1; pipe2_full (3 mbarriers: slots that are filled) has 24, lives 0-2; pipe2_empty (3 mbarriers: slots that may be filled) has 24, lives 0-2; pipe2_x (tile [3 32 128]) has 49152, lives 1-2
			rows(k, a, pipe, 32)
			more := tile.NewPipeline(k, 3, slots(k, 32))
			rows(k, a, more, 32)
		})
		return lower(k, err, "sm_120a")
	}},
	{name: "too many stages of each of two pipelines", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			pipe := tile.NewPipeline(k, 5, slots(k, 32)) // ERR the kernel takes 164032 bytes of shared memory and sm_120a has 101376 a block, of which the 5 stages of this pipeline take 82000; use at most 3 stages in each pipeline, with which it takes 98432, or leave the target out with tile.Targets: pipe_full (5 mbarriers: slots that are filled) has 40, lives 0-2; pipe_empty (5 mbarriers: slots that may be filled) has 40, lives 0-2; pipe_x (tile [5 32 128]) has 81920, lives 0-1; pipe2_full (5 mbarriers: slots that are filled) has 40, lives 0-2; pipe2_empty (5 mbarriers: slots that may be filled) has 40, lives 0-2; pipe2_x (tile [5 32 128]) has 81920, lives 1-2
			rows(k, a, pipe, 32)
			more := tile.NewPipeline(k, 5, slots(k, 32))
			rows(k, a, more, 32)
		})
		return lower(k, err, "sm_120a")
	}},
	{name: "slots too large", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			pipe := tile.NewPipeline(k, 3, slots(k, 192)) // ERR the kernel takes 294976 bytes of shared memory and sm_80 has 166912 a block, of which the 3 stages of this pipeline take 294960; with 2, the least, the kernel takes 196640; make the tiles smaller, or leave the target out with tile.Targets: pipe_full (3 mbarriers: slots that are filled) has 24, lives 0-1; pipe_empty (3 mbarriers: slots that may be filled) has 24, lives 0-1; pipe_x (tile [3 192 128]) has 294912, lives 0-1
			rows(k, a, pipe, 192)
		})
		return lower(k, err, "sm_80")
	}},
	{name: "a tile too large beside a pipeline", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			pipe := tile.NewPipeline(k, 3, slots(k, 32))
			rows(k, a, pipe, 32)
			s := tile.NewShared[tile.F32](k, 64, 256) // ERR the kernel takes 114752 bytes of shared memory and sm_89 has 101376 a block, of which s1 takes 65536; make it smaller, or use 2 stages in the pipeline of @-2, with which it takes 98336, or leave the target out with tile.Targets: pipe_full (3 mbarriers: slots that are filled) has 24, lives 0-1; pipe_empty (3 mbarriers: slots that may be filled) has 24, lives 0-1; pipe_x (tile [3 32 128]) has 49152, lives 0-1; s1 (tile [64 256]) has 65536, lives 1-1
			tile.Store(k, s.At(0, 0), a.Eps)
		})
		return lower(k, err, "sm_89")
	}},
	{name: "a barrier between two uses is missing", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			block := k.Block()
			thin, wide := block.Striped(16384, 1).Clip(a.X.Dim(1)), block.Striped(16384, 4).Clip(a.X.Dim(1))
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				s := tile.NewShared[tile.F32](k, 16384) // ERR the kernel takes 131072 bytes of shared memory and sm_121a has 101376 a block, of which s0 takes 65536; make it smaller, or put a block.Sync() between the uses of s0 and s1, which then share bytes and take 65536, or leave the target out with tile.Targets: s0 (tile [16384]) has 65536, lives 0-1; s1 (tile [16384]) has 65536, lives 1-2
				tile.Store(k, s, tile.Load(k, a.X.Row(row), thin))
				tile.Store(k, a.Y.Row(row), tile.Load(k, s, wide))
				u := tile.NewShared[tile.F32](k, 16384)
				tile.Store(k, u, tile.Load(k, a.X.Row(row), thin))
				tile.Store(k, a.Y.Row(row), tile.Load(k, u, wide))
			}
		}, tile.Threads(1024))
		return lower(k, err, "sm_121a")
	}},
}
