package plan_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

type copyArgs struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n"`
}

// here is the line of its caller, for messages.
func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// Uses of what a copy may be writing are refused at their line where the planner can see them, and right programs are
// not.
func TestCopiesInFlight(t *testing.T) {
	var use, copied int // lines
	read := func(k *tile.Builder, s tile.Source[tile.F32], a copyArgs) {
		block := k.Block()
		x := tile.Load(block, s, block.Striped(64, 1))
		use = here() - 1
		tile.Store(block, a.Y.At(0), x.Sum())
	}
	begin := func(k *tile.Builder, s tile.Source[tile.F32], a copyArgs) {
		tile.CopyAsync(k, s, a.X)
		copied = here() - 1
	}
	const (
		uncommitted = "s%d is used here, but the copy to it of %s is not committed; put tile.Commit and tile.WaitGroup between the two"
		unawaited   = "s%d is used here, but the copy to it of %s may be in flight; put a tile.WaitGroup between the two"
		tooMany     = "s%d is used here, but the copy to it of %s may be in flight: the tile.WaitGroup between the two leaves its group; wait with a smaller number"
	)
	for _, c := range []struct {
		name string
		want string // "" is right
		tile int
		body func(k *tile.Builder, a copyArgs, s, s2 tile.Shared[tile.F32], ring tile.Shared[tile.F32])
	}{
		{"awaited", "", 0, func(k *tile.Builder, a copyArgs, s, _, _ tile.Shared[tile.F32]) {
			begin(k, s, a)
			tile.Commit(k)
			tile.WaitGroup(k, 0)
			read(k, s, a)
		}},
		{"not committed", uncommitted, 0, func(k *tile.Builder, a copyArgs, s, _, _ tile.Shared[tile.F32]) {
			begin(k, s, a)
			tile.WaitGroup(k, 0)
			read(k, s, a)
		}},
		{"not awaited", unawaited, 0, func(k *tile.Builder, a copyArgs, s, _, _ tile.Shared[tile.F32]) {
			begin(k, s, a)
			tile.Commit(k)
			read(k, s, a)
		}},
		{"a barrier is no wait", unawaited, 0, func(k *tile.Builder, a copyArgs, s, _, _ tile.Shared[tile.F32]) {
			begin(k, s, a)
			tile.Commit(k)
			k.Block().Sync()
			read(k, s, a)
		}},
		{"waits for an older group", tooMany, 0, func(k *tile.Builder, a copyArgs, s, s2, _ tile.Shared[tile.F32]) {
			tile.CopyAsync(k, s2, a.X)
			tile.Commit(k)
			begin(k, s, a)
			tile.Commit(k)
			tile.WaitGroup(k, 1)
			read(k, s, a)
		}},
		{"the older group", "", 1, func(k *tile.Builder, a copyArgs, s, s2, _ tile.Shared[tile.F32]) {
			begin(k, s2, a)
			tile.Commit(k)
			tile.CopyAsync(k, s, a.X)
			tile.Commit(k)
			tile.WaitGroup(k, 1)
			read(k, s2, a)
			tile.WaitGroup(k, 0)
		}},
		{"another stage", "", 2, func(k *tile.Builder, a copyArgs, _, _, ring tile.Shared[tile.F32]) {
			tile.Store(k, ring.At(1), tile.Load(k, a.X, k.Block().Striped(64, 1)))
			begin(k, ring.At(0), a)
			tile.Commit(k)
			read(k, ring.At(1), a)
			tile.WaitGroup(k, 0)
		}},
		{"the same stage", unawaited, 2, func(k *tile.Builder, a copyArgs, _, _, ring tile.Shared[tile.F32]) {
			begin(k, ring.At(1), a)
			tile.Commit(k)
			read(k, ring.At(1), a)
		}},
		{"all stages", unawaited, 2, func(k *tile.Builder, a copyArgs, _, _, ring tile.Shared[tile.F32]) {
			begin(k, ring.At(1), a)
			tile.Commit(k)
			tile.Store(k, ring, tile.Full(k, k.Block().Striped2(3, 64, 1, 32), tile.F32(0)))
			use = here() - 1
		}},
		{"a stage of the loop", "", 2, func(k *tile.Builder, a copyArgs, _, _, ring tile.Shared[tile.F32]) {
			for i := range tile.Range(k, 0, a.X.Dim(0), 1) {
				tile.WaitGroup(k, 0)
				begin(k, ring.At(i.AddInt(1).RemInt(3)), a)
				tile.Commit(k)
				read(k, ring.At(i.RemInt(3)), a)
			}
		}},
		{"a loop without a wait", unawaited, 2, func(k *tile.Builder, a copyArgs, _, _, ring tile.Shared[tile.F32]) {
			for i := range tile.Range(k, 0, a.X.Dim(0), 1) {
				begin(k, ring.At(i.AddInt(1).RemInt(3)), a)
				tile.Commit(k)
				read(k, ring.At(i.RemInt(3)), a)
			}
			use = copied // the second iteration's copy may be to where the first one's still is
		}},
		{"two copies at once", unawaited, 0, func(k *tile.Builder, a copyArgs, s, _, _ tile.Shared[tile.F32]) {
			begin(k, s, a)
			tile.Commit(k)
			tile.CopyAsync(k, s, a.X.At(1))
			use = here() - 1
		}},
		{"on one path", unawaited, 0, func(k *tile.Builder, a copyArgs, s, _, _ tile.Shared[tile.F32]) {
			begin(k, s, a)
			tile.Commit(k)
			tile.If(k, a.X.Dim(0).GtInt(4), func() { tile.WaitGroup(k, 0) })
			read(k, s, a)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := define(t, "k", func(k *tile.Builder, a copyArgs) {
				c.body(k, a, tile.NewShared[tile.F32](k, 64), tile.NewShared[tile.F32](k, 64), tile.NewShared[tile.F32](k, 3, 64))
			}, tile.Threads(64))
			low, err := k.Lower("sm_90a")
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if text := thr.Print(low); !strings.Contains(text, "cp_async_16(") || !strings.Contains(text, "block_sync()") {
					t.Error(text)
				}
				return
			}
			want := fmt.Sprintf("flight_test.go:%d: "+c.want, use, c.tile, fmt.Sprintf("flight_test.go:%d", copied))
			if err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

type productArgs struct {
	X tile.Global[tile.BF16] `tile:"n,16"`
	Y tile.Global[tile.F32]  `tile:"16,16"`
}

// Both operands of a product are of a stage of a ring: that which was waited for, or one that is being filled.
func TestProductsInFlight(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b int // the stages of A and B; the copy of stage 0 was waited for, that of stage 1 not
		two  bool
		want string
	}{
		{"filled", 0, 0, true, ""},
		{"A in flight", 1, 0, true, "s0 is used here"},
		{"B in flight", 0, 1, true, "s1 is used here"},
		{"filled, of one tile", 0, 0, false, ""},
		{"in flight, of one tile", 1, 1, false, "s0 is used here"},
	} {
		k, err := tile.Define("k", func(k *tile.Builder, a productArgs) {
			block, warp := k.Block(), k.Warp()
			x := tile.NewShared[tile.BF16](k, 2, 16, 16)
			y := x
			if c.two {
				y = tile.NewShared[tile.BF16](k, 2, 16, 16)
			}
			for i := range 2 {
				tile.CopyAsync(block, x.At(i), a.X)
				if c.two {
					tile.CopyAsync(block, y.At(i), a.X)
				}
				tile.Commit(block)
			}
			tile.WaitGroup(block, 1)
			block.Sync()
			acc := tile.NewAcc[tile.F32](warp, 16, 16)
			tile.MMA(acc, x.At(c.a, 0).Matrix(16, 16), y.At(c.b, 0).Matrix(16, 16))
			tile.Store(warp, a.Y, acc.Get())
			tile.WaitGroup(block, 0)
		}, tile.Threads(32))
		if err != nil {
			t.Fatal(err)
		}
		_, err = k.Lower("sm_80")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
