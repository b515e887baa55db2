package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// splitPrograms are right programs with the barriers of the cluster in whole and in halves, in the order of the text.
var splitPrograms = []struct {
	name string
	n    int
	want string // of arrive, wait and sync, with ( and ) around a loop
	body func(k *tile.Builder, a clusterInts)
}{
	// The barrier before the push belongs to the row before: its arrival is behind the reads.
	{"rows", 200, "arrive ( wait sync arrive ) wait", rowSums},
	// The start of the blocks is ordered by an arrival at the very beginning.
	{"one row", 200, "arrive wait sync", func(k *tile.Builder, a clusterInts) {
		cluster := k.Cluster()
		tile.Store(cluster, a.Y.At(0, 0), tile.Load(cluster, a.X, cluster.Striped(256, 1)).Sum())
	}},
	// What stands between the push and the read runs between the arrival and the wait; what a block has pushed before
	// is read behind it.
	{"work after the push", 64, "arrive wait arrive wait", func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		rank := cluster.Rank()
		x := tile.Load(block, a.X.Row(rank), block.Striped(64, 1))
		tile.Store(block, tile.Peer(s, rank.AddInt(1).RemInt(2)), x)
		tile.Store(block, a.Y.Row(rank), x.Add(x))
		tile.Store(block, a.B.At(rank), tile.Load(block, s, block.Striped(64, 1)))
	}},
	// Barriers of the block between an arrival and its wait order what they did; the tile of the block is no business
	// of the cluster.
	{"the block's own barriers between", 64, "arrive ( wait sync arrive ) wait", func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		own, s := tile.NewShared[tile.I32](k, 64), tile.NewShared[tile.I32](k, 64)
		rank := cluster.Rank()
		for row := range tile.Range(cluster, 0, a.X.Dim(0), 1) {
			tile.Store(block, own, tile.Load(block, a.X.Row(row), block.Striped(64, 1)))
			tile.Store(block, tile.Peer(s, rank.AddInt(1).RemInt(2)), tile.Load(block, own, block.Striped(64, 2)))
			tile.Store(block, a.B.At(rank), tile.Load(block, s, block.Striped(64, 1)))
		}
	}},
	// A barrier that the author wrote stays whole, and so do all others, which may lean on it.
	{"the author's", 200, "( sync sync sync )", func(k *tile.Builder, a clusterInts) {
		cluster := k.Cluster()
		for row := range tile.Range(cluster, 0, a.X.Dim(0), 1) {
			tile.Store(cluster, a.Y.At(row, 0), tile.Load(cluster, a.X.Row(row), cluster.Striped(256, 1)).Sum())
			cluster.Sync()
		}
	}},
}

func rowSums(k *tile.Builder, a clusterInts) {
	cluster := k.Cluster()
	for row := range tile.Range(cluster, 0, a.X.Dim(0), 1) {
		tile.Store(cluster, a.Y.At(row, 0), tile.Load(cluster, a.X.Row(row), cluster.Striped(256, 1)).Sum())
	}
}

// barrierText is the barriers of the cluster in the order of the text.
func barrierText(body []thr.Stmt) string {
	var out []string
	for _, s := range body {
		switch s := s.(type) {
		case thr.Do:
			switch s.Fn {
			case thr.ClusterSync, thr.ClusterArrive, thr.ClusterWait:
				out = append(out, strings.TrimPrefix(s.Fn.String(), "cluster_"))
			}
		case thr.For:
			if inner := barrierText(s.Body); inner != "" {
				out = append(out, "( "+inner+" )")
			}
		}
	}
	return strings.Join(out, " ")
}

// The right program is silent; without one of the halves it is reported.
func TestSplitBarriers(t *testing.T) {
	for _, c := range splitPrograms {
		low := lower(t, defineCluster(t, c.body))
		if got := barrierText(low.Body); got != c.want {
			t.Errorf("%s: %s, want %s:\n%s", c.name, got, c.want, thr.Print(low))
		}
		for seed := range uint64(6) {
			if err := runCluster(low, c.n, seed); err != nil {
				t.Errorf("%s, seed %d: %v", c.name, seed, err)
			}
		}
		for n := range strings.Count(c.want, "arrive") + strings.Count(c.want, "wait") {
			k := editHalf(low, n, func(list []thr.Stmt, i int) []thr.Stmt { return slices.Delete(list, i, i+1) })
			if reportOf(k, c.n) == "" {
				t.Errorf("%s: silent without half %d:\n%s", c.name, n, thr.Print(k))
			}
		}
	}
}

// An arrival before the reads that it publishes, and a wait behind the push that needs it, are races.
func TestMisplacedHalves(t *testing.T) {
	low := lower(t, defineCluster(t, rowSums))
	for _, c := range []struct {
		name string
		half thr.Fn
		by   int // from the whole barrier between push and read
	}{{"arrival before the reads", thr.ClusterArrive, 1}, {"wait behind the push", thr.ClusterWait, 0}} {
		k := *low
		k.Body = walk(low.Body, func(list []thr.Stmt) []thr.Stmt {
			at := func(f thr.Fn) int {
				return slices.IndexFunc(list, func(s thr.Stmt) bool { d, ok := s.(thr.Do); return ok && d.Fn == f })
			}
			from := at(c.half)
			if from < 0 || at(thr.ClusterSync) < 0 {
				return list
			}
			half := list[from]
			list = slices.Delete(slices.Clone(list), from, from+1)
			return slices.Insert(list, at(thr.ClusterSync)+c.by, half)
		})
		if report := reportOf(&k, 200); !strings.Contains(report, "race") && !strings.Contains(report, "not ordered before") {
			t.Errorf("%s: %q\n%s", c.name, report, thr.Print(&k))
		}
	}
}

// editHalf is a copy of a kernel with the list edited in which its n-th half of a barrier stands.
func editHalf(k *thr.Kernel, n int, edit func(list []thr.Stmt, i int) []thr.Stmt) *thr.Kernel {
	c := *k
	c.Body = walk(k.Body, func(list []thr.Stmt) []thr.Stmt {
		for i, s := range list {
			if d, ok := s.(thr.Do); ok && (d.Fn == thr.ClusterArrive || d.Fn == thr.ClusterWait) {
				if n--; n == -1 {
					return edit(slices.Clone(list), i)
				}
			}
		}
		return list
	})
	return &c
}

// reportOf is what the simulator says of a program, with any of some seeds; empty if nothing.
func reportOf(k *thr.Kernel, n int) string {
	for seed := range uint64(4) {
		if err := runCluster(k, n, seed); err != nil {
			return fmt.Sprint(err)
		}
	}
	return ""
}
