package sim

import "math/bits"

// shared is a block's shared memory with its shadow.
type shared struct {
	data   []byte
	shadow shadow
}

func (s *shared) init(bytes, granule int) {
	s.data = make([]byte, bytes)
	s.shadow.init(bytes, granule)
}

// reset makes everything uninitialised; the bytes are NaN in every float format.
func (s *shared) reset() {
	for i := range s.data {
		s.data[i] = 0xff
	}
	s.shadow.reset()
}

func (a *access) runShared(w *warp) {
	b := w.block
	m := a.lanes(w)
	addr := *w.vec(a.addr) // the destination may be the same register
	if m != allLanes {
		a.zero(w)
	}
	var off offsets
	size, odd := len(b.shared.data), a.bytes-1
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		o := int(uint32(addr[l]))
		if o+a.bytes > size || o&odd != 0 {
			a.badShared(w, o, l)
			m &^= 1 << l
			continue
		}
		off[l] = o
	}
	if m == 0 {
		a.zero(w)
		return
	}
	if m != allLanes {
		a.zero(w)
	}
	b.banks.count(a.site, &off, m, a.bytes)
	a.check(w, m, &off)
	if a.write {
		a.put(w, b.shared.data, m, &off)
	} else {
		a.get(w, b.shared.data, m, &off)
	}
}

func (a *access) badShared(w *warp, offset, lane int) {
	what, size := w.block.program.sites[a.site].what, len(w.block.shared.data)
	if offset+a.bytes > size {
		w.report(OutOfBounds, a.site, none, lane, "%d-byte %s at byte %d of %d", a.bytes, what, offset, size)
	} else {
		w.report(Misaligned, a.site, none, lane, "%d-byte %s at byte %d", a.bytes, what, offset)
	}
}
