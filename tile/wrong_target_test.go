package tile_test

import "github.com/gotile/gotile/tile"

// lower plans a kernel for a target, which is where what the target lacks shows. Mistakes of a kernel as a whole stand
// at its Define.
func lower(k *tile.Kernel, err error, target string) error {
	if err == nil {
		_, err = k.Lower(target)
	}
	return err
}

// twoTiles takes 128 KB of shared memory, and 32 bytes more.
func twoTiles(k *tile.Builder, a wrongArgs) {
	s, u := tile.NewShared[tile.F32](k, 32, 1024), tile.NewShared[tile.F32](k, 8) // ERR the kernel takes 131104 bytes of shared memory and sm_120a has 101376 a block, of which s0 takes 131072; make it smaller, or leave the target out with tile.Targets: s0 (tile [32 1024]) has 131072, lives 0-0; s1 (tile [8]) has 32, lives 0-0 // ERR the kernel takes 131104 bytes of shared memory and sm_90a-as-120 has 101376 a block, of which s0 takes 131072; make it smaller, or leave the target out with tile.Targets: s0 (tile [32 1024]) has 131072, lives 0-0; s1 (tile [8]) has 32, lives 0-0
	tile.Store(k, s.At(0, 0), a.Eps)
	tile.Store(k, u.At(0), a.Eps)
}

func ofCluster(k *tile.Builder, a wrongArgs) { k.Cluster().Sync() }

var wrongTargets = []wrong{
	{name: "a target that there is not", rule: tile.ErrTarget, def: func() error {
		_, err := tile.Define("wrong", empty, tile.Targets("sm_90")) // ERR Targets: unknown target "sm_90"; have sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a, sm_90a-as-120
		return err
	}},
	{name: "a target that the kernel does not claim", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", empty, tile.Targets("sm_80", "sm_86")) // ERR kernel wrong is not for sm_90a: tile.Targets names sm_80, sm_86; add it there
		return lower(k, err, "sm_90a")
	}},
	{name: "clusters where there are none", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", ofCluster, tile.ClusterSize(4)) // ERR ClusterSize(4): sm_89 has no clusters; define the kernel with tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"), and another for the other targets
		return lower(k, err, "sm_89")
	}},
	{name: "more shared memory than a block has", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", twoTiles)
		return lower(k, err, "sm_120a")
	}},
	{name: "more shared memory than the proxy's target has", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", twoTiles)
		return lower(k, err, "sm_90a-as-120")
	}},
	{name: "two scopes without a barrier", rule: tile.ErrScope, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			s, w := tile.NewShared[tile.F32](k, 32), k.Warp()
			tile.Store(k, s, tile.Full(k, k.Block().Striped(32, 1), a.Eps))
			tile.Store(w, a.S, tile.Load(w, s, w.Striped(32, 1))) // ERR s0 is used at warp scope here and at block scope at @-1; put a block.Sync() between the two
		})
		return lower(k, err, "sm_90a")
	}},
	{name: "a copy that is read before the wait", rule: tile.ErrScope, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			s := tile.NewShared[tile.F32](k, 128)
			tile.CopyAsync(k, s, a.V)
			tile.Commit(k)
			tile.Store(k, a.S, tile.Load(k, s, k.Block().Striped(128, 4))) // ERR s0 is used here, but the copy to it of @-2 may be in flight; put a tile.WaitGroup between the two
			tile.WaitGroup(k, 0)
		})
		return lower(k, err, "sm_90a")
	}},
	{name: "bytes at an mbarrier where there are none", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			tile.NewMBarriers(k, 1, 1).At(0).ArriveExpect(k, 0) // ERR MBarrier.ArriveExpect needs mbarrier-tx, which sm_89 has not; leave the target out with tile.Targets
		})
		return lower(k, err, "sm_89")
	}},
	{name: "bulk copies where there are none", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			tile.FenceAsync(k) // ERR FenceAsync needs cp.async.bulk, which sm_80 has not; leave the target out with tile.Targets
		})
		return lower(k, err, "sm_80")
	}},
	{name: "multicast where it is slow", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32).Manual()
			n := tile.MulticastTensor(k, s, a.X, m, 3) // ERR MulticastTensor needs tma-multicast, which sm_120a has not; leave the target out with tile.Targets
			m.ArriveExpect(k, n)
		}, tile.ClusterSize(2))
		return lower(k, err, "sm_120a")
	}},
	{name: "a bulk copy that nobody aligns", rule: tile.ErrLayout, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			s := tile.NewShared[tile.F32](k, 64).Manual()
			tile.StoreBulk(k, a.X, s) // ERR StoreBulk of X moves multiples of 16 bytes between addresses that are, which nobody sees to; define the kernel with tile.WholeVectors, or use CopyAsync
		})
		return lower(k, err, "sm_90a")
	}},
	{name: "a bulk copy at any column", rule: tile.ErrLayout, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			s := tile.NewShared[tile.F32](k, 64).Manual()
			tile.StoreBulk(k, a.X.At(0, 6), s) // ERR StoreBulk of X at a column that is not a multiple of 4 elements for certain; use a loop that steps by such multiples
		}, tile.WholeVectors())
		return lower(k, err, "sm_90a")
	}},
}
