package plan_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
	"pgregory.net/rapid"
)

// Random last-unit reductions: warps, blocks or clusters store parts at random scopes, do other things that have
// barriers, and count themselves; the last adds up all parts.

type orderArgs struct {
	X tile.Global[tile.I32] `tile:"rows,n"`
	P tile.Global[tile.I32] `tile:"rows,n"`
	Y tile.Global[tile.I32] `tile:"8,rows,n"` // where no two units write to one place
	O tile.Global[tile.I32] `tile:"1"`
	C tile.Global[tile.I32] `tile:"4"`
}

// orders is a program.
type orders struct {
	cluster, threads int
	unit             string // who counts itself
	store            string // who stores the parts
	split            bool   // a release, then an acquire
	before           []string
	after            string
	loop             bool
}

func drawOrders(t *rapid.T) orders {
	num := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
	p := orders{cluster: []int{0, 2, 4}[num(0, 2, "cluster")], threads: 64}
	units, doing := []string{"warp", "block"}, []string{"store", "store", "sum", "share", "share", "sync", "relaxed", "other warp", "other block", "acquire block", "acquire warp"}
	if p.cluster > 0 {
		units, doing = append(units, "cluster", "cluster"), append(doing, "csum", "csync", "fetch", "other cluster", "acquire cluster")
	}
	p.unit, p.split, p.loop = rapid.SampledFrom(units).Draw(t, "unit"), num(0, 1, "split") == 1, num(0, 1, "loop") == 1
	p.store = rapid.SampledFrom(units).Draw(t, "store")
	p.before = rapid.SliceOfN(rapid.SampledFrom(doing), 1, 6).Draw(t, "before")
	p.after = rapid.SampledFrom([]string{"unit", "warp", "other"}).Draw(t, "after")
	return p
}

func (p orders) kernel() (*tile.Kernel, error) {
	opts := []tile.Option{tile.Threads(p.threads)}
	if p.cluster > 0 {
		opts = append(opts, tile.ClusterSize(p.cluster))
	}
	return tile.Define("orders", func(k *tile.Builder, a orderArgs) {
		block, warp := k.Block(), k.Warp()
		var cluster tile.Cluster
		if p.cluster > 0 {
			cluster = k.Cluster()
		}
		scope := func(name string) (tile.Scope, func(vec int) tile.Span, tile.Index, tile.Index) {
			switch name {
			case "warp":
				return warp, func(vec int) tile.Span { return warp.Striped(256, vec) }, k.BlockID().Scale(k.Warps()).Add(warp.Index()), k.NumBlocks().Scale(k.Warps())
			case "block":
				return block, func(vec int) tile.Span { return block.Striped(256, vec) }, k.BlockID(), k.NumBlocks()
			}
			return cluster, func(vec int) tile.Span { return cluster.Striped(256, vec) }, k.ClusterID(), k.NumClusters()
		}
		unit, unitSpan, _, units := scope(p.unit)
		sh, tw := tile.NewShared[tile.I32](k, 256), tile.NewShared[tile.I32](k, k.Warps(), 256)
		do := func(i tile.Index) {
			for _, what := range p.before {
				name := what[strings.LastIndex(what, " ")+1:]
				switch what {
				case "store":
					s, span, at, _ := scope(p.store)
					tile.Store(s, a.P.Row(at), tile.Load(s, a.X.Row(at), span(2)))
				case "other warp", "other block", "other cluster":
					s, span, at, _ := scope(name)
					tile.Store(s, a.Y.At(map[string]int{"warp": 0, "block": 1, "cluster": 2}[name], at), tile.Load(s, a.X.Row(at), span(1)))
				case "sum":
					tile.Store(block, a.Y.At(3, k.BlockID(), 0), tile.Load(block, a.X, block.Striped(256, 1)).Sum())
				case "csum":
					tile.Store(cluster, a.Y.At(4, k.ClusterID(), 1), tile.Load(cluster, a.X, cluster.Striped(256, 1)).Sum())
				case "share":
					tile.Store(warp, tw.At(warp.Index()), tile.Load(warp, a.X, warp.Striped(256, 1)))
					tile.Store(warp, a.Y.At(5, k.BlockID(), warp.Index()), tile.Load(warp, tw.At(warp.Index()), warp.Striped(256, 2).Clip(a.X.Dim(1))).Sum())
				case "fetch":
					tile.Store(block, sh, tile.Load(block, a.X, block.Striped(256, 1)))
					tile.Store(block, a.Y.At(6, k.BlockID(), 0), tile.Load(block, tile.Peer(sh, 1), block.Striped(256, 2).Clip(a.X.Dim(1))).Sum())
				case "sync":
					block.Sync()
				case "csync":
					cluster.Sync()
				case "relaxed":
					tile.AtomicAdd(block, a.C.At(1), tile.I32(1))
				case "acquire warp", "acquire block", "acquire cluster":
					s, _, _, _ := scope(name)
					tile.LoadScalar(s, a.C.At(2), tile.Acquire)
				}
			}
			var old tile.Reg[tile.I32]
			if p.split {
				tile.AtomicAdd(unit, a.C.At(0), tile.I32(1), tile.Release)
				old = tile.LoadScalar(unit, a.C.At(0), tile.Acquire).Add(tile.I32(-1))
			} else {
				old = tile.AtomicAdd(unit, a.C.At(0), tile.I32(1), tile.AcqRel)
			}
			tile.If(unit, old.Eq(units.SubInt(1).Int()), func() {
				switch {
				case p.after == "warp" && p.unit != "cluster":
					acc := tile.NewVar(warp, tile.I32(0))
					for r := range tile.Range(warp, 0, a.P.Dim(0), 1) {
						acc.Set(acc.Get().Add(tile.Load(warp, a.P.Row(r), warp.Striped(256, 1)).Sum()))
					}
					if p.unit == "warp" {
						tile.Store(warp, a.O, acc.Get())
					} else { // of several warps one
						tile.If(warp, warp.Index().EqInt(0), func() { tile.Store(warp, a.O, acc.Get()) })
					}
				default:
					acc := tile.NewVar(unit, tile.I32(0))
					for r := range tile.Range(unit, 0, a.P.Dim(0), 1) {
						acc.Set(acc.Get().Add(tile.Load(unit, a.P.Row(r), unitSpan(1)).Sum()))
					}
					tile.Store(unit, a.O, acc.Get())
				}
			})
		}
		if p.loop {
			outer := tile.Scope(block)
			if p.cluster > 0 {
				outer = cluster
			}
			for i := range tile.Range(outer, 0, a.X.Dim(0).MinInt(1), 1) {
				do(i)
			}
			return
		}
		do(k.BlockID())
	}, opts...)
}

// check plans a program, unless it is one that the planner refuses, and runs it under several seeds: with races between
// blocks reported.
func (p orders) check(t *rapid.T) {
	k, err := p.kernel()
	if err != nil {
		t.Fatalf("%+v", err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		msg := err.Error()
		switch {
		case strings.Contains(msg, "is used at"), strings.Contains(msg, "a release at"), strings.Contains(msg, "inside control flow"):
			return // the author has to say which scope waits for which
		}
		t.Fatalf("%v: %v", p, err)
	}
	grid := 4 * max(1, p.cluster)
	rows, n := grid*p.threads/32, 200
	x := data(2, rows*n)
	var want int64
	stored := 0
	for _, b := range p.before {
		if b == "store" {
			stored = map[string]int{"warp": grid * p.threads / 32, "block": grid, "cluster": grid / max(1, p.cluster)}[p.store]
		}
	}
	for _, v := range x[:stored*n] {
		want += v
	}
	for seed := range uint64(6) {
		in := map[string][]int64{"x": x, "p": make([]int64, rows*n), "y": make([]int64, 8*rows*n), "o": {0}, "c": make([]int64, 4)}
		got, err := launchGrid(low, dtype.I32, in, map[string]int{"rows": rows, "n": n}, seed, grid)
		if err != nil || got["o"][0] != want {
			t.Fatalf("%+v, seed %d: %v, got %v want %d\n%v\n%s", p, seed, err, got["o"], want, k, thr.Print(low))
		}
	}
}

// TestRandomOrders draws 100 programs; -rapid.checks asks for more.
func TestRandomOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { drawOrders(t).check(t) })
}
