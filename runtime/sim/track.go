package sim

import "math/bits"

// track makes copies of a warp's threads end with a phase of an mbarrier, for which one arrival of each lane is pending
// until they have arrived: they are no longer copies that the warp waits for, and what they write is of the phase, as for
// bulk copies, but not by the asynchronous proxy.
func (o *barrierOp) track(w *warp, b *mbar, m uint32) uint64 {
	if m != allLanes {
		w.report(NonUniform, o.site, none, bits.TrailingZeros32(m), "%s tracks copies of some lanes of a warp", b.name())
	}
	var copies []*copying
	for _, g := range append(w.groups, w.open) {
		copies = append(copies, g...)
	}
	for i := range w.groups { // the groups stay, for waits that count them
		w.groups[i] = nil
	}
	w.open = nil
	if copies == nil {
		return 0
	}
	s := &w.block.shared
	for _, k := range copies {
		now := newRecord(agentEpoch+b.phase, k.a.site, w.block.barAgent(b.slot), 0) | recordAgent
		for m := k.m; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			s.fly(k.off[l], k.a.bytes, 0)
			first := k.off[l] >> s.shadow.shift
			for i := range k.a.bytes >> s.shadow.shift {
				s.shadow.overwrite(&s.shadow.cells[first+i], now) // what raced with it was reported
			}
		}
	}
	k := &bulk{w: w, site: copies[0].a.site, bar: b, phase: b.phase, copies: copies, arrivals: bits.OnesCount32(m)}
	b.pending += k.arrivals
	b.unseen = append(b.unseen, k)
	w.block.cluster.fly(k)
	return 0
}

// tracked is the arrival of copies that an mbarrier tracks.
func (k *bulk) tracked() {
	for _, c := range k.copies {
		c.arrive(k.w.block)
	}
	b := k.bar
	b.last = k.site
	b.pending -= k.arrivals
	b.complete(k.w)
}
