package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

// clusterInts are the arguments of the cluster's programs: by row, and by block of a cluster of two.
type clusterInts struct {
	X tile.Global[tile.I32] `tile:"rows,n"`
	Y tile.Global[tile.I32] `tile:"rows,n"`
	B tile.Global[tile.I32] `tile:"2,64"`
}

// clusterPrograms are right programs with the places where each must wait for its cluster, all of which do.
var clusterPrograms = []struct {
	name     string
	n        int // elements of a row
	barriers int
	body     func(k *tile.Builder, a clusterInts)
}{
	// Before the push, since the blocks must have started, and before the slots are read; a second row in the loop
	// overwrites what others may still read, and the block must not leave while they do.
	{"row sums", 200, 3, func(k *tile.Builder, a clusterInts) {
		cluster := k.Cluster()
		for row := range tile.Range(cluster, 0, a.X.Dim(0), 1) {
			tile.Store(cluster, a.Y.At(row, 0), tile.Load(cluster, a.X.Row(row), cluster.Striped(256, 1)).Sum())
		}
	}},
	{"two reductions at once", 200, 2, func(k *tile.Builder, a clusterInts) {
		cluster := k.Cluster()
		x := tile.Load(cluster, a.X, cluster.Striped(256, 1))
		sum, most := x.Sum(), x.MaxOf()
		tile.Store(cluster, a.Y.At(0, 0), sum)
		tile.Store(cluster, a.Y.At(0, 1), most)
	}},
	// Before the fetch and at the end: the peer must not leave before.
	{"fetch", 64, 2, func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		rank := cluster.Rank()
		tile.Store(block, s, tile.Load(block, a.X.Row(rank), block.Striped(64, 1)))
		tile.Store(block, a.B.At(rank), tile.Load(block, tile.Peer(s, rank.AddInt(1).RemInt(2)), block.Striped(64, 1)))
	}},
	// Before the push and before what was pushed is read.
	{"send", 64, 2, func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		rank := cluster.Rank()
		other := rank.AddInt(1).RemInt(2)
		tile.Store(block, tile.Peer(s, other), tile.Load(block, a.X.Row(rank), block.Striped(64, 2)))
		tile.Store(block, a.B.At(rank), tile.Load(block, s, block.Striped(64, 1)))
	}},
	// Stores to two peers do not meet: none between them.
	{"send to both", 64, 2, func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 2, 64)
		rank := cluster.Rank()
		x := tile.Load(block, a.X.Row(rank), block.Striped(64, 2))
		for to := range 2 {
			tile.Store(block, tile.Peer(s.At(rank), to), x)
		}
		tile.Store(block, a.B.At(rank), tile.Load(block, s.At(rank.AddInt(1).RemInt(2)), block.Striped(64, 1)))
	}},
	// Stores of two blocks to one peer may: each row is written by one block, then by the other. The peer must not
	// leave before it is read.
	{"send twice to one", 64, 4, func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 2, 64)
		rank := cluster.Rank()
		x := tile.Load(block, a.X.Row(rank), block.Striped(64, 1))
		for i := range 2 {
			tile.Store(block, tile.Peer(s.At(rank.AddInt(i).RemInt(2)), 1), x)
		}
		tile.Store(block, a.B.At(rank), tile.Load(block, tile.Peer(s.At(rank), 1), block.Striped(64, 1)))
	}},
	// A barrier of the block between the store and the fetch does not do.
	{"fetch after a read of the block's own", 64, 2, func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		rank := cluster.Rank()
		tile.Store(block, s, tile.Load(block, a.X.Row(rank), block.Striped(64, 1)))
		tile.Store(block, a.Y.Row(rank), tile.Load(block, s, block.Striped(64, 2)))
		tile.Store(block, a.B.At(rank), tile.Load(block, tile.Peer(s, rank.AddInt(1).RemInt(2)), block.Striped(64, 1)))
	}},
	{"an argument, by other threads of the cluster", 200, 1, func(k *tile.Builder, a clusterInts) {
		cluster := k.Cluster()
		tile.Store(cluster, a.Y, tile.Load(cluster, a.X, cluster.Striped(256, 4)))
		tile.Store(cluster, a.Y.At(1), tile.Load(cluster, a.Y, cluster.Striped(256, 1)))
	}},
	{"an argument, by the author's barrier", 64, 1, func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		rank := cluster.Rank()
		tile.Store(block, a.B.At(rank), tile.Load(block, a.X.Row(rank), block.Striped(64, 1)))
		cluster.Sync()
		tile.Store(block, a.Y.Row(rank), tile.Load(block, a.B.At(rank.AddInt(1).RemInt(2)), block.Striped(64, 1)))
	}},
	{"one block fetches", 64, 2, func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		tile.Store(block, s, tile.Load(block, a.X.Row(cluster.Rank()), block.Striped(64, 1)))
		cluster.Sync()
		tile.If(block, cluster.Rank().EqInt(0), func() {
			tile.Store(block, a.Y.At(0), tile.Load(block, tile.Peer(s, 1), block.Striped(64, 1)))
		})
	}},
}

func defineCluster(t *testing.T, f func(k *tile.Builder, a clusterInts), opts ...tile.Option) *tile.Kernel {
	t.Helper()
	return define(t, "k", f, append([]tile.Option{tile.Threads(64), tile.ClusterSize(2)}, opts...)...)
}

func runCluster(low *thr.Kernel, n int, seed uint64) error {
	const rows = 3
	in := map[string][]int64{"x": make([]int64, rows*n), "y": make([]int64, rows*n), "b": make([]int64, 2*64)}
	_, err := launch(low, dtype.I32, in, map[string]int{"rows": rows, "n": n}, seed)
	return err
}

// The right program is silent; each barrier of the cluster taken out, and each that is one of the block, is reported.
func TestClusterBarriers(t *testing.T) {
	for _, c := range clusterPrograms {
		low := lower(t, defineCluster(t, c.body))
		text := thr.Print(low)
		if got := strings.Count(text, "cluster_sync()") + strings.Count(text, "cluster_wait()"); got != c.barriers {
			t.Errorf("%s: %d barriers of the cluster, want %d:\n%s", c.name, got, c.barriers, thr.Print(low))
		}
		for seed := range uint64(4) {
			if err := runCluster(low, c.n, seed); err != nil {
				t.Errorf("%s, seed %d: %v", c.name, seed, err)
			}
		}
		for n := range c.barriers {
			for what, by := range map[string][]thr.Stmt{"taken out": nil, "of the block": {thr.Do{Fn: thr.BlockSync}}} {
				if err := runCluster(replaceClusterSync(low, n, by), c.n, 1); err == nil {
					t.Errorf("%s: silent with barrier %d %s:\n%s", c.name, n, what, thr.Print(low))
				}
			}
		}
	}
}

// replaceClusterSync is a copy of a kernel with other statements in the place of its n-th barrier of the cluster, or
// second half of one.
func replaceClusterSync(k *thr.Kernel, n int, by []thr.Stmt) *thr.Kernel {
	c := *k
	c.Body = walk(k.Body, func(list []thr.Stmt) []thr.Stmt {
		for i, s := range list {
			if d, ok := s.(thr.Do); ok && (d.Fn == thr.ClusterSync || d.Fn == thr.ClusterWait) {
				if n--; n == -1 {
					return slices.Replace(slices.Clone(list), i, i+1, by...)
				}
			}
		}
		return list
	})
	return &c
}

// A row's sum over four blocks, from distribution to slots.
func TestClusterThreadIR(t *testing.T) {
	k := define(t, "cluster_row", func(k *tile.Builder, a rowArgs) {
		cluster := k.Cluster()
		span := cluster.Striped(4096, 8)
		for row := range tile.Persistent(cluster, a.X.Dim(0), tile.OneBlockEach()) {
			x := tile.Cast[tile.F32](tile.Load(cluster, a.X.Row(row), span))
			tile.Store(cluster, a.S.At(row), x.Mul(x).Sum())
		}
	}, tile.Threads(128), tile.ClusterSize(4))
	tiletest.Golden(t, "cluster_row.txt", thr.Print(lower(t, k)))
	if low := lower(t, k); low.Grid.Step != 1 || !low.Grid.Each || low.Cluster != 4 {
		t.Errorf("grid %+v of clusters of %d", low.Grid, low.Cluster)
	}
	shared := define(t, "shared_out", func(k *tile.Builder, a rowArgs) {
		for row := range tile.Persistent(k.Warp(), a.X.Dim(0), tile.Step(3)) {
			tile.Store(k.Warp(), a.S.At(row), a.Eps)
		}
	}, tile.Threads(128), tile.ClusterSize(4))
	if low := lower(t, shared); low.Grid.Step != 3*4*4 { // 3 rows a warp, 4 warps a block, 4 blocks a cluster
		t.Errorf("a cluster takes %d rows at a time", low.Grid.Step)
	}
}

// What the planner refuses of clusters.
func TestClusterErrors(t *testing.T) {
	sum := func(k *tile.Builder, a clusterInts) {
		cluster := k.Cluster()
		tile.Store(cluster, a.Y.At(0, 0), tile.Load(cluster, a.X, cluster.Striped(256, 1)).Sum())
	}
	for _, c := range []struct {
		what   string
		target string
		body   func(k *tile.Builder, a clusterInts)
		opts   []tile.Option
		want   []string // none: no error
	}{
		{"a target with clusters", "sm_120a", sum, nil, nil},
		{"a target without", "sm_89", sum, nil, []string{"k for sm_89", "ClusterSize(2): sm_89 has no clusters", `tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a")`}},
		{"a barrier where one block comes", "sm_90a", func(k *tile.Builder, a clusterInts) {
			cluster, block := k.Cluster(), k.Block()
			s := tile.NewShared[tile.I32](k, 64)
			tile.Store(block, s, tile.Load(block, a.X.Row(cluster.Rank()), block.Striped(64, 1)))
			tile.If(block, cluster.Rank().EqInt(0), func() {
				tile.Store(block, a.Y.At(0), tile.Load(block, tile.Peer(s, 1), block.Striped(64, 1)))
			})
		}, nil, []string{"cluster_test.go:", "s0 needs a barrier of the cluster here, inside control flow on which only a block agrees", "cluster.Sync() before it"}},
		{"a barrier where one warp comes", "sm_90a", func(k *tile.Builder, a clusterInts) {
			warp := k.Warp()
			s := tile.NewShared[tile.I32](k, 64)
			tile.If(warp, warp.Index().EqInt(0), func() {
				tile.Store(warp, a.Y, tile.Load(warp, tile.Peer(s, 1), warp.Striped(64, 1)))
			})
		}, nil, []string{"on which only a warp agrees"}},
		{"an argument at two scopes", "sm_90a", func(k *tile.Builder, a clusterInts) {
			cluster, block := k.Cluster(), k.Block()
			tile.Store(cluster, a.Y, tile.Load(cluster, a.X, cluster.Striped(128, 1)))
			tile.Store(block, a.X.Row(cluster.Rank()), tile.Load(block, a.Y, block.Striped(128, 1)))
		}, nil, []string{"Y is used at block scope here and at cluster scope at", "put a cluster.Sync() between"}},
		{"a tile over blocks of three warps", "sm_90a", func(k *tile.Builder, a clusterInts) {
			cluster := k.Cluster()
			tile.Store(cluster, a.Y.At(0), tile.Load(cluster, a.X, cluster.Striped2(8, 64, 1, 64)).Sum(0))
		}, []tile.Option{tile.Threads(96)}, []string{"needs blocks of a power of two of threads; have 96"}},
	} {
		tg, err := target.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Lower(defineCluster(t, c.body, c.opts...).IR(), tg)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.what, err, w)
			}
		}
	}
}
