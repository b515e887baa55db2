package plan_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

type wholeArgs struct {
	X, Y tile.Global[tile.F32]  `tile:"rows,n"`
	H    tile.Global[tile.BF16] `tile:"rows,m"`
	S    tile.Global[tile.F32]  `tile:"n strided"`
	W    tile.Global[tile.F32]  `tile:"64"`
	I    tile.Global[tile.I32]  `tile:"rows"`
}

// What a kernel for whole vectors asks of a launch, and that it has no other form of what the launch sees to.
func TestWholeVectors(t *testing.T) {
	for _, c := range []struct {
		name   string
		demand string
		forms  int // tests between two forms that are left
		body   func(k *tile.Builder, a wholeArgs)
	}{
		{"rows", "x, y on 16 bytes; n a multiple of 4", 0, func(k *tile.Builder, a wholeArgs) {
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				tile.Store(k, a.Y.Row(row), tile.Load(k, a.X.Row(row), k.Block().Striped(256, 4)))
			}
		}},
		{"chunks of a row", "x, y on 16 bytes; n a multiple of 4", 0, func(k *tile.Builder, a wholeArgs) {
			span := k.Block().Striped(256, 4)
			for col := range tile.Columns(k, a.X.Dim(1), span) {
				tile.Store(k, a.Y.At(0, col), tile.Load(k, a.X.At(0, col), span))
			}
		}},
		{"two types in one row", "y, h on 16 bytes; n a multiple of 8, m a multiple of 8", 0, func(k *tile.Builder, a wholeArgs) {
			span := k.Block().Striped(256, 8).Clip(a.X.Dim(1).Min(a.H.Dim(1)))
			tile.Store(k, a.Y, tile.Cast[tile.F32](tile.Load(k, a.H, span)))
		}},
		{"vectors of two lengths", "x, y, h on 16 bytes; n a multiple of 4, m a multiple of 8", 0, func(k *tile.Builder, a wholeArgs) {
			tile.Store(k, a.Y, tile.Load(k, a.X, k.Block().Striped(256, 4)))
			tile.Store(k, a.Y.At(0, 0), tile.Cast[tile.F32](tile.Load(k, a.H, k.Block().Striped(256, 8))).Sum())
		}},
		{"a constant length", "w on 16 bytes", 0, func(k *tile.Builder, a wholeArgs) {
			tile.Store(k, a.S.At(0), tile.Load(k, a.W, k.Block().Striped(64, 4)).Sum())
		}},
		{"by single elements", "", 0, func(k *tile.Builder, a wholeArgs) {
			tile.Store(k, a.S, tile.Load(k, a.X, k.Block().Striped(256, 1)))
		}},
		{"by strides", "", 0, func(k *tile.Builder, a wholeArgs) {
			tile.Store(k, a.S, tile.Load(k, a.S, k.Block().Striped(256, 4)).Neg())
		}},
		{"a copy", "x on 16 bytes; n a multiple of 4", 0, func(k *tile.Builder, a wholeArgs) {
			s := tile.NewShared[tile.F32](k, 256)
			tile.CopyAsync(k, s, a.X)
			tile.Commit(k)
			tile.WaitGroup(k, 0)
			tile.Store(k, a.S, tile.Load(k, s, k.Block().Striped(256, 1).Clip(a.S.Dim(0))))
		}},
		// What is not the launch's to see: a column that the kernel computes, a length that is no dimension.
		{"any column", "x on 16 bytes; n a multiple of 4", 1, func(k *tile.Builder, a wholeArgs) {
			tile.Store(k, a.S, tile.Load(k, a.X.At(0, k.BlockID()), k.Block().Striped(256, 4).Clip(a.X.Dim(1))))
		}},
		{"any length", "x on 16 bytes", 1, func(k *tile.Builder, a wholeArgs) {
			x := tile.Load(k, a.X, k.Block().Striped(256, 4).Clip(tile.AsIndex(tile.LoadScalar(k, a.I.At(0))).MinInt(256)))
			tile.Store(k, a.S.At(0), x.Sum())
		}},
	} {
		low := lower(t, define(t, "k", c.body, tile.Threads(32), tile.WholeVectors()))
		if got := low.WholeText(); got != c.demand {
			t.Errorf("%s: asks for %q, want %q", c.name, got, c.demand)
		}
		text := thr.Print(low)
		if got := strings.Count(text, "else\n"); got != c.forms || strings.Contains(text, "aligned(") {
			t.Errorf("%s: %d tests between forms, want %d, and none of alignment:\n%s", c.name, got, c.forms, text)
		}
		if any := lower(t, define(t, "k", c.body, tile.Threads(32))); any.Whole != nil {
			t.Errorf("%s: a kernel with all forms asks for %q", c.name, any.WholeText())
		}
	}
}
