package sim

import (
	"math/bits"

	"github.com/gotile/gotile/internal/thr"
)

// bulkAlign is what addresses and sizes of bulk copies are multiples of.
const bulkAlign = 16

// bulk is a bulk copy that was issued.
type bulk struct {
	w      *warp
	site   int32
	al     *allocation
	global int // offset in al
	shared int // offset in the block's shared memory
	bytes  int
	bar    *mbar  // of a load: where its bytes are completed
	phase  uint32 // of the mbarrier
	epoch  uint32 // of a store: of the warp's agent
	done   bool
	value  []byte // of an asynchronous store of a thread: what it writes
	held   []byte // of a store that has read shared memory and not yet written: what it has read

	tensor *boxed // of a tensor copy, in place of al and global

	multiply *flight // instead: a multiply of a warpgroup

	copies   []*copying // instead: copies of threads that an mbarrier tracks, and
	arrivals int        // how many it has pending for them
}

// bulkLane is the bulk stores of one thread.
type bulkLane struct {
	open   []*bulk
	groups [][]*bulk // that have not been waited for, the oldest first
	read   int       // of those, groups that are known to have read shared memory
}

// bulkOp is a bulk copy instruction.
type bulkOp struct {
	site             int32
	from, to, n, bar int32 // registers: pointer, offset, bytes, offset of the mbarrier
	load             bool
	bars             *thr.SharedBuf // of a load: the array of the mbarrier
	global, shared   *access        // the two sides
}

func (c *compiler) bulkCopy(s thr.Do) {
	o := &bulkOp{load: s.Fn == thr.BulkLoad}
	c.program.async = true
	shared, global := "bulk read", "bulk write"
	if o.load {
		shared, global = global, shared
		c.barriers(s.Bar)
		o.bars = s.Bar
		o.bar = c.vec(s.Args[3]).i
		if !s.Args[0].ExprType().Const { // the kernel writes it, too
			c.program.asyncReads = true
		}
	} else {
		c.program.bulkStores = true
	}
	o.global = c.access(bulkAlign, thr.Global, !o.load, global, s.Args[0], nil, nil)
	o.shared = c.access(bulkAlign, thr.Shared, o.load, shared, s.Args[1], s.Pred, s.Buf)
	o.site, o.n = o.shared.site, c.vec(s.Args[2]).i
	o.from, o.to = o.global.addr, o.shared.addr
	c.emit(warpSize, o.run)
}

func (o *bulkOp) run(w *warp) {
	for m := o.shared.lanes(w); m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if k := o.issue(w, l); k != nil {
			w.block.cluster.fly(k)
		}
	}
}

// issue checks a copy of a lane and begins it; nil: it is none.
func (o *bulkOp) issue(w *warp, l int) *bulk {
	b := w.block
	k := &bulk{w: w, site: o.site, shared: int(uint32(w.vec(o.to)[l])), bytes: int(int32(w.vec(o.n)[l]))}
	addr, what := w.vec(o.from)[l], b.program.sites[o.site].what
	low, high := o.shared.bounds(b)
	switch {
	case k.shared < low || k.bytes < 1 || k.shared+k.bytes > high:
		w.report(OutOfBounds, o.site, none, l, "%s of %d bytes at byte %d of %d", what, k.bytes, k.shared-low, high-low)
		return nil
	case k.shared%bulkAlign != 0 || k.bytes%bulkAlign != 0 || addr%bulkAlign != 0:
		w.report(Misaligned, o.site, none, l, "%s of %d bytes at %d, global address %#x: multiples of %d are needed", what, k.bytes, k.shared, addr, bulkAlign)
		return nil
	}
	if k.al = b.mem.at(addr, k.bytes); k.al == nil {
		w.badCopy(o.site, addr, k.bytes, bulkAlign, l)
		return nil
	}
	k.global = int(addr - k.al.addr)
	if o.load {
		if k.bar = b.barrierAt(w, o.site, o.bars, int(uint32(w.vec(o.bar)[l])), l); k.bar == nil || !w.usable(k.bar, o.site, l) {
			return nil
		}
		if !k.bar.fenced {
			w.report(MissingFence, o.site, k.bar.init.site(), l, "%s completes at %s, whose init no fence has made visible to the asynchronous proxy", what, k.bar.name())
		}
		w.readSource(o.global, source{k.al, k.global, k.bytes}, l)
		k.checkWritten(o.global.site, source{k.al, k.global, k.bytes}, l)
		k.load(l)
	} else {
		k.check(k.stored(l), l, false, k.shared, k.bytes)
		k.storeTo(o.global, source{k.al, k.global, k.bytes}, l)
	}
	return k
}

// load begins a copy to shared memory, which is poison until it arrives.
func (k *bulk) load(lane int) {
	b, bar := k.to(), k.bar
	k.phase = bar.phase
	bar.issued += k.bytes
	bar.flying++
	bar.last = k.site
	bar.unseen = append(bar.unseen, k)
	k.check(newRecord(agentEpoch+k.phase, k.site, b.barAgent(bar.slot), 0)|recordAgent, lane, true, k.shared, k.bytes)
	poison(b.shared.data[k.shared:][:k.bytes])
}

// to is the block whose shared memory a copy accesses.
func (k *bulk) to() *block {
	if k.bar != nil {
		return k.bar.block
	}
	return k.w.block
}

// stored begins a copy from shared memory, in the lane's open group. The result is the record of its reads.
func (k *bulk) stored(lane int) record {
	w := k.w
	w.checkStorer(k.site, lane)
	w.bulkEpoch++
	k.epoch = agentEpoch + w.bulkEpoch
	if w.bulks == nil {
		w.bulks = map[int]*bulkLane{}
	}
	if w.bulks[lane] == nil {
		w.bulks[lane] = &bulkLane{}
	}
	w.bulks[lane].open = append(w.bulks[lane].open, k)
	return newRecord(k.epoch, k.site, w.storesAgent(), 0) | recordAgent
}

// check checks and records the accesses of bytes of shared memory. Writes of threads must be fenced too.
func (k *bulk) check(now record, lane int, write bool, from, bytes int) {
	w, s := k.w, &k.to().shared.shadow
	view, what := w.view(lane), w.block.program.sites[k.site].what
	clock := &view.clock
	end := (from + bytes + 1<<s.shift - 1) >> s.shift
	for i := from >> s.shift; i < end; i++ {
		if !write && s.last.now == now {
			if i += s.again(s.cells[i:end]); i == end {
				break
			}
		}
		c := &s.cells[i]
		was, before := c.write, *c
		if c.more == 0 && (write || was != 0 && !w.block.program.taken(was, k.site)) && was.over(clock) && c.read.over(clock) && !k.unfenced(was, view) { // as a rule
			if write {
				*c = cell{write: now}
			} else {
				c.read = now
				s.last = alike{now, before, *c}
			}
			continue
		}
		var other record
		ok, good := true, false
		switch {
		case write:
			other, ok = s.store(c, now, view)
		case was == 0:
			w.report(Uninitialised, k.site, none, lane, "%s at byte %d", what, i<<s.shift)
		case w.block.program.taken(was, k.site):
			w.reportTaken(was, k.site, lane, i<<s.shift)
		default:
			other, ok = s.load(c, now, view)
		}
		switch {
		case !ok && other&recordAgent != 0:
			w.block.raceWithAgent(w, k.site, other, lane, i<<s.shift)
		case !ok:
			by := w.block.cluster.warps[other.warp()]
			w.report(Race, k.site, other.site(), lane, "%s at byte %d, not ordered after the %s of warp %d lane %d%s", what, i<<s.shift,
				w.block.program.sites[other.site()].what, by.id, other.lane(), by.whose())
		case k.unfenced(was, view):
			w.report(MissingFence, k.site, was.site(), lane, "%s at byte %d, which a thread has written: put FenceAsync between the two", what, i<<s.shift)
		default:
			good = !write && was != 0
		}
		if s.last = (alike{}); good {
			s.last = alike{now, before, *c}
		}
	}
}

// unfenced reports whether a write was a thread's, which no fence has ordered before what the asynchronous proxy does.
func (k *bulk) unfenced(was record, view *seen) bool {
	if was == 0 || k.value != nil || was.epoch() < view.fenced[was.warp()] {
		return false
	}
	return was&recordAgent == 0 || k.w.block.program.sites[was.site()].generic
}

// fly puts a copy under way.
func (c *cluster) fly(k *bulk) {
	if when := k.w.block.completion; when == Early || when == AtRandom && c.rng.below(3) == 0 {
		k.arrive()
		return
	}
	c.flying = append(c.flying, k)
}

// land completes one of the copies under way, in no order.
func (c *cluster) land() {
	i, last := c.rng.below(len(c.flying)), len(c.flying)-1
	k := c.flying[i]
	c.flying[i] = c.flying[last]
	c.flying = c.flying[:last]
	k.arrive()
}

// arrive moves the bytes.
func (k *bulk) arrive() {
	if k.done {
		return
	}
	k.done = true
	if k.multiply != nil {
		k.multiply.execute(k.w)
		return
	}
	if k.copies != nil {
		k.tracked()
		return
	}
	data := k.held
	if data == nil {
		data = k.to().shared.data[k.shared:][:k.bytes]
	}
	switch {
	case k.tensor != nil:
		k.moveBox(data)
	case k.value != nil:
		copy(data, k.value)
	case k.bar != nil:
		copy(data, k.al.data[k.global:])
	default:
		copy(k.al.data[k.global:], data)
		k.al.mark(uint64(k.global), k.bytes)
	}
	k.held = nil
	b := k.bar
	if b == nil {
		return
	}
	b.flying--
	b.last = k.site
	if b.phase != k.phase {
		return // reported when its phase was over without it
	}
	b.tx -= k.bytes
	b.complete(k.w)
}

func (c *compiler) bulkCommit(s thr.Do) {
	p := c.chosen(s.Pred)
	c.emit(0, func(w *warp) {
		m := p.mask(w)
		for l, b := range w.bulks {
			if m>>l&1 != 0 {
				b.groups = append(b.groups, b.open)
				b.open = nil
			}
		}
	})
}

// bulkWait waits for groups of each lane's own, to be over or to have read shared memory.
func bulkWait(read bool) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		n, ok := c.fold(s.Args[0])
		if !ok || s.Pred != nil {
			c.fail("a wait for a number of groups that is no constant, or for some lanes")
		}
		c.emit(0, func(w *warp) {
			for l := range warpSize { // in order, so that reports are
				if b := w.bulks[l]; b != nil && len(b.groups) > int(n) {
					w.waitBulk(l, b, len(b.groups)-int(n), read)
				}
			}
		})
	}
}

// waitBulk waits for the first groups of a lane.
func (w *warp) waitBulk(lane int, b *bulkLane, groups int, read bool) {
	var o seen
	for _, g := range b.groups[:groups] {
		for _, k := range g {
			o.clock[w.storesAgent()] = max(o.clock[w.storesAgent()], k.epoch+1)
			if read {
				k.read()
				continue
			}
			k.arrive()
			o.clock[w.writesAgent()] = max(o.clock[w.writesAgent()], k.epoch+1)
		}
	}
	w.learn(&o, 1<<lane)
	if b.read = max(b.read, groups); !read {
		b.groups, b.read = b.groups[groups:], b.read-groups
	}
}

// fenceAsync orders what lanes wrote to shared memory, or know to be over, before what the asynchronous proxy does from
// now on.
func (c *compiler) fenceAsync(s thr.Do) {
	c.fence(s, func(w *warp) *clock { return &w.fenced })
}

// fenceAsyncGlobal does so for global memory.
func (c *compiler) fenceAsyncGlobal(s thr.Do) {
	c.fence(s, func(w *warp) *clock { return &w.fencedGlobal })
}

func (c *compiler) fence(s thr.Do, of func(*warp) *clock) {
	if s.Pred != nil {
		c.fail("%s for some lanes", s.Fn)
	}
	c.emit(0, func(w *warp) {
		fenced := of(w)
		for i, e := range w.clock[:w.block.cluster.agents] {
			fenced[i] = max(fenced[i], e)
		}
		w.epoch++
		fenced[w.index] = w.epoch
	})
}

func (w *warp) bulkReset() {
	clear(w.bulks)
	w.bulkEpoch, w.blocked, w.asked, w.meets, w.ahead = 0, nil, nil, nil, nil
}

// finishBulk reports the stores that a warp leaves behind: its shared memory may be gone before they have read it.
func (w *warp) finishBulk() {
	for l := range warpSize {
		b := w.bulks[l]
		if b == nil {
			continue
		}
		for _, g := range append(b.groups[b.read:len(b.groups):len(b.groups)], b.open) {
			for _, k := range g {
				w.report(NotAwaited, k.site, none, l, "the warp ends with this copy in flight: wait until its group has read shared memory")
			}
		}
	}
}
