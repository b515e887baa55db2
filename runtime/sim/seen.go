package sim

import "slices"

// epoch numbers: those of agents lie above those of warps, so that no record of an agent is below warp.over.
const (
	firstEpoch = 1 // 0 is never an epoch, so an access record is never 0
	agentEpoch = 1 << 31
)

// seen is what a warp knows to be over, or what an mbarrier passes on.
type seen struct {
	clock clock
	// fenced is the same of accesses that a proxy fence has ordered before what the asynchronous proxy does.
	fenced clock
	// fencedGlobal is the same for global memory.
	fencedGlobal clock
	// lanes has, for single threads, the first epoch that is not known to be over, where that is beyond the clock: of
	// threads that arrived without the rest of their warp. They are few, an elected lane a warp as a rule.
	lanes []laneEpoch
	known knowledge // of other blocks of the launch
}

// laneEpoch is an epoch of one thread: a record's warp and lane.
type laneEpoch struct {
	thread record
	epoch  uint32
}

// reset leaves nothing known, of n agents of which the first are warps.
func (s *seen) reset(warps, n int) {
	for i := range n {
		s.clock[i] = firstEpoch
		if i >= warps {
			s.clock[i] = agentEpoch
		}
		s.fenced[i], s.fencedGlobal[i] = firstEpoch, firstEpoch
	}
	s.lanes, s.known = s.lanes[:0], nil
}

// join adds what o knows.
func (s *seen) join(o *seen, n int) {
	for i, c := range o.clock[:n] {
		s.clock[i] = max(s.clock[i], c)
	}
	for i, c := range o.fenced[:n] {
		s.fenced[i] = max(s.fenced[i], c)
	}
	for i, c := range o.fencedGlobal[:n] {
		s.fencedGlobal[i] = max(s.fencedGlobal[i], c)
	}
	if len(s.lanes) > 0 { // some may be within the clock now
		s.lanes = slices.DeleteFunc(s.lanes, func(l laneEpoch) bool { return l.epoch <= s.clock[l.thread.warp()] })
	}
	for _, l := range o.lanes {
		s.lane(l.thread, l.epoch)
	}
	s.known = s.known.join(o.known)
}

// set makes s know what o knows, no more.
func (s *seen) set(o *seen, n int) {
	copy(s.clock[:n], o.clock[:n])
	copy(s.fenced[:n], o.fenced[:n])
	copy(s.fencedGlobal[:n], o.fencedGlobal[:n])
	s.lanes = append(s.lanes[:0], o.lanes...)
	s.known = knowledge(nil).join(o.known)
}

// lane notes that what a thread did before an epoch is over.
func (s *seen) lane(t record, epoch uint32) {
	if epoch <= s.clock[t.warp()] {
		return
	}
	for i := range s.lanes {
		if s.lanes[i].thread == t {
			s.lanes[i].epoch = max(s.lanes[i].epoch, epoch)
			return
		}
	}
	s.lanes = append(s.lanes, laneEpoch{t, epoch})
}

// has reports whether an earlier access is ordered before what a thread does now: by a synchronisation that it has seen,
// or because it was the same thread. No access (0) is before everything. An agent is no thread: its accesses are not
// ordered among themselves.
func (s *seen) has(r, now record) bool {
	return r.before(&s.clock, now) || len(s.lanes) > 0 && s.hasLane(r)
}

// hasLane is has by what single threads have published.
func (s *seen) hasLane(r record) bool {
	if r&(recordMany|recordAgent) != 0 {
		return false
	}
	for _, l := range s.lanes {
		if l.thread == r&recordThread {
			return r.epoch() < l.epoch
		}
	}
	return false
}

// publish adds what the lanes of m know and did to what an mbarrier passes on. What they do from now on is of another
// epoch.
func (w *warp) publish(to *seen, m uint32) {
	n := w.block.cluster.agents
	to.join(&w.seen, n)
	if len(w.private)+len(w.acquired) > 0 {
		for l, p := range w.private {
			if m>>l&1 != 0 {
				to.join(p, n)
			}
		}
		for l, k := range w.acquired {
			if m>>l&1 != 0 {
				to.known = to.known.join(k)
			}
		}
	}
	w.epoch++
	if m == allLanes {
		to.clock[w.index] = max(to.clock[w.index], w.epoch)
		return
	}
	for l := range warpSize {
		if m>>l&1 != 0 {
			to.lane(newRecord(0, 0, w.index, l), w.epoch)
		}
	}
}

// learn makes the lanes of m know what o knows. What single lanes know, the others do at their next WarpSync.
func (w *warp) learn(o *seen, m uint32) {
	n := w.block.cluster.agents
	if m == allLanes {
		w.seen.join(o, n)
		w.settle()
		return
	}
	for l := range warpSize {
		if m>>l&1 == 0 {
			continue
		}
		if w.private == nil {
			w.private = map[int]*seen{}
		}
		if w.private[l] == nil {
			w.private[l] = new(seen)
			w.private[l].set(&w.seen, n)
		}
		w.private[l].join(o, n)
	}
}

// view is what a lane knows.
func (w *warp) view(lane int) *seen {
	p := w.private[lane]
	if p == nil {
		return &w.seen
	}
	p.join(&w.seen, w.block.cluster.agents)
	return p
}

// share makes all lanes know what single ones have learned.
func (w *warp) share() {
	if len(w.private)+len(w.acquired) == 0 {
		return
	}
	for _, p := range w.private {
		w.seen.join(p, w.block.cluster.agents)
	}
	clear(w.private)
	w.passOn()
}

// ended begins the next epoch of a warp whose lanes have met.
func (w *warp) ended() {
	w.share()
	w.epoch++
	w.clock[w.index] = w.epoch
}
