package sim

import (
	"fmt"
	"math/bits"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// barBytes is the size of an mbarrier.
const barBytes = 8

// mbar is an mbarrier of a block.
type mbar struct {
	block  *block
	slot   int
	live   bool
	fenced bool   // the asynchronous proxy and the cluster see its init
	init   record // of the last init or, where it is not live, of the inval
	count  int    // arrivals of a phase
	// Of the phase under way:
	phase            uint32 // its number
	pending, tx      int    // arrivals and bytes that have yet to come; tx is below 0 while bytes are ahead of their expect
	expected, issued int    // bytes expected, bytes of copies
	flying           int    // copies that have not arrived
	arriving         seen   // what its arrivals release

	done     seen          // what the phases before have released
	observed uint32        // the phases before it are known to be over to somebody
	byWarp   []uint32      // the same for each warp of the cluster
	used     []record      // the last use by each warp of the cluster
	unseen   []*bulk       // copies whose phase nobody knows to be over
	last     int32         // site of the last arrival or copy
	brought  int32         // site of the last arrival or expect of the phase; none: there was none
	ended    int32         // site of what ended the phase before
	guests   map[int]guest // the last arrival of each warp of other blocks
}

func (b *mbar) name() string {
	s := b.block.program.bars[b.slot]
	return fmt.Sprintf("%s[%d]", s.buf.Name, s.i)
}

// reset makes the memory of the mbarrier plain bytes.
func (b *mbar) reset() {
	*b = mbar{block: b.block, slot: b.slot, byWarp: b.byWarp, used: b.used, unseen: b.unseen[:0], last: none, brought: none, ended: none}
	clear(b.byWarp)
	clear(b.used)
}

// begin makes it an mbarrier.
func (b *mbar) begin(count int) {
	c := b.block.cluster
	b.reset()
	b.live, b.count, b.pending = true, count, count
	b.arriving.reset(len(c.warps), c.agents)
	b.done.reset(len(c.warps), c.agents)
}

// barrierOp is an op of an mbarrier: what the instruction needs to find it.
type barrierOp struct {
	fn   thr.Fn
	site int32
	buf  *thr.SharedBuf
	addr int32 // register of offsets
	arg  int32 // register of the count, the bytes, the parity or the token
	dst  operand
	chosen
}

// barrierDo compiles an op of mbarriers. do executes it for the lanes of m, which name one mbarrier, and returns what
// the lanes get.
func barrierDo(do func(o *barrierOp, w *warp, b *mbar, m uint32) uint64) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		c.barriers(s.Bar)
		o := &barrierOp{fn: s.Fn, site: c.site(s.Fn.String(), 0), buf: s.Bar, dst: operand{i: -1}}
		o.addr = c.vec(s.Args[0]).i
		if len(s.Args) > 1 {
			o.arg = c.vec(s.Args[1]).i
		}
		o.chosen = c.chosen(s.Pred)
		if s.Dst != nil {
			o.dst = c.ref(s.Dst.Local, s.Dst.Index)
		}
		switch s.Fn {
		case thr.MBarTrack:
			c.program.async = true
		case thr.MBarTest, thr.MBarTestToken, thr.MBarTry, thr.MBarTryToken, thr.MBarWait, thr.MBarWaitToken:
			if s.Pred != nil {
				c.fail("%s for some lanes", s.Fn)
			}
		}
		c.emit(warpSize, func(w *warp) {
			for m := o.mask(w); m != 0; {
				first := bits.TrailingZeros32(m)
				same := o.same(w, m)
				b := o.find(w, same, first)
				if b == nil && s.Dst != nil {
					w.ask(o, w.block.bars[0], 0) // it may do so again and again
				}
				if b != nil {
					if x := do(o, w, b, same); !o.dst.pooled() {
						for l := range warpSize {
							if same>>l&1 != 0 {
								w.r[o.dst.i][l] = x
							}
						}
					}
				}
				m &^= same
			}
		})
	}
}

// same is the lanes of m that name the mbarrier of the first.
func (o *barrierOp) same(w *warp, m uint32) (out uint32) {
	at := w.vec(o.addr)
	first := bits.TrailingZeros32(m)
	for ; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m) & 31; at[l] == at[first] {
			out |= 1 << l
		}
	}
	return out
}

// find is the mbarrier that a lane names; it reports one that is none, or that may not be one yet.
func (o *barrierOp) find(w *warp, m uint32, lane int) *mbar {
	b := w.block.barrierAt(w, o.site, o.buf, int(uint32(w.vec(o.addr)[lane])), lane)
	if b == nil || o.fn == thr.MBarInit {
		return b
	}
	if !w.usable(b, o.site, lane) {
		return nil
	}
	return b
}

// barrierAt is the mbarrier at an offset in shared memory.
func (b *block) barrierAt(w *warp, site int32, buf *thr.SharedBuf, off, lane int) *mbar {
	i := off - buf.Offset
	if i < 0 || i >= buf.Bytes || i%barBytes != 0 {
		w.report(OutOfBounds, site, none, lane, "%s at byte %d of %s, which has %s", b.program.sites[site].what, i, buf.Name, ir.Count(buf.Bytes/barBytes, "mbarrier"))
		return nil
	}
	return b.bars[b.program.barAt[buf]+i/barBytes]
}

// usable reports a use of what is no mbarrier, or may not be one for this lane.
func (w *warp) usable(b *mbar, site int32, lane int) bool {
	what := w.block.program.sites[site].what
	now := newRecord(w.epoch, site, w.index, lane)
	switch {
	case b.init == 0:
		w.report(BadBarrier, site, none, lane, "%s of %s, which is not initialised", what, b.name())
	case !b.live:
		w.report(BadBarrier, site, b.init.site(), lane, "%s of %s, which has ended", what, b.name())
	case !w.view(lane).has(b.init, now):
		w.report(BadBarrier, site, b.init.site(), lane, "%s of %s, whose init is not ordered before: put a barrier behind it", what, b.name())
	}
	if b.live {
		b.used[w.index] = now
	}
	return b.live
}

func (o *barrierOp) initBarrier(w *warp, b *mbar, m uint32) uint64 {
	l := bits.TrailingZeros32(m)
	n := int(int32(w.vec(o.arg)[l]))
	switch {
	case b.live:
		w.report(BadBarrier, o.site, b.init.site(), l, "init of %s, which is an mbarrier already", b.name())
	case n < 1 || n > ir.MaxArrivals:
		w.report(BadBarrier, o.site, none, l, "init of %s for %d arrivals; 1 to %d are possible", b.name(), n, ir.MaxArrivals)
		n = 1
	}
	b.begin(n)
	b.init = newRecord(w.epoch, o.site, w.index, l)
	return 0
}

func (o *barrierOp) invalBarrier(w *warp, b *mbar, m uint32) uint64 {
	l := bits.TrailingZeros32(m)
	for _, v := range w.block.cluster.warps {
		if v.blocked == b {
			w.report(BadBarrier, o.site, v.waits, l, "inval of %s, for which warp %d%s waits", b.name(), v.id, v.whose())
		}
	}
	now := newRecord(w.epoch, o.site, w.index, l)
	for i, use := range b.used { // whether or not it has come to it by now
		if v := w.block.cluster.warps[i]; i != w.index && use != 0 && v.blocked != b && !w.view(l).has(use, now) {
			w.report(BadBarrier, o.site, use.site(), l, "inval of %s, not ordered after its use by warp %d%s: put a barrier between", b.name(), v.id, v.whose())
		}
	}
	if b.flying > 0 {
		w.report(BadBarrier, o.site, b.last, l, "inval of %s, at which copies complete", b.name())
	}
	b.live, b.init = false, now
	return 0
}

// fenceBarriers makes the inits of a lane visible to the asynchronous proxy.
func (c *compiler) fenceBarriers(s thr.Do) {
	p := c.chosen(s.Pred)
	c.emit(1, func(w *warp) {
		m := p.mask(w)
		for _, b := range w.block.bars {
			if b.live && b.init.warp() == w.index && m>>b.init.lane()&1 != 0 {
				b.fenced = true
			}
		}
	})
}

// arrive is an arrival of each lane.
func (o *barrierOp) arrive(w *warp, b *mbar, m uint32) uint64 {
	n := 0
	for rest := m; rest != 0; rest &= rest - 1 {
		n += int(int32(w.vec(o.arg)[bits.TrailingZeros32(rest)&31]))
	}
	return o.arrived(w, b, m, n)
}

// arriveExpect is one arrival of each lane, with bytes.
func (o *barrierOp) arriveExpect(w *warp, b *mbar, m uint32) uint64 {
	o.expect(w, b, m)
	return o.arrived(w, b, m, bits.OnesCount32(m))
}

func (o *barrierOp) expect(w *warp, b *mbar, m uint32) uint64 {
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		n := int(int32(w.vec(o.arg)[l]))
		if b.expected += n; n < 0 || b.expected > ir.MaxBytes {
			w.report(WrongBytes, o.site, none, l, "%s expects %d bytes in one phase; 0 to %d are possible", b.name(), b.expected, ir.MaxBytes)
		}
		b.tx += n
	}
	b.brought = o.site
	return 0
}

// arrived takes n arrivals and returns the token of their phase.
func (o *barrierOp) arrived(w *warp, b *mbar, m uint32, n int) uint64 {
	token := uint64(b.phase)
	b.last, b.brought = o.site, o.site
	w.publish(&b.arriving, m)
	if b.pending -= n; b.pending < 0 || n < 1 {
		w.report(BadBarrier, o.site, b.init.site(), bits.TrailingZeros32(m), "%d arrivals in phase %d of %s, which expects %d", b.count-b.pending, b.phase, b.name(), b.count)
		b.pending = max(0, b.pending)
	}
	b.complete(w)
	return token
}

// complete ends the phase when all has come. by is who brought the last of it.
func (b *mbar) complete(by *warp) {
	c := b.block.cluster
	if b.pending > 0 || b.tx != 0 {
		return
	}
	for _, k := range b.unseen {
		if k.phase == b.phase && !k.done {
			by.report(WrongBytes, k.site, b.brought, 0, "phase %d of %s is over while this copy is under way: it expects %d bytes, its copies have %d", b.phase, b.name(), b.expected, b.issued)
		}
	}
	if b.observed < b.phase {
		by.report(MissedPhase, b.last, b.ended, 0, "phase %d of %s is over, and nobody has seen that phase %d was", b.phase, b.name(), b.observed)
	}
	b.done.join(&b.arriving, c.agents)
	b.phase++
	b.ended = b.last
	agent := b.block.barAgent(b.slot)
	b.done.clock[agent] = agentEpoch + b.phase
	b.arriving.reset(len(c.warps), c.agents)
	b.pending, b.expected, b.issued, b.brought = b.count, 0, 0, none
	for _, w := range c.warps {
		if w.blocked == b {
			w.blocked = nil
			c.resume(w)
		}
	}
}

// wanted is the phase that lanes ask for, and whether it is over.
func (o *barrierOp) wanted(w *warp, b *mbar, m uint32, token bool) (phase int, over bool) {
	l := bits.TrailingZeros32(m)
	x := w.vec(o.arg)
	for rest := m; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros32(rest) & 31; x[i] != x[l] {
			w.report(NonUniform, o.site, none, i, "%s: %d in lane %d, %d in lane %d", o.fn, int64(x[l]), l, int64(x[i]), i)
			break
		}
	}
	now := int(b.phase)
	if token {
		phase = int(x[l])
		if now > phase+1 {
			w.report(MissedPhase, o.site, b.ended, l, "%s for phase %d of %s, which is in phase %d: a token is of this phase or the one before", o.fn, phase, b.name(), now)
		}
		return phase, now > phase
	}
	if x[l] > 1 {
		w.report(BadBarrier, o.site, none, l, "%s for parity %d of %s", o.fn, int32(x[l]), b.name())
	}
	if next := int(b.byWarp[w.index]); uint64(next&1) == x[l] && now >= next+2 {
		w.report(MissedPhase, o.site, b.ended, l, "%s for phase %d of %s, which is in phase %d: the parity of phase %d is the same", o.fn, next, b.name(), now, next+2)
	}
	if uint64(now&1) != x[l] {
		return now - 1, true
	}
	return now, false
}

// test asks whether the phase of a token or a parity is over; all lanes learn from it. A warp that asks in vain lets the
// others run before it asks again.
func test(token bool) func(o *barrierOp, w *warp, b *mbar, m uint32) uint64 {
	return func(o *barrierOp, w *warp, b *mbar, m uint32) uint64 {
		phase, over := o.wanted(w, b, m, token)
		if over {
			b.observe(w, phase, m)
		} else {
			w.ask(o, b, phase)
		}
		return put(over)
	}
}

// ask notes that a warp has asked for a phase in vain.
func (w *warp) ask(o *barrierOp, b *mbar, phase int) {
	w.fuel, w.asked, w.waits, w.wants = 0, b, o.site, phase
}

// wait stops the warp until the phase of a token or a parity is over.
func wait(token bool) func(o *barrierOp, w *warp, b *mbar, m uint32) uint64 {
	return func(o *barrierOp, w *warp, b *mbar, m uint32) uint64 { return o.wait(w, b, m, token) }
}

func (o *barrierOp) wait(w *warp, b *mbar, m uint32, token bool) uint64 {
	phase, over := o.wanted(w, b, m, token)
	if over {
		b.observe(w, phase, m)
		return 0
	}
	if m != allLanes {
		w.report(NonUniform, o.site, none, bits.TrailingZeros32(m), "the lanes of a warp wait for several mbarriers, of which one is %s", b.name())
		return 0
	}
	w.pc-- // again, when the phase has changed
	w.state, w.waits, w.blocked, w.wants = stalled, o.site, b, phase
	return 0
}

// observe notes that lanes know a phase to be over.
func (b *mbar) observe(w *warp, phase int, m uint32) {
	w.learn(&b.done, m)
	seen := uint32(phase + 1)
	b.byWarp[w.index] = max(b.byWarp[w.index], seen)
	b.observed = max(b.observed, seen)
	rest := b.unseen[:0]
	for _, k := range b.unseen {
		if k.phase >= b.observed {
			rest = append(rest, k)
		}
	}
	b.unseen = rest
}
