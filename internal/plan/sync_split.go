package plan

import (
	"maps"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// A barrier of the cluster costs the time until the slowest block has come. Where work that it need not order stands
// beside it, the barrier is taken apart: the blocks arrive as soon as all that it orders is done, and wait where the
// first access comes that must be after it. In a loop the arrival may belong to the iteration before:
//
//	for ... { work; sync; push; sync; read; more }
//	arrive; for ... { work; wait; push; sync; read; arrive; more }; wait
//
// Each step is tried, and kept if the same analysis that placed the barriers finds nothing left to order. Barriers that
// the author wrote stay whole, as nobody knows what they order.

// ordered reports whether the author orders the cluster's blocks in ways that are not seen here.
func (y *syncer) ordered(k *ir.Kernel) bool {
	found := y.releases != ir.NoScope
	ir.EachOp(k.Body, func(v *ir.Value) { found = found || v.Op == ir.ClusterBarrier })
	return found
}

// arrive notes which accesses an arrival publishes.
func (h hazards) arrive() {
	for t, pos := range maps.Clone(h) {
		if !t.arrived && t.flight == 0 {
			delete(h, t)
			t.arrived = true
			h[t] = pos
		}
	}
}

// waited takes out what was done before the arrival.
func (y *syncer) waited(h hazards) {
	maps.DeleteFunc(h, func(t touch, _ ir.Pos) bool { return t.arrived })
}

// split takes the barriers of the cluster apart where that is right and of use.
func (y *syncer) split(body []thr.Stmt) []thr.Stmt {
	for i := 0; ; i++ {
		next, found := y.splitOne(body, i)
		if !found {
			return body
		}
		if next != nil && y.enough(next) {
			body, i = y.withoutLast(next), i-1 // it is no ClusterSync any more
		}
	}
}

// enough reports whether a body needs no further barrier.
func (y *syncer) enough(body []thr.Stmt) bool {
	out, h := y.block(body, y.entry(), 0)
	failed := y.err != nil
	y.err = nil
	return !failed && h.exit() == nil && countBarriers(out) == countBarriers(body)
}

// withoutLast drops the barrier at the end if a wait before it does as well: the one behind a loop, of an arrival in it.
func (y *syncer) withoutLast(body []thr.Stmt) []thr.Stmt {
	n := len(body) - 1
	if isClusterSync(body[n]) && y.enough(body[:n]) {
		return body[:n]
	}
	return body
}

func countBarriers(body []thr.Stmt) (n int) {
	thr.Each(body, func(s thr.Stmt) {
		if isBarrier(s) {
			n++
		}
	})
	return n
}

// splitOne takes the n-th ClusterSync apart, of those that stand in the body itself or in that of a loop in it. It
// returns nil if that is of no use, and false if there is no n-th.
func (y *syncer) splitOne(body []thr.Stmt, n int) ([]thr.Stmt, bool) {
	for i, s := range body {
		if isClusterSync(s) {
			if n--; n < 0 {
				return y.apart(body, i), true
			}
		}
		loop, ok := s.(thr.For)
		if !ok || loop.Unroll {
			continue
		}
		for j, s := range loop.Body {
			if !isClusterSync(s) {
				continue
			}
			if n--; n >= 0 {
				continue
			}
			if slices.ContainsFunc(loop.Body[:j], y.meets) { // within the iteration
				if loop.Body = y.apart(loop.Body, j); loop.Body == nil {
					return nil, true
				}
				return replaced(body, i, loop), true
			}
			if loop.Body = y.around(loop.Body, j); loop.Body == nil {
				return nil, true
			}
			halves := []thr.Stmt{halfOf(s, thr.ClusterArrive), loop, halfOf(s, thr.ClusterWait)}
			return replaced(body, i, halves...), true
		}
	}
	return nil, false
}

// apart is a list with the barrier at i in two halves, or nil if nothing of weight stands between them.
func (y *syncer) apart(list []thr.Stmt, i int) []thr.Stmt {
	from := i
	for from > 0 && !y.meets(list[from-1]) {
		from--
	}
	to := i + 1
	for to < len(list) && !y.meets(list[to]) {
		to++
	}
	if !slices.ContainsFunc(list[from:i], works) && !slices.ContainsFunc(list[i+1:to], works) {
		return nil
	}
	return slices.Concat(list[:from], []thr.Stmt{halfOf(list[i], thr.ClusterArrive)}, list[from:i], list[i+1:to],
		[]thr.Stmt{halfOf(list[i], thr.ClusterWait)}, list[to:])
}

// around is the body of a loop with the barrier at i, the first of what meets other blocks, in two halves: the wait is
// where the barrier was, and the arrival, at the one of the next iteration, behind the last of what meets them. It is
// nil if nothing of weight stands between.
func (y *syncer) around(list []thr.Stmt, i int) []thr.Stmt {
	last := len(list)
	for !y.meets(list[last-1]) {
		last--
	}
	if !slices.ContainsFunc(list[:i], works) && !slices.ContainsFunc(list[last:], works) {
		return nil
	}
	return slices.Concat(list[:i], []thr.Stmt{halfOf(list[i], thr.ClusterWait)}, list[i+1:last],
		[]thr.Stmt{halfOf(list[i], thr.ClusterArrive)}, list[last:])
}

func replaced(list []thr.Stmt, i int, by ...thr.Stmt) []thr.Stmt {
	return slices.Concat(list[:i], by, list[i+1:])
}

func halfOf(sync thr.Stmt, half thr.Fn) thr.Stmt {
	d := sync.(thr.Do)
	d.Fn = half
	return d
}

func isClusterSync(s thr.Stmt) bool {
	d, ok := s.(thr.Do)
	return ok && d.Fn == thr.ClusterSync
}

// meets reports whether a statement has to do with other blocks of the cluster: a barrier, or half of one, or an access
// to memory that they access, or an mbarrier.
func (y *syncer) meets(s thr.Stmt) (found bool) {
	reaches := func(space thr.Space, buf *thr.SharedBuf, op int, rank thr.Expr) {
		t := y.touch(space, buf, ir.ScopeBlock, op, 0, true)
		found = found || rank != nil || t.mem != nil && y.widest[t.mem] == ir.ScopeCluster
	}
	thr.Each([]thr.Stmt{s}, func(s thr.Stmt) {
		switch s := s.(type) {
		case thr.Load:
			reaches(s.Space, s.Buf, s.Op, s.Rank)
		case thr.Store:
			reaches(s.Space, s.Buf, s.Op, s.Rank)
		case thr.Do:
			switch s.Fn {
			case thr.ClusterSync, thr.ClusterArrive, thr.ClusterWait:
				found = true
			case thr.CpAsync, thr.CpAsync8, thr.CpAsync4, thr.LdMatrix, thr.LdMatrixTrans, thr.StMatrix, thr.StMatrixTrans:
				reaches(thr.Shared, s.Buf, s.Op, nil)
			case thr.WGMMA, thr.WGMMARegs:
				reaches(thr.Shared, s.Buf, s.Op, nil)
				reaches(thr.Shared, s.BufB, s.Op, nil)
			default: // the barrier behind the init of mbarriers comes between it and their use
				found = found || s.Bar != nil || s.Fn == thr.MBarFence || y.global[s.Op].scope == ir.ScopeCluster
			}
		}
	})
	return found
}

// works reports whether a statement takes time: it accesses memory or loops.
func works(s thr.Stmt) (found bool) {
	thr.Each([]thr.Stmt{s}, func(s thr.Stmt) {
		switch s.(type) {
		case thr.Load, thr.Store, thr.For:
			found = true
		}
	})
	return found
}
