package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/tile"
)

// mirror is a public test of another language's race detector, said in this one.
type mirror struct {
	right func(k *tile.Builder, a clusterInts) // silent
	racy  func(k *tile.Builder, a clusterInts) // reported; nil: right without its first barrier of the cluster is
	fine  bool                                 // the public test is of a right program only
	grid  int                                  // blocks, of clusters of two
}

// throughGlobal is what blocks of a cluster tell one another through global memory, with a barrier of the author's.
func throughGlobal(k *tile.Builder, a clusterInts) {
	cluster, block := k.Cluster(), k.Block()
	rank := cluster.Rank()
	tile.Store(block, a.B.At(rank), tile.Load(block, a.X.Row(rank), block.Striped(64, 1)))
	cluster.Sync()
	tile.Store(block, a.Y.Row(rank), tile.Load(block, a.B.At(rank.AddInt(1).RemInt(2)), block.Striped(64, 1)))
}

// toGlobal copies a row by way of shared memory to the row of B that at says.
func toGlobal(at func(cluster tile.Cluster) tile.Index) func(k *tile.Builder, a clusterInts) {
	return func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		tile.Store(block, s, tile.Load(block, a.X, block.Striped(64, 1)))
		tile.Store(block, a.B.At(at(cluster)), tile.Load(block, s, block.Striped(64, 2)))
	}
}

var mirrors = map[string]mirror{
	"test_race_in_sync_copy_smem_to_gmem_in_cluster": {grid: 2,
		right: toGlobal(func(c tile.Cluster) tile.Index { return c.Rank() }),
		racy:  toGlobal(func(c tile.Cluster) tile.Index { return c.Rank().Scale(0) })},
	"test_no_race_in_sync_copy_gmem_to_smem_in_cluster": {grid: 2, fine: true, right: toGlobal(func(c tile.Cluster) tile.Index { return c.Rank() })},
	"test_no_race_in_smem_across_clusters": {grid: 4, fine: true, right: func(k *tile.Builder, a clusterInts) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.I32](k, 64)
		tile.Store(block, tile.Peer(s, cluster.Rank().AddInt(1).RemInt(2)), tile.Load(block, a.X, block.Striped(64, 1)))
		tile.Store(block, a.X.At(k.BlockID().AddInt(1)), tile.Load(block, s, block.Striped(64, 1)))
	}},
	"test_cluster_barrier_peer_communication_through_gmem": {grid: 2, right: throughGlobal},
	"test_cluster_barrier_multidimensional_1d":             {grid: 2, right: throughGlobal},
	"test_cluster": {grid: 4, fine: true, right: func(k *tile.Builder, a clusterInts) {
		tile.Store(k, a.Y.At(k.BlockID()), k.ClusterID().Scale(2).Add(k.Cluster().Rank()).Sub(k.BlockID()).Int())
	}},
}

// notMirrored are public tests about clusters that are mirrored elsewhere, or of what is not said, or not yet, in this
// language.
var notMirrored = map[string]string{
	"test_race_in_async_copy_smem_to_gmem_in_cluster":               "a bulk copy: package sim mirrors it",
	"test_no_race_in_async_copy_gmem_to_smem_in_cluster":            "a bulk copy: package sim mirrors it",
	"test_cluster_barrier_differ_at_most_one_collective_axis":       "a barrier is of the whole cluster, which has one dimension",
	"test_cluster_barrier_multidimensional_2d":                      "a cluster has one dimension",
	"test_cluster_barrier_multidimensional_3d":                      "a cluster has one dimension",
	"test_run_scoped_with_cluster":                                  "a shared tile of the cluster is a building error: see tile's wrong programs",
	"test_device_pipeline_binding_supports_two_cta_nvfp4_pipelines": "tensor cores of two blocks come with sm_100",
}

func runMirror(t *testing.T, f func(k *tile.Builder, a clusterInts), grid int, dropped bool) error {
	t.Helper()
	low := lower(t, defineCluster(t, f))
	if dropped {
		low = replaceClusterSync(low, 0, nil)
	}
	const rows, n = 6, 64
	in := map[string][]int64{"x": make([]int64, rows*n), "y": make([]int64, rows*n), "b": make([]int64, 2*64)}
	_, err := launchGrid(low, dtype.I32, in, map[string]int{"rows": rows, "n": n}, 1, grid)
	return err
}

// The public tests about clusters, in this language: right ones are silent, racy ones reported.
func TestClusterConformance(t *testing.T) {
	for name, m := range mirrors {
		if err := runMirror(t, m.right, m.grid, false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		switch {
		case m.fine:
		case m.racy != nil:
			if runMirror(t, m.racy, m.grid, false) == nil {
				t.Errorf("%s: the race is not reported", name)
			}
		case runMirror(t, m.right, m.grid, true) == nil:
			t.Errorf("%s: silent without its barrier", name)
		}
	}
}

// Each public test about clusters is mirrored, or there is a reason why not.
func TestClusterConformanceIsComplete(t *testing.T) {
	dir := env.Get(env.Conformance)
	if dir == "" {
		t.Skip("GOTILE_CONFORMANCE is not set: the list of public tests is not here")
	}
	text, err := os.ReadFile(filepath.Join(dir, "concurrency_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Cases []struct{ Test string } }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range list.Cases {
		if !strings.Contains(c.Test, "cluster") && !strings.Contains(c.Test, "two_cta") {
			continue
		}
		found[c.Test] = true
		if _, ok := mirrors[c.Test]; !ok && notMirrored[c.Test] == "" {
			t.Errorf("%s is not mirrored", c.Test)
		}
	}
	for name := range mirrors {
		if !found[name] {
			t.Errorf("the list has no %s", name)
		}
	}
	if len(found) < 10 {
		t.Errorf("only %d tests about clusters are listed", len(found))
	}
}
