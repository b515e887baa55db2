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

// named is a statement that a test takes out by its name.
type named struct {
	name string
	s    thr.Stmt
}

// taken is the statements of a list but for one.
func taken(list []named, name string) (out []thr.Stmt) {
	for _, n := range list {
		if n.name != name {
			out = append(out, n.s)
		}
	}
	return out
}

func lineOf(list []named, name string) int {
	i := slices.IndexFunc(list, func(n named) bool { return n.name == name })
	return line(list[i].s)
}

// everyCompletion runs a kernel with all completions and seeds.
func everyCompletion(t *testing.T, k *thr.Kernel, f func(what string, e *Errors)) {
	t.Helper()
	for _, c := range []Completion{BySeed, Early, Late, AtRandom} {
		for seed := range uint64(6) {
			m := NewMemory(false)
			x, _ := output(t, m, 4096)
			_, e := run(t, k, m, 1, words(x), Options{Seed: seed, Copies: c})
			f([]string{"by seed", "early", "late", "random"}[c], e)
		}
	}
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

// The right ring is silent whenever its copies arrive; without one op it is reported, with the lines of both sides where
// there are two.
func TestBulkRing(t *testing.T) {
	everyCompletion(t, ringKernel(""), func(_ string, e *Errors) { silent(t, e) })
	head, producer, consumer := ring()
	all := slices.Concat(head, producer, consumer)
	for _, c := range []struct {
		without   string
		kinds     []Kind // one of them in every run
		at, other string // of one report
	}{
		{"init full", []Kind{BadBarrier}, "copy 0", ""},
		{"init fence", []Kind{MissingFence}, "copy 0", "init full"},
		{"init sync", []Kind{BadBarrier}, "", ""},
		{"copy 0", []Kind{Deadlock}, "", ""},
		{"expect 0", []Kind{Deadlock}, "", ""},
		{"wait empty 0", []Kind{InFlight, Race, MissedPhase, WrongBytes}, "", ""},
		{"copy 1", []Kind{Deadlock}, "wait full 1", ""},
		{"expect 1", []Kind{Deadlock}, "wait full 1", ""},
		{"wait full 0", []Kind{InFlight, Uninitialised, Race}, "", ""},
		{"read sync", []Kind{Race}, "copy 1", "read 0"},
		{"release 0", []Kind{Deadlock}, "wait empty 0", ""},
		{"wait full 1", []Kind{InFlight, NotAwaited, Race}, "", ""},
	} {
		found := c.at == ""
		everyCompletion(t, ringKernel(c.without), func(when string, e *Errors) {
			if e == nil {
				t.Fatalf("without %s, copies %s: silent", c.without, when)
			}
			seen := false
			for _, r := range e.Reports {
				seen = seen || slices.Contains(c.kinds, r.Kind)
				other := 0
				if c.other != "" {
					other = lineOf(all, c.other)
				}
				found = found || slices.Contains(c.kinds, r.Kind) && r.Pos.Frame().Line == lineOf(all, c.at) && r.Other.Frame().Line == other
				if !r.Pos.Known() {
					t.Errorf("without %s: no line: %v", c.without, r)
				}
			}
			if !seen {
				t.Errorf("without %s, copies %s: no %v\n%v", c.without, when, c.kinds, e)
			}
		})
		if !found {
			t.Errorf("without %s: no report at the lines of %s and %s", c.without, c.at, c.other)
		}
	}
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
	for _, c := range []struct {
		without   string
		kind      Kind
		at, other string
	}{
		{"", "", "", ""},
		{"write", Uninitialised, "store", ""},
		{"fence", MissingFence, "store", "write"},
		{"sync", Race, "store", "write"},
		{"commit", InFlight, "write again", "store"},
		{"wait", InFlight, "write again", "store"},
		{"sync behind", InFlight, "write again", "store"},
	} {
		k := kernel(32, 128, []*thr.Arg{bulkX}, taken(list, c.without)...)
		everyCompletion(t, k, func(when string, e *Errors) {
			if c.without == "" {
				silent(t, e)
				return
			}
			if e == nil {
				t.Fatalf("without %s, copies %s: silent", c.without, when)
			}
			for _, r := range e.Reports {
				if r.Kind == c.kind && r.Pos.Frame().Line == lineOf(list, c.at) && (c.other == "" || r.Other.Frame().Line == lineOf(list, c.other)) {
					return
				}
			}
			t.Errorf("without %s, copies %s:\n%v", c.without, when, e)
		})
	}
	// The kernel may end with groups whose bytes are not in global memory yet, but not before they have read its own.
	for _, c := range []struct {
		wait thr.Stmt
		ok   bool
	}{{bulkDo(at(), thr.BulkWaitRead, i32(0)), true}, {bulkDo(at(), thr.BulkWait, i32(0)), true}, {bulkDo(at(), thr.BulkWait, i32(1)), false}} {
		k := kernel(32, 128, []*thr.Arg{bulkX}, append(taken(list, "")[:5], c.wait)...)
		everyCompletion(t, k, func(when string, e *Errors) {
			if (e == nil) != c.ok || e != nil && !e.Has(NotAwaited) {
				t.Errorf("copies %s: %v", when, e)
			}
		})
	}
}

// A fence before the write does not help, nor one in another warp that nothing orders behind it.
func TestFenceInTheWrongPlace(t *testing.T) {
	w, f, s := storeShared(at(), tid, tid), bulkDo(at(), thr.FenceAsync), warpSync(at())
	store, commit, wait := bulkStore(at(), first), bulkDo(at(), thr.BulkCommit), bulkDo(at(), thr.BulkWaitRead, i32(0))
	_, e := run(t, kernel(32, 128, []*thr.Arg{bulkX}, f, w, s, store, commit, wait), memoryWithX(t), 1, words(xAddress(t)), Options{})
	if e == nil || !e.Has(MissingFence) {
		t.Errorf("a fence before the write: %v", e)
	}
	everyCompletion(t, kernel(32, 128, []*thr.Arg{bulkX}, w, s, f, store, commit, wait), func(_ string, e *Errors) { silent(t, e) }) // by the issuer
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
	init1, fence, sync := barDo(at(), thr.MBarInit, fullBar, i32(1), first), thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}, barrier(at())
	arrive := barDo(at(), thr.MBarArrive, fullBar, i32(1), first)
	wait0, wait1 := barDo(at(), thr.MBarWait, fullBar, i32(0), nil), barDo(at(), thr.MBarWait, fullBar, i32(1), nil)
	expect := func(n int) thr.Stmt { return barDo(at(), thr.MBarArriveTx, fullBar, i32(n), first) }
	copy128 := bulkLoad(at(), first)
	for _, c := range []struct {
		name string
		kind Kind
		body []thr.Stmt
	}{
		{"right", "", []thr.Stmt{init1, fence, sync, copy128, expect(128), wait0}},
		{"waiting again is no mistake", "", []thr.Stmt{init1, sync, arrive, wait0, wait0, arrive, wait1}},
		{"too few bytes", Deadlock, []thr.Stmt{init1, fence, sync, copy128, expect(256), wait0}},
		{"too many bytes", Deadlock, []thr.Stmt{init1, fence, sync, copy128, expect(64), wait0}},
		{"negative bytes", WrongBytes, []thr.Stmt{init1, fence, sync, expect(-1)}},
		{"an arrival too many", BadBarrier, []thr.Stmt{init1, fence, sync, barDo(at(), thr.MBarArrive, fullBar, i32(2), first), wait0}},
		{"a phase that nobody sees", MissedPhase, []thr.Stmt{init1, sync, arrive, arrive, wait1}},
		{"a wait two phases late", MissedPhase, []thr.Stmt{init1, sync, arrive, arrive, wait0}},
		{"the wrong parity", Deadlock, []thr.Stmt{init1, sync, wait0, arrive}},
		{"parity 2", BadBarrier, []thr.Stmt{init1, sync, arrive, barDo(at(), thr.MBarWait, fullBar, i32(2), nil)}},
		{"no init", BadBarrier, []thr.Stmt{arrive}},
		{"two inits", BadBarrier, []thr.Stmt{init1, init1}},
		{"no arrivals", BadBarrier, []thr.Stmt{barDo(at(), thr.MBarInit, fullBar, i32(0), first)}},
		{"after its end", BadBarrier, []thr.Stmt{init1, sync, barDo(at(), thr.MBarInval, fullBar, nil, first), sync, arrive}},
		{"between two", OutOfBounds, []thr.Stmt{barDo(at(), thr.MBarInit, u32(132), i32(1), first)}},
		{"outside", OutOfBounds, []thr.Stmt{barDo(at(), thr.MBarInit, u32(144), i32(1), first)}},
		{"a copy that nobody waits for", NotAwaited, []thr.Stmt{init1, fence, sync, copy128, expect(128)}},
	} {
		k := kernel(32, 144, []*thr.Arg{bulkX}, c.body...)
		everyCompletion(t, k, func(when string, e *Errors) {
			if c.kind == "" {
				silent(t, e)
			} else if e == nil || !e.Has(c.kind) {
				t.Errorf("%s, copies %s: no %s\n%v", c.name, when, c.kind, e)
			}
		})
	}
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
	for _, c := range []struct {
		write thr.Stmt
		ok    bool
	}{
		{thr.Store{At: at(), Space: thr.Shared, Value: i32(5), Bytes: 4, Addr: u32(0), Pred: firstOf}, true},
		{thr.Store{At: at(), Space: thr.Shared, Value: i32(5), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, lane, i32(3))}, false},
	} {
		body := []thr.Stmt{declare(got, nil), barDo(at(), thr.MBarInit, fullBar, i32(1), first), barrier(at()),
			thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp, Then: []thr.Stmt{c.write, barDo(at(), thr.MBarArrive, fullBar, i32(1), firstOf)},
				Else: []thr.Stmt{barDo(at(), thr.MBarWait, fullBar, i32(0), nil), loadShared(at(), got, i32(0))}}}
		everyCompletion(t, kernel(64, 144, []*thr.Arg{bulkX}, body...), func(_ string, e *Errors) {
			if (e == nil) != c.ok || e != nil && !e.Has(Race) {
				t.Errorf("%v", e)
			}
		})
	}
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
	named := func(a thr.At, f thr.Fn, id, threads int) thr.Stmt {
		return thr.Do{At: a, Fn: f, Args: []thr.Expr{i32(id), i32(threads)}}
	}
	write := thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: sharedAt(lane, 4)}
	side := func(body ...thr.Stmt) []thr.Stmt { return body }
	for _, c := range []struct {
		name     string
		kind     Kind
		one, two []thr.Stmt
	}{
		{"right", "", side(write, named(at(), thr.NamedArrive, 1, 64)), side(named(at(), thr.NamedSync, 1, 64), readTile)},
		{"twice", "", side(write, named(at(), thr.NamedArrive, 1, 64), named(at(), thr.NamedSync, 2, 64), write), side(named(at(), thr.NamedSync, 1, 64), readTile, named(at(), thr.NamedArrive, 2, 64))},
		{"nobody comes", Deadlock, side(write), side(named(at(), thr.NamedSync, 1, 64), readTile)},
		{"nobody waits", BadBarrier, side(write, named(at(), thr.NamedArrive, 1, 64)), nil},
		{"another barrier", Deadlock, side(write, named(at(), thr.NamedArrive, 2, 64)), side(named(at(), thr.NamedSync, 1, 64), readTile)},
		{"another number", BadBarrier, side(write, named(at(), thr.NamedArrive, 1, 64)), side(named(at(), thr.NamedSync, 1, 32), readTile)},
		{"coming before writing", Race, side(named(at(), thr.NamedArrive, 1, 64), write), side(named(at(), thr.NamedSync, 1, 64), readTile)},
		{"reading before waiting", Race, side(write, named(at(), thr.NamedArrive, 1, 64)), side(readTile, named(at(), thr.NamedSync, 1, 64))},
	} {
		found := c.kind == ""
		k := kernel(64, 144, []*thr.Arg{bulkX}, declare(got, nil), thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp, Then: c.one, Else: c.two})
		everyCompletion(t, k, func(_ string, e *Errors) {
			if (e == nil) != (c.kind == "") {
				t.Errorf("%s: %v", c.name, e)
			}
			found = found || e != nil && e.Has(c.kind)
		})
		if !found {
			t.Errorf("%s: no %s", c.name, c.kind)
		}
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
	for _, c := range []struct {
		without string
		kind    Kind
	}{{"", ""}, {"track", InFlight}, {"wait", InFlight}, {"arrive", Deadlock}, {"copy", Uninitialised}} {
		found := c.kind == ""
		everyCompletion(t, kernel(64, 144, []*thr.Arg{bulkX}, taken(list, c.without)...), func(when string, e *Errors) {
			if (e == nil) != (c.without == "") {
				t.Errorf("without %q, copies %s: %v", c.without, when, e)
			}
			found = found || e != nil && e.Has(c.kind)
		})
		if !found {
			t.Errorf("without %s: no %s", c.without, c.kind)
		}
	}
}
