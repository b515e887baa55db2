package plan_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// A grid of one block an iteration leaves no loop, unless it is rounded up so that some find no work.
func TestOneBlockEachIsNoLoop(t *testing.T) {
	for _, c := range []struct {
		name    string
		scope   func(k *tile.Builder) tile.Scope
		each    bool
		cluster int
		loop    bool
	}{
		{"a block each", func(k *tile.Builder) tile.Scope { return k.Block() }, true, 0, false},
		{"a cluster each", func(k *tile.Builder) tile.Scope { return k.Cluster() }, true, 2, false},
		{"resident blocks", func(k *tile.Builder) tile.Scope { return k.Block() }, false, 0, true},
		{"resident clusters", func(k *tile.Builder) tile.Scope { return k.Cluster() }, false, 2, true},
		{"blocks, of which the last cluster has some without work", func(k *tile.Builder) tile.Scope { return k.Block() }, true, 2, true},
	} {
		opts := []tile.Option{tile.Threads(64)}
		if c.cluster > 0 {
			opts = append(opts, tile.ClusterSize(c.cluster))
		}
		low := lower(t, define(t, "k", func(k *tile.Builder, a rowArgs) {
			how := []tile.LoopOption{tile.Step(1)}
			if c.each {
				how = append(how, tile.OneBlockEach())
			}
			for row := range tile.Persistent(c.scope(k), a.X.Dim(0), how...) {
				tile.Store(c.scope(k), a.S.At(row), a.Eps)
			}
		}, opts...))
		if loop := strings.Contains(thr.Print(low), "for "); loop != c.loop || low.Grid.Each != c.each {
			t.Errorf("%s: a loop: %v, want %v; a grid of one each: %v, want %v\n%s", c.name, loop, c.loop, low.Grid.Each, c.each, thr.Print(low))
		}
	}
}
