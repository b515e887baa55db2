package sim

import "math/bits"

// globalShadow remembers, for the blocks of one launch, who accessed each granule of global memory. Nothing orders
// the clusters of a kernel without atomics, and only the cluster's barriers the blocks of one, so other accesses by
// different blocks conflict if one is a write. It is used by one goroutine.
type globalShadow struct {
	shift int // log2 of the granule, the smallest global access of the kernel
	size  int // blocks of a cluster
	cells map[*allocation][]globalCell
}

// globalCell has the last write and the last read, zero where there is none.
type globalCell struct {
	write, read blockRecord
	several     bool // other blocks of the cluster read it too since the same barrier
	many        bool // other clusters read it too
}

// blockRecord is an access by a block.
type blockRecord struct {
	number   int32 // block+1
	cluster  int32
	site     int32
	barriers uint32 // of the cluster before it
}

func (r blockRecord) block() int { return int(r.number) - 1 }

// before reports whether an earlier access is ordered before what a block does now.
func (r blockRecord) before(now blockRecord) bool {
	return r.number == 0 || r.number == now.number || r.cluster == now.cluster && r.barriers < now.barriers
}

func newGlobalShadow(granule, size int) *globalShadow {
	return &globalShadow{bits.TrailingZeros(uint(granule)), size, map[*allocation][]globalCell{}}
}

// checkBlocks checks and records a warp's access to global memory.
func (a *access) checkBlocks(w *warp, al *allocation, m uint32, off *offsets) {
	s := w.block.launch.global
	cells := s.cells[al]
	if cells == nil {
		cells = make([]globalCell, len(al.data)>>s.shift+1)
		s.cells[al] = cells
	}
	b := w.block
	now := blockRecord{int32(b.id + 1), int32(b.id / s.size), a.site, b.cluster.barriers}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		for i := off[l] >> s.shift; i < (off[l]+a.bytes)>>s.shift; i++ {
			if other := cells[i].access(now, a.write); other.number != 0 {
				sites := b.program.sites
				w.report(GlobalRace, a.site, other.site, l, "%s at byte %d of the allocation of %d bytes at %#x, not ordered with the %s of block %d",
					sites[a.site].what, i<<s.shift, len(al.data), al.addr, sites[other.site].what, other.block())
			}
		}
	}
}

// access records an access and returns one of another block that it conflicts with, or the zero record.
func (c *globalCell) access(now blockRecord, write bool) (other blockRecord) {
	if !c.write.before(now) {
		other = c.write
	}
	if !write {
		switch {
		case c.read.number == 0 || c.read.before(now): // all of the cluster's are, as its blocks pass barriers together
			c.several = c.several && c.read.barriers == now.barriers
		case c.read.cluster != now.cluster:
			c.many = true
		default:
			c.several = true
		}
		c.read = now
		return other
	}
	if c.read.number != 0 && (c.many || !c.read.before(now) || c.several && c.read.barriers == now.barriers) {
		other = c.read
	}
	*c = globalCell{write: now}
	return other
}
