package sim

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// Of two buffers with the same bytes, the one that was written last has them: a read of the other, by threads or by a bulk
// copy, is of nothing, although the bytes were written.
func TestTakenOver(t *testing.T) {
	a := &thr.SharedBuf{Name: "a", Bytes: 512, DT: dtype.I32}
	b := &thr.SharedBuf{Name: "b", Bytes: 512, DT: dtype.I32}
	x, out := local("x", tI), pointer("out", tI)
	store := func(buf *thr.SharedBuf) thr.Stmt {
		s := storeShared(at(), tid, tid).(thr.Store)
		s.Buf = buf
		return s
	}
	load := func(buf *thr.SharedBuf, i thr.Expr) thr.Stmt {
		s := loadShared(at(), x, i).(thr.Load)
		s.Buf = buf
		return s
	}
	bulk := func(buf *thr.SharedBuf) []thr.Stmt {
		return []thr.Stmt{
			thr.Do{At: at(), Fn: thr.FenceAsync}, barrier(at()),
			thr.Do{At: at(), Fn: thr.BulkStore, Args: []thr.Expr{arg(out), u32(0), i32(512)}, Pred: first, Buf: buf},
			thr.Do{At: at(), Fn: thr.BulkCommit, Pred: first}, thr.Do{At: at(), Fn: thr.BulkWait, Args: []thr.Expr{i32(0)}},
		}
	}
	begin := []thr.Stmt{declare(x, nil), store(a), barrier(at()), load(a, tid), barrier(at()), store(b), barrier(at())}
	for _, c := range []struct {
		name        string
		right, late []thr.Stmt
	}{
		{"each thread its own", []thr.Stmt{load(b, tid)}, []thr.Stmt{load(a, tid)}},
		{"all threads one", []thr.Stmt{load(b, i32(3))}, []thr.Stmt{load(a, i32(3))}},
		{"a bulk store", bulk(b), bulk(a)},
	} {
		k := func(rest []thr.Stmt) *thr.Kernel {
			k := kernel(128, 512, []*thr.Arg{out}, append(append([]thr.Stmt{}, begin...), rest...)...)
			k.Shared = []*thr.SharedBuf{a, b}
			return k
		}
		silent(t, trial(t, k(c.right), 1))
		e := trial(t, k(c.late), 1)
		if e == nil {
			t.Errorf("%s: no report", c.name)
			continue
		}
		r := e.Reports[0]
		if r.Kind != Uninitialised || !strings.Contains(r.String(), "which b has taken over from a") || r.Other.Frame().Line == 0 {
			t.Errorf("%s: %v", c.name, e)
		}
	}
}
