package plan_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// A thread that copies what it alone reads and writes needs no barrier between the two; where other threads do, each
// barrier is needed. The simulator judges both.
func TestOwnCopies(t *testing.T) {
	const vec = 4 // of a copy, in i32
	for _, c := range []struct {
		name string
		want int // barriers
		body func(k *tile.Builder, a intArgs, own, other tile.Span, s, ring tile.Shared[tile.I32])
	}{
		{"read back", 0, func(k *tile.Builder, a intArgs, own, _ tile.Span, s, _ tile.Shared[tile.I32]) {
			tile.CopyAsync(k, s, a.X)
			tile.Commit(k)
			tile.WaitGroup(k, 0)
			tile.Store(k, a.Y, tile.Load(k, s, own))
		}},
		{"read by others", 1, func(k *tile.Builder, a intArgs, _, other tile.Span, s, _ tile.Shared[tile.I32]) {
			tile.CopyAsync(k, s, a.X)
			tile.Commit(k)
			tile.WaitGroup(k, 0)
			tile.Store(k, a.Y, tile.Load(k, s, other))
		}},
		{"changed in place, row by row", 0, func(k *tile.Builder, a intArgs, own, _ tile.Span, s, _ tile.Shared[tile.I32]) {
			for row := range tile.Range(k, 0, a.X.Dim(0), 1) {
				tile.CopyAsync(k, s, a.X.Row(row))
				tile.Commit(k)
				tile.WaitGroup(k, 0)
				tile.Store(k, s, tile.Load(k, s, own).Neg())
				tile.Store(k, a.Y.Row(row), tile.Load(k, s, own))
			}
		}},
		// Before they read and before the next row's copy.
		{"read by others, row by row", 2, func(k *tile.Builder, a intArgs, _, other tile.Span, s, _ tile.Shared[tile.I32]) {
			for row := range tile.Range(k, 0, a.X.Dim(0), 1) {
				tile.CopyAsync(k, s, a.X.Row(row))
				tile.Commit(k)
				tile.WaitGroup(k, 0)
				tile.Store(k, a.Y.Row(row), tile.Load(k, s, other))
			}
		}},
		{"stages of a ring", 0, func(k *tile.Builder, a intArgs, own, _ tile.Span, _, ring tile.Shared[tile.I32]) {
			tile.CopyAsync(k, ring.At(0), a.X)
			tile.Commit(k)
			for row := range tile.Range(k, 0, a.X.Dim(0), 1) {
				tile.CopyAsync(k, ring.At(row.AddInt(1).RemInt(2)), a.X.At(row.AddInt(1).Min(a.X.Dim(0).SubInt(1))))
				tile.Commit(k)
				tile.WaitGroup(k, 1)
				tile.Store(k, a.Y.Row(row), tile.Load(k, ring.At(row.RemInt(2)), own))
			}
			tile.WaitGroup(k, 0)
		}},
		// Half of the tile has each element in another thread.
		{"a part, read back", 1, func(k *tile.Builder, a intArgs, _, _ tile.Span, s, _ tile.Shared[tile.I32]) {
			tile.CopyAsync(k, s, a.X)
			tile.Commit(k)
			tile.WaitGroup(k, 0)
			tile.Store(k, a.Y, tile.Load(k, s.At(64), k.Block().Striped(64, vec)))
		}},
		{"stored and loaded, without copies", 0, func(k *tile.Builder, a intArgs, _, other tile.Span, s, _ tile.Shared[tile.I32]) {
			tile.Store(k, s, tile.Load(k, a.X, other))
			tile.Store(k, a.Y, tile.Load(k, s, other))
		}},
		{"stored and loaded by others", 1, func(k *tile.Builder, a intArgs, own, other tile.Span, s, _ tile.Shared[tile.I32]) {
			tile.Store(k, s, tile.Load(k, a.X, own))
			tile.Store(k, a.Y, tile.Load(k, s, other))
		}},
	} {
		low := lower(t, define(t, "k", func(k *tile.Builder, a intArgs) {
			c.body(k, a, k.Block().Striped(128, vec), k.Block().Striped(128, 1), tile.NewShared[tile.I32](k, 128), tile.NewShared[tile.I32](k, 2, 128))
		}, tile.Threads(64)))
		run := func(low *thr.Kernel) error {
			_, err := launch(low, dtype.I32, map[string][]int64{"x": make([]int64, 3*128), "y": make([]int64, 3*128)}, map[string]int{"steps": 3, "n": 128}, 1)
			return err
		}
		if got := strings.Count(thr.Print(low), "block_sync()"); got != c.want {
			t.Errorf("%s: %d barriers, want %d:\n%s", c.name, got, c.want, thr.Print(low))
		}
		if err := run(low); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for n := range c.want {
			broken, _ := without(low, n)
			if err := run(broken); err == nil || !strings.Contains(err.Error(), "race") {
				t.Errorf("%s, without barrier %d: %v, want a race", c.name, n, err)
			}
		}
	}
}
