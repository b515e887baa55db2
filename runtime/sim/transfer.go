package sim

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
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
		if m == allLanes {
			gather(r, d, a.width, off)
			continue
		}
		for m := m; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			r[l] = word(d[off[l]:], a.width)
		}
	}
}

// put stores registers; where lanes hit one address the last wins. Addresses are aligned, so lanes hit all of each
// other's bytes or none and the order of the registers does not matter.
func (a *access) put(w *warp, data []byte, m uint32, off *offsets) {
	for i := range a.count {
		r := w.vec(a.reg.i + int32(i))
		d := data[i*a.width:]
		if m == allLanes {
			scatter(d, r, a.width, off)
			continue
		}
		for m := m; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			setWord(d[off[l]:], a.width, r[l])
		}
	}
}

// gather loads a register from the places of all lanes. Like scatter it does not check them again: locate or within
// has.
func gather(r *lanes, data []byte, width int, off *offsets) {
	switch p := unsafe.Pointer(unsafe.SliceData(data)); width {
	case 1:
		gatherAs[uint8](r, p, off)
	case 2:
		gatherAs[uint16](r, p, off)
	case 4:
		gatherAs[uint32](r, p, off)
	default:
		gatherAs[uint64](r, p, off)
	}
}

func gatherAs[T uint8 | uint16 | uint32 | uint64](r *lanes, p unsafe.Pointer, off *offsets) {
	for l := range r {
		r[l] = uint64(*(*T)(unsafe.Add(p, off[l])))
	}
}

// scatter stores a register to the places of all lanes.
func scatter(data []byte, r *lanes, width int, off *offsets) {
	switch p := unsafe.Pointer(unsafe.SliceData(data)); width {
	case 1:
		scatterAs[uint8](p, r, off)
	case 2:
		scatterAs[uint16](p, r, off)
	case 4:
		scatterAs[uint32](p, r, off)
	default:
		scatterAs[uint64](p, r, off)
	}
}

func scatterAs[T uint8 | uint16 | uint32 | uint64](p unsafe.Pointer, r *lanes, off *offsets) {
	for l := range r {
		*(*T)(unsafe.Add(p, off[l])) = T(r[l])
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
