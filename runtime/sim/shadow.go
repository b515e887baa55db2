package sim

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// record is one access in shadow memory: epoch<<32 | site<<16 | agent<<15 | many<<14 | warp<<5 | lane; 0 where there is
// none. The warp is numbered in its cluster. many says that several lanes of the warp read in this epoch; agent that it
// is no warp but an asynchronous agent, see agents.go.
type record uint64

const (
	recordThread = 1<<14 - 1
	recordMany   = 1 << 14
	recordAgent  = 1 << 15
	recordSite   = 16
	maxSites     = 1 << 16
	maxAgents    = 2 * ir.MaxCluster * maxThreads / warpSize // of a cluster, its warps among them
)

func newRecord(epoch uint32, site int32, warp, lane int) record {
	return record(epoch)<<32 | record(site)<<recordSite | record(warp<<5|lane)
}

func (r record) epoch() uint32 { return uint32(r >> 32) }
func (r record) warp() int     { return int(r>>5) & (maxAgents - 1) }
func (r record) lane() int     { return int(r) & 31 }
func (r record) site() int32   { return int32(r>>recordSite) & (maxSites - 1) }

// clock has, for each warp and each asynchronous agent of a cluster, the first epoch that is not known to be over.
type clock [maxAgents]uint32

// over reports whether an earlier access is ordered before what any lane of the clock's warp does now.
func (r record) over(clock *clock) bool { return r.epoch() < clock[r.warp()] }

// before reports whether an earlier access is ordered before what a thread does now: by a synchronisation that the
// thread's warp has seen, or because it was the same thread. No access (0) is before everything, as epochs start at 1.
func (r record) before(clock *clock, now record) bool {
	return r.over(clock) || (r^now)&(recordThread|recordMany) == 0 && now&recordAgent == 0
}

// cell is the shadow of a granule.
type cell struct {
	write record
	read  record // the reads since the write, while they are one thread's, or one epoch's of one warp
	more  int32  // else the index of a set with a record for each warp and agent; 0: none
}

// shadow is the shadow of a shared memory.
type shadow struct {
	shift int // log2 of the granule
	cells []cell
	sets  []record // warps records each, a set of reads by warp; the first set is unused
	refs  []int32  // of each set, how many cells have it
	warps int      // of the cluster, and its agents
	free  []int32
	step  joined
	last  alike
}

// alike is what the newest read of an agent, which was found in order, made of a cell: so of the next one that is like it.
type alike struct {
	now           record
	before, after cell
}

// again does to the first of some cells what was done to the one before, while they are like it; it returns how many are.
func (s *shadow) again(cells []cell) (n int) {
	before, after := s.last.before, s.last.after
	for n < len(cells) && cells[n] == before {
		cells[n] = after
		n++
	}
	if from := before.more; n > 0 && from != after.more {
		s.refs[after.more] += int32(n)
		s.refs[from] -= int32(n - 1) // of no set, nothing
		s.leave(from)
	}
	return n
}

// joined is what the newest read of an agent made of the readers of a cell: the multiplies of warpgroups read thousands of
// cells that have the same ones, and these share the set.
type joined struct {
	now, read record // the agent's, and of the cell if it had no set
	from, to  int32
}

func (s *shadow) init(bytes, granule, warps int) {
	s.shift = bits.TrailingZeros(uint(granule))
	s.cells = make([]cell, (bytes+granule-1)>>s.shift)
	s.warps, s.sets, s.refs = warps, make([]record, warps), make([]int32, 1)
}

func (s *shadow) reset() {
	clear(s.cells)
	s.sets, s.refs, s.free, s.step, s.last = s.sets[:s.warps], s.refs[:1], s.free[:0], joined{}, alike{}
}

// check checks and records a warp's access to shared memory, its own block's or a peer's.
func (a *access) check(w *warp, to *shared, m uint32, off *offsets) {
	s := &to.shadow
	n := max(a.bytes>>s.shift, 1)
	clock := &w.clock
	now := newRecord(w.epoch, a.site, w.index, 0)
	if a.scalar {
		now |= recordMany // all lanes read it
	}
	taken := w.block.program.sharing && !a.write
	if m == allLanes && n == 1 && !taken {
		m = a.checkCells(w, s, now, off)
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		now := now | record(l)
		first := off[l] >> s.shift
		for i := range s.cells[first : first+n] {
			c := &s.cells[first+i]
			if taken && w.block.program.taken(c.write, a.site) {
				w.reportTaken(c.write, a.site, l, off[l])
				continue
			}
			if (c.write != 0 || a.write) && c.more == 0 && c.write.before(clock, now) && c.read.before(clock, now) { // all is over
				if a.write {
					*c = cell{write: now}
				} else {
					c.read = now
				}
				continue
			}
			switch {
			case a.write:
				if other, ok := s.store(c, now, w.view(l)); !ok {
					a.race(w, other, l, first+i)
				}
			case c.write == 0:
				w.report(Uninitialised, a.site, none, l, "%d-byte load at byte %d of shared memory", a.bytes, off[l])
			default:
				if other, ok := s.load(c, now, w.view(l)); !ok {
					a.race(w, other, l, first+i)
				}
			}
		}
	}
}

// taken reports whether what an access reads was last written as another buffer, which has the same bytes. Then nothing of
// what the access is meant to read is left.
func (p *Program) taken(was record, site int32) bool {
	return p.sharing && was != 0 && p.sites[was.site()].buf != p.sites[site].buf
}

func (w *warp) reportTaken(was record, site int32, lane, offset int) {
	sites := w.block.program.sites
	w.report(Uninitialised, site, was.site(), lane, "%s at byte %d, which %s has taken over from %s", sites[site].what, offset, nameOf(sites[was.site()].buf), nameOf(sites[site].buf))
}

func nameOf(b *thr.SharedBuf) string {
	if b == nil {
		return "no buffer"
	}
	return b.Name
}

// checkCells is check for all lanes of a warp and one cell a lane, where everything before is over. It returns the
// lanes for which that is not so and leaves them to check. Of lanes that share a cell only the first can be done here,
// as its own record is not over, and if the first cannot, the others cannot either: which lane made a record does not
// count here. So the order of what happens to a cell is that of the lanes.
func (a *access) checkCells(w *warp, s *shadow, now record, off *offsets) (rest uint32) {
	cells, shift, over, clock := s.cells, uint(s.shift)&63, w.over, &w.clock
	if a.write {
		for l := range off {
			c, now := &cells[uint(off[l])>>shift], now|record(l)
			if c.more == 0 && (c.write < over || c.write.over(clock)) && (c.read < over || c.read.over(clock)) {
				c.write, c.read = now|record(l), 0
			} else {
				rest |= 1 << l
			}
		}
		return rest
	}
	for l := range off {
		c := &cells[uint(off[l])>>shift]
		if c.write != 0 && c.more == 0 && (c.write < over || c.write.over(clock)) && (c.read < over || c.read.over(clock)) {
			c.read = now | record(l)
		} else {
			rest |= 1 << l
		}
	}
	return rest
}

// load records a read; it returns the write that it races with.
func (s *shadow) load(c *cell, now record, by *seen) (record, bool) {
	if !by.has(c.write, now) {
		return c.write, false
	}
	switch {
	case c.more != 0:
		s.join(c, now, by)
	case by.has(c.read, now):
		c.read = now
	case c.read.warp() == now.warp():
		c.read = now | recordMany // the same epoch, else it were before
	default:
		s.join(c, now, by)
	}
	return 0, true
}

// join adds a read to a cell's set, which it makes if the reads of the cell were one warp's.
func (s *shadow) join(c *cell, now record, by *seen) {
	step := joined{now: now, from: c.more}
	if c.more == 0 {
		step.read = c.read
	}
	if now&recordAgent != 0 && step == (joined{s.step.now, s.step.read, s.step.from, 0}) {
		from := c.more
		c.more = s.step.to
		s.refs[c.more]++
		s.leave(from)
		return
	}
	if c.more == 0 || s.refs[c.more] > 1 {
		to := s.set()
		if c.more == 0 {
			s.readers(to)[c.read.warp()] = c.read
		} else {
			copy(s.readers(to), s.readers(c.more))
			s.leave(c.more)
		}
		c.more = to
	} else {
		step.from = none // it is changed in place
	}
	joinRead(&s.readers(c.more)[now.warp()], now, by)
	step.to = c.more
	s.step = step
}

// leave notes that a cell has its set no more.
func (s *shadow) leave(set int32) {
	if set == 0 {
		return
	}
	if s.refs[set]--; s.refs[set] == 0 {
		s.free = append(s.free, set)
		if s.step.from == set || s.step.to == set {
			s.step = joined{}
		}
	}
}

// joinRead adds a read to those of its warp.
func joinRead(r *record, now record, by *seen) {
	if by.has(*r, now) {
		*r = now
	} else {
		*r = now | recordMany
	}
}

// store records a write; it returns the access that it races with. The write takes the place of everything before it.
func (s *shadow) store(c *cell, now record, by *seen) (record, bool) {
	other, ok := record(0), true
	if !by.has(c.write, now) {
		other, ok = c.write, false
	}
	if !by.has(c.read, now) {
		other, ok = c.read, false
	}
	if c.more != 0 {
		for _, r := range s.readers(c.more) {
			if !by.has(r, now) {
				other, ok = r, false
				break
			}
		}
	}
	s.overwrite(c, now)
	return other, ok
}

// overwrite puts a write in the place of everything before it.
func (s *shadow) overwrite(c *cell, now record) {
	s.leave(c.more)
	*c = cell{write: now}
}

// set takes an empty set of readers, for one cell.
func (s *shadow) set() int32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		clear(s.readers(i))
		s.refs[i] = 1
		return i
	}
	n := len(s.sets)
	s.sets = slices.Grow(s.sets, s.warps)[:n+s.warps]
	clear(s.sets[n:])
	s.refs = append(s.refs, 1)
	return int32(n / s.warps)
}

// readers is a set by its index.
func (s *shadow) readers(i int32) []record { return s.sets[int(i)*s.warps:][:s.warps] }

func (a *access) race(w *warp, other record, lane, granule int) {
	b := w.block
	at := granule << b.shared.shadow.shift
	if other&recordAgent != 0 {
		b.raceWithAgent(w, a.site, other, lane, at)
		return
	}
	by := b.cluster.warps[other.warp()]
	w.report(Race, a.site, other.site(), lane, "%s at byte %d, not ordered after the %s of warp %d lane %d%s",
		b.program.sites[a.site].what, at, b.program.sites[other.site()].what, by.id, other.lane(), by.whose())
}

// whose names the block of a warp where there are several.
func (w *warp) whose() string {
	if len(w.block.cluster.blocks) > 1 {
		return fmt.Sprintf(" of block %d", w.block.id)
	}
	return ""
}
