package sim

import (
	"bytes"
	"math/bits"
)

// shared is a block's shared memory with its shadow.
type shared struct {
	data   []byte
	shadow shadow
	unit   int     // log2 of the bytes of the smallest copy
	flight []int32 // by unit: the site of the copy in flight that writes it, and 1; nil: the kernel has no copies
}

func (s *shared) init(bytes, granule, warps int) {
	s.data = make([]byte, bytes)
	s.shadow.init(bytes, granule, warps)
}

// reset makes everything uninitialised; the bytes are NaN in every float format.
func (s *shared) reset() {
	poison(s.data)
	s.shadow.reset()
	clear(s.flight)
}

// poison makes bytes what uninitialised memory holds.
func poison(b []byte) {
	for len(b) > 0 {
		b = b[copy(b, poisoned[:]):]
	}
}

var poisoned = [1024]byte(bytes.Repeat([]byte{0xff}, 1024))

func (a *access) runShared(w *warp) {
	b := w.block
	m := a.lanes(w)
	var off offsets
	if m != allLanes || !a.within(w.vec(a.addr), b, &off) {
		m = a.offsets(w, w.vec(a.addr), m, &off)
	}
	if m != allLanes { // the offsets are known: the destination may be the register of addresses
		a.zero(w)
	}
	if m == 0 {
		return
	}
	b.banks.count(a.site, &off, m, a.bytes)
	a.checkFlight(w, &b.shared, m, &off)
	a.check(w, &b.shared, m, &off)
	if a.write {
		a.put(w, b.shared.data, m, &off)
	} else {
		a.get(w, b.shared.data, m, &off)
	}
}

// bounds are where in shared memory an access may go: the buffer that the planner names, so that running into its
// neighbour is seen.
func (a *access) bounds(b *block) (low, high int) {
	if a.buf == nil {
		return 0, len(b.shared.data)
	}
	return a.buf.Offset, a.buf.Offset + a.buf.Bytes
}

// within finds the offsets of all lanes in shared memory; it fails if one is outside or misaligned.
func (a *access) within(addr *lanes, b *block, off *offsets) bool {
	low, high := a.bounds(b)
	least, most, all := high, 0, 0
	for l := range addr {
		o := int(uint32(addr[l]))
		least, most, all = min(least, o), max(most, o), all|o
		off[l] = o
	}
	return least >= low && most+a.bytes <= high && all&(a.bytes-1) == 0
}

// offsets is within for some lanes, one by one. It reports those outside or misaligned and returns the others.
func (a *access) offsets(w *warp, addr *lanes, m uint32, off *offsets) uint32 {
	low, high := a.bounds(w.block)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		o := int(uint32(addr[l]))
		if o < low || o+a.bytes > high || o&(a.bytes-1) != 0 {
			a.badShared(w, o, l)
			m &^= 1 << l
			continue
		}
		off[l] = o
	}
	return m
}

func (a *access) badShared(w *warp, offset, lane int) {
	what := w.block.program.sites[a.site].what
	low, high := a.bounds(w.block)
	switch {
	case a.buf != nil && (offset < low || offset+a.bytes > high):
		w.report(OutOfBounds, a.site, none, lane, "%d-byte %s at byte %d of %s, which has %d", a.bytes, what, offset-low, a.buf.Name, a.buf.Bytes)
	case offset+a.bytes > high:
		w.report(OutOfBounds, a.site, none, lane, "%d-byte %s at byte %d of %d", a.bytes, what, offset, high)
	default:
		w.report(Misaligned, a.site, none, lane, "%d-byte %s at byte %d", a.bytes, what, offset)
	}
}
