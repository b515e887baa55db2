package layout

import "fmt"

// SharedTile is where a tile lies in shared memory: element (i, j, ...) at byte Swizzle of Elem times the sum of what
// the modes of Layout make of i, j, ...
type SharedTile struct {
	Layout  Layout  // a mode an axis of the tile, in elements
	Swizzle Swizzle // of byte addresses; the zero value: none
	Elem    int     // bytes of an element
}

// maxShared is more than any GPU's shared memory, and less than where addresses overflow.
const maxShared = 1 << 24

// WarpAccess is one access of a warp to shared memory.
type WarpAccess struct {
	Warp  int
	Value int   // the first of the values that each lane accesses
	Addr  []int // by lane, its byte address; negative: the lane is off, for its element lies past the tile
	Cost  BankCost
}

// Accesses are the accesses with which the warps of d move the tile between registers and shared memory, width bytes a
// lane at a time, warp by warp, with what each costs in bank conflicts. A lane accesses width/Elem consecutive values at
// once. They must lie together in memory, all of them within the tile or none, at a multiple of width: else an error
// says which do not.
func (d *Dist) Accesses(tile SharedTile, width int) ([]WarpAccess, error) {
	modes := tile.Layout.Modes()
	if len(modes) != d.Rank() {
		return nil, fail(ErrInvalid, "a tile of %d axes in the layout %s of %d modes: give a mode an axis", d.Rank(), tile.Layout, len(modes))
	}
	for axis, m := range modes {
		if m.Size() < d.Shape[axis] {
			return nil, fail(ErrInvalid, "axis %d of the tile has %d elements, mode %s of the layout %d; take a layout of at least %v",
				axis, d.Shape[axis], m, m.Size(), d.Shape)
		}
	}
	if tile.Elem < 1 || width < tile.Elem || width%tile.Elem != 0 {
		return nil, fail(ErrInvalid, "accesses of %d bytes to elements of %d: the width must be a multiple of the element's", width, tile.Elem)
	}
	if n := tile.Layout.Cosize(); n > maxShared/tile.Elem {
		return nil, fail(ErrLimit, "a tile of %d elements of %d bytes: it must fit into %d bytes", n, tile.Elem, maxShared)
	}
	vec := width / tile.Elem
	if d.Values()%vec != 0 {
		return nil, fail(ErrUndefined, "accesses of %d bytes are %d elements, and a thread has %d: use a narrower access", width, vec, d.Values())
	}
	var out []WarpAccess
	for first := 0; first < d.Threads(); first += WarpSize {
		for v := 0; v < d.Values(); v += vec {
			a := WarpAccess{Warp: first / WarpSize, Value: v}
			for th := first; th < min(first+WarpSize, d.Threads()); th++ {
				addr, err := d.address(tile, modes, th, v, vec)
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

// address is that of vec values of a thread from v on; -1 where they lie past the tile.
func (d *Dist) address(tile SharedTile, modes []Layout, thread, v, vec int) (int, error) {
	first := 0
	for i := range vec {
		addr, inside := 0, true
		for axis, c := range d.Coord(thread, v+i) {
			if c >= d.Shape[axis] {
				inside = false
				break
			}
			addr += modes[axis].at(c)
		}
		if addr = tile.Swizzle.Apply(addr * tile.Elem); !inside {
			addr = -1
		}
		switch want := first + i*tile.Elem; {
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
