package sim

import (
	"fmt"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// meetingBars is the start of a program of a pair.
func meetingBars(count int) []named {
	return []named{
		{"-", declare(got, nil)},
		{"-", barDo(at(), thr.MBarInit, fullBar, i32(count), first)},
		{"init fence", thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}},
		{"meet", clusterSync(at())},
	}
}

// Asynchronous stores are there after the phase that expects them, and need no proxy fence but for bulk copies.
func TestStoreAsync(t *testing.T) {
	store := thr.Do{At: at(), Fn: thr.StAsync, DT: dtype.I32, Args: []thr.Expr{sharedAt(lane, 4), lane, next(2), fullBar}, Buf: bulkTile, Bar: bulkBars}
	own := thr.Do{At: at(), Fn: thr.BulkStore, Args: []thr.Expr{index(arg(bulkX), op(ir.Mul, rank, i32(32))), u32(0), i32(128)}, Pred: first, Buf: bulkTile}
	list := append(meetingBars(1),
		named{"store", store},
		named{"expect", barDo(at(), thr.MBarArriveTx, fullBar, i32(128), first)},
		named{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
		named{"read", loadShared(at(), got, lane)},
		named{"fence", bulkDo(at(), thr.FenceAsync)},
		named{"sync", warpSync(at())},
		named{"bulk", own},
		named{"commit", bulkDo(at(), thr.BulkCommit)},
		named{"read wait", bulkDo(at(), thr.BulkWaitRead, i32(0))},
	)
	pairs(t, inPair, list,
		lack{"init fence", MissingFence, "store", "", nil},
		lack{"meet", BadBarrier, "store", "", nil},
		lack{"store", Deadlock, "wait", "", nil},
		lack{"expect", Deadlock, "wait", "", nil},
		lack{"wait", InFlight, "read", "store", nil},
		lack{"fence", MissingFence, "bulk", "store", nil},
		lack{"read wait", NotAwaited, "bulk", "", nil})
}

// An arrival at a peer releases what came before it, a relaxed one what a fence of the cluster has.
func TestArriveAtPeer(t *testing.T) {
	write := peer(storeShared(at(), lane, lane), next(2))
	list := append(meetingBars(32),
		named{"write", write},
		named{"arrive", barDo(at(), thr.MBarArriveAt, fullBar, next(2), nil)},
		named{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
		named{"read", loadShared(at(), got, lane)},
		named{"leave", clusterSync(at())})
	pairs(t, inPair, list,
		lack{"init fence", MissingFence, "arrive", "", nil},
		lack{"meet", BadBarrier, "arrive", "", nil},
		lack{"write", Uninitialised, "read", "", nil},
		lack{"arrive", Deadlock, "wait", "", nil},
		lack{"wait", Race, "read", "write", []Kind{Uninitialised}}) // a race, or nothing there yet
	relaxed := append(meetingBars(32),
		named{"write", peer(storeShared(at(), lane, lane), next(2))},
		named{"fence", bulkDo(at(), thr.FenceCluster)},
		named{"arrive", barDo(at(), thr.MBarRelaxedAt, fullBar, next(2), nil)},
		named{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
		named{"read", loadShared(at(), got, lane)},
		named{"leave", clusterSync(at())})
	pairs(t, inPair, relaxed, lack{"fence", Race, "read", "write", nil}, lack{"arrive", Deadlock, "wait", "", nil})
}

// What an mbarrier tracks is written by no asynchronous proxy: a bulk store of it needs a fence.
func TestTrackedThenStored(t *testing.T) {
	list := []named{
		{"-", barDo(at(), thr.MBarInit, fullBar, i32(32), first)},
		{"-", barrier(at())},
		{"copy", thr.Do{At: at(), Fn: thr.CpAsync4, Args: []thr.Expr{index(arg(bulkX), lane), sharedAt(lane, 4), i32(4)}, Buf: bulkTile}},
		{"track", barDo(at(), thr.MBarTrack, fullBar, nil, nil)},
		{"arrive", barDo(at(), thr.MBarArrive, fullBar, i32(1), nil)},
		{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
		{"fence", bulkDo(at(), thr.FenceAsync)},
		{"sync", warpSync(at())},
		{"store", bulkStore(at(), first)},
		{"commit", bulkDo(at(), thr.BulkCommit)},
		{"read wait", bulkDo(at(), thr.BulkWaitRead, i32(0))},
	}
	pairs(t, alone, list, lack{"fence", MissingFence, "store", "copy", nil}, lack{"wait", InFlight, "store", "copy", nil}, lack{"arrive", Deadlock, "wait", "", nil})
}

// Small copies, of 4 bytes and of 8, mark what they write and no more.
func TestCopyPieces(t *testing.T) {
	for _, words := range []int{1, 2} {
		t.Run(fmt.Sprint(4*words, " bytes"), func(t *testing.T) {
			copies := op(ir.Eq, op(ir.Rem, op(ir.Div, lane, i32(words)), i32(2)), i32(0)) // every other piece
			if words == 2 {
				copies = op(ir.Eq, op(ir.Rem, lane, i32(4)), i32(0))
			}
			beside := op(ir.Or, lane, i32(words)) // in the piece that is not copied
			fn := map[int]thr.Fn{1: thr.CpAsync4, 2: thr.CpAsync8}[words]
			list := []named{
				{"-", declare(got, nil)},
				{"write", storeShared(at(), lane, lane)},
				{"-", warpSync(at())},
				{"copy", thr.Do{At: at(), Fn: fn, Args: []thr.Expr{index(arg(bulkX), lane), sharedAt(lane, 4), i32(4*words - 1)}, Pred: copies, Buf: bulkTile}},
				{"read beside", loadShared(at(), got, beside)},
				{"commit", thr.Do{At: at(), Fn: thr.CpCommit}},
				{"wait", thr.Do{At: at(), Fn: thr.CpWait, Args: []thr.Expr{i32(0)}}},
				{"sync", warpSync(at())},
				{"read", loadShared(at(), got, op(ir.Sub, i32(31), lane))},
			}
			pairs(t, alone, list, lack{"wait", InFlight, "read", "copy", nil}, lack{"commit", InFlight, "read", "copy", nil}, lack{"sync", Race, "read", "copy", nil})
			tracked := append(append([]named{
				{"-", barDo(at(), thr.MBarInit, fullBar, i32(32), first)},
				{"-", barrier(at())},
			}, list[:4]...),
				named{"track", barDo(at(), thr.MBarTrack, fullBar, nil, nil)},
				named{"arrive", barDo(at(), thr.MBarArrive, fullBar, i32(1), nil)},
				named{"phase", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
				list[8])
			pairs(t, alone, tracked, lack{"track", InFlight, "read", "copy", nil}, lack{"phase", InFlight, "read", "copy", nil}, lack{"arrive", Deadlock, "phase", "", nil})
		})
	}
}

// Bulk copies of what the kernel wrote to global memory: ordered, and fenced.
func TestBulkOfWritten(t *testing.T) {
	list := []named{
		{"-", declare(got, nil)},
		{"-", barDo(at(), thr.MBarInit, fullBar, i32(1), first)}, {"-", thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}}, {"-", barrier(at())},
		{"write", thr.Store{At: at(), Space: thr.Global, Value: lane, Bytes: 4, Addr: index(arg(bulkX), lane)}},
		{"fence", bulkDo(at(), thr.FenceAsyncGlobal)},
		{"sync", warpSync(at())},
		{"copy", bulkLoad(at(), first)},
		{"expect", barDo(at(), thr.MBarArriveTx, fullBar, i32(128), first)},
		{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
		{"read", loadShared(at(), got, lane)},
	}
	pairs(t, alone, list, lack{"fence", MissingFence, "copy", "write", nil}, lack{"sync", GlobalRace, "copy", "write", nil}, lack{"wait", InFlight, "read", "copy", nil})
}

// Before its wait a kernel may not read what the one ahead writes, nor write anything, nor let the next one begin.
func TestDependentLaunch(t *testing.T) {
	m := NewMemory(false)
	x, _ := output(t, m, 4096)
	w := pointer("w", tI)
	other, _ := output(t, m, 4096)
	write := thr.Store{At: at(), Space: thr.Global, Value: lane, Bytes: 4, Addr: index(arg(bulkX), lane)}
	read := func(a *thr.Arg) thr.Stmt {
		return thr.Load{At: at(), Space: thr.Global, Dst: got, Bytes: 4, Addr: index(arg(a), lane)}
	}
	wait, launch := bulkDo(at(), thr.GridWait), bulkDo(at(), thr.GridLaunch)
	ahead := kernel(32, 0, []*thr.Arg{bulkX, w}, launch, write)
	_, e := run(t, ahead, m, 1, words(x, other), Options{Launch: 1})
	silent(t, e)
	for name, c := range map[string]struct {
		body     []thr.Stmt
		overlaps Launch
		early    bool
	}{
		"in order":               {[]thr.Stmt{read(w), wait, launch, read(bulkX), write}, 1, false},
		"reads too early":        {[]thr.Stmt{read(bulkX), wait}, 1, true},
		"writes too early":       {[]thr.Stmt{write, wait}, 1, true},
		"launches too early":     {[]thr.Stmt{launch, wait}, 1, true},
		"no wait":                {[]thr.Stmt{read(bulkX)}, 1, true},
		"nothing to overlap":     {[]thr.Stmt{read(bulkX), wait}, 0, false},
		"written by another one": {[]thr.Stmt{read(bulkX), wait}, 7, false},
	} {
		k := kernel(32, 0, []*thr.Arg{bulkX, w}, append([]thr.Stmt{declare(got, nil)}, c.body...)...)
		_, e := run(t, k, m, 1, words(x, other), Options{Overlaps: c.overlaps})
		if (e != nil) != c.early || e != nil && !e.Has(Premature) {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// Threads of one block race on global memory as those of two blocks do.
func TestGlobalRaceWithinABlock(t *testing.T) {
	write := thr.Store{At: at(), Space: thr.Global, Value: tid, Bytes: 4, Addr: index(arg(bulkX), tid)}
	read := thr.Load{At: at(), Space: thr.Global, Dst: got, Bytes: 4, Addr: index(arg(bulkX), op(ir.Sub, i32(63), tid))}
	for name, c := range map[string]struct {
		between []thr.Stmt
		race    bool
	}{"with a barrier": {[]thr.Stmt{barrier(at())}, false}, "without": {nil, true}, "of the warp only": {[]thr.Stmt{warpSync(at())}, true}} {
		m := NewMemory(false)
		x, _ := output(t, m, 4096)
		k := kernel(64, 0, []*thr.Arg{bulkX}, append(append([]thr.Stmt{declare(got, nil), write}, c.between...), read)...)
		for seed := range uint64(6) {
			_, e := run(t, k, m, 1, words(x), Options{Seed: seed, GlobalRaces: true})
			if (e != nil) != c.race || e != nil && !e.Has(GlobalRace) {
				t.Errorf("%s: %v", name, e)
			}
			if e != nil && !(e.Reports[0].Pos.Known() && e.Reports[0].Other.Known()) {
				t.Errorf("%s: not both lines: %v", name, e)
			}
		}
	}
}
