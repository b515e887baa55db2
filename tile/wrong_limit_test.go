package tile_test

import "github.com/gotile/gotile/tile"

func empty(*tile.Builder, wrongArgs) {}

var wrongLimits = []wrong{
	{name: "unrolled for ever", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.LoadScalar(k, a.S)
		for {
			x = x.Add(x) // ERR the kernel records more than 20000 ops: a Go loop unrolls; use tile.Range for a long one, or raise tile.Limit
		}
	}},
	{name: "raised limit", rule: tile.ErrLimit, opts: []tile.Option{tile.Limit(100)}, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.LoadScalar(k, a.S)
		for range tile.Range(k, 0, 4, 1) {
			for range 200 {
				x.Add(x) // ERR the kernel records more than 100 ops: a Go loop unrolls; use tile.Range for a long one, or raise tile.Limit
			}
		}
	}},
	{name: "no limit", rule: tile.ErrLimit, def: func() error {
		_, err := tile.Define("wrong", empty, tile.Limit(-1)) // ERR Limit(-1): a kernel records at least 1 op; without tile.Limit it may record 20000
		return err
	}},
	{name: "limit of nothing", rule: tile.ErrLimit, def: func() error {
		_, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) { tile.LoadScalar(k, a.S) }, tile.Limit(0)) // ERR Limit(0): a kernel records at least 1 op; without tile.Limit it may record 20000
		return err
	}},
	{name: "threads", rule: tile.ErrLimit, def: func() error {
		_, err := tile.Define("wrong", empty, tile.Threads(100)) // ERR Threads(100): a block has a multiple of 32 threads, at most 1024; use 128
		return err
	}},
	{name: "too many threads", rule: tile.ErrLimit, def: func() error {
		_, err := tile.Define("wrong", empty, tile.Threads(2048), tile.MinBlocks(-1)) // ERR Threads(2048): a block has a multiple of 32 threads, at most 1024; use 1024 // ERR MinBlocks(-1): an SM holds 1 to 32 blocks; use one of these numbers
		return err
	}},
	{name: "registers", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(1<<20, 4)) // ERR a tile of [1048576] gives each of 256 threads 4096 elements, more than 1024; use more threads, or stream it with tile.Columns
	}},
	{name: "index", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.V.At(1<<31))              // ERR 2147483648 does not fit an index: indices are 32-bit, at most 2147483647; split the dimension
		tile.Load(k, a.V, k.Block().Striped(1<<31, 4)) // ERR a span of 2147483648 elements: indices are 32-bit; stream it with tile.Columns
	}},
	{name: "too many blocks promised", rule: tile.ErrLimit, def: func() error {
		_, err := tile.Define("wrong", empty, tile.Threads(1024), tile.MinBlocks(32)) // ERR MinBlocks(32) of 1024 threads: a multiprocessor holds at most 2048 threads; use 2 blocks
		return err
	}},
	{name: "at most of an index", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		a.X.Dim(1).Scale(2).AtMost(64) // ERR AtMost of what is no run-time dimension itself; give one such as a.X.Dim(1)
		k.BlockID().AtMost(64)         // ERR AtMost of what is no run-time dimension itself; give one such as a.X.Dim(1)
		a.S.Dim(0).AtMost(128)         // ERR AtMost of what is no run-time dimension itself; give one such as a.X.Dim(1)
	}},
	{name: "at most nothing", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		a.X.Dim(1).AtMost(0) // ERR AtMost(0): no launch would be left; give at least 1
	}},
	{name: "a step that overflows", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		for i := range tile.Range(k, 0, a.X.Dim(0), 1<<20) { // ERR Range with step 1048576: the 32-bit variable must not pass its end by more than 65536; count by one and scale the index
			tile.LoadScalar(k, a.I.At(i))
		}
	}},
}
