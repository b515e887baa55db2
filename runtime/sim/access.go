package sim

import (
	"math/bits"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// chosen says which lanes an instruction is for.
type chosen struct {
	some bool  // those of
	pred int32 // this register; otherwise all
}

// chosen are the lanes of a statement with a predicate; nil: it has none.
func (c *compiler) chosen(e thr.Expr) chosen {
	if e == nil {
		return chosen{}
	}
	return chosen{true, c.vec(e).i}
}

func (p chosen) mask(w *warp) uint32 {
	if !p.some {
		return allLanes
	}
	return mask(w.vec(p.pred))
}

// access is a load or store instruction.
type access struct {
	site  int32
	bytes int
	write bool
	addr  int32 // register of lanes: global addresses, or offsets into shared memory
	chosen
	reg   operand        // the first register
	buf   *thr.SharedBuf // shared memory: the buffer that is meant, if known
	peer  bool           // shared memory of a block of the cluster
	rank  int32          // of peer: register of the block's number, or its entry in the pool
	count int            // registers
	width int            // bytes a register
	// scalar: all lanes read one address into scalar registers; the first lane's address is used.
	scalar bool
	order  ir.Order // of a load or a store of global memory
}

// offsets is where each lane accesses an allocation or shared memory.
type offsets = [warpSize]int

// access fills in what loads, stores and atomics share; buf is the buffer of shared memory that is meant, if known.
func (c *compiler) access(bytes int, space thr.Space, write bool, what string, addr, pred thr.Expr, buf *thr.SharedBuf) *access {
	switch bytes {
	case 1, 2, 4, 8, 16:
	default:
		c.fail("an access of %d bytes", bytes)
	}
	t := addr.ExprType()
	if space == thr.Shared {
		c.program.granule = min(c.program.granule, bytes)
		if t.Ptr || t.DT.Size() != 4 {
			c.fail("an address of shared memory is a u32")
		}
		what += " of shared memory"
	} else {
		if !t.Ptr {
			c.fail("an address of global memory is a pointer")
		}
		if write && t.Const {
			c.fail("a %s through a pointer to const", what)
		}
		c.program.word = min(c.program.word, bytes)
		what += " of global memory"
	}
	a := &access{bytes: bytes, write: write, site: c.siteOf(what, bytes, buf), buf: buf}
	a.addr = c.vec(addr).i
	a.chosen = c.chosen(pred)
	return a
}

// registers sets how the bytes are spread over registers of a type.
func (c *compiler) registers(a *access, t thr.Type, left int) {
	a.count, a.width = 1, a.bytes
	if s := size(t); a.bytes > s {
		a.count, a.width = a.bytes/s, s
		if s < 4 {
			c.fail("%d bytes and registers of %s", a.bytes, t.DT)
		}
	} else if a.bytes < s && s == 8 {
		c.fail("%d bytes and registers of 8", a.bytes)
	}
	if a.count > left {
		c.fail("%d bytes and %d registers", a.bytes, left)
	}
}

// rank sets whose shared memory is accessed; nil: the block's own.
func (c *compiler) rank(a *access, space thr.Space, e thr.Expr) {
	if e == nil {
		return
	}
	if space != thr.Shared || c.kernel.Cluster == 0 {
		c.fail("an access to another block's memory, in a cluster of %d", c.kernel.Cluster)
	}
	a.peer, a.rank = true, c.vec(e).i
}

func (c *compiler) emitAccess(a *access, space thr.Space) {
	ops, run := int64(warpSize), a.runGlobal
	if a.scalar {
		ops = 1
	}
	switch {
	case a.peer:
		run = a.runPeer
	case space == thr.Shared:
		run = a.runShared
	}
	c.emit(ops, run)
}

func (c *compiler) load(s thr.Load) {
	if s.Dst.Type.DT == dtype.Bool && !s.Dst.Type.Ptr {
		c.fail("a load of predicates")
	}
	dst := c.ref(s.Dst, s.Index)
	a := c.access(s.Bytes, s.Space, false, "load", s.Addr, s.Pred, s.Buf)
	c.rank(a, s.Space, s.Rank)
	c.registers(a, s.Dst.Type, max(s.Dst.Len, 1)-int(dst.i-c.slots[s.Dst].i))
	a.reg = dst
	c.touch(s.Dst, dst.i, a.count)
	a.scalar = uniform(s.Addr, c.varying) && (s.Rank == nil || uniform(s.Rank, c.varying)) && (s.Pred == nil || uniform(s.Pred, c.varying))
	c.ordered(a, s.Order, s.Order == ir.Acquire && s.Space == thr.Global)
	c.emitAccess(a, s.Space)
}

// ordered gives an access its order. Blocks that communicate run one after the other, in seeded order.
func (c *compiler) ordered(a *access, o ir.Order, has bool) {
	if o == ir.Relaxed {
		return
	}
	if !has {
		c.fail("an access with order %s", o)
	}
	a.order, a.scalar = o, false
	c.program.serial, c.program.ordered = true, true
}

func (c *compiler) store(s thr.Store) {
	var from operand
	var t thr.Type
	left := 1
	if s.Value != nil {
		t, from = s.Value.ExprType(), c.vec(s.Value)
	} else {
		t, from = s.Src.Type, c.ref(s.Src, s.Index)
		left = max(s.Src.Len, 1) - int(from.i-c.slots[s.Src].i)
	}
	a := c.access(s.Bytes, s.Space, true, "store", s.Addr, s.Pred, s.Buf)
	c.ordered(a, s.Order, s.Order == ir.Release && s.Space == thr.Global)
	c.rank(a, s.Space, s.Rank)
	c.registers(a, t, left)
	a.reg = from
	if s.Value == nil {
		c.touch(s.Src, from.i, a.count)
	}
	if from.uniform && !from.pooled() { // a uniform array: its registers as lanes
		a.reg = c.register(a.count, false)
		for i := range a.count {
			c.move(operand{a.reg.i + int32(i), false}, operand{from.i + int32(i), true})
		}
	}
	c.emitAccess(a, s.Space)
}

// lanes is the lanes that take part.
func (a *access) lanes(w *warp) uint32 {
	m := a.mask(w)
	if a.scalar {
		m &= 1
	}
	return m
}

func (a *access) runGlobal(w *warp) {
	var off offsets
	m := a.lanes(w)
	if m == 0 {
		a.zero(w)
		return
	}
	if al := w.block.cache[a.site]; al != nil && al.locate(w.vec(a.addr), m, a.bytes, &off) {
		if m != allLanes {
			a.zero(w)
		}
		a.transfer(w, al, m, &off)
		return
	}
	// Some lane is elsewhere: in another allocation, or nowhere.
	addr := *w.vec(a.addr) // the destination may be the same register
	a.zero(w)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		if al := w.global(addr[l], a.bytes, a.site, l); al != nil {
			off[l] = int(addr[l] - al.addr)
			a.transfer(w, al, 1<<l, &off)
		}
	}
}

// locate finds the offsets of lanes in an allocation; it fails if one is outside or misaligned.
func (a *allocation) locate(addr *lanes, m uint32, bytes int, off *offsets) bool {
	last, odd := uint64(len(a.data)-bytes), uint64(bytes-1) // an allocation in the cache has held bytes once
	var most, all uint64
	if m == allLanes {
		for l := range addr {
			o := addr[l] - a.addr
			most, all = max(most, o), all|o
			off[l] = int(o)
		}
		return most <= last && all&odd == 0
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		o := addr[l] - a.addr
		most, all = max(most, o), all|o
		off[l] = int(o)
	}
	return most <= last && all&odd == 0
}

// global finds the allocation of a lane's access, or reports why there is none.
func (w *warp) global(addr uint64, bytes int, at int32, lane int) *allocation {
	b := w.block
	what := b.program.sites[at].what
	al := b.mem.at(addr, bytes)
	switch {
	case al == nil:
		b.mem.mu.Lock()
		defer b.mem.mu.Unlock()
		w.report(OutOfBounds, at, none, lane, "%d-byte %s at %#x: %s", bytes, what, addr, b.mem.describe(addr))
		return nil
	case addr%uint64(bytes) != 0:
		w.report(Misaligned, at, none, lane, "%d-byte %s at %#x", bytes, what, addr)
		return nil
	}
	b.cache[at] = al
	return al
}

// transfer moves the bytes of lanes whose offsets are known to be good.
func (a *access) transfer(w *warp, al *allocation, m uint32, off *offsets) {
	if al.init != nil {
		a.track(w, al, m, off)
	}
	w.checkEarly(al, a.site, bits.TrailingZeros32(m), a.write)
	if len(w.block.cluster.stores) > 0 {
		a.checkStores(w, al, m, off, false)
	}
	if w.block.launch.global != nil {
		a.checkBlocks(w, al, m, off, a.order != ir.Relaxed, nil)
		for rest := m; rest != 0 && (a.write || a.order != ir.Relaxed); rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			w.order(place{al, off[l]}, a.order, l, !a.write, a.write)
		}
	}
	if a.write {
		al.writes(w.block.launch.number)
		if w.block.program.asyncReads || w.block.program.bulkStores {
			a.noteWrites(w, al, m, off)
		}
		a.put(w, al.data, m, off)
	} else {
		a.get(w, al.data, m, off)
	}
}

// track keeps the record of initialised global memory.
func (a *access) track(w *warp, al *allocation, m uint32, off *offsets) {
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if o := uint64(off[l]); a.write {
			al.mark(o, a.bytes)
		} else if !al.marked(o, a.bytes) {
			w.report(Uninitialised, a.site, none, l, "%d-byte load at byte %d of the allocation of %d bytes at %#x", a.bytes, o, len(al.data), al.addr)
		}
	}
}
