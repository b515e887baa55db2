package sim

import "github.com/gotile/gotile/internal/ir"

// What blocks know of each other. A release publishes what its thread knows: of its own cluster, which is its block where
// there are none, the warp's clock, as of a barrier, and what the thread itself did; and what it has acquired. An acquire that reads the location takes that over, for its own lane only: a WarpSync passes it on to the
// warp, a BlockSync to the block, a ClusterSync to the cluster.

// released is what one cluster had done, as far as a release says. It does not change once it is published.
type released struct {
	clock   clock
	threads []releaser
}

// releaser is a thread that released itself: all that it did up to a tick is known.
type releaser struct {
	thread record // warp and lane
	tick   uint32
}

// knowledge is what is known, by cluster; nil: nothing.
type knowledge []*released

// has reports whether an access is known to be over.
func (k knowledge) has(r globalRecord) bool {
	b := int(r.cluster)
	if b >= len(k) || k[b] == nil {
		return false
	}
	if r.epoch < k[b].clock[r.thread.warp()] {
		return true
	}
	for _, t := range k[b].threads {
		if t.thread == r.thread && r.tick <= t.tick { // recordMany is no thread's
			return true
		}
	}
	return false
}

// join adds what o knows. It returns k, or a longer one.
func (k knowledge) join(o knowledge) knowledge {
	for len(k) < len(o) {
		k = append(k, nil)
	}
	for b, r := range o {
		switch {
		case r == nil || k[b] == r:
		case k[b] == nil:
			k[b] = r
		default:
			k[b] = k[b].join(r)
		}
	}
	return k
}

func (r *released) join(o *released) *released {
	j := &released{clock: r.clock, threads: append([]releaser(nil), r.threads...)}
	for i, c := range o.clock {
		j.clock[i] = max(j.clock[i], c)
	}
next:
	for _, t := range o.threads {
		for i := range j.threads {
			if j.threads[i].thread == t.thread {
				j.threads[i].tick = max(j.threads[i].tick, t.tick)
				continue next
			}
		}
		j.threads = append(j.threads, t)
	}
	return j
}

// knows reports whether an access of another block is over, as far as the lane that accesses now knows: of its cluster
// by their barriers, of any by what it has acquired.
func (w *warp) knows(r, now globalRecord) bool {
	if r.cluster == now.cluster && r.epoch < w.clock[r.thread.warp()] {
		return true
	}
	return w.known.has(r) || w.acquired[now.thread.lane()].has(r)
}

// order makes an ordered or atomic access of one lane pass on what it releases and take what it acquires. A relaxed
// atomic keeps what the location has: a release goes on through it. A relaxed or plain store ends it.
func (w *warp) order(p place, o ir.Order, lane int, reads, writes bool) {
	s := w.block.launch.global
	if s == nil {
		return
	}
	if o.Acquires() {
		if w.acquired == nil {
			w.acquired = map[int]knowledge{}
		}
		w.acquired[lane] = w.acquired[lane].join(s.places[p])
	}
	switch {
	case !writes:
	case o.Releases():
		view := w.view(lane)
		k := knowledge(nil).join(view.known).join(w.acquired[lane])
		cluster := w.block.id / s.size
		own := make(knowledge, cluster+1)
		own[cluster] = &released{view.clock, []releaser{{newRecord(0, 0, w.index, lane), w.ticks}}}
		k = k.join(own)
		if reads { // what others have released there stands
			k = k.join(s.places[p])
		}
		s.places[p] = k
		w.ticks++
	case !reads:
		delete(s.places, p)
	}
}

// passOn makes all lanes of a warp know what one of them has acquired.
func (w *warp) passOn() {
	for _, k := range w.acquired {
		w.known = w.known.join(k)
	}
	clear(w.acquired)
}
