package sim

import "github.com/gotile/gotile/internal/thr"

// A barrier of the cluster in two halves. An arrival publishes the warp's clock; a wait takes over those of all warps'
// arrivals. What a warp does in between is in neither.

// arrivals are those of the cluster's warps at its barrier. A warp cannot arrive twice without waiting, so the next
// phase is over only when all have waited for this one: one result is enough.
type arrivals struct {
	count int    // warps that have arrived in this phase
	phase uint32 // phases that are over
	seen  seen   // by the warps that have arrived
	over  seen   // the same of the last phase that is over
}

func (c *compiler) clusterArrive(s thr.Do) {
	at := c.half(s, "arrival at the barrier of the cluster")
	c.emit(0, func(w *warp) {
		w.between(at)
		w.arrived, w.waits = w.arrived+1, at
		w.block.cluster.arrival(w)
	})
}

func (c *compiler) clusterWait(s thr.Do) {
	at := c.half(s, "wait for the barrier of the cluster")
	c.emit(0, func(w *warp) {
		if w.arrived == w.passed {
			w.report(BarrierDivergence, at, none, 0,
				"warp %d of block %d waits here and has not arrived", w.id, w.block.id)
			return
		}
		if w.block.cluster.arrivals.phase < w.arrived {
			w.state, w.waits = awaiting, at
			return
		}
		w.pass()
	})
}

func (c *compiler) half(s thr.Do, what string) int32 {
	if s.Pred != nil {
		c.fail("a barrier for some lanes")
	}
	c.clustered(s.Fn)
	return c.site(what, 0)
}

// between reports a warp that has arrived and not waited, where it must have.
func (w *warp) between(at int32) {
	if w.arrived != w.passed {
		w.report(BarrierDivergence, at, none, 0,
			"warp %d of block %d has arrived at a barrier of the cluster, and not waited", w.id, w.block.id)
		w.passed = w.arrived
	}
}

// leave ends the warp, which must not be between the two.
func (w *warp) leave() {
	if w.arrived != w.passed {
		w.report(BarrierDivergence, w.waits, none, 0,
			"warp %d of block %d arrives here, and leaves the kernel without waiting", w.id, w.block.id)
	}
	w.state = exited
}

// arrival counts a warp. The last one ends the phase, and lets those go on that wait for it.
func (c *cluster) arrival(w *warp) {
	a, n := &c.arrivals, len(c.warps)
	w.publish(&a.seen, allLanes)
	if a.count++; a.count < n {
		return
	}
	*a = arrivals{phase: a.phase + 1, over: a.seen}
	for _, w := range c.warps {
		if w.state == awaiting {
			w.pass()
			c.resume(w)
		}
	}
}

// pass orders what the warp does from here on after what all warps did before they arrived.
func (w *warp) pass() {
	w.passed = w.arrived
	w.learn(&w.block.cluster.arrivals.over, allLanes)
	w.toPeers = nowhere
}

// stuck reports the warps that wait for an arrival that does not come, and lets them go on. It returns whether there
// were any.
func (c *cluster) stuck() bool {
	found := false
	for _, w := range c.warps {
		if w.state != awaiting {
			continue
		}
		found = true
		for _, o := range c.warps {
			if o.arrived < w.arrived {
				w.report(BarrierDivergence, w.waits, none, 0,
					"warp %d of block %d waits here, and warp %d of block %d does not arrive", w.id, w.block.id, o.id, o.block.id)
				break
			}
		}
		w.passed = w.arrived
		c.resume(w)
	}
	return found
}
