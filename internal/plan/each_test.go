package plan_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// A grid of one block an iteration leaves no loop, unless it is rounded up so that some find no work, or the author
// asks for one.
func TestOneBlockEachIsNoLoop(t *testing.T) {
	for _, c := range []struct {
		name    string
		scope   func(k *tile.Builder) tile.Scope
		each    bool
		looped  bool
		cluster int
		loop    bool
	}{
		{"a block each", func(k *tile.Builder) tile.Scope { return k.Block() }, true, false, 0, false},
		{"a cluster each", func(k *tile.Builder) tile.Scope { return k.Cluster() }, true, false, 2, false},
		{"resident blocks", func(k *tile.Builder) tile.Scope { return k.Block() }, false, false, 0, true},
		{"resident clusters", func(k *tile.Builder) tile.Scope { return k.Cluster() }, false, false, 2, true},
		{"blocks, of which the last cluster has some without work", func(k *tile.Builder) tile.Scope { return k.Block() }, true, false, 2, true},
		{"a block each, looped", func(k *tile.Builder) tile.Scope { return k.Block() }, true, true, 0, true},
		{"a cluster each, looped", func(k *tile.Builder) tile.Scope { return k.Cluster() }, true, true, 2, true},
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
			if c.looped {
				how = append(how, tile.Looped())
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
