package sim

import "math/bits"

// banks counts how shared memory's accesses spread over its 32 banks of 4 bytes.
type banks struct {
	sites []bankCount
	// words is scratch: by bank, the distinct words that a group of lanes asks for.
	words [32][32]int32
}

// bankCount is what a site's accesses cost.
type bankCount struct{ accesses, passes, least int64 }

// count adds one access of a warp. 8 bytes a lane are served 16 lanes at a time, 16 bytes 8 lanes at a time; in one
// such group each bank serves one word a pass, to any number of lanes. The least is the passes of as many words
// spread evenly.
func (s *banks) count(site int32, off *offsets, m uint32, bytes int) {
	c := &s.sites[site]
	c.accesses++
	group := warpSize
	if bytes > 4 {
		group = warpSize * 4 / bytes
	}
	if m == allLanes && (bytes >= 4 && spread(off, bytes, group) || consecutive(off, bytes)) {
		c.passes += int64(warpSize / group)
		c.least += int64(warpSize / group)
		return
	}
	for first := 0; first < warpSize; first += group {
		var n [32]int
		most, distinct := 0, 0
		for l := first; l < first+group; l++ {
			if m>>l&1 == 0 {
				continue
			}
			for o := off[l] / 4; o <= (off[l]+bytes-1)/4; o++ {
				if k := o & 31; s.add(k, n[k], int32(o)) {
					n[k]++
					distinct++
					most = max(most, n[k])
				}
			}
		}
		c.passes += int64(most)
		c.least += int64((distinct + 31) / 32)
	}
}

// add appends a word to a bank's n words unless it is there.
func (s *banks) add(bank, n int, word int32) bool {
	for _, x := range s.words[bank][:n] {
		if x == word {
			return false
		}
	}
	s.words[bank][n] = word
	return true
}

// spread reports whether the lanes of each group access all banks, so none twice.
func spread(off *offsets, bytes, group int) bool {
	shift, low := uint(bits.TrailingZeros(uint(bytes)))&63, uint(group-1)
	var seen uint32
	for l := range off {
		seen |= 1 << ((uint(l)&^low | uint(off[l])>>shift&low) & 31)
	}
	return seen == allLanes
}

// consecutive reports whether the lanes access one run of memory in order, or all the same place: no conflict.
func consecutive(off *offsets, bytes int) bool {
	step := off[1] - off[0]
	if step != bytes && step != 0 {
		return false
	}
	for l := 1; l < warpSize; l++ {
		if off[l]-off[l-1] != step {
			return false
		}
	}
	return true
}
