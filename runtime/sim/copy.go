package sim

import (
	"math/bits"

	"github.com/gotile/gotile/internal/thr"
)

// Completion says when the bytes of asynchronous copies arrive. Whatever it is, nobody may count on it before a wait:
// accesses to the destination are reported until then.
type Completion uint8

// The times.
const (
	BySeed   Completion = iota // one of the others, by seed and block
	Early                      // at once
	Late                       // at the wait
	AtRandom                   // at once, at the wait or between steps of warps, by seed
)

// copyBytes is the most that a lane copies at once.
const copyBytes = 16

// copying is one copy instruction of a warp that has not been waited for.
type copying struct {
	a      *access
	m      uint32
	off    offsets // in shared memory
	source [warpSize]source
	done   bool // the bytes have arrived
}

// source is where a lane copies from: bytes of an allocation, of which the rest of a piece are zeros.
type source struct {
	al    *allocation
	off   int
	bytes int
}

// copyAsync compiles a copy of so many bytes a lane.
func copyAsync(piece int) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) { c.copyAsync(s, piece) }
}

func (c *compiler) copyAsync(s thr.Do, piece int) {
	c.program.copies = true
	c.program.unit = min(c.program.unit, piece)
	from := c.access(piece, thr.Global, false, "copy", s.Args[0], s.Pred, nil)
	c.program.word = 1 // it may read any number of bytes
	to := c.access(piece, thr.Shared, true, "copy to", s.Args[1], s.Pred, s.Buf)
	c.program.sites[to.site].generic = true
	n := c.vec(s.Args[2]).i
	c.emit(warpSize, func(w *warp) {
		m := to.lanes(w)
		k := w.newCopying(to)
		dst := *w.vec(to.addr)
		m = to.offsets(w, &dst, m, &k.off)
		addr, size := *w.vec(from.addr), w.vec(n)
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			bytes := int(int32(size[l]))
			if bytes < 0 || bytes > piece {
				w.report(OutOfBounds, from.site, none, l, "a copy of %d of %d bytes", bytes, piece)
				m &^= 1 << l
				continue
			}
			if bytes == 0 {
				continue
			}
			al := w.block.cache[from.site]
			if al == nil || !al.holds(addr[l], bytes) {
				al = w.block.mem.at(addr[l], bytes)
			}
			if al == nil || addr[l]%uint64(piece) != 0 {
				w.badCopy(from.site, addr[l], bytes, piece, l)
				m &^= 1 << l
				continue
			}
			w.block.cache[from.site] = al
			k.source[l] = source{al, int(addr[l] - al.addr), bytes}
			w.readSource(from, k.source[l], l)
		}
		k.m = m
		w.begin(k)
	})
}

// newCopying is a copy without lanes: one that is over, where there is one.
func (w *warp) newCopying(to *access) *copying {
	last := len(w.spare) - 1
	if last < 0 {
		return &copying{a: to}
	}
	k := w.spare[last]
	w.spare = w.spare[:last]
	*k = copying{a: to}
	return k
}

// badCopy reports a source that lies nowhere, or askew.
func (w *warp) badCopy(site int32, addr uint64, bytes, align, lane int) {
	b := w.block
	if addr%uint64(align) != 0 {
		w.report(Misaligned, site, none, lane, "%d-byte copy at %#x", align, addr)
		return
	}
	b.mem.mu.Lock()
	defer b.mem.mu.Unlock()
	w.report(OutOfBounds, site, none, lane, "copy of %d bytes at %#x: %s", bytes, addr, b.mem.describe(addr))
}

// readSource checks the read of a lane's bytes, which counts from the issue on.
func (w *warp) readSource(from *access, s source, lane int) {
	w.checkEarly(s.al, from.site, lane, false)
	w.checkStores(from.site, s, lane, false)
	if o := s.al.unmarked(uint64(s.off), s.bytes); o < uint64(s.off+s.bytes) {
		w.report(Uninitialised, from.site, none, lane, "copy of byte %d of the allocation of %d bytes at %#x", o, len(s.al.data), s.al.addr)
	}
	if w.block.launch.global != nil {
		read := *from
		read.bytes = s.bytes
		var off offsets
		off[lane] = s.off
		read.checkBlocks(w, s.al, 1<<lane, &off, false, nil)
	}
}

// begin issues a copy: its destination is poisoned and nobody's until it has been waited for.
func (w *warp) begin(k *copying) {
	b := w.block
	if k.m == 0 {
		return
	}
	k.a.checkFlight(w, &b.shared, k.m, &k.off)
	k.a.check(w, &b.shared, k.m, &k.off) // as a write
	b.banks.count(k.a.site, &k.off, k.m, k.a.bytes)
	for m := k.m; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		poison(b.shared.data[k.off[l]:][:k.a.bytes])
		b.shared.fly(k.off[l], k.a.bytes, k.a.site+1)
	}
	w.open = append(w.open, k)
	if c := b.completion; c == Early || c == AtRandom && b.cluster.rng.below(3) == 0 {
		k.arrive(b)
	}
}

// arrive moves the bytes.
func (k *copying) arrive(b *block) {
	if k.done {
		return
	}
	k.done = true
	for m := k.m; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		to, s := b.shared.data[k.off[l]:k.off[l]+k.a.bytes], k.source[l]
		if s.bytes > 0 {
			copy(to, s.al.data[s.off:s.off+s.bytes])
		}
		clear(to[s.bytes:])
	}
}

// end makes a copy a write that its lanes have just done.
func (w *warp) end(k *copying) {
	b := w.block
	k.arrive(b)
	s := &b.shared.shadow
	now := newRecord(w.epoch, k.a.site, w.index, 0)
	for m := k.m; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		b.shared.fly(k.off[l], k.a.bytes, 0)
		first := k.off[l] >> s.shift
		for i := range k.a.bytes >> s.shift {
			s.overwrite(&s.cells[first+i], now|record(l)) // what raced with it was reported
		}
	}
}

func (c *compiler) copyCommit(thr.Do) {
	c.emit(0, func(w *warp) {
		w.groups = append(w.groups, w.open)
		w.open = nil
	})
}

func (c *compiler) copyWait(s thr.Do) {
	n, ok := c.fold(s.Args[0])
	if !ok || s.Pred != nil {
		c.fail("a wait for a number of groups that is no constant, or for some lanes")
	}
	c.emit(0, func(w *warp) {
		for len(w.groups) > int(n) {
			for _, k := range w.groups[0] {
				w.end(k)
				w.spare = append(w.spare, k)
			}
			w.groups = w.groups[1:]
		}
	})
}

// finish reports the copies that a warp leaves behind.
func (w *warp) finish() {
	w.finishBulk()
	w.finishMultiplies()
	for _, g := range append(w.groups, w.open) {
		for _, k := range g {
			w.report(NotAwaited, k.a.site, none, bits.TrailingZeros32(k.m), "the warp ends with this copy in flight")
		}
	}
}

// arriveOne completes a copy between the steps of warps, at random.
func (b *block) arriveOne() {
	w := b.warps[b.cluster.rng.below(len(b.warps))]
	n := len(w.open)
	for _, g := range w.groups {
		n += len(g)
	}
	if n == 0 {
		return
	}
	i := b.cluster.rng.below(n)
	for _, g := range w.groups {
		if i < len(g) {
			g[i].arrive(b)
			return
		}
		i -= len(g)
	}
	w.open[i].arrive(b)
}

// fly marks bytes as the destination of a copy in flight, by its site and 1; 0: of none.
func (s *shared) fly(offset, bytes int, by int32) {
	for i := offset >> s.unit; i < (offset+bytes)>>s.unit; i++ {
		s.flight[i] = by
	}
}

// checkFlight reports lanes that access what a copy in flight writes.
func (a *access) checkFlight(w *warp, s *shared, m uint32, off *offsets) {
	if s.flight == nil {
		return
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		for i := off[l] >> s.unit; i <= (off[l]+a.bytes-1)>>s.unit; i++ {
			if by := s.flight[i]; by != 0 {
				sites := w.block.program.sites
				w.report(InFlight, a.site, by-1, l, "%s at byte %d, which a copy may still be writing: it has not been waited for", sites[a.site].what, off[l])
				break
			}
		}
	}
}
