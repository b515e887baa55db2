package viz

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/thr"
)

// PlanOf is the shared memory of a lowered kernel, of which a block of the target has limit bytes. A buffer's lifetime
// goes from its first access to its last, and takes all of a loop whose first access is a read: the next iteration needs
// what it holds.
func PlanOf(k *thr.Kernel, limit int) *Plan {
	bufs := slices.Clone(k.Shared)
	slices.SortStableFunc(bufs, func(a, b *thr.SharedBuf) int { return cmp.Compare(a.Offset, b.Offset) })
	w := &planWalk{Plan: Plan{Kernel: k.Name, Target: k.Target, Bytes: k.SharedBytes, Limit: limit}, index: map[*thr.SharedBuf]int{}}
	for i, b := range bufs {
		w.index[b] = i
		w.Buffers = append(w.Buffers, Buffer{Name: b.Name, Type: b.DT.String(), Note: b.Note, Offset: b.Offset, Bytes: b.Bytes, First: math.MaxInt, Last: -1})
	}
	w.stmts(k.Body)
	w.lifetimes()
	slices.SortFunc(w.Loops, func(a, b Band) int { return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.First, b.First)) })
	return &w.Plan
}

// planWalk collects the steps of a kernel.
type planWalk struct {
	Plan
	index map[*thr.SharedBuf]int
	level int
	fresh bool // the next access begins a step
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
			switch s.Fn {
			case thr.BlockSync:
				w.barrier(markBlock)
			case thr.ClusterSync:
				w.barrier(markCluster)
			case thr.CpWait:
				w.barrier(markGet)
			case thr.CpAsync, thr.CpAsync8, thr.CpAsync4:
				w.use(s, s.Buf, markCopy)
			case thr.LdMatrix, thr.LdMatrixTrans:
				w.use(s, s.Buf, markRead)
			case thr.StMatrix, thr.StMatrixTrans:
				w.use(s, s.Buf, markWrite)
			}
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
		w.Steps = append(w.Steps, Step{Line: line, Uses: map[int]string{}})
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
	w.Steps = append(w.Steps, Step{Barrier: text})
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

// lifetimes finds the first and last use of each buffer, and the loops that carry it.
func (w *planWalk) lifetimes() {
	for i := range w.Buffers {
		b := &w.Buffers[i]
		for s, step := range w.Steps {
			if step.Uses[i] != "" {
				b.First, b.Last = min(b.First, s), max(b.Last, s)
			}
		}
		for _, l := range w.Loops { // inner ones come first
			if w.carried(i, l) {
				b.First, b.Last = min(b.First, l.First), max(b.Last, l.Last)
			}
		}
	}
}

// carried reports whether a loop's first access to a buffer is a read.
func (w *planWalk) carried(buf int, l Band) bool {
	for _, s := range w.Steps[l.First : l.Last+1] {
		if uses := s.Uses[buf]; uses != "" {
			return uses[:1] == markRead
		}
	}
	return false
}
