package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// shareArgs are the arguments of kernels with two tiles: what tile i is filled with and where it goes.
type shareArgs struct {
	X, Y tile.Global[tile.I32] `tile:"rows,256"`
	C    tile.Global[tile.I32] `tile:"cond"`
}

// shareKernel records bodies with tiles.
type shareKernel struct {
	k     *tile.Builder
	a     shareArgs
	block tile.Block
	s     []tile.Shared[tile.I32]
}

func (d shareKernel) sync() { d.block.Sync() }

// put writes a tile with a row of X, get stores it in a row of Y, by other threads than wrote it.
func (d shareKernel) put(i int, row any) {
	tile.Store(d.block, d.s[i], tile.Load(d.block, d.a.X.At(row), d.block.Striped(256, 1)))
}

func (d shareKernel) get(i int, row any) {
	tile.Store(d.block, d.a.Y.At(row), tile.Load(d.block, d.s[i], d.block.Striped(256, 2)))
}

// clip is put of the elements before a number of them.
func (d shareKernel) clip(i int, row any, n tile.Index) {
	tile.Store(d.block, d.s[i], tile.Load(d.block, d.a.X.At(row), d.block.Striped(256, 1).Clip(n)))
}

// copy is put by cp.async.
func (d shareKernel) copy(i int, row any) { tile.CopyAsync(d.block, d.s[i], d.a.X.At(row)) }

// bulk copies into a tile by the asynchronous proxy, and waits.
func (d shareKernel) bulk(i int, row any, bar tile.MBarrier) {
	bar.ArriveExpect(d.block, tile.CopyBulk(d.block, d.s[i], d.a.X.At(row), bar))
	bar.Wait(d.block, 0)
}

// sum stores the sum of a row of X: by a partial result of each warp, in a buffer of its own.
func (d shareKernel) sum(row int) {
	tile.Store(d.block, d.a.Y.At(row, 0), tile.Load(d.block, d.a.X.At(row), d.block.Striped(256, 1)).Sum())
}

type shareSlot struct {
	tile.Slot
	T tile.Shared[tile.I32]
}

// roles moves the rows of X to Y by a pipeline.
func (d shareKernel) roles() {
	pipe := tile.NewPipeline(d.k, 2, shareSlot{T: tile.NewShared[tile.I32](d.k, 256)})
	rows := d.a.X.Dim(0)
	d.k.Roles(tile.Producer(0, func(p tile.Warp) {
		for row := range tile.Range(p, 0, rows, 1) {
			s := pipe.Acquire(p)
			tile.CopyAsync(s, s.T, d.a.X.At(row))
		}
	}), tile.ConsumerWarps(3, 0, func(c tile.Warp) {
		for row := range tile.Range(c, 0, rows, 1) {
			s := pipe.Wait(c)
			x := tile.Load(c, s.T, c.Striped(256, 4))
			s.Release(c)
			tile.Store(c, d.a.Y.At(row), x)
		}
	}))
}

// loop runs a body for rows 0 and 1.
func (d shareKernel) loop(body func(row tile.Index)) {
	for row := range tile.Range(d.block, 0, d.a.X.Dim(0).DivInt(2), 1) {
		body(row)
	}
}

// sharing are programs, with whether their tiles may share bytes. They come in pairs: with one barrier or wait less, or
// one access more, they may not, and then the simulator says why if they do.
var sharing = []struct {
	name string
	may  bool
	why  string // what the simulator says where they may not, and do
	body func(d shareKernel)
}{
	{"one after the other", true, "", func(d shareKernel) {
		d.put(0, 0)
		d.get(0, 0)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
	}},
	{"one after the other without a barrier", false, "race", func(d shareKernel) {
		d.put(0, 0)
		d.get(0, 0)
		d.put(1, 1)
		d.get(1, 1)
	}},
	{"read again", false, "taken over", func(d shareKernel) {
		d.put(0, 0)
		d.get(0, 0)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		d.sync()
		d.get(0, 2)
	}},
	{"written again", true, "", func(d shareKernel) {
		d.put(0, 0)
		d.get(0, 0)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		d.sync()
		d.put(0, 2)
		d.get(0, 2)
	}},
	{"written again in part", false, "taken over", func(d shareKernel) {
		d.put(0, 0)
		d.get(0, 0)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		d.sync()
		d.clip(0, 2, d.a.C.Dim(0))
		d.get(0, 2)
	}},
	{"in turn in a loop", true, "", func(d shareKernel) {
		d.loop(func(row tile.Index) {
			d.put(0, row)
			d.get(0, row)
			d.sync()
			d.put(1, row.AddInt(2))
			d.get(1, row.AddInt(2))
			d.sync()
		})
	}},
	{"in turn in a loop without a barrier at its end", false, "race", func(d shareKernel) {
		d.loop(func(row tile.Index) {
			d.put(0, row)
			d.get(0, row)
			d.sync()
			d.put(1, row.AddInt(2))
			d.get(1, row.AddInt(2))
		})
	}},
	{"carried by a loop", false, "taken over", func(d shareKernel) {
		d.put(0, 0)
		d.loop(func(row tile.Index) {
			d.get(0, row)
			d.sync()
			d.put(1, row)
			d.get(1, row.AddInt(2))
			d.sync()
		})
	}},
	{"made in a loop", true, "", func(d shareKernel) {
		d.loop(func(row tile.Index) {
			d.s = tiles(d.k, 2)
			n := d.a.C.Dim(0).Scale(0).AddInt(256)
			for i := range 2 {
				d.clip(i, row.AddInt(2*i), n)
				d.get(i, row.AddInt(2*i))
				d.sync()
			}
		})
	}},
	{"made outside of it", false, "", func(d shareKernel) {
		d.loop(func(row tile.Index) {
			n := d.a.C.Dim(0).Scale(0).AddInt(256)
			for i := range 2 {
				d.clip(i, row.AddInt(2*i), n)
				d.get(i, row.AddInt(2*i))
				d.sync()
			}
		})
	}},
	{"in a While", true, "", func(d shareKernel) {
		i := tile.NewVar(d.block, tile.I32(0))
		tile.While(d.block, func() tile.Reg[tile.Bool] {
			d.put(0, 0)
			d.get(0, 0)
			d.sync()
			return i.Get().Lt(d.a.X.Dim(0).Int())
		}, func() {
			d.put(1, 1)
			d.get(1, 1)
			d.sync()
			i.Set(i.Get().Add(tile.I32(1)))
		})
	}},
	{"in a While without a barrier behind its head", false, "race", func(d shareKernel) {
		i := tile.NewVar(d.block, tile.I32(0))
		tile.While(d.block, func() tile.Reg[tile.Bool] {
			d.put(0, 0)
			d.get(0, 0)
			return i.Get().Lt(d.a.X.Dim(0).Int())
		}, func() {
			d.put(1, 1)
			d.get(1, 1)
			d.sync()
			i.Set(i.Get().Add(tile.I32(1)))
		})
	}},
	{"in two branches of the block", true, "", func(d shareKernel) {
		tile.If(d.block, d.a.C.Dim(0).GtInt(1), func() {
			d.put(0, 0)
			d.get(0, 0)
		}, func() {
			d.put(1, 1)
			d.get(1, 1)
		})
	}},
	{"in two branches of a warp", false, "race", func(d shareKernel) {
		warp := d.k.Warp()
		one := func(i int) func() {
			return func() {
				tile.Store(warp, d.s[i], tile.Load(warp, d.a.X.At(i), warp.Striped(256, 1)))
				tile.Store(warp, d.a.Y.At(i), tile.Load(warp, d.s[i], warp.Striped(256, 2)))
			}
		}
		tile.If(warp, warp.Index().EqInt(0), one(0), func() { tile.If(warp, warp.Index().EqInt(1), one(1)) })
	}},
	{"a barrier in one branch", false, "race", func(d shareKernel) {
		d.put(0, 0)
		d.get(0, 0)
		tile.If(d.block, d.a.C.Dim(0).GtInt(1), func() { d.sync() })
		d.put(1, 1)
		d.get(1, 1)
	}},
	{"a barrier in both", true, "", func(d shareKernel) {
		d.put(0, 0)
		d.get(0, 0)
		tile.If(d.block, d.a.C.Dim(0).GtInt(1), func() { d.sync() }, func() { d.sync() })
		d.put(1, 1)
		d.get(1, 1)
	}},
	{"copies that are awaited", true, "", func(d shareKernel) {
		d.copy(0, 0)
		tile.Commit(d.block)
		tile.WaitGroup(d.block, 0)
		d.get(0, 0)
		d.sync()
		d.copy(1, 1)
		tile.Commit(d.block)
		tile.WaitGroup(d.block, 0)
		d.get(1, 1)
	}},
	{"a copy that nobody reads, awaited late", false, "still be writing", func(d shareKernel) {
		d.copy(0, 0)
		tile.Commit(d.block)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		tile.WaitGroup(d.block, 0)
	}},
	{"a copy that nobody reads, awaited early", true, "", func(d shareKernel) {
		d.copy(0, 0)
		tile.Commit(d.block)
		tile.WaitGroup(d.block, 0)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
	}},
	{"a copy whose group a WaitGroup leaves", false, "still be writing", func(d shareKernel) {
		d.copy(0, 0)
		tile.Commit(d.block)
		tile.WaitGroup(d.block, 1)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		tile.WaitGroup(d.block, 0)
	}},
	{"a copy without a group", false, "still be writing", func(d shareKernel) {
		d.copy(0, 0)
		tile.WaitGroup(d.block, 0)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		tile.Commit(d.block)
		tile.WaitGroup(d.block, 0)
	}},
	{"a bulk copy", false, "", func(d shareKernel) { // its wait is the author's; that it ends all is not known
		bar := tile.NewMBarriers(d.k, 1, 1).At(0)
		d.s[0] = d.s[0].Manual()
		d.bulk(0, 0, bar)
		d.get(0, 0)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
	}},
	{"a bulk copy over what threads wrote", false, "missing proxy fence", func(d shareKernel) {
		bar := tile.NewMBarriers(d.k, 1, 1).At(0)
		d.s[1] = d.s[1].Manual()
		d.put(0, 0)
		d.get(0, 0)
		d.sync()
		d.bulk(1, 1, bar)
		d.get(1, 1)
	}},
	{"a bulk store at the end", true, "", func(d shareKernel) {
		d.s[1] = d.s[1].Manual()
		d.put(0, 0)
		d.get(0, 0)
		d.sync()
		d.put(1, 1)
		tile.FenceAsync(d.block)
		d.sync()
		tile.StoreBulk(d.block, d.a.Y.At(1), d.s[1])
		tile.CommitBulk(d.block)
		tile.WaitBulk(d.block, 0)
	}},
	{"after a pipeline", true, "", func(d shareKernel) {
		d.roles()
		d.sync()
		d.put(1, 1)
		d.get(1, 0)
	}},
	{"after a pipeline without a barrier", false, "race", func(d shareKernel) {
		d.roles()
		d.put(1, 1)
		d.get(1, 0)
	}},
	{"before a pipeline", false, "missing proxy fence", func(d shareKernel) {
		d.put(1, 1)
		d.get(1, 0)
		d.sync()
		d.roles()
	}},
	{"in turn with a slot", false, "missing proxy fence", func(d shareKernel) {
		pipe := tile.NewPipeline(d.k, 2, shareSlot{T: tile.NewShared[tile.I32](d.k, 256)})
		for row := range tile.Range(d.block, 0, d.a.X.Dim(0), 1) {
			s := pipe.Acquire(d.block)
			tile.CopyAsync(s, s.T, d.a.X.At(row))
			s = pipe.Wait(d.block)
			x := tile.Load(d.block, s.T, d.block.Striped(256, 2))
			s.Release(d.block)
			tile.Store(d.block, d.a.Y.At(row), x)
			d.sync()
			d.put(1, row)
			d.get(1, row)
			d.sync()
		}
	}},
	{"a slot that is waited for late", false, "under way", func(d shareKernel) {
		pipe := tile.NewPipeline(d.k, 2, shareSlot{T: tile.NewShared[tile.I32](d.k, 256)})
		s := pipe.Acquire(d.block)
		tile.CopyAsync(s, s.T, d.a.X.At(0))
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		d.sync()
		pipe.Wait(d.block).Release(d.block)
	}},
	{"two sums", true, "", func(d shareKernel) {
		d.sum(0)
		d.sync()
		d.sum(1)
	}},
	{"two sums without a barrier", false, "race", func(d shareKernel) {
		d.sum(0)
		d.sum(1)
	}},
	{"a bulk store under way", false, "under way", func(d shareKernel) {
		d.s[0] = d.s[0].Manual()
		d.put(0, 0)
		tile.FenceAsync(d.block)
		d.sync()
		tile.StoreBulk(d.block, d.a.Y.At(0), d.s[0])
		tile.CommitBulk(d.block)
		d.sync()
		d.put(1, 1)
		d.get(1, 1)
		tile.WaitBulk(d.block, 0)
	}},
}

func tiles(k *tile.Builder, n int) []tile.Shared[tile.I32] {
	var out []tile.Shared[tile.I32]
	for range n {
		out = append(out, tile.NewShared[tile.I32](k, 256))
	}
	return out
}

// shareProgram defines a program with so many tiles.
func shareProgram(t testing.TB, n int, body func(d shareKernel)) *tile.Kernel {
	t.Helper()
	return define(t, "share", func(k *tile.Builder, a shareArgs) {
		body(shareKernel{k, a, k.Block(), tiles(k, n)})
	}, tile.Threads(128), tile.WholeVectors())
}

func sm90a(t testing.TB) *target.Target {
	t.Helper()
	to, err := target.Lookup("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// runShared runs a program on rows of X that differ, by so many seeds or until something is reported.
func runShared(low *thr.Kernel, seeds uint64) (y []int64, err error) {
	for cond := 1; cond <= 2; cond++ {
		for seed := range seeds {
			in := map[string][]int64{"x": data(1, 4*256), "y": make([]int64, 4*256), "c": make([]int64, cond)}
			out, err := launch(low, dtype.I32, in, map[string]int{"rows": 4, "cond": cond}, seed)
			if err != nil {
				return nil, err
			}
			y = append(y, out["y"]...)
		}
	}
	return y, nil
}

// Tiles share bytes where that changes nothing, and where they must not, the simulator reports them if they do.
func TestSharing(t *testing.T) {
	for _, c := range sharing {
		t.Run(c.name, func(t *testing.T) {
			plain := lower(t, shareProgram(t, 2, c.body))
			want, err := runShared(plain, 8)
			if err != nil {
				t.Fatalf("without sharing: %v", err)
			}
			var a, b int
			var may bool
			low, err := plan.LowerSharing(plain.IR, sm90a(t), func(s *plan.Sharing) {
				var tiles []int
				for i, buf := range s.Buffers {
					if !strings.Contains(buf.Note, "mbarrier") {
						tiles = append(tiles, i)
					}
				}
				if len(tiles) != 2 {
					t.Fatalf("%d buffers", len(tiles))
				}
				a, b = tiles[0], tiles[1]
				may = s.May(a, b)
			})
			if err != nil {
				t.Fatal(err)
			}
			if may != c.may || low.Shared[a].Overlaps(low.Shared[b]) != c.may {
				t.Fatalf("may share: %v, want %v\n%s", may, c.may, thr.Print(low))
			}
			if got, err := runShared(low, 8); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v; other results: %v\n%s", err, !slices.Equal(got, want), thr.Print(low))
			}
			if c.may || c.why == "" {
				return
			}
			low, err = plan.LowerSharing(plain.IR, sm90a(t), func(s *plan.Sharing) { s.Forget(a, b) })
			if err != nil {
				t.Fatal(err)
			}
			if _, err := runShared(low, 8); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("sharing all the same: %v, want a report of: %s\n%s", err, c.why, thr.Print(low))
			}
		})
	}
}

// What other blocks access shares nothing, and neither do mbarriers.
func TestSharingPinned(t *testing.T) {
	k := define(t, "pinned", func(k *tile.Builder, a clusterInts) {
		block, cluster := k.Block(), k.Cluster()
		s, own := tile.NewShared[tile.I32](k, 64), tile.NewShared[tile.I32](k, 64)
		bar := tile.NewMBarriers(k, 1, 1).At(0)
		bar.ArriveOnce(block)
		bar.Wait(block, 0)
		tile.Store(block, s, tile.Load(block, a.X.At(0), block.Striped(64, 1)))
		other := cluster.Rank().AddInt(1).RemInt(2)
		tile.Store(block, a.B.At(0), tile.Load(block, tile.Peer(s, other), block.Striped(64, 1)))
		cluster.Sync()
		tile.Store(block, own, tile.Load(block, a.X.At(1), block.Striped(64, 1)))
		tile.Store(block, a.B.At(1), tile.Load(block, own, block.Striped(64, 2)))
		cluster.Sync()
		own2 := tile.NewShared[tile.I32](k, 64)
		tile.Store(block, own2, tile.Load(block, a.X.At(2), block.Striped(64, 1)))
		tile.Store(block, a.B.At(0), tile.Load(block, own2, block.Striped(64, 2)))
	}, tile.ClusterSize(2), tile.Threads(64))
	if _, err := plan.LowerSharing(lower(t, k).IR, sm90a(t), func(s *plan.Sharing) {
		for a, x := range s.Buffers {
			for b, y := range s.Buffers[:a] {
				want := min(x.Name, y.Name) == "s1" && max(x.Name, y.Name) == "s2" // own and own2
				if s.May(a, b) != want {
					t.Errorf("%s and %s may share: %v, want %v", x.Name, y.Name, !want, want)
				}
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
}
