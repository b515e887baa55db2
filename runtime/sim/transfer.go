package sim

import (
	"encoding/binary"
	"math/bits"
)

// get loads registers in the lanes of m and leaves the others.
func (a *access) get(w *warp, data []byte, m uint32, off *offsets) {
	if a.scalar {
		for i := range a.count {
			w.fill(operand{a.reg.i + int32(i), a.reg.uniform}, word(data[off[0]+i*a.width:], a.width))
		}
		return
	}
	for i := range a.count {
		r := &w.r[int(a.reg.i)+i]
		d := data[i*a.width:]
		switch {
		case m == allLanes && a.width == 4:
			for l := range r {
				r[l] = uint64(binary.LittleEndian.Uint32(d[off[l]:]))
			}
		case m == allLanes:
			for l := range r {
				r[l] = word(d[off[l]:], a.width)
			}
		default:
			for m := m; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m) & 31
				r[l] = word(d[off[l]:], a.width)
			}
		}
	}
}

// put stores registers, lane by lane: where lanes hit one address the last wins.
func (a *access) put(w *warp, data []byte, m uint32, off *offsets) {
	if m == allLanes && a.count == 1 && a.width == 4 {
		r := w.vec(a.reg.i)
		for l := range r {
			binary.LittleEndian.PutUint32(data[off[l]:], uint32(r[l]))
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		for i := range a.count {
			setWord(data[off[l]+i*a.width:], a.width, w.vec(a.reg.i + int32(i))[l])
		}
	}
}

// zero clears the destination of a load: what lanes get that take no part or are out of bounds.
func (a *access) zero(w *warp) {
	if a.write {
		return
	}
	for i := range a.count {
		w.fill(operand{a.reg.i + int32(i), a.reg.uniform}, 0)
	}
}

func word(b []byte, n int) uint64 {
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func setWord(b []byte, n int, v uint64) {
	switch n {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}
