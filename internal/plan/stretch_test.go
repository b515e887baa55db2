package plan_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

type stretchArgs struct {
	X tile.Global[tile.F32] `tile:"rows,n"`
	P tile.Global[tile.I32] `tile:"rows"`
}

// Tiles of one argument that lie in other columns for certain need no barrier between them; others, whose threads hold
// other elements, do.
func TestStretches(t *testing.T) {
	for _, c := range []struct {
		name string
		want int // barriers
		body func(k *tile.Builder, a stretchArgs, wide, thin tile.Span)
	}{
		{"side by side", 0, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			tile.Store(k, a.X.At(0, 64), tile.Load(k, a.X.At(0, 0), wide).Neg())
			tile.Store(k, a.X.At(0, 128), tile.Load(k, a.X.At(0, 0), thin).Neg())
		}},
		{"one column in common", 1, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			tile.Store(k, a.X.At(0, 63), tile.Load(k, a.X.At(0, 0), wide).Neg())
		}},
		{"one column in common, from the other side", 1, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			tile.Store(k, a.X.At(0, 1), tile.Load(k, a.X.At(0, 64), thin))
		}},
		{"from a run-time column", 0, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			col := k.BlockID().Scale(128)
			tile.Store(k, a.X.At(0, col), tile.Load(k, a.X.At(0, col.AddInt(64)), wide))
			tile.Store(k, a.X.At(0, col.AddInt(32).AddInt(96)), tile.Load(k, a.X.At(0, col), wide))
		}},
		{"from a run-time column, too near", 1, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			col := k.BlockID().Scale(128)
			tile.Store(k, a.X.At(0, col), tile.Load(k, a.X.At(0, col.AddInt(60)), wide))
		}},
		{"from two run-time columns", 1, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			tile.Store(k, a.X.At(0, k.BlockID().Scale(128)), tile.Load(k, a.X.At(0, k.BlockID().Scale(64).AddInt(64)), wide))
		}},
		{"a run-time column and a constant", 1, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			tile.Store(k, a.X.At(0, k.BlockID().Scale(64)), tile.Load(k, a.X.At(0, 64), wide))
		}},
		{"columns loaded twice are one only where nobody writes them", 1, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			tile.Store(k, a.X.At(0, tile.AsIndex(tile.LoadScalar(k, a.P.At(0)))), tile.Load(k, a.X.At(0, tile.AsIndex(tile.LoadScalar(k, a.P.At(1))).AddInt(64)), wide))
		}},
		{"one element beside a tile", 1, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			tile.Store(k, a.X.At(0, 64), tile.LoadScalar(k, a.X.At(0, 0))) // a value lies anywhere
			tile.Store(k, a.X.At(0, 0), tile.Full(k, wide, tile.F32(0)))
		}},
		{"constant columns in a loop", 0, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			for range tile.Range(k, 0, a.X.Dim(0), 1) {
				tile.Store(k, a.X.At(0, 64), tile.Load(k, a.X.At(0, 0), wide))
			}
		}},
		// The next iteration's load is where this one's store is.
		{"columns that move with a loop", 2, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			for i := range tile.Range(k, 0, a.X.Dim(0), 1) {
				col := i.Scale(64)
				tile.Store(k, a.X.At(0, col.AddInt(64)), tile.Load(k, a.X.At(0, col), wide))
			}
		}},
		{"columns that change with a variable", 2, func(k *tile.Builder, a stretchArgs, wide, thin tile.Span) {
			col := tile.NewVar(k, tile.I32(0))
			for range tile.Range(k, 0, a.X.Dim(0), 1) {
				at := tile.AsIndex(col.Get())
				tile.Store(k, a.X.At(0, at.AddInt(64)), tile.Load(k, a.X.At(0, at), wide))
				col.Set(col.Get().Add(tile.I32(64)))
			}
		}},
	} {
		low := lower(t, define(t, "k", func(k *tile.Builder, a stretchArgs) {
			c.body(k, a, k.Block().Striped(64, 2), k.Block().Striped(64, 1))
		}, tile.Threads(32)))
		if got := strings.Count(thr.Print(low), "block_sync()"); got != c.want {
			t.Errorf("%s: %d barriers, want %d:\n%s", c.name, got, c.want, thr.Print(low))
		}
	}
}
