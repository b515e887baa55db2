package sim

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
	// lanes has, for single threads (a record's warp and lane), the first epoch that is not known to be over, where that
	// is beyond the clock: of threads that arrived without the rest of their warp.
	lanes map[record]uint32
	known knowledge // of other blocks of the launch
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
	s.lanes, s.known = nil, nil
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
	for t, e := range o.lanes {
		s.lane(t, e)
	}
	s.known = s.known.join(o.known)
}

// set makes s know what o knows, no more.
func (s *seen) set(o *seen, n int) {
	copy(s.clock[:n], o.clock[:n])
	copy(s.fenced[:n], o.fenced[:n])
	copy(s.fencedGlobal[:n], o.fencedGlobal[:n])
	s.lanes, s.known = nil, nil
	for t, e := range o.lanes {
		s.lane(t, e)
	}
	s.known = s.known.join(o.known)
}

// lane notes that what a thread did before an epoch is over.
func (s *seen) lane(t record, epoch uint32) {
	if epoch <= s.clock[t.warp()] {
		return
	}
	if s.lanes == nil {
		s.lanes = map[record]uint32{}
	}
	s.lanes[t] = max(s.lanes[t], epoch)
}

// has reports whether an earlier access is ordered before what a thread does now: by a synchronisation that it has seen,
// or because it was the same thread. No access (0) is before everything. An agent is no thread: its accesses are not
// ordered among themselves.
func (s *seen) has(r, now record) bool {
	return r.before(&s.clock, now) || len(s.lanes) > 0 && r&(recordMany|recordAgent) == 0 && r.epoch() < s.lanes[r&recordThread]
}

// publish adds what the lanes of m know and did to what an mbarrier passes on. What they do from now on is of another
// epoch.
func (w *warp) publish(to *seen, m uint32) {
	n := w.block.cluster.agents
	to.join(&w.seen, n)
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
