package plan

import (
	"cmp"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// sharedAlign is the least alignment of a shared buffer: what a 16-byte access needs.
const sharedAlign = 16

// layoutShared gives shared buffers their offsets and writes them into the addresses. They lie one behind the other,
// which is what their author expects to see, unless sharing bytes lets a multiprocessor of some target hold more blocks:
// one where it held none, too. So a kernel's layout is the same on all targets that share its text.
func layoutShared(s *state) error {
	l := newLives(s)
	offsets, bytes := l.choose(s, l.sizes(nil))
	return l.lay(s, offsets, bytes)
}

// choose places buffers of some sizes.
func (l *lives) choose(s *state, sizes []int) (offsets []int, bytes int) {
	offsets, bytes = l.place(sizes, func(a, b int) bool { return true })
	if packed, n := l.place(sizes, l.keepsApart); slices.ContainsFunc(textTargets(s), func(t *target.Target) bool {
		return residents(t, s.k.Threads, n) > residents(t, s.k.Threads, bytes)
	}) {
		return packed, n
	}
	return offsets, bytes
}

// keepsApart reports whether two buffers may not share bytes.
func (l *lives) keepsApart(a, b int) bool { return l.apart[a].has(b) }

// lay fills in the offsets.
func (l *lives) lay(s *state, offsets []int, bytes int) error {
	s.out.SharedBytes = bytes
	for i, b := range s.out.Shared {
		b.Offset, b.Align, b.First, b.Last = offsets[i], alignOf(b), l.first[i], l.last[i]
	}
	if bytes > s.t.Shared {
		return overflow(s, l)
	}
	s.out.Body = rewrite(s.out.Body, func(e thr.Expr) thr.Expr {
		switch e := e.(type) {
		case thr.SharedAddr:
			return thr.Const{DT: dtype.U32, Bits: uint64(e.Buf.Offset)}
		case thr.Apply:
			if e.Op == ir.Add && e.T == dtype.U32 {
				return add(e.Args[0], e.Args[1])
			}
		}
		return e
	})
	return nil
}

func alignOf(b *thr.SharedBuf) int { return max(b.Align, sharedAlign) }

// sizes are the bytes of the buffers, with other numbers of stages in some pipelines.
func (l *lives) sizes(stages map[*ir.Pipeline]int) []int {
	out := make([]int, l.n)
	for i, b := range l.bufs {
		out[i] = b.Bytes
		if p := l.origins[b].pipe; p != nil && stages[p] > 0 {
			out[i] = b.Bytes / p.Stages * stages[p]
		}
	}
	return out
}

// place gives buffers of some sizes offsets: each the lowest at which it meets none that it is to be apart from. Where
// some may share, the largest come first. bytes is what all take.
func (l *lives) place(sizes []int, apart func(a, b int) bool) (offsets []int, bytes int) {
	order := make([]int, l.n)
	for i := range order {
		order[i] = i
	}
	if slices.ContainsFunc(order, func(a int) bool { return slices.ContainsFunc(order, func(b int) bool { return !apart(a, b) }) }) {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	}
	offsets = make([]int, l.n)
	for i, a := range order {
		align := alignOf(l.bufs[a])
		for moved := true; moved; { // past every one that is in the way
			moved = false
			for _, b := range order[:i] {
				if end := offsets[b] + sizes[b]; apart(a, b) && offsets[a] < end && offsets[b] < offsets[a]+sizes[a] {
					offsets[a], moved = (end+align-1)/align*align, true
				}
			}
		}
		bytes = max(bytes, (offsets[a]+sizes[a]+sharedAlign-1)/sharedAlign*sharedAlign)
	}
	return offsets, bytes
}

// textTargets are the targets that a kernel claims and that have its text.
func textTargets(s *state) []*target.Target {
	var out []*target.Target
	for _, name := range target.Names() {
		t, err := target.Lookup(name)
		if err == nil && t.Proxy == "" && (s.k.Targets == nil || slices.Contains(s.k.Targets, name)) && loweringSet(s.k, t) == s.out.Lowering {
			out = append(out, t)
		}
	}
	return out
}

// systemShared is what the system keeps of shared memory for each block. A multiprocessor of every target has the most of
// one block, and this.
const systemShared = 1 << 10

// mostBlocks is the most blocks that a multiprocessor of any target holds.
const mostBlocks = 32

// residents is how many blocks a multiprocessor holds by its threads and its shared memory.
func residents(t *target.Target, threads, bytes int) int {
	if bytes > t.Shared {
		return 0
	}
	return min(mostBlocks, t.Threads/threads, (t.Shared+systemShared)/(bytes+systemShared))
}
