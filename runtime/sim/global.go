package sim

import "math/bits"

// globalShadow remembers, for the blocks of one launch, who accessed each granule of global memory. Nothing orders
// the blocks of a kernel without atomics, so any two accesses by different blocks conflict if one is a write. It is
// used by one goroutine.
type globalShadow struct {
	shift int // log2 of the granule, the smallest global access of the kernel
	cells map[*allocation][]globalCell
}

// globalCell has the last write and one read, 0 where there is none.
type globalCell struct {
	write, read blockRecord
	many        bool // several blocks read it
}

// blockRecord is (block+1)<<32 | site.
type blockRecord uint64

func (r blockRecord) block() int  { return int(r>>32) - 1 }
func (r blockRecord) site() int32 { return int32(uint32(r)) }

func newGlobalShadow(granule int) *globalShadow {
	return &globalShadow{bits.TrailingZeros(uint(granule)), map[*allocation][]globalCell{}}
}

// checkBlocks checks and records a warp's access to global memory.
func (a *access) checkBlocks(w *warp, al *allocation, m uint32, off *offsets) {
	s := w.block.launch.global
	cells := s.cells[al]
	if cells == nil {
		cells = make([]globalCell, len(al.data)>>s.shift+1)
		s.cells[al] = cells
	}
	now := blockRecord(w.block.id+1)<<32 | blockRecord(a.site)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		for i := off[l] >> s.shift; i < (off[l]+a.bytes)>>s.shift; i++ {
			if other := cells[i].access(now, a.write); other != 0 {
				sites := w.block.program.sites
				w.report(GlobalRace, a.site, other.site(), l, "%s at byte %d of the allocation of %d bytes at %#x, not ordered with the %s of block %d",
					sites[a.site].what, i<<s.shift, len(al.data), al.addr, sites[other.site()].what, other.block())
			}
		}
	}
}

// access records an access and returns one of another block that it conflicts with, or 0.
func (c *globalCell) access(now blockRecord, write bool) (other blockRecord) {
	if c.write != 0 && c.write.block() != now.block() {
		other = c.write
	}
	if !write {
		c.many = c.many || c.read != 0 && c.read.block() != now.block()
		c.read = now
		return other
	}
	if c.read != 0 && (c.many || c.read.block() != now.block()) {
		other = c.read
	}
	*c = globalCell{write: now}
	return other
}
