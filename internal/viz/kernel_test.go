package viz

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

func here() thr.At { return thr.At{Pos: ir.Here(1)} }

// plan is a kernel that stages w before a loop over rows, and in it x by copies ahead, a partial sum and, in both
// branches of an if, a result.
func plan() *thr.Kernel {
	w := &thr.SharedBuf{Name: "w", Offset: 0, Bytes: 1024, DT: dtype.F32, Note: "tile [256]", Last: 3}
	x := &thr.SharedBuf{Name: "x", Offset: 1024, Bytes: 512, DT: dtype.BF16, Last: 3}
	part := &thr.SharedBuf{Name: "part", Offset: 1536, Bytes: 32, DT: dtype.F32, Note: "partial results of sum", First: 1, Last: 3}
	never := &thr.SharedBuf{Name: "never", Offset: 1568, Bytes: 16, DT: dtype.F32, First: 4}
	row, i := &thr.Local{Name: "row"}, &thr.Local{Name: "i"}
	load := func(b *thr.SharedBuf) thr.Stmt { return thr.Load{At: here(), Space: thr.Shared, Buf: b, Bytes: 4} }
	store := func(b *thr.SharedBuf) thr.Stmt { return thr.Store{At: here(), Space: thr.Shared, Buf: b, Bytes: 4} }
	do := func(f thr.Fn, b *thr.SharedBuf) thr.Stmt { return thr.Do{At: here(), Fn: f, Buf: b} }
	both := store(part)
	return &thr.Kernel{Name: "k", Target: "sm_90a", SharedBytes: 1584, Shared: []*thr.SharedBuf{x, w, part, never}, Body: []thr.Stmt{
		store(w),
		do(thr.CpAsync, x),
		do(thr.BlockSync, nil),
		thr.For{At: here(), Var: row, Body: []thr.Stmt{
			do(thr.CpWait, nil),
			thr.Load{At: here(), Space: thr.Global, Bytes: 4}, // no step
			load(x),
			thr.For{At: here(), Var: i, Body: []thr.Stmt{load(w)}},
			thr.If{At: here(), Then: []thr.Stmt{both, do(thr.BlockSync, nil)}, Else: []thr.Stmt{both, do(thr.BlockSync, nil)}},
			load(part),
			do(thr.CpAsync, x),
		}},
		thr.For{At: here(), Var: i, Body: []thr.Stmt{thr.Load{At: here(), Space: thr.Global, Bytes: 4}}}, // no band
		do(thr.ClusterSync, nil),
	}}
}

func TestPlanOf(t *testing.T) {
	p := PlanOf(plan(), 4096)
	var steps []string
	for _, s := range p.Steps {
		text := s.Barrier
		for i, b := range p.Buffers {
			if u := s.Uses[i]; u != "" {
				text += u + " " + b.Name
			}
		}
		steps = append(steps, text)
	}
	//             0      1      2    3    4      5      6         7    8         9    10         11      12
	want := []string{"w w", "c x", "|", "?", "r x", "r w", "w part", "|", "w part", "|", "r part", "c x", "||"}
	if d := cmp.Diff(want, steps); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	var lives []string
	for _, b := range p.Buffers {
		lives = append(lives, fmt.Sprintf("%d %s %d-%d", b.Offset, b.Name, b.First, b.Last))
	}
	if d := cmp.Diff([]string{"0 w 0-3", "1024 x 0-3", "1536 part 1-3", "1568 never 4-0"}, lives); d != "" { // as the planner has them
		t.Errorf("lifetimes (-want +got):\n%s", d)
	}
	var stretches []int
	for _, s := range p.Steps {
		stretches = append(stretches, s.Stretch)
	}
	if d := cmp.Diff([]int{0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 3, 3}, stretches); d != "" {
		t.Errorf("stretches (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Band{{3, 11, 0, "for row"}, {5, 5, 1, "for i"}}, p.Loops); d != "" {
		t.Errorf("loops (-want +got):\n%s", d)
	}
	if p.Bytes != 1584 || p.Limit != 4096 {
		t.Errorf("%d of %d bytes", p.Bytes, p.Limit)
	}
}

// Accesses of one line in a row are one step: what an unrolled statement does is not drawn eight times.
func TestPlanOfMerges(t *testing.T) {
	b := &thr.SharedBuf{Name: "b", Bytes: 64, DT: dtype.F32}
	at := here()
	load := thr.Load{At: at, Space: thr.Shared, Buf: b, Bytes: 4}
	store := thr.Store{At: at, Space: thr.Shared, Buf: b, Bytes: 4}
	p := PlanOf(&thr.Kernel{Name: "k", Shared: []*thr.SharedBuf{b}, Body: []thr.Stmt{load, load, store, store, load}}, 64)
	if len(p.Steps) != 1 || p.Steps[0].Uses[0] != "rw" {
		t.Errorf("%+v", p)
	}
}

// What the asynchronous proxy and tensor cores do with a buffer is drawn, too, and what waits for it.
func TestPlanOfAsync(t *testing.T) {
	b, bars := &thr.SharedBuf{Name: "b", Bytes: 64, DT: dtype.F32}, &thr.SharedBuf{Name: "bars", Offset: 64, Bytes: 8}
	do := func(f thr.Fn, buf *thr.SharedBuf) thr.Stmt { return thr.Do{At: here(), Fn: f, Buf: buf, Bar: bars} }
	p := PlanOf(&thr.Kernel{Name: "k", Shared: []*thr.SharedBuf{b, bars}, Body: []thr.Stmt{
		do(thr.BulkLoad, b),
		do(thr.MBarWait, nil),
		do(thr.LdMatrix, b),
		do(thr.StMatrix, b),
		do(thr.TensorStore, b),
		do(thr.BulkWaitRead, nil),
		do(thr.TensorLoad, b),
	}}, 128)
	var got []string
	for _, s := range p.Steps {
		got = append(got, s.Barrier+s.Uses[0])
	}
	if d := cmp.Diff([]string{"c", "?", "rw", "?", "c"}, got); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
}

func TestDrawPlan(t *testing.T) {
	p, err := DrawPlan(PlanOf(&thr.Kernel{Name: "k", Target: "sm_80"}, 64))
	if err != nil || len(p.Panels) != 0 || !strings.Contains(p.Text(80), "no shared memory") {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = DrawPlan(PlanOf(plan(), 4096)); err != nil {
		t.Fatal(err)
	}
	q := p.Panels[0]
	for c, want := range "=|?=" {
		if got := q.Cells[0][c+1].Text; got != string(want) { // w: alive, the barrier, the wait, alive
			t.Errorf("column %d of w: %q, want %q", c+1, got, string(want))
		}
	}
	if q.Cells[3][0] != (Cell{Color: None}) {
		t.Errorf("a buffer that is never used: %+v", q.Cells[3][0])
	}
	if text := p.Text(200); !strings.Contains(text, "1584 of 4096 bytes") || !strings.Contains(text, "part: partial results of sum") || !strings.Contains(text, "for row---") {
		t.Errorf("%s", text)
	}
}
