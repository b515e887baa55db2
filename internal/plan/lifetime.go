package plan

import "slices"

// Which buffers may share bytes. Two conditions, of every two buffers:
//
//   - Nothing writes the one while what the other holds is still needed.
//   - Every access of the one is ordered before every access of the other that may follow, by a barrier of all threads of
//     the block. An asynchronous copy counts as an access until its end is certain, of the barrier's side: cp.async until a
//     WaitGroup for all groups; bulk and tensor copies into the slots of a pipeline until nothing more is done with the
//     pipeline, since what is filled is waited for; other bulk and tensor copies for good. What threads have written takes
//     a fence before the asynchronous proxy writes it, and the planner knows none: those do not share.
//
// Both come from the moments of the timeline, by two walks to a fixed point: forwards for what has been done, backwards for
// what is needed.

// lives says when buffers live and which may share bytes.
type lives struct {
	*timeline
	before []past   // of each moment
	wanted []bitset // after each moment: what is read later, before it is written anew
	later  []bitset // after each moment: what is accessed later
	apart  []bitset // by buffer: those that it shares no bytes with, and
	needed []bitset // those among them with which no barrier would help
	first  []int    // by buffer: the stretch in which it begins to live, and
	last   []int    // the one in which it ends
}

// past is what has been done, on some way to a moment.
type past struct {
	open      bitset // accessed since the last barrier
	pending   bitset // cp.async that are in no group yet, and
	committed bitset // in groups
	async     bitset // bulk and tensor copies that have begun
	drains    bitset // those among them that read
	stored    bitset // threads have written it
	held      bitset // it may hold something
}

func (p *past) sets() []*bitset {
	return []*bitset{&p.open, &p.pending, &p.committed, &p.async, &p.drains, &p.stored, &p.held}
}

// newLives analyses a kernel.
func newLives(s *state) *lives {
	l := &lives{timeline: newTimeline(s)}
	n := len(l.moments)
	l.before, l.wanted, l.later = make([]past, n), make([]bitset, n), make([]bitset, n)
	for i := range n {
		for _, s := range l.before[i].sets() {
			*s = newBitset(l.n)
		}
		l.wanted[i], l.later[i] = newBitset(l.n), newBitset(l.n)
	}
	l.backwards()
	l.forwards()
	l.conflicts()
	l.stretches()
	return l
}

// backwards finds what is needed after each moment.
func (l *lives) backwards() {
	for changed := true; changed; {
		changed = false
		for i, m := range slices.Backward(l.moments) {
			for _, next := range m.next {
				n := l.moments[next]
				w := l.wanted[next].clone()
				w.drop(n.ends)
				w.join(n.reads)
				changed = l.wanted[i].grow(w) || changed
				changed = l.later[i].grow(l.later[next]) || changed
				changed = l.later[i].grow(n.touches) || changed
			}
		}
	}
}

// forwards finds what has been done before each moment.
func (l *lives) forwards() {
	for changed := true; changed; {
		changed = false
		for i, m := range l.moments {
			p := l.after(i)
			for _, next := range m.next {
				to := l.before[next].sets()
				for k, s := range p.sets() {
					changed = to[k].grow(*s) || changed
				}
			}
		}
	}
}

// after is what has been done after a moment.
func (l *lives) after(i int) past {
	m, p := l.moments[i], past{}
	for k, s := range l.before[i].sets() {
		*p.sets()[k] = s.clone()
	}
	p.open.join(m.touches)
	p.pending.join(m.copies)
	p.async.join(m.fills, m.drains)
	p.drains.join(m.drains)
	p.stored.join(m.stores)
	p.held.drop(m.ends)
	p.held.join(m.stores, m.fills)
	if m.commit {
		p.committed.join(p.pending)
		p.pending = newBitset(l.n)
	}
	if m.settled { // what a thread's own copies wrote is as if the thread had
		p.open.join(p.committed)
		p.committed = newBitset(l.n)
	}
	if m.barrier {
		p.open = newBitset(l.n)
		done := l.slots.clone() // and waited for, since somebody has waited for each fill
		done.drop(l.later[i])
		done.drop(p.drains)
		p.pending.drop(done)
		p.committed.drop(done)
		p.async.drop(done)
	}
	return p
}

// conflicts finds the buffers that share no bytes.
func (l *lives) conflicts() {
	l.apart, l.needed = make([]bitset, l.n), make([]bitset, l.n)
	all := newBitset(l.n)
	for i := range l.n {
		l.apart[i], l.needed[i] = newBitset(l.n), newBitset(l.n)
		all.add(i)
	}
	keep := func(i int, from bitset) {
		l.apart[i].join(from)
		from.each(func(j int) { l.apart[j].add(i) })
	}
	need := func(i int, from bitset) {
		keep(i, from)
		l.needed[i].join(from)
		from.each(func(j int) { l.needed[j].add(i) })
	}
	l.pinned.each(func(i int) { need(i, all) })
	for i, m := range l.moments {
		p := &l.before[i]
		m.touches.each(func(b int) { // not ordered after these
			keep(b, p.open)
			need(b, p.pending)
			need(b, p.committed)
			need(b, p.async)
			keep(b, m.touches)
		})
		m.fills.each(func(b int) { need(b, p.stored) }) // no fence is known
		written, kept := m.stores.clone(), p.held.clone()
		written.join(m.fills)
		kept.meet(l.wanted[i])
		written.each(func(b int) { need(b, kept) })
	}
}

// stretches finds from which stretch between barriers to which each buffer lives: where it is accessed, and where what it
// holds is needed later.
func (l *lives) stretches() {
	l.first, l.last = make([]int, l.n), make([]int, l.n)
	for b := range l.n {
		l.first[b], l.last[b] = l.barrier, 0
	}
	for i, m := range l.moments {
		live := l.before[i].held.clone()
		live.drop(m.ends)
		live.meet(l.wanted[i])
		live.join(m.touches, l.before[i].pending, l.before[i].committed, l.before[i].async)
		live.each(func(b int) { l.first[b], l.last[b] = min(l.first[b], m.stretch), max(l.last[b], m.stretch) })
	}
	l.pinned.each(func(b int) { l.first[b], l.last[b] = 0, l.barrier })
}
