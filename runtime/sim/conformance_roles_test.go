package sim

import (
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Public tests about warps with work of their own, which are one case whether the language calls that specialising a core
// map or mapping several programs.

func init() {
	for name, check := range map[string]func(t *testing.T){
		"warp_specialize":                                ownWork,
		"warps_share_shared_memory":                      sharedWork,
		"all_warps_must_wait_on_barrier":                 allMeet,
		"warps_must_wait_on_barrier_evenly":              evenly,
		"warps_of_warpgroup_must_wait_on_barrier_evenly": func(t *testing.T) { TestNamedBarriers(t) },
		"warps_get_parent_warpgroups_barrier_phase":      phaseGoesOn(true),
		"warpgroup_gets_warps_barrier_phase":             phaseGoesOn(false),
	} {
		conformance["test_"+name] = check
		conformance["test_mpmd_"+name] = check
	}
}

// byWarp is a block of two warps that do different things.
func byWarp(one, other []thr.Stmt) thr.Stmt {
	return thr.If{Cond: op(ir.Eq, warpID, i32(0)), Scope: ir.ScopeWarp, Then: one, Else: other}
}

// ownWork has each warp write its own half of a tile, and, wrongly, the same.
func ownWork(t *testing.T) {
	low, high := storeShared(at(), lane, i32(1)), thr.Store{At: at(), Space: thr.Shared, Value: i32(2), Bytes: 4, Addr: op(ir.Add, sharedAt(lane, 4), u32(128))}
	same := storeShared(at(), lane, i32(2))
	program := func(other thr.Stmt) *thr.Kernel {
		return kernel(64, 256, []*thr.Arg{bulkX}, byWarp([]thr.Stmt{low}, []thr.Stmt{other}))
	}
	right(t, program(high))
	wrong(t, program(same), Race, low, same)
}

// sharedWork has one warp write what the other reads, behind a barrier of both.
func sharedWork(t *testing.T) {
	write := storeShared(at(), lane, lane)
	read := loadShared(at(), got, lane)
	right(t, two(declare(got, nil), byWarp([]thr.Stmt{write}, nil), barrier(at()), byWarp(nil, []thr.Stmt{read})))
	wrong(t, two(declare(got, nil), byWarp([]thr.Stmt{write}, nil), byWarp(nil, []thr.Stmt{read})), Race, read, write, Uninitialised)
}

// allMeet has a barrier of the block to which one of its warps does not come.
func allMeet(t *testing.T) {
	meet := barrier(at())
	right(t, two(meet))
	wrong(t, two(byWarp([]thr.Stmt{meet}, nil)), BarrierDivergence, meet, nil)
}

// evenly has two warps wait for every phase of an mbarrier, and, wrongly, one for the first alone when two are over: the
// parity of the third is the same.
func evenly(t *testing.T) {
	init := barDo(at(), thr.MBarInit, fullBar, i32(1), first)
	arrive := func(a thr.At) thr.Stmt { return barDo(a, thr.MBarArrive, fullBar, i32(1), first) }
	wait := func(a thr.At, parity int) thr.Stmt { return barDo(a, thr.MBarWait, fullBar, i32(parity), nil) }
	one, second := arrive(at()), arrive(at())
	late := wait(at(), 0)
	right(t, two(init, barrier(at()), one, wait(at(), 0), barrier(at()), second, wait(at(), 1)))
	wrong(t, two(init, barrier(at()), one, byWarp([]thr.Stmt{wait(at(), 0)}, nil), barrier(at()), second, byWarp([]thr.Stmt{wait(at(), 1)}, nil), barrier(at()),
		byWarp(nil, []thr.Stmt{late})), MissedPhase, late, second)
}

// phaseGoesOn has the block wait for one phase and a warp alone for the next, or the other way round: who takes over goes
// on with the parity, and is too early, wrongly, with the first one again.
func phaseGoesOn(toWarp bool) func(t *testing.T) {
	return func(t *testing.T) {
		write := thr.Store{At: at(), Space: thr.Shared, Value: i32(5), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, tid, i32(32))}
		read := loadShared(at(), got, i32(0))
		old := thr.Store{At: at(), Space: thr.Shared, Value: i32(4), Bytes: 4, Addr: u32(0), Pred: op(ir.Eq, tid, i32(32))}
		arrive := func(a thr.At) thr.Stmt { return barDo(a, thr.MBarArrive, fullBar, i32(1), op(ir.Eq, tid, i32(32))) }
		program := func(parity int) *thr.Kernel {
			before, after := []thr.Stmt{barDo(at(), thr.MBarWait, fullBar, i32(0), nil)}, []thr.Stmt{barDo(at(), thr.MBarWait, fullBar, i32(parity), nil), read}
			if toWarp {
				after = []thr.Stmt{byWarp(after, nil)}
			} else {
				before, after = []thr.Stmt{byWarp(before, nil), barrier(at())}, []thr.Stmt{after[0], byWarp([]thr.Stmt{read}, nil)}
			}
			body := append([]thr.Stmt{declare(got, nil), barDo(at(), thr.MBarInit, fullBar, i32(1), first), old, barrier(at()), arrive(at())}, before...)
			return two(append(append(body, barrier(at()), write, arrive(at())), after...)...)
		}
		right(t, program(1))
		wrong(t, program(0), Race, read, write, Deadlock)
	}
}
