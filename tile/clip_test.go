package tile_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
)

// TestClipIsSafe runs random loops in Go: an access without an extent stays inside the buffer at each iteration, and
// an access that stays inside has none.
func TestClipIsSafe(t *testing.T) {
	const size = 128 // of S
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(0, 140).Draw(t, "lo")
		hi := rapid.IntRange(0, 200).Draw(t, "hi")
		step := rapid.IntRange(1, 64).Draw(t, "step")
		add := rapid.IntRange(0, 40).Draw(t, "add")
		scale := rapid.IntRange(0, 3).Draw(t, "scale")
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		capacity := rapid.IntRange(1, 140).Draw(t, "capacity")
		k, err := tile.Define("k", func(k *tile.Builder, a wrongArgs) {
			for i := range tile.Range(k, lo, hi, step) {
				tile.Load(k, a.S.At(i.MinInt(limit).Scale(scale).AddInt(add)), k.Block().Striped(capacity, 1))
			}
		})
		if err != nil {
			if add >= size && scale == 0 {
				t.Skip("a constant offset past the end is refused")
			}
			t.Fatal(err)
		}
		last := -1
		for i := lo; i < hi; i += step {
			last = max(last, min(i, limit)*scale+add)
		}
		var load *ir.Value
		for _, v := range k.IR().Body.Ops[0].Regions[0].Ops {
			if v.Op == ir.Load {
				load = v
			}
		}
		clipped := len(load.Type.Span.Extent) > 0
		if inside := last+capacity <= size; last >= 0 && clipped == inside {
			t.Fatalf("last offset %d, capacity %d of %d: clipped %v\n%v", last, capacity, size, clipped, k)
		}
	})
}

// TestSymbolLimits checks which accesses bound a dimension: those whose extent is the dimension itself.
func TestSymbolLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(k *tile.Builder, a wrongArgs)
		n    int // bound of n; 0: none
	}{
		{"from the start", func(k *tile.Builder, a wrongArgs) { tile.Load(k, a.V, k.Block().Striped(500, 4)) }, 500},
		{"the smaller of two", func(k *tile.Builder, a wrongArgs) {
			tile.Load(k, a.V, k.Block().Striped(500, 4))
			tile.Load(k, a.V, k.Block().Striped(300, 4))
		}, 300},
		{"by Clip", func(k *tile.Builder, a wrongArgs) { k.Block().Striped(500, 4).Clip(a.V.Dim(0)) }, 500},
		{"a store", func(k *tile.Builder, a wrongArgs) {
			tile.Store(k, a.V, tile.Full(k, k.Block().Striped(500, 4), tile.F32(0)))
		}, 500},
		{"from an offset", func(k *tile.Builder, a wrongArgs) {
			tile.Load(k, a.V.At(k.BlockID()), k.Block().Striped(500, 4))
		}, 0},
		{"said", func(k *tile.Builder, a wrongArgs) { a.X.Dim(1).AtMost(4096) }, 4096},
		{"said to be more than it is", func(k *tile.Builder, a wrongArgs) {
			a.X.Dim(1).AtMost(4096)
			tile.Load(k, a.V, k.Block().Striped(500, 4))
		}, 500},
		{"clipped at less", func(k *tile.Builder, a wrongArgs) {
			tile.Load(k, a.V, k.Block().Striped(500, 4).Clip(a.V.Dim(0).MinInt(500)))
		}, 0},
	} {
		k, err := tile.Define("k", c.f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range k.IR().Symbols {
			want := 0
			if s.Name == "n" {
				want = c.n
			}
			if s.Max != want {
				t.Errorf("%s: %s is bounded by %d, want %d", c.name, s.Name, s.Max, want)
			}
		}
	}
}

// TestPrintPos checks that positions are printed on demand only.
func TestPrintPos(t *testing.T) {
	k, err := tile.Define("k", func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.S)
	})
	if err != nil {
		t.Fatal(err)
	}
	head := "kernel k(x f32[rows,n], y f32[rows,n], h bf16[rows,n], v f32[n], s f32[128] r, i i32[rows], eps f32) threads 256\n  %0 = load s[0] : f32"
	if got, want := ir.Print(k.IR()), head+"\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	pos := k.IR().Body.Ops[0].Pos.String()
	if got, want := ir.PrintPos(k.IR()), head+"  // "+pos+"\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
