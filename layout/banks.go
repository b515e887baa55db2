package layout

import "math/bits"

// The shared memory of an SM, in all architectures from Volta on.
const (
	Banks    = 32 // serve a word each in one wavefront
	BankWord = 4  // bytes
	WarpSize = 32 // lanes
)

// AllLanes is the mask of a whole warp.
const AllLanes = 1<<WarpSize - 1

// BankCost is what one access of a warp to shared memory costs. The lanes are served in phases, by how much each asks
// for: all 32 at once up to 4 bytes, 16 of 8 bytes, 8 of 16 bytes (also rows of ldmatrix), in the order of their
// numbers. In a phase each of the 32 banks, of words of 4 bytes, gives one word a wavefront, to any number of lanes, so
// a phase takes as many wavefronts as it asks one bank for distinct words.
//
// It is a model: banks and words are from the CUDA programming guide, "Shared Memory", the phases of wide accesses are
// what is commonly measured. It has not been compared with a GPU's counters, and leaves out that hardware may merge
// phases of which most lanes are off.
type BankCost struct {
	Ways       []int // by phase: the most distinct words of one bank; 1: no conflict, 0: no lane takes part
	Wavefronts int   // their sum
	Least      int   // what other addresses would take at best: one for each phase in which a lane takes part
}

// Conflicts is the number of wavefronts that other addresses would save.
func (c BankCost) Conflicts() int { return c.Wavefronts - c.Least }

// CountBanks is the cost of an access in which lane l reads or writes width bytes at byte address addr[l]. There are up
// to 32 addresses, at multiples of width; the lanes without one, and those with a negative one, are masked off. width
// is 1, 2, 4, 8 or 16.
func CountBanks(addr []int, width int) (BankCost, error) {
	if width < 1 || width > 16 || width&(width-1) != 0 {
		return BankCost{}, fail(ErrInvalid, "an access of %d bytes a lane: shared memory is accessed in 1, 2, 4, 8 or 16", width)
	}
	if len(addr) > WarpSize {
		return BankCost{}, fail(ErrInvalid, "%d addresses: a warp has %d lanes; count the warps one by one", len(addr), WarpSize)
	}
	var all [WarpSize]int
	var mask uint32
	for l, a := range addr {
		switch {
		case a < 0:
		case a%width != 0:
			return BankCost{}, fail(ErrInvalid, "lane %d: address %d is no multiple of the %d bytes accessed; align it, or access less at once", l, a, width)
		default:
			all[l] = a
			mask |= 1 << l
		}
	}
	var n BankCounter
	var c BankCost
	lanes := PhaseLanes(width)
	for first := 0; first < WarpSize; first += lanes {
		ways := n.phase(&all, mask, first, lanes)
		c.Ways = append(c.Ways, ways)
		c.Wavefronts += ways
		c.Least += min(ways, 1)
	}
	return c, nil
}

// PhaseLanes is the number of lanes that are served at once when each accesses width bytes.
func PhaseLanes(width int) int { return min(WarpSize, WarpSize*BankWord/width) }

// BankCounter counts like CountBanks, many times in a row without allocation. The zero value is ready; it is not safe
// for concurrent use.
type BankCounter struct {
	words [Banks][WarpSize]int // by bank, the distinct words that a phase asks for
}

// Count is the wavefronts of an access of a warp, and the least possible; see BankCost. The lanes of mask access width
// bytes each, a power of two up to 16, at multiples of it; neither is checked.
func (n *BankCounter) Count(addr *[WarpSize]int, mask uint32, width int) (wavefronts, least int) {
	lanes := PhaseLanes(width)
	// Nearly all accesses are of these two kinds, and cost nothing to count.
	if mask == AllLanes && (width >= BankWord && spread(addr, width, lanes) || consecutive(addr, width)) {
		return WarpSize / lanes, WarpSize / lanes
	}
	for first := 0; first < WarpSize; first += lanes {
		ways := n.phase(addr, mask, first, lanes)
		wavefronts += ways
		least += min(ways, 1)
	}
	return wavefronts, least
}

// phase is the ways of some lanes from first on, which are served together. Of what a lane accesses only the first word
// counts: it begins at a multiple of its size, so two lanes meet in all of their banks or in none.
func (n *BankCounter) phase(addr *[WarpSize]int, mask uint32, first, lanes int) (ways int) {
	var have [Banks]int
	for l := first; l < first+lanes; l++ {
		if mask>>l&1 == 0 {
			continue
		}
		w := addr[l] / BankWord
		if k := w & (Banks - 1); n.add(k, have[k], w) {
			have[k]++
			ways = max(ways, have[k])
		}
	}
	return ways
}

// add appends a word to a bank's k words unless it is there.
func (n *BankCounter) add(bank, k, word int) bool {
	for _, x := range n.words[bank][:k] {
		if x == word {
			return false
		}
	}
	n.words[bank][k] = word
	return true
}

// spread reports whether the lanes of each phase access all banks, so none twice.
func spread(addr *[WarpSize]int, width, lanes int) bool {
	shift, low := uint(bits.TrailingZeros(uint(width)))&63, uint(lanes-1)
	var seen uint32
	for l := range addr {
		seen |= 1 << ((uint(l)&^low | uint(addr[l])>>shift&low) & 31)
	}
	return seen == AllLanes
}

// consecutive reports whether the lanes access one run of memory in order, or all the same place: no conflict.
func consecutive(addr *[WarpSize]int, width int) bool {
	step := addr[1] - addr[0]
	if step != width && step != 0 {
		return false
	}
	for l := 1; l < WarpSize; l++ {
		if addr[l]-addr[l-1] != step {
			return false
		}
	}
	return true
}
