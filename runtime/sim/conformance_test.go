package sim

import (
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Public concurrency tests, said as thread IR: for each, a program that is silent and the same without one thing. The
// names are those of the index in the directory of conformance cases; TestConformanceIsComplete reads that.
func TestConformance(t *testing.T) {
	for name, check := range conformance {
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

// pair runs a program of cp.async, which must be silent, and the same without statement i, which must be reported.
func pair(t *testing.T, kind Kind, one, other thr.Stmt, i int, body ...thr.Stmt) {
	t.Helper()
	program := func(body []thr.Stmt) *thr.Kernel { return kernel(64, 1024, []*thr.Arg{copyX}, body...) }
	body = append([]thr.Stmt{declare(copyOwn, nil)}, body...)
	right(t, program(body))
	wrong(t, program(without(body, i+1)), kind, one, other)
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
	// A store must have read its tile before the kernel ends.
	"test_finds_exception_in_unawaited_smem_to_gmem": func(t *testing.T) {
		list := storing()[:6]
		pairs(t, alone, list, lack{"wait", NotAwaited, "store", "", nil})
	},
	// A wait that leaves the newest group says nothing of it.
	"test_finds_races_in_non_fully_waited_smem_to_gmem_copy": func(t *testing.T) { TestWaitForSomeStores(t) },
	// After a wait for the reads alone the tile may be written, and the destination not be read.
	"test_finds_races_when_smem_to_gmem_copy_waits_read_only": func(t *testing.T) { TestDestinationOfStore(t) },
	"test_finds_race_in_double_smem_to_gmem":                  func(t *testing.T) { TestTwoStoresToOnePlace(t) },
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
		of := func(a thr.At, warp int) thr.Stmt {
			return thr.If{Cond: op(ir.Eq, warpID, i32(warp)), Scope: ir.ScopeWarp, Then: []thr.Stmt{bulkDo(a, thr.BulkWait, i32(0))}}
		}
		list := []named{
			{"-", declare(got, nil)},
			{"-", thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: sharedAt(lane, 4), Pred: op(ir.Eq, warpID, i32(0))}},
			{"-", bulkDo(at(), thr.FenceAsync)}, {"-", barrier(at())},
			{"store", bulkStore(at(), first)},
			{"-", bulkDo(at(), thr.BulkCommit)},
			{"wait", of(at(), 0)},
			{"wait of the other", of(at(), 1)},
			{"-", barrier(at())},
			{"read", loadGlobal(at(), got, bulkX, lane)},
		}
		pairs(t, two, list, lack{"wait", InFlight, "read", "store", []Kind{NotAwaited}}, lack{"wait", NotAwaited, "store", "", []Kind{InFlight}})
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
		one := barDo(at(), thr.MBarArrive, fullBar, i32(1), op(ir.Eq, tid, i32(0)))
		other := barDo(at(), thr.MBarArrive, fullBar, i32(1), op(ir.Eq, tid, i32(32)))
		wrong(t, two(barDo(at(), thr.MBarInit, fullBar, i32(1), first), barrier(at()), one, other), MissedPhase, one, other)
		right(t, two(barDo(at(), thr.MBarInit, fullBar, i32(2), first), barrier(at()), one, other))
	},
	"test_more_barrier_completions_than_waits_raises": func(t *testing.T) {
		arrive := func(a thr.At) thr.Stmt { return barDo(a, thr.MBarArrive, fullBar, i32(1), first) }
		wait := func(a thr.At, parity int) thr.Stmt { return barDo(a, thr.MBarWait, fullBar, i32(parity), nil) }
		list := []named{{"-", barDo(at(), thr.MBarInit, fullBar, i32(1), first)}, {"-", barrier(at())},
			{"first", arrive(at())},
			{"wait", wait(at(), 0)},
			{"again", arrive(at())}, {"-", wait(at(), 1)}}
		pairs(t, alone, list, lack{"wait", MissedPhase, "again", "first", nil})
	},
	// Bytes and arrivals within a cluster.
	"test_no_race_in_async_copy_gmem_to_smem_in_cluster": func(t *testing.T) {
		list := append(append([]named{{"-", declare(got, nil)}}, loading()...), named{"read", loadShared(at(), got, lane)})
		pairs(t, inPair, list, lack{"wait", InFlight, "read", "copy", nil})
	},
	"test_race_in_async_copy_smem_to_gmem_in_cluster": func(t *testing.T) {
		list := storing()[:6]
		wrong(t, inPair(taken(list, "")...), InFlight, list[3].s, list[3].s) // both blocks store the same bytes
		list[3].s = thr.Do{At: at(), Fn: thr.BulkStore, Args: []thr.Expr{index(arg(bulkX), op(ir.Mul, rank, i32(32))), u32(0), i32(128)}, Pred: first, Buf: bulkTile}
		right(t, inPair(taken(list, "")...))
	},
	// One arrival, and several, make a phase.
	"test_single_barrier_with_multiple_arrival":  arrivalsAt(1, 2),
	"test_multiple_barriers_with_single_arrival": arrivalsAt(2, 1),
	"test_copy_gmem_to_smem_single_thread":       func(t *testing.T) { pairs(t, alone, readLoaded(), lack{"wait", InFlight, "read", "copy", nil}) },
	"test_copy_gmem_to_smem_two_threads": func(t *testing.T) {
		pairs(t, two, readLoaded(), lack{"wait", InFlight, "read", "copy", []Kind{Uninitialised}})
	},
	// Each of two threads copies a half and waits for both.
	"test_copy_gmem_to_smem_parallel_two_threads": func(t *testing.T) {
		half := op(ir.Mul, warpID, i32(64))
		list := []named{{"-", declare(got, nil)}, {"-", barDo(at(), thr.MBarInit, fullBar, i32(2), first)}, {"-", thr.Do{At: at(), Fn: thr.MBarFence, Pred: first}}, {"-", barrier(at())},
			{"copy", thr.Do{At: at(), Fn: thr.BulkLoad, Args: []thr.Expr{arg(bulkX), cast(half, tU), i32(64), fullBar}, Pred: firstOf, Buf: bulkTile, Bar: bulkBars}},
			{"expect", barDo(at(), thr.MBarArriveTx, fullBar, i32(64), firstOf)},
			{"wait", barDo(at(), thr.MBarWait, fullBar, i32(0), nil)},
			{"read", loadShared(at(), got, lane)}}
		pairs(t, two, list, lack{"wait", InFlight, "read", "copy", []Kind{Uninitialised}}, lack{"expect", Deadlock, "wait", "copy", nil})
	},
	"test_copy_smem_to_gmem": func(t *testing.T) { TestStoreOutlivesItsWarp(t) },
	// Waiting again is no mistake.
	"test_allows_rewaiting_smem_to_gmem_copies": func(t *testing.T) {
		right(t, alone(taken(storedThen(named{"-", bulkDo(at(), thr.BulkWait, i32(0))}, named{"-", loadGlobal(at(), got, bulkX, lane)}), "")...))
	},
	// Barriers of an array, by one number or by two and three that make it; a wait for another one orders nothing.
	"test_barrier_multidimensional_1d": meetAt(3),
	"test_barrier_multidimensional_2d": meetAt(1, 3),
	"test_barrier_multidimensional_3d": meetAt(1, 0, 1),
	"test_indexing_singleton_barrier_ok": func(t *testing.T) { // an array of one
		right(t, alone(barDo(at(), thr.MBarInit, fullBar, i32(1), first), warpSync(at()), barDo(at(), thr.MBarArrive, fullBar, i32(1), first), barDo(at(), thr.MBarWait, fullBar, i32(0), nil)))
	},
	// Threads that do as much as one another, and two that write one place.
	"test_interpret_pallas_call":        ownElements(false),
	"test_interpret_kernel":             ownElements(false),
	"test_interpret_core_map":           ownElements(false),
	"test_interpret_core_map_with_race": ownElements(true),
	"test_add_over_grid":                func(t *testing.T) { TestSeedsAndWorkers(t) },
	"test_matmul_over_grid_with_race":   addOverGrid,
	"test_different_blocks_dont_share_memory": func(t *testing.T) {
		write := thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: sharedAt(tid, 4), Pred: op(ir.Eq, bid, i32(0))}
		read := loadShared(at(), got, tid)
		for seed := range uint64(6) { // whichever block comes first, the other has not what it wrote
			_, e := run(t, kernel(64, 256, []*thr.Arg{bulkX}, declare(got, nil), write, read), memoryWithX(t), 2, words(xAddress(t)), Options{Seed: seed})
			want(t, e, Uninitialised, line(read), 0)
		}
	},
}

// readLoaded is a tile that a bulk copy fills and threads read.
func readLoaded() []named {
	return append(append([]named{{"-", declare(got, nil)}}, loading()...), named{"read", loadShared(at(), got, lane)})
}

// arrivalsAt are of two warps: at some barriers, each with so many arrivals, of what each has written; a third waits.
func arrivalsAt(bars, each int) func(t *testing.T) {
	return func(t *testing.T) {
		bar := func(warp thr.Expr) thr.Expr {
			return op(ir.Add, fullBar, cast(op(ir.Mul, op(ir.Rem, warp, i32(bars)), i32(8)), tU))
		}
		list := []named{
			{"-", barDo(at(), thr.MBarInit, fullBar, i32(each), first)}, {"-", barDo(at(), thr.MBarInit, emptyBar, i32(each), first)},
			{"-", barrier(at())},
			{"write", thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: sharedAt(warpID, 4), Pred: firstOf}},
			{"arrive", barDo(at(), thr.MBarArrive, bar(warpID), i32(1), firstOf)},
		}
		last := []named{
			{"wait", barDo(at(), thr.MBarWait, bar(i32(0)), i32(0), nil)},
			{"wait for the second", barDo(at(), thr.MBarWait, bar(i32(1)), i32(0), nil)},
			{"read", loadShared(at(), got, op(ir.Rem, lane, i32(2)))},
		}
		program := func(without string) *thr.Kernel {
			body := append([]thr.Stmt{declare(got, nil)}, taken(list[:3], without)...)
			return kernel(96, 144, []*thr.Arg{bulkX}, append(body, thr.If{Cond: op(ir.Lt, warpID, i32(2)), Scope: ir.ScopeWarp, Then: taken(list[3:], without), Else: taken(last, without)})...)
		}
		all := append(list, last...)
		pairsOf(t, program, all, lack{"arrive", Deadlock, "wait", "", nil})
		if bars > 1 {
			pairsOf(t, program, all, lack{"wait for the second", Race, "read", "write", []Kind{Uninitialised}})
		}
	}
}

// meetAt has a warp hand a word over to another at an mbarrier of an array of eight: two a dimension, the rest in the last.
func meetAt(index ...int) func(t *testing.T) {
	return func(t *testing.T) {
		bars := &thr.SharedBuf{Name: "array", Offset: 128, Bytes: 8 * 8, Manual: true}
		n := 0
		for i, x := range index {
			size := 2
			if i == len(index)-1 {
				size = 8 >> i
			}
			n = n*size + x
		}
		do := func(a thr.At, f thr.Fn, i int, x, pred thr.Expr) thr.Stmt {
			return thr.Do{At: a, Fn: f, Args: []thr.Expr{u32(uint32(128 + 8*i)), x}, Pred: pred, Bar: bars}
		}
		var inits []thr.Stmt
		for i := range 8 {
			inits = append(inits, do(at(), thr.MBarInit, i, i32(1), first))
		}
		write := thr.Store{At: at(), Space: thr.Shared, Value: i32(5), Bytes: 4, Addr: u32(0), Pred: firstOf}
		read := loadShared(at(), got, i32(0))
		program := func(wait int) *thr.Kernel {
			other := (n + 1) % 8 // at which somebody arrives who has written nothing
			body := append([]thr.Stmt{declare(got, nil)}, inits...)
			return kernel(64, 192, []*thr.Arg{bulkX}, append(body, barrier(at()), thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp,
				Then: []thr.Stmt{do(at(), thr.MBarArrive, other, i32(1), firstOf), write, do(at(), thr.MBarArrive, n, i32(1), firstOf)},
				Else: []thr.Stmt{do(at(), thr.MBarWait, wait, i32(0), nil), read}})...)
		}
		right(t, program(n))
		wrong(t, program((n+1)%8), Race, read, write, Uninitialised)
	}
}

// ownElements has the threads of a grid write what is their own, or, in a race, what is their neighbour's, too.
func ownElements(race bool) func(t *testing.T) {
	return func(t *testing.T) {
		own := op(ir.Add, op(ir.Mul, bid, i32(64)), tid)
		write := storeGlobal(at(), bulkX, own, tid)
		again := storeGlobal(at(), bulkX, op(ir.Xor, own, i32(32)), tid) // another warp's
		body := []thr.Stmt{write}
		if race {
			body = append(body, again)
		}
		everyRun(t, two(body...), 3, true, func(when string, e *Errors) {
			if !race {
				silent(t, e)
			} else if why, _ := shown(e, GlobalRace, nil, line(write), line(again)); why != "" {
				t.Errorf("%s: %s", when, why)
			}
		})
	}
}

// addOverGrid adds what blocks have to the same sums: by atomics, or by loads and stores, which race.
func addOverGrid(t *testing.T) {
	load := loadGlobal(at(), got, bulkX, tid)
	store := storeGlobal(at(), bulkX, tid, op(ir.Add, ref(got), i32(1)))
	atomic := thr.Do{At: at(), Fn: thr.AtomicAdd, DT: tI, Args: []thr.Expr{index(arg(bulkX), tid), i32(1)}}
	everyRun(t, two(atomic), 3, true, func(_ string, e *Errors) { silent(t, e) })
	everyRun(t, two(declare(got, nil), load, store), 3, true, func(when string, e *Errors) {
		if why, _ := shown(e, GlobalRace, nil, line(load), line(store)); why != "" {
			t.Errorf("%s: %s", when, why)
		}
	})
}
