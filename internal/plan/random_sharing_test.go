package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// Random programs over four tiles, in branches, loops and tiles of loops. With buffers that share bytes wherever they may,
// the simulator is silent and results are those without. Of planners that forget a conflict the simulator tells.

// share is a statement of such a program.
type share struct {
	do        string
	tile, row int
	body, els []share
}

const shareTiles = 4

func drawShares(r *rand.Rand, n, depth int) []share {
	doing := []string{"put get", "put get", "put get", "put get", "copy get", "copy get", "put", "get", "clip", "copy", "sum", "settle", "sync", "sync", "sync", "loop", "while", "if", "warp"}
	var out []share
	for range n {
		m := share{do: doing[r.IntN(len(doing))], tile: r.IntN(shareTiles), row: r.IntN(4)}
		switch m.do {
		case "loop", "while", "if":
			if depth == 0 {
				continue
			}
			m.body = drawShares(r, 2+r.IntN(5), depth-1)
			if m.do == "if" {
				m.els = drawShares(r, r.IntN(4), depth-1)
			}
		}
		out = append(out, m)
		if strings.HasSuffix(m.do, "get") && r.IntN(3) > 0 {
			out = append(out, share{do: "sync"})
		}
	}
	return out
}

func (d shareKernel) run(list []share) {
	for _, m := range list {
		switch m.do {
		case "put":
			d.put(m.tile, m.row)
		case "get":
			d.get(m.tile, m.row)
		case "put get":
			d.put(m.tile, m.row)
			d.get(m.tile, m.row)
		case "clip":
			d.clip(m.tile, m.row, d.a.C.Dim(0).Scale(64))
		case "copy":
			d.copy(m.tile, m.row)
			tile.Commit(d.block)
		case "copy get":
			d.copy(m.tile, m.row)
			tile.Commit(d.block)
			tile.WaitGroup(d.block, 0)
			d.get(m.tile, m.row)
		case "settle":
			tile.WaitGroup(d.block, m.row%2)
		case "sum":
			d.sum(m.row)
		case "sync":
			d.sync()
		case "warp": // one warp alone, between barriers
			warp := d.k.Warp()
			d.sync()
			tile.If(warp, warp.Index().EqInt(m.row), func() {
				tile.Store(warp, d.s[m.tile], tile.Load(warp, d.a.X.At(m.row), warp.Striped(256, 1)))
			})
			d.sync()
		case "loop":
			d.loop(func(tile.Index) {
				in := d
				if m.row == 0 { // tiles of its own
					in.s = tiles(d.k, shareTiles)
				}
				in.run(m.body)
			})
		case "while":
			i := tile.NewVar(d.block, tile.I32(0))
			tile.While(d.block, func() tile.Reg[tile.Bool] { return i.Get().Lt(d.a.C.Dim(0).Int()) }, func() {
				d.run(m.body)
				i.Set(i.Get().Add(tile.I32(1)))
			})
		case "if":
			tile.If(d.block, d.a.C.Dim(0).GtInt(1), func() { d.run(m.body) }, func() { d.run(m.els) })
		}
	}
}

func TestRandomSharing(t *testing.T) {
	to := sm90a(t)
	right, shared, forgotten, caught := 0, 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(7, seed))
		list := drawShares(r, 4+r.IntN(6), 2)
		k := shareProgram(t, shareTiles, func(d shareKernel) {
			d.run(list)
			tile.Commit(d.block)
			tile.WaitGroup(d.block, 0)
		})
		plain, err := k.Lower("sm_90a")
		if err != nil { // an access of a copy in flight
			continue
		}
		want, err := runShared(plain, 2)
		if err != nil { // a read of what nobody wrote
			continue
		}
		right++
		var apart [][2]int
		low, err := plan.LowerSharing(plain.IR, to, func(s *plan.Sharing) {
			for a := range s.Buffers {
				for b := range a {
					if !s.May(a, b) {
						apart = append(apart, [2]int{a, b})
					}
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if low.SharedBytes < plain.SharedBytes {
			shared++
		}
		if got, err := runShared(low, 2); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v; other results: %v\n%v\n%s", seed, err, !slices.Equal(got, want), list, thr.Print(low))
		}
		if len(apart) == 0 {
			continue
		}
		pair := apart[r.IntN(len(apart))]
		low, err = plan.LowerSharing(plain.IR, to, func(s *plan.Sharing) { s.Forget(pair[0], pair[1]) })
		if err != nil {
			t.Fatal(err)
		}
		if !low.Shared[pair[0]].Overlaps(low.Shared[pair[1]]) {
			continue
		}
		forgotten++
		if _, err := runShared(low, 2); err != nil {
			caught++
		}
	}
	const counts = "%d right programs, %d of which share bytes; %d mutants, %d of which are caught"
	t.Logf(counts, right, shared, forgotten, caught)
	if right < 100 || shared < 50 || forgotten < 50 || 3*caught < 2*forgotten {
		t.Error("the test shows too little: ", fmt.Sprintf(counts, right, shared, forgotten, caught))
	}
}
