package sim

import "github.com/gotile/gotile/internal/thr"

// namedBar is a named barrier of a block, between two openings.
type namedBar struct {
	id, threads int // threads: as those who came have said; 0: nobody has come
	come        int
	site        int32 // of the first that came
	arriving    seen
}

// maxNamed is one more than the highest number of a named barrier.
const maxNamed = 16

// namedDo compiles a warp's coming to a named barrier.
func namedDo(waits bool) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		threads, ok := c.fold(s.Args[1])
		if !ok || s.Pred != nil {
			c.fail("%s: a named barrier has a constant number of threads, and no predicate", s.Fn)
		}
		site := c.site(s.Fn.String(), 0)
		c.program.named = true
		m := c.mark()
		number := c.register(1, true).i
		c.agreed(number, s.Args[0], site, "number")
		c.release(m) // read at once
		c.emit(0, func(w *warp) {
			id := int32(w.u[number])
			if id < 1 || id >= maxNamed {
				w.report(BadBarrier, site, none, 0, "named barrier %d: a block has 1 to %d", id, maxNamed-1)
				return
			}
			w.block.named[id].meet(w, int(threads), site, waits)
		})
	}
}

// meet is a warp's coming; the last one opens the barrier.
func (n *namedBar) meet(w *warp, threads int, site int32, waits bool) {
	c := w.block.cluster
	if n.come == 0 {
		n.threads, n.site = threads, site
		n.arriving.reset(len(c.warps), c.agents)
	}
	if threads != n.threads {
		w.report(BadBarrier, site, n.site, 0, "named barrier %d for %d threads, and for %d in the same round", n.id, threads, n.threads)
	}
	w.publish(&n.arriving, allLanes)
	n.come += warpSize
	if n.come < n.threads {
		if waits {
			w.state, w.waits, w.meets = stalled, site, n
		}
		return
	}
	n.come = 0
	if waits {
		n.pass(w)
	}
	for _, v := range w.block.warps {
		if v.meets == n {
			n.pass(v)
			v.meets = nil
			c.resume(v)
		}
	}
}

// pass lets a warp go on, whose lanes have met.
func (n *namedBar) pass(w *warp) {
	w.ended()
	w.seen.join(&n.arriving, w.block.cluster.agents)
	w.settle()
}

// lacks is how many warps have yet to come.
func (n *namedBar) lacks() int { return (n.threads - n.come) / warpSize }
