package plan

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// A moment is what one statement does with the block's shared memory, seen by the block as a whole. Moments follow one
// another as the control flow that all its threads agree on has it. Where the warps go ways of their own, in roles and in
// branches and loops of a warp or a group, the whole stretch is one moment: no barrier of the block stands in it, so
// what is done in it may be done at any time of it, and in any order.
//
// Sets are of the buffers' numbers in the table.
type moment struct {
	touches bitset // accessed, by threads or by copies that begin
	reads   bitset // what they hold is needed
	stores  bitset // threads write, cp.async included
	fills   bitset // the asynchronous proxy writes, from now on
	drains  bitset // the asynchronous proxy reads, from now on
	copies  bitset // cp.async writes, from now on
	ends    bitset // what they held is needed no more: all that is read later is written anew
	barrier bool   // all threads of the block meet
	commit  bool   // the cp.async so far are a group
	settled bool   // no group of cp.async is under way
	stretch int    // how many barriers of the block come before it in the text
	next    []int  // moments that may follow
}

// timeline is a kernel's moments in the order of the text; the first is the start and the last the end.
type timeline struct {
	n       int // buffers
	bufs    []*thr.SharedBuf
	number  map[*thr.SharedBuf]int
	origins map[*thr.SharedBuf]origin
	moments []*moment
	barrier int            // so far
	anew    map[int]bool   // tile ops that write all of a buffer
	made    map[int]bitset // by the tile op of a loop: buffers that end with its iterations
	members map[*ir.Pipeline]bitset
	writers map[int][]int // by tile op: the moments in which it writes a buffer anew
	pinned  bitset        // mbarriers, and what other blocks of the cluster access: nobody knows when
	slots   bitset        // of pipelines
}

// origin is what a buffer was made for.
type origin struct {
	pos     ir.Pos
	tile    *ir.SharedTile
	pipe    *ir.Pipeline // whose slots or mbarriers it has
	scratch bool         // every op that uses it writes what it reads
}

// newTimeline lays a kernel out.
func newTimeline(s *state) *timeline {
	t := &timeline{n: len(s.out.Shared), bufs: s.out.Shared, number: map[*thr.SharedBuf]int{}, origins: s.origins, made: map[int]bitset{}, members: map[*ir.Pipeline]bitset{}, writers: map[int][]int{}}
	t.pinned, t.slots = newBitset(t.n), newBitset(t.n)
	put := func(m map[int]bitset, key, i int) {
		if m[key] == nil {
			m[key] = newBitset(t.n)
		}
		m[key].add(i)
	}
	for i, b := range s.out.Shared {
		t.number[b] = i
		o := s.origins[b]
		if o.tile == nil {
			continue
		}
		if r := o.tile.In; r != nil && r.Owner != nil {
			put(t.made, r.Owner.ID, i)
		}
		if o.pipe != nil {
			if t.members[o.pipe] == nil {
				t.members[o.pipe] = newBitset(t.n)
			}
			t.members[o.pipe].add(i)
			t.slots.add(i)
		}
	}
	t.anew = wholeWrites(s.k)
	start := t.add(nil)
	open := t.list(s.out.Body, []int{start})
	t.add(open)
	t.mend()
	return t
}

// add appends a moment that follows others.
func (t *timeline) add(after []int) int {
	m := &moment{stretch: t.barrier}
	for _, s := range []*bitset{&m.touches, &m.reads, &m.stores, &m.fills, &m.drains, &m.copies, &m.ends} {
		*s = newBitset(t.n)
	}
	t.moments = append(t.moments, m)
	at := len(t.moments) - 1
	t.link(after, at)
	return at
}

func (t *timeline) link(from []int, to int) {
	for _, i := range from {
		if m := t.moments[i]; !slices.Contains(m.next, to) {
			m.next = append(m.next, to)
		}
	}
}

// list lays statements out, behind the moments of from; it returns the last ones.
func (t *timeline) list(body []thr.Stmt, from []int) []int {
	for _, s := range body {
		from = t.stmt(s, from)
	}
	return from
}

func (t *timeline) stmt(s thr.Stmt, from []int) []int {
	switch s := s.(type) {
	case thr.If:
		if s.Roles[0] != nil || alone(s.Scope) {
			return t.apart(s, from)
		}
		fork := []int{t.add(from)}
		return slices.Concat(t.list(s.Then, fork), t.list(s.Else, fork))
	case thr.For:
		if alone(s.Scope) {
			return t.apart(s, from)
		}
		top := t.add(from)
		t.iteration(top, s.Op)
		last := t.list(s.Body, []int{top})
		t.link(last, top)
		if runs(s) {
			return last
		}
		return []int{top}
	case thr.While:
		if alone(s.Scope) {
			return t.apart(s, from)
		}
		top := t.add(from)
		t.iteration(top, s.Op)
		leave := t.list(s.Head, []int{top})
		t.link(t.list(s.Body, leave), top)
		return leave
	case thr.Load, thr.Store, thr.Do:
		at := t.add(from)
		t.note(t.moments[at], s)
		if t.moments[at].barrier {
			t.barrier++
		}
		return []int{at}
	}
	return from
}

// alone reports whether only part of the block agrees on control flow.
func alone(s ir.Scope) bool { return s == ir.ScopeWarp || s == ir.ScopeGroup }

// runs reports whether a loop has an iteration for certain.
func runs(s thr.For) bool {
	lo, ok := intOf(s.Lo)
	hi, ok2 := intOf(s.Hi)
	return ok && ok2 && lo < hi
}

// iteration notes what ends at the top of a loop's body.
func (t *timeline) iteration(top, op int) {
	if made := t.made[op]; made != nil {
		t.moments[top].ends.join(made)
	}
}

// apart lays out a stretch in which warps go their own ways. Nothing in it ends anything.
func (t *timeline) apart(s thr.Stmt, from []int) []int {
	at := t.add(from)
	m := t.moments[at]
	thr.Each([]thr.Stmt{s}, func(s thr.Stmt) { t.note(m, s) })
	m.reads.join(m.touches)
	m.ends = newBitset(t.n)
	m.barrier, m.commit, m.settled = false, false, false
	return []int{at}
}

// note adds what a statement does to a moment.
func (t *timeline) note(m *moment, s thr.Stmt) {
	switch s := s.(type) {
	case thr.Load:
		if s.Space == thr.Shared {
			t.use(m, s.Buf, s.Rank != nil, m.reads)
		}
	case thr.Store:
		if s.Space == thr.Shared {
			t.use(m, s.Buf, s.Rank != nil, m.stores)
			t.end(m, s.Buf, s.Op)
		}
	case thr.Do:
		t.do(m, s)
	}
}

func (t *timeline) do(m *moment, s thr.Do) {
	if s.Bar != nil {
		t.pinned.add(t.number[s.Bar])
		if slots := t.members[t.origins[s.Bar].pipe]; slots != nil { // who waits for a slot has to do with it
			m.touches.join(slots)
			m.reads.join(slots)
		}
	}
	switch {
	case s.Fn == thr.BlockSync, s.Fn == thr.ClusterSync:
		m.barrier = true
	case s.Fn == thr.CpCommit:
		m.commit = true
	case s.Fn == thr.CpWait:
		n, ok := intOf(s.Args[0])
		m.settled = ok && n == 0
	case s.Fn.Warpgroup(): // in a role, which waits for it
		for _, b := range []*thr.SharedBuf{s.Buf, s.BufB} {
			if b != nil {
				t.use(m, b, false, m.reads)
			}
		}
	case s.Buf == nil:
	case s.Fn.CopyBytes() > 0:
		t.use(m, s.Buf, false, m.stores, m.copies)
		t.end(m, s.Buf, s.Op)
	case s.Fn == thr.BulkLoad, s.Fn == thr.TensorLoad:
		t.use(m, s.Buf, false, m.fills)
	case s.Fn == thr.BulkStore, s.Fn == thr.TensorStore, s.Fn == thr.TensorAdd, s.Fn == thr.TensorMin, s.Fn == thr.TensorMax:
		t.use(m, s.Buf, false, m.reads, m.drains)
	case s.Fn.Matrix() && s.Fn.Writes():
		t.use(m, s.Buf, false, m.stores)
		t.end(m, s.Buf, s.Op)
	case s.Fn.Matrix():
		t.use(m, s.Buf, false, m.reads)
	default: // of several blocks, or unknown here
		t.use(m, s.Buf, true, m.reads, m.stores)
	}
}

// use notes an access to a buffer; of a peer's, nobody here knows when.
func (t *timeline) use(m *moment, b *thr.SharedBuf, peer bool, in ...bitset) {
	i := t.number[b]
	m.touches.add(i)
	for _, s := range in {
		s.add(i)
	}
	if peer {
		t.pinned.add(i)
	}
}

// end notes that a store is one of those that write a buffer anew.
func (t *timeline) end(m *moment, b *thr.SharedBuf, op int) {
	if o := t.origins[b]; o.scratch || o.tile != nil && t.anew[op] {
		m.ends.add(t.number[b])
		t.writers[op] = append(t.writers[op], len(t.moments)-1)
	}
}

// mend takes back what an op ends that has a barrier between its stores: the first ones hold something already.
func (t *timeline) mend() {
	for _, at := range t.writers {
		if slices.ContainsFunc(t.moments[at[0]:at[len(at)-1]], func(m *moment) bool { return m.barrier }) {
			for _, i := range at {
				t.moments[i].ends = newBitset(t.n)
			}
		}
	}
}

// wholeWrites are the ops that write every element of a shared tile, by all threads of the block together.
func wholeWrites(k *ir.Kernel) map[int]bool {
	out := map[int]bool{}
	ir.EachOp(k.Body, func(v *ir.Value) {
		var shape []int
		var offsets []*ir.Value
		switch a := v.Attr.(type) {
		case *ir.Access:
			if v.Op == ir.Store && a.Shared != nil && !a.Peer && !clipped(v.Type.Span) {
				shape, offsets = a.Shared.Shape, v.Args[len(v.Args)-len(a.Shared.Shape):]
			}
		case *ir.CopyInfo: // which writes zeros past the ends
			shape, offsets = a.Dst.Shape, v.Args[:len(a.Dst.Shape)]
		}
		if shape == nil || v.Scope != ir.ScopeBlock || v.Type.Span == nil || !slices.Equal(v.Type.Span.Dist.Shape, shape) {
			return
		}
		for _, o := range offsets {
			if n, ok := constInt(o); !ok || n != 0 {
				return
			}
		}
		out[v.ID] = true
	})
	return out
}

// clipped reports whether a span may end before its shape does.
func clipped(s *ir.Span) bool {
	return s != nil && slices.ContainsFunc(s.Extent, func(e *ir.Value) bool { return e != nil })
}
