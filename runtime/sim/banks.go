package sim

import "github.com/gotile/gotile/layout"

// banks counts how shared memory's accesses spread over its banks; layout.BankCost says by which rules.
type banks struct {
	sites   []bankCount
	counter layout.BankCounter
}

// bankCount is what a site's accesses cost.
type bankCount struct{ accesses, passes, least int64 }

// count adds one access of a warp.
func (s *banks) count(site int32, off *offsets, m uint32, bytes int) {
	c := &s.sites[site]
	passes, least := s.counter.Count(off, m, bytes)
	c.accesses++
	c.passes += int64(passes)
	c.least += int64(least)
}
