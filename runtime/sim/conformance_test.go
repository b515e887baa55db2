package sim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// TestConformance mirrors the public concurrency tests about copies from global to shared memory: for each, a program
// that is silent and the same without one thing. The names are those of the index in the directory of conformance cases.
func TestConformance(t *testing.T) {
	dir := os.Getenv(env.Conformance)
	if dir == "" {
		t.Skipf("%s is not set: it names the directory with concurrency_cases.json", env.Conformance)
	}
	text, err := os.ReadFile(filepath.Join(dir, "concurrency_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Cases []struct{ Test string }
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range index.Cases {
		known[c.Test] = true
	}
	for name, check := range conformance {
		if !known[name] {
			t.Errorf("the index has no %s", name)
		}
		t.Run(name, check)
	}
}

// The parts of the programs, for blocks of 64 threads that copy 1 KB, 16 bytes each, from x. Lines tell them apart.
var (
	copyX    = pointer("x", tI)
	copyAll  = thr.Do{At: at(), Fn: thr.CpAsync, Args: []thr.Expr{index(arg(copyX), op(ir.Mul, tid, i32(4))), sharedAt(tid, 16), i32(16)}}
	commit   = thr.Do{At: at(), Fn: thr.CpCommit}
	waitAll  = thr.Do{At: at(), Fn: thr.CpWait, Args: []thr.Expr{i32(0)}}
	copyOwn  = local("own", tI)
	readOwn  = loadShared(at(), copyOwn, op(ir.Mul, tid, i32(4)))
	readNext = loadShared(at(), copyOwn, op(ir.Rem, op(ir.Add, op(ir.Mul, tid, i32(4)), i32(128)), i32(256))) // another warp's
	writeOwn = storeShared(at(), op(ir.Mul, tid, i32(4)), tid)
)

// pair runs a program, which must be silent, and the same without statement i, which must be reported as one of two
// kinds, with the lines of two statements in either order where other is set.
func pair(t *testing.T, kind Kind, one, other thr.Stmt, i int, body ...thr.Stmt) {
	t.Helper()
	body = append([]thr.Stmt{declare(copyOwn, nil)}, body...)
	trialOf := func(body []thr.Stmt) *Errors { return trial(t, kernel(64, 1024, []*thr.Arg{copyX}, body...), 1) }
	silent(t, trialOf(body))
	e := trialOf(without(body, i+1))
	if e == nil {
		t.Fatalf("silent without statement %d", i)
	}
	for _, r := range e.Reports {
		lines := [2]int{r.Pos.Frame().Line, r.Other.Frame().Line}
		if r.Kind == kind && (other == nil && lines[0] == line(one) || other != nil && (lines == [2]int{line(one), line(other)} || lines == [2]int{line(other), line(one)})) {
			return
		}
	}
	t.Errorf("without statement %d:\n%v", i, e)
}

// loading is a tile that a bulk copy fills and a thread waits for.
func loading() []named {
	return []named{
		{"-", barDo(at(), thr.MBarInit, fullBar, i32(1), first)}, {"-", thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}}, {"-", barrier(at())},
		{"copy", bulkLoad(at(), first)}, {"expect", barDo(at(), thr.MBarArriveTx, fullBar, i32(128), first)},
		{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
	}
}

var conformance = map[string]func(t *testing.T){
	// A copy is not visible to its own thread until it is waited for.
	"test_async_gmem_ops_not_visible_unless_synchronized": func(t *testing.T) {
		pair(t, InFlight, readOwn, copyAll, 2, copyAll, commit, waitAll, readOwn)
		pair(t, InFlight, readOwn, copyAll, 1, copyAll, commit, waitAll, readOwn)
	},
	// A write meets a copy that began before it.
	"test_finds_races_in_single_thread_earlier_gmem_to_smem_copy": func(t *testing.T) {
		pair(t, InFlight, writeOwn, copyAll, 2, copyAll, commit, waitAll, writeOwn)
	},
	// A copy meets accesses before it: those of its own thread are ordered, those of others need a barrier.
	"test_finds_races_in_single_thread_later_gmem_to_smem_copy": func(t *testing.T) {
		silent(t, trial(t, kernel(64, 1024, []*thr.Arg{copyX}, declare(copyOwn, nil), writeOwn, readOwn, copyAll, commit, waitAll), 1))
		pair(t, InFlight, copyAll, copyAll, 2, copyAll, commit, waitAll, copyAll, commit, waitAll)
	},
	// What one warp has waited for, another may read after a barrier.
	"test_finds_races_in_multi_thread_gmem_to_smem_copy": func(t *testing.T) {
		pair(t, Race, readNext, copyAll, 3, copyAll, commit, waitAll, barrier(at()), readNext)
	},
	// And the other way round: a copy to what another warp has read.
	"test_finds_races_in_cross_thread_gmem_to_smem_copy": func(t *testing.T) {
		pair(t, Race, copyAll, readNext, 5, copyAll, commit, waitAll, barrier(at()), readNext, barrier(at()), copyAll, commit, waitAll)
	},
	// A copy must be awaited before the kernel ends; there it is a store that must.
	"test_finds_exception_in_unawaited_smem_to_gmem": func(t *testing.T) {
		pair(t, NotAwaited, copyAll, nil, 2, copyAll, commit, waitAll)
	},
	// A wait that leaves the newest group says nothing of it.
	"test_finds_races_in_non_fully_waited_smem_to_gmem_copy": func(t *testing.T) {
		one := thr.Do{At: at(), Fn: thr.CpWait, Args: []thr.Expr{i32(1)}}
		pair(t, InFlight, readOwn, copyAll, 3, copyAll, commit, one, commit, one, readOwn, waitAll)
	},
	// What a bulk copy brings is visible to another after the wait.
	"test_gmem_to_smem_visible_in_async_if_awaited": func(t *testing.T) {
		pairs(t, alone, append(loading(), named{"use", bulkStore(at(), first)}, named{"-", bulkDo(at(), thr.BulkCommit)}, named{"-", bulkDo(at(), thr.BulkWaitRead, i32(0))}),
			lack{"wait", InFlight, "use", "copy", nil})
	},
	// A bulk store's tile is written again only behind a wait.
	"test_finds_races_in_single_thread_smem_to_gmem_copy": func(t *testing.T) { pairs(t, alone, storing(), lack{"wait", InFlight, "write again", "store", nil}) },
	"test_overwriting_copy_source_smem":                   func(t *testing.T) { pairs(t, alone, storing(), lack{"wait", InFlight, "write again", "store", nil}) },
	// Bytes that are not in global memory yet may outlive the kernel.
	"test_unawaited_smem_to_gmem_write_side_ok": func(t *testing.T) {
		everyCompletion(t, kernel(32, 128, []*thr.Arg{bulkX}, taken(storing(), "")...), func(_ string, e *Errors) { silent(t, e) })
	},
	// A wait is for the groups of the thread that stored.
	"test_wait_smem_to_gmem_isolated_per_thread": func(t *testing.T) {
		other := thr.If{Cond: op(ir.Eq, warpID, i32(1)), Scope: ir.ScopeWarp, Then: []thr.Stmt{bulkDo(at(), thr.BulkWaitRead, i32(0))}}
		mine := thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp, Then: []thr.Stmt{bulkDo(at(), thr.BulkWaitRead, i32(0))}}
		body := func(wait thr.Stmt) []thr.Stmt {
			return []thr.Stmt{storeShared(at(), lane, warpID), bulkDo(at(), thr.FenceAsync), barrier(at()), bulkStore(at(), first), bulkDo(at(), thr.BulkCommit), wait, barrier(at())}
		}
		_, e := run(t, kernel(64, 128, []*thr.Arg{bulkX}, body(other)[1:]...), memoryWithX(t), 1, words(xAddress(t)), Options{})
		if e == nil || !e.Has(NotAwaited) {
			t.Errorf("a wait of another warp: %v", e)
		}
		k := kernel(64, 128, []*thr.Arg{bulkX}, append([]thr.Stmt{thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: sharedAt(lane, 4), Pred: op(ir.Eq, warpID, i32(0))}}, body(mine)[1:]...)...)
		everyCompletion(t, k, func(_ string, e *Errors) { silent(t, e) })
	},
	// Who fills and who reads meet at an mbarrier.
	"test_producer_consumer_threads_with_barrier": func(t *testing.T) { TestBulkRing(t) },
	// Several arrivals, and the bytes of several copies, make one phase.
	"test_copy_gmem_to_smem_multiple_arrivals_at_barrier": func(t *testing.T) {
		half := func(at thr.At, off uint32) thr.Stmt {
			return thr.Do{At: at, Fn: thr.BulkLoad, Args: []thr.Expr{arg(bulkX), u32(off), i32(64), fullBar}, Pred: first, Buf: bulkTile, Bar: bulkBars}
		}
		expect := func(at thr.At) thr.Stmt { return barDo(at, thr.MBarArriveTx, fullBar, i32(64), first) }
		list := []named{{"-", declare(got, nil)}, {"-", barDo(at(), thr.MBarInit, fullBar, i32(2), first)}, {"-", thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}}, {"-", barrier(at())},
			{"-", half(at(), 0)}, {"first arrival", expect(at())}, {"-", half(at(), 64)},
			{"arrival", expect(at())}, {"phase", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)}, {"-", loadShared(at(), got, lane)}}
		pairs(t, alone, list, lack{"arrival", Deadlock, "phase", "first arrival", nil})
	},
	// Phases that nobody sees, and waits that come two phases late.
	"test_completing_barrier_twice_in_same_thread_raises":           func(t *testing.T) { TestMisuse(t) },
	"test_not_waiting_for_all_barrier_completions_in_thread_raises": func(t *testing.T) { TestMisuse(t) },
	"test_wait_for_barrier_twice":                                   func(t *testing.T) { TestMisuse(t) },
	"test_completing_barrier_twice_in_different_threads_raises": func(t *testing.T) {
		one, two := barDo(at(), thr.MBarArrive, fullBar, i32(1), op(ir.Eq, tid, i32(0))), barDo(at(), thr.MBarArrive, fullBar, i32(1), op(ir.Eq, tid, i32(32)))
		body := []thr.Stmt{barDo(at(), thr.MBarInit, fullBar, i32(1), first), barrier(at()), one, two}
		everyCompletion(t, kernel(64, 144, []*thr.Arg{bulkX}, body...), func(when string, e *Errors) {
			if e == nil || !e.Has(MissedPhase) {
				t.Errorf("copies %s: %v", when, e)
			}
		})
		body[0] = barDo(at(), thr.MBarInit, fullBar, i32(2), first)
		everyCompletion(t, kernel(64, 144, []*thr.Arg{bulkX}, body...), func(_ string, e *Errors) { silent(t, e) })
	},
	"test_more_barrier_completions_than_waits_raises": func(t *testing.T) {
		arrive := func(a thr.At) thr.Stmt { return barDo(a, thr.MBarArrive, fullBar, i32(1), first) }
		wait := func(a thr.At, parity int) thr.Stmt { return barDo(a, thr.MBarWait, fullBar, i32(parity), nil) }
		list := []named{{"-", barDo(at(), thr.MBarInit, fullBar, i32(1), first)}, {"-", barrier(at())},
			{"-", arrive(at())},
			{"wait", wait(at(), 0)},
			{"again", arrive(at())}, {"-", wait(at(), 1)}}
		pairs(t, alone, list, lack{"wait", MissedPhase, "again", "", nil})
	},
	// Bytes and arrivals within a cluster.
	"test_no_race_in_async_copy_gmem_to_smem_in_cluster": func(t *testing.T) {
		list := append(append([]named{{"-", declare(got, nil)}}, loading()...), named{"read", loadShared(at(), got, lane)})
		pairs(t, inPair, list, lack{"wait", InFlight, "read", "copy", nil})
	},
	"test_race_in_async_copy_smem_to_gmem_in_cluster": func(t *testing.T) {
		m := NewMemory(false)
		x, _ := output(t, m, 4096)
		_, e := run(t, inPair(taken(storing(), "")...), m, 2, words(x), Options{GlobalRaces: true})
		if e == nil || !e.Has(GlobalRace) {
			t.Errorf("two blocks store the same bytes: %v", e)
		}
	},
	// One arrival, and several, make a phase.
	"test_single_barrier_with_multiple_arrival":  func(t *testing.T) { TestTrackedThenStored(t) },
	"test_multiple_barriers_with_single_arrival": func(t *testing.T) { TestBulkRing(t) },
	"test_copy_gmem_to_smem_single_thread":       func(t *testing.T) { TestBulkOfWritten(t) },
	"test_copy_smem_to_gmem":                     func(t *testing.T) { TestBulkStore(t) },
	// Waiting again is no mistake.
	"test_allows_rewaiting_smem_to_gmem_copies": func(t *testing.T) {
		silent(t, trial(t, kernel(64, 1024, []*thr.Arg{copyX}, declare(copyOwn, nil), copyAll, commit, waitAll, waitAll, readOwn), 1))
	},
}
