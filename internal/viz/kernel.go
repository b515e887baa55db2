package viz

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/thr"
)

// PlanOf is the shared memory of a lowered kernel, of which a block of the target has limit bytes. Lifetimes are the
// planner's, by which it lets buffers share bytes: from one stretch between barriers of the block to another.
func PlanOf(k *thr.Kernel, limit int) *Plan {
	bufs := slices.Clone(k.Shared)
	slices.SortStableFunc(bufs, func(a, b *thr.SharedBuf) int { return cmp.Compare(a.Offset, b.Offset) })
	w := &planWalk{Plan: Plan{Kernel: k.Name, Target: k.Target, Bytes: k.SharedBytes, Limit: limit}, index: map[*thr.SharedBuf]int{}}
	for i, b := range bufs {
		w.index[b] = i
		w.Buffers = append(w.Buffers, Buffer{Name: b.Name, Type: b.DT.String(), Note: b.Note, Offset: b.Offset, Bytes: b.Bytes, First: b.First, Last: b.Last})
	}
	w.stmts(k.Body)
	slices.SortFunc(w.Loops, func(a, b Band) int { return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.First, b.First)) })
	return &w.Plan
}

// planWalk collects the steps of a kernel.
type planWalk struct {
	Plan
	index   map[*thr.SharedBuf]int
	stretch int // barriers of the block so far, as the planner counts them
	level   int
	fresh   bool // the next access begins a step
}

func (w *planWalk) stmts(list []thr.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case thr.Load:
			if s.Space == thr.Shared {
				w.use(s, s.Buf, markRead)
			}
		case thr.Store:
			if s.Space == thr.Shared {
				w.use(s, s.Buf, markWrite)
			}
		case thr.Do:
			w.do(s)
		case thr.For:
			w.loop("for "+s.Var.Name, s.Body)
		case thr.While:
			w.loop("while", s.Head, s.Body)
		case thr.If:
			w.stmts(s.Then)
			w.stmts(s.Else)
		}
	}
}

// do notes a barrier, a wait or what a built-in does with shared memory.
func (w *planWalk) do(s thr.Do) {
	switch s.Fn {
	case thr.BlockSync:
		w.barrier(markBlock)
		w.stretch++
	case thr.ClusterSync:
		w.barrier(markCluster)
		w.stretch++
	case thr.CpWait, thr.MBarWait, thr.MBarWaitToken, thr.BulkWait, thr.BulkWaitRead:
		w.barrier(markGet)
	}
	switch {
	case s.Buf == nil:
	case s.Fn.CopyBytes() > 0 || s.Fn.Completes():
		w.use(s, s.Buf, markCopy)
	case s.Fn.Writes():
		w.use(s, s.Buf, markWrite)
	default:
		w.use(s, s.Buf, markRead)
	}
}

// use notes an access; accesses of one line in a row are one step.
func (w *planWalk) use(s thr.Stmt, buf *thr.SharedBuf, mark string) {
	i, ok := w.index[buf]
	if !ok { // an address that belongs to no buffer of the table
		return
	}
	line, file := 0, ""
	if frames := s.Source().Frames(); len(frames) > 0 {
		line, file = frames[0].Line, filepath.Base(frames[0].File)
	}
	if file != "" && !slices.Contains(w.Files, file) {
		w.Files = append(w.Files, file)
	}
	if n := len(w.Steps); w.fresh || n == 0 || w.Steps[n-1].Barrier != "" || w.Steps[n-1].Line != line {
		w.Steps = append(w.Steps, Step{Line: line, Stretch: w.stretch, Uses: map[int]string{}})
		w.fresh = false
	}
	uses := w.Steps[len(w.Steps)-1].Uses
	if !strings.Contains(uses[i], mark) {
		uses[i] += mark
	}
}

func (w *planWalk) barrier(text string) {
	if n := len(w.Steps); n > 0 && !w.fresh && w.Steps[n-1].Barrier == text {
		return // the other branch's
	}
	w.Steps = append(w.Steps, Step{Barrier: text, Stretch: w.stretch})
}

// loop walks a loop's parts and notes its steps, if it has any.
func (w *planWalk) loop(name string, parts ...[]thr.Stmt) {
	first := len(w.Steps)
	w.level++
	w.fresh = true
	for _, p := range parts {
		w.stmts(p)
	}
	w.fresh = true
	w.level--
	if last := len(w.Steps) - 1; last >= first {
		w.Loops = append(w.Loops, Band{First: first, Last: last, Level: w.level, Name: name})
	}
}
