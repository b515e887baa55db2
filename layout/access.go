package layout

import "fmt"

// maxShared is more than any GPU's shared memory, and less than where addresses overflow.
const maxShared = 1 << 24

// WarpAccess is one access of a warp to shared memory.
type WarpAccess struct {
	Warp  int
	Value int   // the first of the values that each lane accesses
	Addr  []int // by lane, its byte address; negative: the lane is off, for its element lies past the tile
	Cost  BankCost
}

// Accesses are the accesses with which the warps of d move a tile between registers and shared memory, width bytes a lane
// at a time, warp by warp, with what each costs in bank conflicts. The tile has elements of elem bytes and lies in
// memory as mem says, which counts in elements and has a mode for each axis of d. A lane accesses width/elem consecutive
// values at once. They must lie together in memory, all of them within the tile or none, at a multiple of width: else an
// error says which do not.
func (d *Dist) Accesses(mem Swizzled, elem, width int) ([]WarpAccess, error) {
	modes := mem.layout.top()
	if len(modes) != d.Rank() {
		return nil, fail(ErrInvalid, "a tile of %d axes in the layout %s of %d modes: give a mode an axis", d.Rank(), mem.layout.clipped(), len(modes))
	}
	for axis, m := range modes {
		if m.Size() < d.Shape[axis] {
			return nil, fail(ErrInvalid, "axis %d of the tile has %d elements, mode %s of the layout %d; take a layout of at least %v",
				axis, d.Shape[axis], m.clipped(), m.Size(), d.Shape)
		}
	}
	if elem < 1 || width < elem || width%elem != 0 {
		return nil, fail(ErrInvalid, "accesses of %d bytes to elements of %d: the width must be a multiple of the element's", width, elem)
	}
	if n := mem.layout.Cosize(); mem.offset > maxShared || n > (maxShared-mem.offset)/elem {
		return nil, fail(ErrLimit, "a tile of %d elements of %d bytes from element %d on: it must fit into %d bytes", n, elem, mem.offset, maxShared)
	}
	vec := width / elem
	if d.Values()%vec != 0 {
		return nil, fail(ErrUndefined, "accesses of %d bytes are %d elements, and a thread has %d: use a narrower access", width, vec, d.Values())
	}
	var out []WarpAccess
	for first := 0; first < d.Threads(); first += WarpSize {
		for v := 0; v < d.Values(); v += vec {
			a := WarpAccess{Warp: first / WarpSize, Value: v}
			for th := first; th < min(first+WarpSize, d.Threads()); th++ {
				addr, err := d.address(mem, elem, th, v, vec)
				if err != nil {
					return nil, err
				}
				a.Addr = append(a.Addr, addr)
			}
			var err error
			if a.Cost, err = CountBanks(a.Addr, width); err != nil {
				return nil, fmt.Errorf("warp %d, values from %d on: %w", a.Warp, v, err)
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// address is that of vec values of a thread from v on, in bytes; -1 where they lie past the tile.
func (d *Dist) address(mem Swizzled, elem, thread, v, vec int) (int, error) {
	first := 0
	for i := range vec {
		at, inside := mem.offset, true
		for axis, c := range d.Coord(thread, v+i) {
			if c >= d.Shape[axis] {
				inside = false
				break
			}
			at += mem.layout.top()[axis].at(c)
		}
		addr := -1
		if inside {
			addr = mem.swizzle.Apply(at) * elem
		}
		switch want := first + i*elem; {
		case i == 0:
			first = addr
		case first < 0 && addr < 0:
		case first < 0 || addr < 0:
			return 0, fail(ErrUndefined, "values %d and %d of thread %d lie within the tile and past it: use a narrower access", v, v+i, thread)
		case addr != want:
			return 0, fail(ErrUndefined, "values %d and %d of thread %d lie at bytes %d and %d, not together: use a narrower access, or a layout in which they do",
				v, v+i, thread, first, addr)
		}
	}
	return first, nil
}
