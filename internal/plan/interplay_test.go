package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// Copies, peers and orders in one kernel.

type interplayArgs struct {
	X tile.Global[tile.I32] `tile:"rows,n"`
	Y tile.Global[tile.I32] `tile:"rows,n"`
	Z tile.Global[tile.I32] `tile:"rows,n"`
	C tile.Global[tile.U32] `tile:"4"`
}

// last runs f in the last of n that count themselves.
func last(s tile.Scope, c tile.Global[tile.U32], n tile.Index, f func()) {
	old := tile.AtomicAdd(s, c.At(0), tile.U32(1), tile.AcqRel)
	tile.If(s, old.Eq(tile.Cast[tile.U32](n.SubInt(1).Int())), f)
}

// interplays are right programs with barriers of a kind, all of which are needed.
var interplays = []struct {
	name     string
	cluster  int
	barrier  string // in thread IR
	barriers int
	body     func(k *tile.Builder, a interplayArgs)
}{
	// A barrier of the block does not bring to the cluster's leader what the other blocks stored.
	{"a release of the cluster after a barrier of the block", 2, "cluster_sync()", 3, func(k *tile.Builder, a interplayArgs) {
		cluster, block := k.Cluster(), k.Block()
		row := k.BlockID()
		tile.Store(block, a.Y.Row(row), tile.Load(block, a.X.Row(row), block.Striped(64, 1)))
		block.Sync()
		last(cluster, a.C, k.NumClusters(), func() {
			tile.Store(cluster, a.Y.At(20, 0), tile.Load(cluster, a.Y, cluster.Striped2(8, 64, 1, 32)).Sum())
		})
	}},
	{"the same of what the cluster stored", 2, "cluster_sync()", 3, func(k *tile.Builder, a interplayArgs) {
		cluster, block := k.Cluster(), k.Block()
		row := k.ClusterID().Scale(2)
		tile.Store(cluster, a.Y.Row(row), tile.Load(cluster, a.X.Row(row), cluster.Striped2(2, 64, 1, 64)))
		block.Sync()
		last(cluster, a.C, k.NumClusters(), func() {
			tile.Store(cluster, a.Y.At(20, 0), tile.Load(cluster, a.Y, cluster.Striped2(8, 64, 1, 32)).Sum())
		})
	}},
	// Nor does a barrier of the warp bring to the block's leader what the other warps stored.
	{"a release of the block after a barrier of the warp", 0, "block_sync()", 3, func(k *tile.Builder, a interplayArgs) {
		warp, block := k.Warp(), k.Block()
		s, w := tile.NewShared[tile.I32](k, 2, 64), warp.Index()
		row := k.BlockID().Scale(2).Add(w)
		x := tile.Load(warp, a.X.Row(row), warp.Striped(64, 1))
		tile.Store(warp, a.Y.Row(row), x)
		tile.Store(warp, s.At(w), x)
		tile.If(warp, tile.Load(warp, s.At(w), warp.Striped(64, 2)).Sum().Lt(tile.I32(0)), func() { tile.Store(warp, s.At(w), x) })
		last(block, a.C, k.NumBlocks(), func() {
			tile.Store(block, a.Y.At(20, 0), tile.Load(block, a.Y, block.Striped2(8, 64, 1, 32)).Sum())
		})
	}},
	// Both forms of the copy, by cp.async and through registers, follow one barrier. It stands in a loop.
	{"a copy into what a peer has read", 2, "cluster_sync()", 3, func(k *tile.Builder, a interplayArgs) {
		cluster, block := k.Cluster(), k.Block()
		s, rank := tile.NewShared[tile.I32](k, 64), cluster.Rank()
		for i := range tile.Range(cluster, 0, 3, 1) {
			row := i.Scale(4).Add(k.BlockID())
			tile.CopyAsync(block, s, a.X.Row(row))
			tile.Commit(block)
			tile.WaitGroup(block, 0)
			tile.Store(block, a.Y.Row(row), tile.Load(block, tile.Peer(s, rank.AddInt(1).RemInt(2)), block.Striped(64, 1)))
		}
	}},
	// A peer's stage is there while the next is in flight.
	{"stages of peers", 2, "cluster_sync()", 3, func(k *tile.Builder, a interplayArgs) {
		cluster, block := k.Cluster(), k.Block()
		s, rank := tile.NewShared[tile.I32](k, 2, 64), cluster.Rank()
		tile.CopyAsync(block, s.At(0), a.X.Row(k.BlockID()))
		tile.Commit(block)
		for i := range tile.Range(cluster, 0, 4, 1) {
			next := i.AddInt(1)
			tile.CopyAsync(block, s.At(next.RemInt(2)), a.X.Row(next.Scale(4).Add(k.BlockID())))
			tile.Commit(block)
			tile.WaitGroup(block, 1)
			tile.Store(block, a.Y.Row(i.Scale(4).Add(k.BlockID())), tile.Load(block, tile.Peer(s.At(i.RemInt(2)), rank.AddInt(1).RemInt(2)), block.Striped(64, 1)))
		}
		tile.WaitGroup(block, 0)
	}},
	// The blocks of a cluster run together: one may wait for another by way of global memory.
	{"a release to a block of the cluster", 2, "block_sync()", 3, func(k *tile.Builder, a interplayArgs) {
		cluster, block := k.Cluster(), k.Block()
		row, flag := k.BlockID(), a.C.At(k.ClusterID())
		tile.If(block, cluster.Rank().EqInt(0), func() {
			tile.Store(block, a.Y.Row(row), tile.Load(block, a.X.Row(row), block.Striped(64, 1)))
			tile.Store(block, flag, tile.U32(1), tile.Release)
		}, func() {
			tile.While(block, func() tile.Reg[tile.Bool] { return tile.LoadScalar(block, flag, tile.Acquire).Eq(tile.U32(0)) }, func() {})
			tile.Store(block, a.Z.Row(row), tile.Load(block, a.Y.Row(row.AddInt(-1)), block.Striped(64, 2)))
		})
	}},
	// Branches with barriers of their own: one before them would be one too many.
	{"a barrier in each branch", 0, "block_sync()", 2, func(k *tile.Builder, a interplayArgs) {
		block := k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		part := func(vec int) func() {
			return func() {
				tile.Store(block, s, tile.Load(block, a.X.Row(k.BlockID()), block.Striped(64, vec)))
				tile.Store(block, a.Y.Row(k.BlockID()), tile.Load(block, s, block.Striped(64, 1)))
			}
		}
		tile.If(block, k.BlockID().RemInt(2).EqInt(0), part(4), part(2))
	}},
}

func TestInterplay(t *testing.T) {
	for _, c := range interplays {
		t.Run(c.name, func(t *testing.T) {
			opts := []tile.Option{tile.Threads(64)}
			if c.cluster > 0 {
				opts = append(opts, tile.ClusterSize(c.cluster))
			}
			low := lower(t, define(t, "k", c.body, opts...))
			const rows, n, grid = 24, 64, 4
			run := func(low *thr.Kernel, seed uint64) error {
				in := map[string][]int64{"x": make([]int64, rows*n), "y": make([]int64, rows*n), "z": make([]int64, rows*n), "c": make([]int64, 4)}
				_, err := launchGrid(low, dtype.I32, in, map[string]int{"rows": rows, "n": n}, seed, grid)
				return err
			}
			for seed := range uint64(6) {
				if err := run(low, seed); err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, thr.Print(low))
				}
			}
			text := thr.Print(low)
			if got := countOf(text, c.barrier); got != c.barriers {
				t.Errorf("%d of %s, want %d:\n%s", got, c.barrier, c.barriers, text)
			}
			for i := range c.barriers {
				reported := false
				for seed := range uint64(6) {
					reported = reported || run(withoutBarrier(low, c.barrier, i), seed) != nil
				}
				if !reported {
					t.Errorf("silent without barrier %d:\n%s", i, text)
				}
			}
		})
	}
}

// waits reports whether a statement prints as given or, for a barrier of the cluster, is the second half of one.
func waits(f thr.Fn, what string) bool {
	return strings.HasPrefix(what, f.String()) || f == thr.ClusterWait && waits(thr.ClusterSync, what)
}

// countOf counts those in a text.
func countOf(text, what string) int {
	n := strings.Count(text, what)
	if waits(thr.ClusterSync, what) {
		n += strings.Count(text, thr.ClusterWait.String()+"()")
	}
	return n
}

// withoutBarrier is a copy of a kernel without the n-th statement for which waits holds.
func withoutBarrier(k *thr.Kernel, what string, n int) *thr.Kernel {
	c := *k
	c.Body = walk(k.Body, func(list []thr.Stmt) []thr.Stmt {
		return slices.DeleteFunc(slices.Clone(list), func(s thr.Stmt) bool {
			d, ok := s.(thr.Do)
			if !ok || !waits(d.Fn, what) {
				return false
			}
			n--
			return n == -1
		})
	})
	return &c
}

// What warps have written, between them and the block the author's barrier stands: one of the warp hides nothing.
func TestScopesPastABarrierOfTheWarp(t *testing.T) {
	body := func(sync bool) func(k *tile.Builder, a interplayArgs) {
		return func(k *tile.Builder, a interplayArgs) {
			warp, block := k.Warp(), k.Block()
			s, w := tile.NewShared[tile.I32](k, 2, 64), warp.Index()
			tile.Store(warp, s.At(w), tile.Load(warp, a.X.Row(w), warp.Striped(64, 1)))
			tile.Store(warp, a.Y.Row(w), tile.Load(warp, s.At(w), warp.Striped(64, 2))) // after a barrier of the warp
			if sync {
				block.Sync()
			}
			tile.Store(block, a.Y.At(2, 0), tile.Load(block, s, block.Striped2(2, 64, 1, 64)).Sum())
		}
	}
	low := lower(t, define(t, "k", body(true), tile.Threads(64)))
	in := map[string][]int64{"x": make([]int64, 256), "y": make([]int64, 256), "z": make([]int64, 256), "c": make([]int64, 4)}
	if _, err := launchGrid(low, dtype.I32, in, map[string]int{"rows": 4, "n": 64}, 1, 1); err != nil {
		t.Error(err)
	}
	_, err := define(t, "k", body(false), tile.Threads(64)).Lower("sm_90a")
	if want := "s0 is used at block scope here and at warp scope at"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}
