package cuda

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/internal/waitfor"
)

// watchedKernel has every statement that waits, and those that others wait for.
func watchedKernel() *thr.Kernel {
	a := newTensors()
	bars := &thr.SharedBuf{Name: "full", Bytes: 16, DT: dtype.I64}
	remote := &thr.SharedBuf{Name: "mail", Offset: 16, Bytes: 8, DT: dtype.I64, Remote: true}
	over, flag, token := local("over", dtype.Bool), local("flag", dtype.I32), local("token", dtype.I64)
	do := func(f thr.Fn, bar *thr.SharedBuf, args ...thr.Expr) thr.Do {
		if bar != nil {
			args = append([]thr.Expr{thr.SharedAddr{Buf: bar}}, args...)
		}
		return thr.Do{Fn: f, Bar: bar, Args: args}
	}
	ask := do(thr.MBarTest, bars, i32(1))
	ask.Dst = &thr.Ref{Local: over}
	arrive := do(thr.MBarArrive, bars, i32(1))
	arrive.Dst = &thr.Ref{Local: token}
	k := a.kernel("watched",
		do(thr.BlockSync, nil), do(thr.NamedArrive, nil, i32(2), i32(64)), do(thr.NamedSync, nil, i32(3), i32(64)),
		do(thr.MBarWait, bars, i32(0)), do(thr.MBarWait, remote, i32(0)),
		decl(token, nil), arrive, do(thr.MBarWaitToken, bars, ref(token)), do(thr.MBarWaitToken, remote, ref(token)),
		thr.While{Head: []thr.Stmt{decl(over, nil), ask}, Cond: op(ir.Not, ref(over))},
		decl(flag, i32(0)),
		thr.While{Head: []thr.Stmt{thr.Load{Dst: flag, Bytes: 4, Addr: get(a.y), Order: ir.Acquire}}, Cond: op(ir.Eq, ref(flag), i32(0))},
		thr.While{Cond: op(ir.Lt, ref(flag), i32(9)), Body: []thr.Stmt{set(flag, op(ir.Add, ref(flag), i32(1)))}}, // does something
		do(thr.ClusterSync, nil), do(thr.ClusterArrive, nil), do(thr.ClusterWait, nil),
	)
	k.Cluster, k.Shared, k.SharedBytes = 2, []*thr.SharedBuf{bars, remote}, 24
	return k
}

// TestWatchdog: each wait has a bound, and a number of its own that says what it is.
func TestWatchdog(t *testing.T) {
	k := watchedKernel()
	text, sites, err := PrintWatched(k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "watched.cu", stripPrelude(text))
	compileAll(t, "watched", text, target.Cluster)
	var got []string
	for _, s := range sites {
		name := "loop"
		if s.Fn != thr.InvalidFn {
			name = s.Fn.String()
		}
		if s.Bar != nil {
			name += " " + s.Bar.Name
		}
		got = append(got, name)
	}
	want := "block_sync, named_sync, mbarrier_wait full, mbarrier_wait mail, mbarrier_wait_token full, mbarrier_wait_token mail, mbarrier_test full, loop, cluster_sync, cluster_wait"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("the sites are %s\nwant          %s", s, want)
	}
	if clean := mustPrint(t, k, Options{}); strings.Contains(clean, "watchdog") {
		t.Errorf("the clean text has a watchdog\n%s", clean)
	}
	if sites[1].Threads != 64 || sites[0].Threads != k.Threads {
		t.Errorf("the barriers are for %d and %d threads", sites[0].Threads, sites[1].Threads)
	}
}

// TestWatchdogRegisters: a warp that waits for registers is in the table.
func TestWatchdogRegisters(t *testing.T) {
	k := newTensors().kernel("regs", thr.Do{Fn: thr.RegsInc, Args: []thr.Expr{i32(240)}})
	text, sites, err := PrintWatched(k, Options{})
	if err != nil || len(sites) != 1 || sites[0].Regs != 240 ||
		!strings.Contains(text, "  watchdog_note(1u, nullptr, 0);\n  regs_inc_240();\n  watchdog_note(0u, nullptr, 0);\n  watchdog_note(4294967295u, nullptr, 0);\n}\n") {
		t.Errorf("%v, %+v\n%s", err, sites, text)
	}
	if waitfor.Ended != 4294967295 {
		t.Error(waitfor.Ended)
	}
}
