package sim

import "math/bits"

// globalShadow remembers, for the blocks of one launch, who accessed each granule of global memory, and what blocks
// have released. It is used by one goroutine, and clusters run one after the other: a cluster can only learn of those
// that ran before it.
type globalShadow struct {
	shift  int // log2 of the granule, the smallest global access of the kernel
	size   int // blocks of a cluster
	cells  map[*allocation][]globalCell
	places map[place]knowledge // what was released at the locations of ordered accesses
}

// place is a location of ordered accesses.
type place struct {
	al     *allocation
	offset int
}

// globalCell has the last plain write and the plain reads since then, and the last strong accesses: atomics, and those
// with an order.
type globalCell struct {
	write, read             globalRecord
	more                    []globalRecord // further reads, at most maxReads
	strongWrite, strongRead globalRecord
}

// maxReads bounds the reads of a granule that are remembered beside the last. The oldest are forgotten first, but never
// the last one of another block, so that a write that nothing orders is always seen.
const maxReads = 8

// globalRecord is one access; the zero value is none.
type globalRecord struct {
	block   int32 // + 1
	site    int32
	cluster int32
	epoch   uint32
	tick    uint32 // releases of the warp before it
	thread  record // warp in the cluster and lane, and recordMany
}

func newGlobalShadow(granule, size int) *globalShadow {
	return &globalShadow{bits.TrailingZeros(uint(granule)), size, map[*allocation][]globalCell{}, map[place]knowledge{}}
}

// checkBlocks checks and records a warp's access to global memory. strong accesses do not race with each other. An access
// by a bulk store is recorded as its agent's.
func (a *access) checkBlocks(w *warp, al *allocation, m uint32, off *offsets, strong bool, by *bulk) {
	s := w.block.launch.global
	cells := s.cells[al]
	if cells == nil {
		cells = make([]globalCell, len(al.data)>>s.shift+1)
		s.cells[al] = cells
	}
	now := globalRecord{int32(w.block.id + 1), a.site, int32(w.block.id / s.size), w.epoch, w.ticks, newRecord(0, 0, w.index, 0)}
	if a.scalar {
		now.thread |= recordMany // all lanes read it
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		now := now
		now.thread |= record(l)
		as := now
		if by != nil {
			as.epoch, as.thread = by.epoch, newRecord(0, 0, w.writesAgent(), 0)|recordAgent
		}
		for i := off[l] >> s.shift; i < (off[l]+a.bytes)>>s.shift; i++ {
			if other := cells[i].access(w, now, as, a.write, strong); other.block != 0 {
				sites := w.block.program.sites
				w.report(GlobalRace, a.site, other.site, l, "%s at byte %d of the allocation of %d bytes at %#x, not ordered with the %s of block %d",
					sites[a.site].what, i<<s.shift, len(al.data), al.addr, sites[other.site].what, other.block-1)
			}
		}
	}
}

// access records an access, as that of another agent where it is one, and returns one that it conflicts with, or none.
// Those with the bulk stores of its own cluster are found by checkStores.
func (c *globalCell) access(w *warp, now, as globalRecord, write, strong bool) (other globalRecord) {
	conflict := func(r globalRecord) {
		if r.block == 0 || r.thread&recordAgent != 0 && r.cluster == now.cluster || w.knows(r, now) {
			return
		}
		if r.block != now.block || !w.view(now.thread.lane()).has(record(r.epoch)<<32|r.thread, record(now.epoch)<<32|now.thread) {
			other = r
		}
	}
	conflict(c.write)
	if write {
		conflict(c.read)
		for _, r := range c.more {
			conflict(r)
		}
	}
	if !strong {
		conflict(c.strongWrite)
		if write {
			conflict(c.strongRead)
		}
	}
	switch {
	case strong && write:
		c.strongWrite = as
	case strong:
		c.strongRead = as
	case write:
		*c = globalCell{write: as}
	default:
		c.addRead(as)
	}
	return other
}

// addRead remembers a read.
func (c *globalCell) addRead(now globalRecord) {
	if r := c.read; r.block != 0 && (r.block != now.block || r.thread != now.thread) {
		if len(c.more) == maxReads {
			drop := 0
			for i, r := range c.more {
				if r.block == now.block {
					drop = i
					break
				}
			}
			c.more = append(c.more[:drop], c.more[drop+1:]...)
		}
		c.more = append(c.more, r)
	}
	c.read = now
}
