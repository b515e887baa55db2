package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// An access of a whole warp leaves the same shadow and the same reports as its lanes one by one, and counts the same
// bank passes as by words.
func TestWholeWarpIsItsLanes(t *testing.T) {
	const warps, cells = 4, 128
	x := local("x", tI)
	k := kernel(32*warps, 4*cells, nil, declare(x, nil), storeShared(at(), tid, tid), loadShared(at(), x, tid))
	p, err := Compile(k)
	if err != nil {
		t.Fatal(err)
	}
	var sites [2]int32 // of a load, of a store
	for i, s := range p.sites {
		switch s.what {
		case "load of shared memory":
			sites[0] = int32(i)
		case "store of shared memory":
			sites[1] = int32(i)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	quick, reported := 0, 0
	for range 200 {
		var blocks [2]*block
		for i := range blocks {
			b := newCluster(p, nil, func() pool { return p.pool(1, nil) }, launch{}).blocks[0]
			b.shared.reset()
			for _, w := range b.warps {
				w.reset()
			}
			blocks[i] = b
		}
		for range 40 {
			id, kind, sync := rng.IntN(warps), rng.IntN(2), rng.IntN(6)
			a := &access{site: sites[kind], bytes: 4, write: kind == 1}
			var off offsets
			start, stride := rng.IntN(cells), 1+rng.IntN(4)
			for l := range off {
				off[l] = 4 * ((start + l*stride) % cells)
				if stride == 4 && rng.IntN(8) == 0 {
					off[l] = 4 * rng.IntN(cells)
				}
			}
			for i, b := range blocks {
				w := b.warps[id]
				switch sync {
				case 0, 1:
					for _, w := range b.warps {
						w.state = waiting
					}
					joinClocks(b.warps, waiting)
				case 2:
					w.ended()
					w.settle()
				}
				if i == 0 {
					for l := range warpSize {
						a.check(w, &w.block.shared, 1<<l, &off)
					}
					continue
				}
				probe := w.block.shared.shadow
				probe.cells = append([]cell(nil), probe.cells...)
				if a.checkCells(w, &probe, newRecord(w.epoch, a.site, id, 0), &off) != allLanes {
					quick++
				}
				a.check(w, &w.block.shared, allLanes, &off)
			}
			one, all := &blocks[0].shared.shadow, &blocks[1].shared.shadow
			if !slices.Equal(one.cells, all.cells) || !slices.Equal(one.sets, all.sets) {
				t.Fatalf("shadows differ:\n%v\n%v", *one, *all)
			}
			var counts banks
			counts.sites = make([]bankCount, 1)
			counts.count(0, &off, allLanes, 4)
			if got, want := counts.sites[0].passes, passes(&off); got != want {
				t.Fatalf("%d bank passes, want %d: %v", got, want, off)
			}
		}
		var logs [2][]Report
		for i, b := range blocks {
			for _, r := range b.log.list {
				logs[i] = append(logs[i], *r.Report)
			}
		}
		if !slices.Equal(logs[0], logs[1]) {
			t.Fatalf("reports differ:\n%v\n%v", logs[0], logs[1])
		}
		reported += len(logs[0])
	}
	if quick < 1000 || reported < 100 {
		t.Fatalf("%d accesses took the quick path, %d reports: the test shows too little", quick, reported)
	}
}

// passes counts bank passes of 4-byte accesses from the definition: the most distinct words in a bank.
func passes(off *offsets) int64 {
	words := map[int]map[int]bool{}
	most := 0
	for _, o := range off {
		bank := o / 4 % 32
		if words[bank] == nil {
			words[bank] = map[int]bool{}
		}
		words[bank][o/4] = true
		most = max(most, len(words[bank]))
	}
	return int64(most)
}
