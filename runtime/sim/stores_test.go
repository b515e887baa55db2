package sim

import (
	"sync/atomic"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// stored is a tile that threads write and one of them stores, and what follows. It is waited for twice: until it has read
// shared memory, and until global memory has it.
func storedThen(rest ...named) []named {
	return append([]named{
		{"-", declare(got, nil)},
		{"-", storeShared(at(), lane, lane)},
		{"-", bulkDo(at(), thr.FenceAsync)},
		{"-", warpSync(at())},
		{"store", bulkStore(at(), first)},
		{"-", bulkDo(at(), thr.BulkCommit)},
		{"read wait", bulkDo(at(), thr.BulkWaitRead, i32(0))},
		{"wait", bulkDo(at(), thr.BulkWait, i32(0))},
		{"sync", warpSync(at())},
	}, rest...)
}

// What a bulk store writes of global memory is under way until its group is over: a wait for its reads is not enough, and
// other threads need a barrier behind the wait.
func TestDestinationOfStore(t *testing.T) {
	next := op(ir.Rem, op(ir.Add, lane, i32(1)), i32(32))
	old := local("old", tI)
	for name, use := range map[string]thr.Stmt{
		"load":     loadGlobal(at(), got, bulkX, next),
		"store":    storeGlobal(at(), bulkX, next, lane),
		"atomic":   thr.Do{At: at(), Fn: thr.AtomicAdd, DT: tI, Dst: &thr.Ref{Local: old}, Args: []thr.Expr{index(arg(bulkX), next), i32(1)}},
		"cp.async": thr.Do{At: at(), Fn: thr.CpAsync4, Args: []thr.Expr{index(arg(bulkX), next), sharedAt(lane, 4), i32(4)}, Buf: bulkTile},
	} {
		t.Run(name, func(t *testing.T) {
			list := storedThen(named{"-", declare(old, nil)}, named{"use", use}, named{"-", thr.Do{At: at(), Fn: thr.CpCommit}},
				named{"-", thr.Do{At: at(), Fn: thr.CpWait, Args: []thr.Expr{i32(0)}}})
			pairs(t, alone, list, lack{"wait", InFlight, "use", "store", nil}, lack{"sync", InFlight, "use", "store", nil})
		})
	}
}

// Two stores to one place need the first to be over.
func TestTwoStoresToOnePlace(t *testing.T) {
	again := func(bytes int, from uint32) []named {
		return storedThen(
			named{"again", thr.Do{At: at(), Fn: thr.BulkStore, Args: []thr.Expr{index(arg(bulkX), i32(int(from/4))), u32(0), i32(bytes)}, Pred: first, Buf: bulkTile}},
			named{"-", bulkDo(at(), thr.BulkCommit)}, named{"-", bulkDo(at(), thr.BulkWaitRead, i32(0))})
	}
	pairs(t, alone, again(128, 0), lack{"wait", InFlight, "again", "store", nil})
	pairs(t, alone, again(16, 112), lack{"wait", InFlight, "again", "store", nil})
	right(t, alone(taken(again(128, 128), "wait")...)) // beside it
}

// What a thread writes to global memory and then stores over by a bulk copy of its own is not ordered by its program: the two
// go by different proxies. A fence before the copy orders them, with a barrier where another thread issues it.
func TestStoreOverWritten(t *testing.T) {
	for name, who := range map[string]thr.Expr{"its own write": i32(0), "another lane's": i32(5)} {
		t.Run(name, func(t *testing.T) {
			by := op(ir.Eq, lane, who)
			list := []named{
				{"-", storeShared(at(), lane, lane)}, {"-", bulkDo(at(), thr.FenceAsync)},
				{"write", thr.Store{At: at(), Space: thr.Global, Value: i32(7), Bytes: 4, Addr: index(arg(bulkX), i32(9)), Pred: by}},
				{"fence", bulkDo(at(), thr.FenceAsyncGlobal)},
				{"sync", warpSync(at())},
				{"store", bulkStore(at(), first)},
				{"-", bulkDo(at(), thr.BulkCommit)},
				{"-", bulkDo(at(), thr.BulkWaitRead, i32(0))},
			}
			lacks := []lack{{"fence", MissingFence, "store", "write", nil}}
			if name != "its own write" {
				lacks = append(lacks, lack{"sync", GlobalRace, "store", "write", []Kind{Race}})
			}
			pairs(t, alone, list, lacks...)
		})
	}
	far := thr.Store{At: at(), Space: thr.Global, Value: i32(7), Bytes: 4, Addr: index(arg(bulkX), i32(32))} // behind the 128 bytes
	right(t, alone(far, storeShared(at(), lane, lane), bulkDo(at(), thr.FenceAsync), warpSync(at()), bulkStore(at(), first), bulkDo(at(), thr.BulkCommit), bulkDo(at(), thr.BulkWaitRead, i32(0))))
}

// A bulk copy of what a store is writing needs the same.
func TestCopyOfStored(t *testing.T) {
	list := append(storedThen(), loading()...)
	pairs(t, alone, append(list, named{"read", loadShared(at(), got, lane)}), lack{"wait", InFlight, "copy", "store", nil})
}

// A wait is for the groups of the thread that stored, for as many as it says.
func TestWaitForSomeStores(t *testing.T) {
	far := thr.Do{At: at(), Fn: thr.BulkStore, Args: []thr.Expr{index(arg(bulkX), i32(512)), u32(0), i32(128)}, Pred: first, Buf: bulkTile}
	list := []named{
		{"-", declare(got, nil)}, {"-", storeShared(at(), lane, lane)}, {"-", bulkDo(at(), thr.FenceAsync)}, {"-", warpSync(at())},
		{"store", bulkStore(at(), first)},
		{"commit", bulkDo(at(), thr.BulkCommit)},
		{"far", far},
		{"-", bulkDo(at(), thr.BulkCommit)},
		{"wait for the first", bulkDo(at(), thr.BulkWait, i32(1))},
		{"sync", warpSync(at())},
		{"use", loadGlobal(at(), got, bulkX, lane)},
		{"-", bulkDo(at(), thr.BulkWaitRead, i32(0))},
	}
	pairs(t, alone, list, lack{"wait for the first", InFlight, "use", "store", nil}, lack{"commit", InFlight, "use", "store", nil})
}

// Who may end with stores under way, and who not: their bytes may come to global memory later, their source may not be gone.
// What they have read by then is what is stored, whatever is written to the tile after it.
func TestStoreOutlivesItsWarp(t *testing.T) {
	list := storedThen(named{"write again", storeShared(at(), lane, i32(7))})
	for _, c := range []Completion{Early, Late, AtRandom} {
		for seed := range uint64(6) {
			m := NewMemory(false)
			x, bytes := output(t, m, 4096)
			_, e := run(t, alone(taken(list, "wait")...), m, 1, words(x), Options{Seed: seed, Copies: c})
			silent(t, e)
			for i, v := range u32s(bytes)[:32] {
				if v != uint32(i) {
					t.Fatalf("copies %v: element %d is %d", c, i, v)
				}
			}
		}
	}
	wrong(t, alone(taken(list, "")[:6]...), NotAwaited, list[4].s, nil)
}

// The destination of a store under way is poison for whoever reads it all the same.
func TestStorePoison(t *testing.T) {
	out := pointer("out", tI)
	list := storedThen(named{"use", loadGlobal(at(), got, bulkX, lane)}, named{"-", storeGlobal(at(), out, lane, ref(got))})
	for without, want := range map[string]uint32{"wait": 0xffffffff, "": 5} {
		m := NewMemory(false)
		x, _ := output(t, m, 4096)
		o, bytes := output(t, m, 4096)
		_, e := run(t, kernel(32, 144, []*thr.Arg{bulkX, out}, taken(list, without)...), m, 1, words(x, o), Options{Copies: Late})
		if got := u32s(bytes)[5]; got != want || (e == nil) != (without == "") {
			t.Errorf("without %q: %#x, want %#x: %v", without, got, want, e)
		}
	}
}

// More stores than fit are held back: none is lost, and none twice.
func TestManyStores(t *testing.T) {
	i := local("i", tI)
	store := thr.Do{At: at(), Fn: thr.BulkStore, Args: []thr.Expr{index(arg(bulkX), op(ir.Mul, ref(i), i32(4))), u32(0), i32(16)}, Pred: first, Buf: bulkTile}
	body := []thr.Stmt{warpSync(at()), storeShared(at(), lane, op(ir.Add, ref(i), lane)), bulkDo(at(), thr.FenceAsync), warpSync(at()), store,
		bulkDo(at(), thr.BulkCommit), bulkDo(at(), thr.BulkWaitRead, i32(0))}
	for _, c := range []Completion{Early, Late, AtRandom} {
		for seed := range uint64(3) {
			m := NewMemory(false)
			x, bytes := output(t, m, 16*1000)
			_, e := run(t, alone(thr.For{At: at(), Var: i, Lo: i32(0), Hi: i32(1000), Step: i32(1), Body: body}), m, 1, words(x), Options{Copies: c, Seed: seed})
			silent(t, e)
			for j, v := range u32s(bytes) {
				if v != uint32(j/4+j%4) {
					t.Fatalf("copies %v: element %d is %d", c, j, v)
				}
			}
		}
	}
}

// Other blocks see what a store wrote by a release behind the wait for its group.
func TestStoreThenRelease(t *testing.T) {
	flag, gotFlag := pointer("flag", tI), local("flag_of", tI)
	use := loadGlobal(at(), got, bulkX, lane)
	list := []named{
		{"-", storeShared(at(), lane, lane)}, {"-", bulkDo(at(), thr.FenceAsync)}, {"-", warpSync(at())},
		{"store", bulkStore(at(), first)},
		{"-", bulkDo(at(), thr.BulkCommit)},
		{"read wait", bulkDo(at(), thr.BulkWaitRead, i32(0))},
		{"wait", bulkDo(at(), thr.BulkWait, i32(0))},
		{"-", thr.Store{At: at(), Space: thr.Global, Value: i32(1), Bytes: 4, Addr: arg(flag), Order: ir.Release, Pred: first}},
	}
	program := func(without string) *thr.Kernel {
		acquire := thr.Load{At: at(), Space: thr.Global, Dst: gotFlag, Bytes: 4, Addr: arg(flag), Order: ir.Acquire}
		return kernel(32, 144, []*thr.Arg{bulkX, flag}, declare(got, nil), declare(gotFlag, nil),
			thr.If{At: at(), Cond: op(ir.Eq, bid, i32(0)), Then: taken(list, without),
				Else: []thr.Stmt{acquire, warpSync(at()), thr.If{At: at(), Cond: op(ir.Eq, ref(gotFlag), i32(1)), Scope: ir.ScopeWarp, Then: []thr.Stmt{use}}}})
	}
	for without, want := range map[string]bool{"": false, "wait": true} {
		seen := false
		for seed := range uint64(12) { // in some of which block 0 runs first
			m := NewMemory(false)
			x, _ := output(t, m, 4096)
			f, _ := output(t, m, 4096)
			_, e := run(t, program(without), m, 2, words(x, f), Options{Seed: seed, GlobalRaces: true})
			if e == nil {
				continue
			}
			seen = true
			if why, _ := shown(e, GlobalRace, nil, line(use), line(list[3].s)); why != "" {
				t.Error(why)
			}
		}
		if seen != want {
			t.Errorf("without %q: reported: %v", without, seen)
		}
	}
}

// Reductions of tensors are ordered with atomics and with one another, and with nothing else.
func TestRunsOfReductions(t *testing.T) {
	p, err := Compile(kernel(64, 144, []*thr.Arg{bulkX}, bulkStore(at(), first)))
	if err != nil {
		t.Fatal(err)
	}
	m := NewMemory(false)
	x, _ := output(t, m, 4096)
	c := newCluster(p, m, func() pool { return p.pool(1, words(x)) }, launch{stop: new(atomic.Bool)})
	c.run(0, 0)
	w, other, al := c.warps[0], c.warps[1], m.find(x)
	c.stores[al] = &stores{}
	for i := range 3 * fewRuns { // of one warp, that overlap
		c.stores[al].add(c, stored{4 * i % 1000, 4*i%1000 + 40, newRecord(agentEpoch+uint32(i), 0, w.writesAgent(), 0) | recordAgent, true})
	}
	if len(c.stores[al].runs) != 3*fewRuns {
		t.Fatalf("%d runs are left, and nobody has waited", len(c.stores[al].runs))
	}
	w.block.log, other.block.log = log{}, log{}
	other.checkStores(0, source{al, 100, 4}, 0, true)
	if len(other.block.log.list) > 0 {
		t.Errorf("an atomic: %v", other.block.log.list[0])
	}
	other.checkStores(0, source{al, 2000, 4}, 0, false)
	if len(other.block.log.list) > 0 {
		t.Errorf("beside it: %v", other.block.log.list[0])
	}
	other.checkStores(0, source{al, 100, 4}, 0, false)
	if len(other.block.log.list) != 1 {
		t.Errorf("a load: %d reports", len(other.block.log.list))
	}
	for _, v := range c.warps { // all know that they are over
		v.clock[w.writesAgent()] = agentEpoch + 3*fewRuns
	}
	c.stores[al].many = 0
	c.stores[al].add(c, stored{0, 4, newRecord(agentEpoch+3*fewRuns, 0, w.writesAgent(), 0) | recordAgent, false})
	if len(c.stores[al].runs) != 1 {
		t.Errorf("%d runs are left, all but one of which everybody knows to be over", len(c.stores[al].runs))
	}
}
