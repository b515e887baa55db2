package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

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
	{name: "an accumulator of more registers than a thread has", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			x, y := matrix(k, 128, 64, layout.Swizzle128), matrix(k, 64, 256, layout.Swizzle128)
			acc := tile.NewAcc[tile.F32](c, 128, 256) // ERR tiles in variables take 256 registers of a thread at one time (256 of 128x256 f32 at @+0), and a thread has 255 at most; use smaller tiles or more warps, or end one before the next begins
			tile.MMA(acc, x, y)
			tile.Store(c, a.X, acc.Get())
		}))
	}},
	{name: "accumulators of more registers than a thread has", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			x, y := matrix(k, 64, 64, layout.Swizzle128), matrix(k, 64, 128, layout.Swizzle128)
			var accs []tile.Var[tile.F32]
			for range 4 {
				accs = append(accs, tile.NewAcc[tile.F32](c, 64, 128)) // ERR tiles in variables take 256 registers of a thread at one time (4 times 64 of 64x128 f32 at @+0), and a thread has 255 at most; use smaller tiles or more warps, or end one before the next begins
			}
			for range tile.Range(c, 0, a.X.Dim(0), 64) {
				for _, acc := range accs {
					tile.MMA(acc, x, y)
				}
			}
			for _, acc := range accs {
				tile.Store(c, a.X, acc.Get())
			}
		}))
	}},
	{name: "accumulators and what a loop carries", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		w := k.Warp()
		s := matrix(k, 64, 64, layout.Swizzle128)
		out := tile.NewAcc[tile.F32](w, 64, 64)
		sum := tile.NewVar(w, tile.Full(w, w.Fragment(32, 64), tile.Operand[tile.F32](a.Eps)))
		for i := range tile.Range(w, 0, a.X.Dim(0), 64) {
			sum.Set(sum.Get().Add(tile.Load(w, a.X.At(i), w.Fragment(32, 64)).Fill(tile.F32(0))))
			part := tile.NewAcc[tile.F32](w, 32, 64) // ERR tiles in variables take 256 registers of a thread at one time (128 of 64x64 f32 at @-4, 64 of 32x64 f32 at @-3, 64 of 32x64 f32 at @+0), and a thread has 255 at most; use smaller tiles or more warps, or end one before the next begins
			tile.MMA(part, s.Rows(0, 32), s)
			tile.MMA(out, s, s)
			tile.Store(w, a.Y.At(i), part.Get())
		}
		tile.Store(w, a.X, out.Get())
		tile.Store(w, a.X, sum.Get())
	}},
	{name: "more registers than the role's budget", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(1, 120, func(c tile.Warpgroup) {
			x, y := matrix(k, 64, 64, layout.Swizzle128), matrix(k, 64, 256, layout.Swizzle128)
			acc := tile.NewAcc[tile.F32](c, 64, 256) // ERR tiles in variables take 128 registers of a thread at one time (128 of 64x256 f32 at @+0), and the consumers of @-2 have 120; use smaller tiles or more warps, or end one before the next begins, or a larger budget
			tile.MMA(acc, x, y)
			tile.Store(c, a.X, acc.Get())
		}), tile.Producer(240, func(tile.Warp) {}))
	}},
	{name: "more registers than the threads of full blocks have", rule: tile.ErrLimit, opts: []tile.Option{tile.MinBlocks(8)}, f: func(k *tile.Builder, a wrongArgs) {
		w := k.Warp()
		s := matrix(k, 64, 64, layout.Swizzle128)
		acc := tile.NewAcc[tile.F32](w, 32, 48) // ERR tiles in variables take 48 registers of a thread at one time (48 of 32x48 f32 at @+0), and a thread has 32 at most where a multiprocessor holds 8 blocks of 256; use smaller tiles or more warps, or end one before the next begins
		tile.MMA(acc, s.Rows(0, 32), s.At(0, 0).Matrix(64, 48))
		tile.Store(w, a.X, acc.Get())
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
