package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Programs of mbarriers and bulk copies, by hand: a tile of 128 bytes and two mbarriers behind it. Lines tell statements
// apart, so each stands on one of its own.
var (
	bulkTile = &thr.SharedBuf{Name: "tile", Bytes: 128, Manual: true}
	bulkBars = &thr.SharedBuf{Name: "bars", Offset: 128, Bytes: 16, Manual: true}
	fullBar  = u32(128)
	emptyBar = u32(136)
	first    = op(ir.Eq, tid, i32(0))
	firstOf  = op(ir.Eq, lane, i32(0)) // of a warp
	bulkX    = pointer("x", tI)
	got      = local("got", tI)
	readTile = loadShared(at(), got, lane)
)

func barDo(a thr.At, f thr.Fn, bar, x, pred thr.Expr) thr.Do {
	args := []thr.Expr{bar}
	if x != nil {
		args = append(args, x)
	}
	return thr.Do{At: a, Fn: f, Args: args, Pred: pred, Bar: bulkBars}
}

func bulkLoad(a thr.At, pred thr.Expr) thr.Stmt {
	return thr.Do{At: a, Fn: thr.BulkLoad, Args: []thr.Expr{arg(bulkX), u32(0), i32(128), fullBar}, Pred: pred, Buf: bulkTile, Bar: bulkBars}
}

func bulkStore(a thr.At, pred thr.Expr) thr.Stmt {
	return thr.Do{At: a, Fn: thr.BulkStore, Args: []thr.Expr{arg(bulkX), u32(0), i32(128)}, Pred: pred, Buf: bulkTile}
}

func bulkDo(a thr.At, f thr.Fn, groups ...thr.Expr) thr.Stmt {
	return thr.Do{At: a, Fn: f, Args: groups}
}

// ring is one warp that fills a tile twice and one that reads it twice.
func ring() (head, producer, consumer []named) {
	head = []named{
		{"init full", barDo(at(), thr.MBarInit, fullBar, i32(1), first)},
		{"init empty", barDo(at(), thr.MBarInit, emptyBar, i32(1), first)},
		{"init fence", thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}},
		{"init sync", barrier(at())},
	}
	producer = []named{
		{"wait empty 1", barDo(at(), thr.MBarWait, emptyBar, i32(1), nil)}, // passes
		{"copy 0", bulkLoad(at(), firstOf)},
		{"expect 0", barDo(at(), thr.MBarArriveTx, fullBar, i32(128), firstOf)},
		{"wait empty 0", barDo(at(), thr.MBarWait, emptyBar, i32(0), nil)},
		{"copy 1", bulkLoad(at(), firstOf)},
		{"expect 1", barDo(at(), thr.MBarArriveTx, fullBar, i32(128), firstOf)},
	}
	consumer = []named{
		{"wait full 0", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
		{"read 0", loadShared(at(), got, lane)},
		{"read sync", warpSync(at())},
		{"release 0", barDo(at(), thr.MBarArrive, emptyBar, i32(1), firstOf)},
		{"wait full 1", barDo(at(), thr.MBarWait, fullBar, i32(1), nil)},
		{"read 1", loadShared(at(), got, lane)},
	}
	return head, producer, consumer
}

func ringKernel(without string) *thr.Kernel {
	head, producer, consumer := ring()
	body := append([]thr.Stmt{declare(got, nil)}, taken(head, without)...)
	body = append(body, thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp, Then: taken(producer, without), Else: taken(consumer, without)})
	return kernel(64, 144, []*thr.Arg{bulkX}, body...)
}

// A ring of one stage lacks each of its ops in turn.
func TestBulkRing(t *testing.T) {
	head, producer, consumer := ring()
	pairsOf(t, ringKernel, slices.Concat(head, producer, consumer),
		lack{"init full", BadBarrier, "wait full 0", "", nil},
		lack{"init fence", MissingFence, "copy 0", "init full", nil},
		lack{"init sync", BadBarrier, "wait full 0", "init full", []Kind{Deadlock}},
		lack{"copy 0", Deadlock, "wait full 0", "expect 0", nil},
		lack{"expect 0", Deadlock, "wait full 0", "copy 0", nil},
		lack{"wait empty 0", InFlight, "copy 1", "copy 0", []Kind{Race, MissedPhase, WrongBytes}},
		lack{"copy 1", Deadlock, "wait full 1", "expect 1", nil},
		lack{"expect 1", Deadlock, "wait full 1", "copy 1", nil},
		lack{"wait full 0", InFlight, "read 0", "copy 0", []Kind{Uninitialised, Race}},
		lack{"read sync", Race, "copy 1", "read 0", nil},
		lack{"release 0", Deadlock, "wait empty 0", "wait full 1", nil},
		lack{"wait full 1", Race, "copy 1", "read 1", []Kind{NotAwaited, InFlight}})
}

// storing is a tile that threads write and one of them stores.
func storing() []named {
	return []named{
		{"write", storeShared(at(), tid, tid)},
		{"fence", bulkDo(at(), thr.FenceAsync)},
		{"sync", warpSync(at())},
		{"store", bulkStore(at(), first)},
		{"commit", bulkDo(at(), thr.BulkCommit)},
		{"wait", bulkDo(at(), thr.BulkWaitRead, i32(0))},
		{"sync behind", warpSync(at())},
		{"write again", storeShared(at(), tid, i32(7))},
	}
}

// A store by bulk copy needs what was written to be fenced and ordered, and what is written again to wait.
func TestBulkStore(t *testing.T) {
	list := storing()
	pairs(t, alone, list,
		lack{"write", Uninitialised, "store", "", nil},
		lack{"fence", MissingFence, "store", "write", nil},
		lack{"sync", Race, "store", "write", nil},
		lack{"commit", InFlight, "write again", "store", nil},
		lack{"wait", InFlight, "write again", "store", nil},
		lack{"sync behind", InFlight, "write again", "store", nil})
	// The kernel may end with groups whose bytes are not in global memory yet, but not before they have read its own.
	begun := taken(list, "")[:5]
	right(t, alone(append(begun, bulkDo(at(), thr.BulkWaitRead, i32(0)))...))
	right(t, alone(append(begun, bulkDo(at(), thr.BulkWait, i32(0)))...))
	wrong(t, alone(append(begun, bulkDo(at(), thr.BulkWait, i32(1)))...), NotAwaited, list[3].s, nil)
}

// A fence before the write does not help; one of the issuer, behind the barrier, does.
func TestFenceInTheWrongPlace(t *testing.T) {
	write := storeShared(at(), tid, tid)
	fence, sync := bulkDo(at(), thr.FenceAsync), warpSync(at())
	store := bulkStore(at(), first)
	commit, wait := bulkDo(at(), thr.BulkCommit), bulkDo(at(), thr.BulkWaitRead, i32(0))
	wrong(t, alone(fence, write, sync, store, commit, wait), MissingFence, store, write)
	right(t, alone(write, sync, fence, store, commit, wait))
}

// memoryWithX and xAddress are a memory whose first allocation is x.
func memoryWithX(t *testing.T) *Memory {
	m := NewMemory(false)
	output(t, m, 4096)
	return m
}

func xAddress(t *testing.T) uint64 {
	a, _ := output(t, NewMemory(false), 4096)
	return a
}

// The ledger: bytes that nobody expects, arrivals that nobody counts, phases that nobody sees, and barriers that are
// none.
func TestMisuse(t *testing.T) {
	init1 := barDo(at(), thr.MBarInit, fullBar, i32(1), first)
	fence, sync := thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}, barrier(at())
	arrive := barDo(at(), thr.MBarArrive, fullBar, i32(1), first)
	again := barDo(at(), thr.MBarArrive, fullBar, i32(1), first)
	twice := barDo(at(), thr.MBarArrive, fullBar, i32(2), first)
	wait0 := barDo(at(), thr.MBarWait, fullBar, i32(0), nil)
	wait1 := barDo(at(), thr.MBarWait, fullBar, i32(1), nil)
	wait2 := barDo(at(), thr.MBarWait, fullBar, i32(2), nil)
	end := barDo(at(), thr.MBarInval, fullBar, nil, first)
	copy128 := bulkLoad(at(), first)
	late := bulkLoad(at(), first)
	expect128 := barDo(at(), thr.MBarArriveTx, fullBar, i32(128), first)
	expect256 := barDo(at(), thr.MBarArriveTx, fullBar, i32(256), first)
	expect64 := barDo(at(), thr.MBarArriveTx, fullBar, i32(64), first)
	negative := barDo(at(), thr.MBarArriveTx, fullBar, i32(-1), first)
	initAgain := barDo(at(), thr.MBarInit, fullBar, i32(1), first)
	init0 := barDo(at(), thr.MBarInit, fullBar, i32(0), first)
	between := barDo(at(), thr.MBarInit, u32(132), i32(1), first)
	outside := barDo(at(), thr.MBarInit, u32(144), i32(1), first)
	for _, c := range []struct {
		name      string
		kind      Kind
		at, other thr.Stmt
		body      []thr.Stmt
	}{
		{"right", "", nil, nil, []thr.Stmt{init1, fence, sync, copy128, expect128, wait0}},
		{"waiting again is no mistake", "", nil, nil, []thr.Stmt{init1, sync, arrive, wait0, wait0, arrive, wait1}},
		{"too few bytes", Deadlock, wait0, expect256, []thr.Stmt{init1, fence, sync, copy128, expect256, wait0}},
		{"too many bytes", Deadlock, wait0, copy128, []thr.Stmt{init1, fence, sync, copy128, expect64, wait0}},
		{"a copy that comes too late", NotAwaited, late, nil, []thr.Stmt{init1, fence, sync, copy128, expect128, wait0, late}},
		{"negative bytes", WrongBytes, negative, nil, []thr.Stmt{init1, fence, sync, negative}},
		{"an arrival too many", BadBarrier, twice, init1, []thr.Stmt{init1, fence, sync, twice, wait0}},
		{"a phase that nobody sees", MissedPhase, again, arrive, []thr.Stmt{init1, sync, arrive, again, wait1}},
		{"a wait two phases late", MissedPhase, wait0, again, []thr.Stmt{init1, sync, arrive, again, wait0}},
		{"the wrong parity", Deadlock, wait0, arrive, []thr.Stmt{init1, sync, wait0, arrive}},
		{"parity 2", BadBarrier, wait2, nil, []thr.Stmt{init1, sync, arrive, wait2}},
		{"no init", BadBarrier, arrive, nil, []thr.Stmt{arrive}},
		{"two inits", BadBarrier, initAgain, init1, []thr.Stmt{init1, initAgain}},
		{"no arrivals", BadBarrier, init0, nil, []thr.Stmt{init0}},
		{"after its end", BadBarrier, arrive, end, []thr.Stmt{init1, sync, end, sync, arrive}},
		{"between two", OutOfBounds, between, nil, []thr.Stmt{between}},
		{"outside", OutOfBounds, outside, nil, []thr.Stmt{outside}},
		{"a copy that nobody waits for", NotAwaited, copy128, nil, []thr.Stmt{init1, fence, sync, copy128, expect128}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.kind == "" {
				right(t, alone(c.body...))
			} else {
				wrong(t, alone(c.body...), c.kind, c.at, c.other)
			}
		})
	}
}

// The end of an mbarrier is ordered after what all warps do with it, also where they happen to have done it.
func TestInvalIsOrdered(t *testing.T) {
	init, sync := barDo(at(), thr.MBarInit, fullBar, i32(1), first), barrier(at())
	arrive := barDo(at(), thr.MBarArrive, fullBar, i32(1), first)
	wait := barDo(at(), thr.MBarWait, fullBar, i32(0), nil)
	end := barDo(at(), thr.MBarInval, fullBar, nil, first)
	right(t, two(init, sync, arrive, wait, sync, end))
	right(t, two(init, sync, arrive, wait, sync, end, init, sync, arrive, wait))
	wrong(t, two(init, sync, arrive, wait, end), BadBarrier, end, wait)
}

// A phase that expects the bytes of one copy is over while another one is under way, or never, by who comes first.
func TestBytesOfTwoCopies(t *testing.T) {
	half := func(at thr.At, off uint32) thr.Stmt {
		return thr.Do{At: at, Fn: thr.BulkLoad, Args: []thr.Expr{arg(bulkX), u32(off), i32(64), fullBar}, Pred: first, Buf: bulkTile, Bar: bulkBars}
	}
	init, fence, sync := barDo(at(), thr.MBarInit, fullBar, i32(1), first), thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}, barrier(at())
	one := half(at(), 0)
	two := half(at(), 64)
	expect64, expect128 := barDo(at(), thr.MBarArriveTx, fullBar, i32(64), first), barDo(at(), thr.MBarArriveTx, fullBar, i32(128), first)
	wait := barDo(at(), thr.MBarWait, fullBar, i32(0), nil)
	right(t, alone(init, fence, sync, one, two, expect128, wait))
	wrong(t, alone(init, fence, sync, one, two, expect64, wait), WrongBytes, two, expect64, Deadlock)
}

// The table of a deadlock says who waits where, for which phase of what, what it lacks and where it could come from; one
// of warps that ask is one too.
func TestDeadlockTable(t *testing.T) {
	over := local("over", tB)
	_, e := run(t, ringKernel("expect 1"), memoryWithX(t), 1, words(xAddress(t)), Options{Seed: 1})
	if e == nil || !e.Has(Deadlock) {
		t.Fatal(e)
	}
	text := e.Error()
	for _, want := range []string{
		"nobody can go on", "warp 0 has left the kernel", "for phase 1 (parity 1) of bars[0]",
		"bars[0] is in phase 1: 1 of 1 arrival pending, 0 bytes expected, 128 copied", "who arrives does so at ",
		"mbarrier_test.go:", // lines
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	ask := thr.While{At: at(), Head: []thr.Stmt{declare(over, nil), thr.Do{At: at(), Fn: thr.MBarTest, Dst: &thr.Ref{Local: over}, Args: []thr.Expr{fullBar, i32(0)}, Bar: bulkBars}},
		Cond: op(ir.Not, ref(over)), Scope: ir.ScopeWarp}
	_, e = run(t, kernel(64, 144, nil, barDo(at(), thr.MBarInit, fullBar, i32(2), first), barrier(at()), barDo(at(), thr.MBarArrive, fullBar, i32(1), first), ask),
		NewMemory(false), 1, nil, Options{})
	if e == nil || !e.Has(Deadlock) || !strings.Contains(e.Error(), "asks at") || !strings.Contains(e.Error(), "1 of 2 arrivals pending") {
		t.Errorf("warps that ask: %v", e)
	}
}

// A thread that arrives alone hands on what it did itself, and nothing of its warp's other lanes.
func TestArrivalOfOneLane(t *testing.T) {
	ofFirst := thr.Store{At: at(), Space: thr.Shared, Value: i32(5), Bytes: 4, Addr: u32(0), Pred: firstOf}
	ofThird := thr.Store{At: at(), Space: thr.Shared, Value: i32(5), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, lane, i32(3))}
	read := loadShared(at(), got, i32(0))
	program := func(write thr.Stmt) *thr.Kernel {
		return two(declare(got, nil), barDo(at(), thr.MBarInit, fullBar, i32(1), first), barrier(at()),
			thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp, Then: []thr.Stmt{write, barDo(at(), thr.MBarArrive, fullBar, i32(1), firstOf)},
				Else: []thr.Stmt{barDo(at(), thr.MBarWait, fullBar, i32(0), nil), read}})
	}
	right(t, program(ofFirst))
	wrong(t, program(ofThird), Race, read, ofThird)
}

// A copy under way is poison.
func TestBulkPoison(t *testing.T) {
	m := NewMemory(false)
	x, bytes := output(t, m, 4096)
	for i := range bytes {
		bytes[i] = 1
	}
	body := []thr.Stmt{declare(got, nil), barDo(at(), thr.MBarInit, fullBar, i32(1), first), thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}, barrier(at()),
		bulkLoad(at(), first), warpSync(at()), readTile, barDo(at(), thr.MBarArriveTx, fullBar, i32(128), first), barDo(at(), thr.MBarWait, fullBar, i32(0), nil),
		storeGlobal(at(), bulkX, tid, ref(got))}
	_, e := run(t, kernel(32, 144, []*thr.Arg{bulkX}, body...), m, 1, words(x), Options{Copies: Late})
	if e == nil || !e.Has(InFlight) || u32s(bytes)[0] != 0xffffffff {
		t.Errorf("%#x, %v", u32s(bytes)[0], e)
	}
}

// Two warps meet crosswise at two named barriers; without one coming, or with other numbers, that is reported.
func TestNamedBarriers(t *testing.T) {
	barrierOf := func(a thr.At, f thr.Fn, id, threads int) thr.Stmt {
		return thr.Do{At: a, Fn: f, Args: []thr.Expr{i32(id), i32(threads)}}
	}
	write := thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: sharedAt(lane, 4)}
	come := barrierOf(at(), thr.NamedArrive, 1, 64)
	elsewhere := barrierOf(at(), thr.NamedArrive, 2, 64)
	back := barrierOf(at(), thr.NamedSync, 2, 64)
	wait := barrierOf(at(), thr.NamedSync, 1, 64)
	one := barrierOf(at(), thr.NamedSync, 1, 32)
	comeBack := barrierOf(at(), thr.NamedArrive, 2, 64)
	read := loadShared(at(), got, lane)
	side := func(body ...thr.Stmt) []thr.Stmt { return body }
	for _, c := range []struct {
		name      string
		kind      Kind
		at, other thr.Stmt
		one, two  []thr.Stmt
		ways      []Kind
	}{
		{"right", "", nil, nil, side(write, come), side(wait, read), nil},
		{"twice", "", nil, nil, side(write, come, back, write), side(wait, read, comeBack), nil},
		{"nobody comes", Deadlock, wait, nil, side(write), side(wait, read), nil},
		{"nobody waits", BadBarrier, come, nil, side(write, come), nil, nil},
		{"another barrier", Deadlock, wait, nil, side(write, elsewhere), side(wait, read), nil},
		{"another number", BadBarrier, one, come, side(write, come), side(one, read), []Kind{Uninitialised}},
		{"coming before writing", Race, read, write, side(come, write), side(wait, read), []Kind{Uninitialised}},
		{"reading before waiting", Race, read, write, side(write, come), side(read, wait), []Kind{Uninitialised}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := two(declare(got, nil), thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp, Then: c.one, Else: c.two})
			if c.kind == "" {
				right(t, k)
			} else {
				wrong(t, k, c.kind, c.at, c.other, c.ways...)
			}
		})
	}
}

// Copies of threads that an mbarrier tracks are there after its phase, for other threads too.
func TestTrackedCopies(t *testing.T) {
	list := []named{
		{"-", declare(got, nil)},
		{"-", barDo(at(), thr.MBarInit, fullBar, i32(64), first)},
		{"-", barrier(at())},
		{"copy", thr.Do{At: at(), Fn: thr.CpAsync, Args: []thr.Expr{index(arg(bulkX), op(ir.Mul, lane, i32(4))), sharedAt(lane, 16), i32(16)}, Pred: op(ir.Lt, tid, i32(8)), Buf: bulkTile}},
		{"track", barDo(at(), thr.MBarTrack, fullBar, nil, nil)},
		{"arrive", barDo(at(), thr.MBarArrive, fullBar, i32(1), nil)},
		{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
		{"read", loadShared(at(), got, op(ir.Sub, i32(31), lane))},
	}
	pairs(t, two, list,
		lack{"track", InFlight, "read", "copy", nil},
		lack{"wait", InFlight, "read", "copy", []Kind{Uninitialised}},
		lack{"arrive", Deadlock, "wait", "", nil},
		lack{"copy", Uninitialised, "read", "", nil})
}
