package sim

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

func arriveAt(a thr.At) thr.Stmt { return thr.Do{At: a, Fn: thr.ClusterArrive} }
func waitAt(a thr.At) thr.Stmt   { return thr.Do{At: a, Fn: thr.ClusterWait} }

// Each block pushes to the next and reads what it was sent; the loop's barrier before the push is in halves, of which
// the arrival is behind the reads of the iteration before.
func TestHalvesOfABarrier(t *testing.T) {
	const size = 2
	x, i := local("x", tI), local("i", tI)
	push := peer(storeShared(at(), tid, bid), next(size))
	loop := func(body ...thr.Stmt) thr.Stmt {
		return thr.For{At: at(), Var: i, Lo: i32(0), Hi: i32(3), Step: i32(1), Body: body}
	}
	right := []thr.Stmt{waitAt(at()), push, clusterSync(at()), loadShared(at(), x, tid), arriveAt(at())}
	program := func(before []thr.Stmt, body []thr.Stmt, after []thr.Stmt) *thr.Kernel {
		all := append([]thr.Stmt{declare(x, nil)}, before...)
		return clusterKernel(size, 64, 256, nil, append(append(all, loop(body...)), after...)...)
	}
	first, last := []thr.Stmt{arriveAt(at())}, []thr.Stmt{waitAt(at())}
	silent(t, trial(t, program(first, right, last), size))
	for n := range right {
		if _, half := right[n].(thr.Do); !half {
			continue
		}
		if e := trial(t, program(first, without(right, n), last), size); e == nil {
			t.Errorf("silent without statement %d of the loop", n)
		}
	}
	if e := trial(t, program(nil, right, last), size); e == nil || !e.Has(BarrierDivergence) {
		t.Errorf("without the first arrival: %v", e)
	}
	if e := trial(t, program(first, right, nil), size); e == nil || !e.Has(BarrierDivergence) {
		t.Errorf("without the last wait: %v", e)
	}
	// What stands between the two is ordered by neither.
	early := []thr.Stmt{waitAt(at()), push, clusterSync(at()), arriveAt(at()), loadShared(at(), x, tid)}
	reported(t, program(first, early, last), size, Race)
	late := []thr.Stmt{push, waitAt(at()), clusterSync(at()), loadShared(at(), x, tid), arriveAt(at())}
	if e := trial(t, program(first, late, last), size); e == nil {
		t.Error("silent with the push before the wait")
	}
}

// Halves that do not alternate, or that not all come to, are reported and do not hang.
func TestHalvesThatDoNotMatch(t *testing.T) {
	rank0 := op(ir.Eq, rank, i32(0))
	only := func(s ...thr.Stmt) thr.Stmt { return thr.If{At: at(), Cond: rank0, Then: s} }
	for _, c := range []struct {
		want string
		body []thr.Stmt
	}{
		{"has arrived at a barrier of the cluster, and not waited", []thr.Stmt{arriveAt(at()), arriveAt(at()), waitAt(at())}},
		{"has arrived at a barrier of the cluster, and not waited", []thr.Stmt{arriveAt(at()), clusterSync(at()), waitAt(at())}},
		{"waits here and has not arrived", []thr.Stmt{waitAt(at())}},
		{"waits here and has not arrived", []thr.Stmt{arriveAt(at()), waitAt(at()), waitAt(at())}},
		{"does not arrive", []thr.Stmt{only(arriveAt(at())), only(waitAt(at()))}},
		{"leaves the kernel without waiting", []thr.Stmt{arriveAt(at())}},
	} {
		found := false
		for _, r := range reported(t, clusterKernel(2, 64, 0, nil, c.body...), 2, BarrierDivergence) {
			found = found || strings.Contains(r.Detail, c.want)
		}
		if !found {
			t.Errorf("no report says %q", c.want)
		}
	}
}
