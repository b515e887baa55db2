package sim

import (
	"sync/atomic"
	"testing"

	"github.com/gotile/gotile/internal/thr"
)

// A clock has no room for the bulk stores of all warps of the largest cluster: the warps that store are numbered, and
// those beyond are reported.
func TestStorers(t *testing.T) {
	k := kernel(maxThreads, 144, []*thr.Arg{bulkX}, bulkStore(at(), first))
	k.Cluster = 8
	p, err := Compile(k)
	if err != nil {
		t.Fatal(err)
	}
	m := NewMemory(false)
	x, _ := output(t, m, 4096)
	c := newCluster(p, m, func() pool { return p.pool(8, words(x)) }, launch{stop: new(atomic.Bool)})
	if c.storers >= len(c.warps) || c.agents > maxAgents {
		t.Fatalf("%d of %d warps, %d agents of %d", c.storers, len(c.warps), c.agents, maxAgents)
	}
	agents := map[int]bool{}
	for i, w := range c.warps {
		w.block.log = log{}
		w.checkStorer(0, 0)
		if got, want := len(w.block.log.list) > 0, i >= c.storers; got != want {
			t.Errorf("warp %d reported: %v, want %v", i, got, want)
		}
		agents[w.storesAgent()], agents[w.writesAgent()] = true, true
	}
	if len(agents) != 2*c.storers {
		t.Errorf("%d agents for %d warps", len(agents), c.storers)
	}
}
