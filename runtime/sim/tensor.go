package sim

import (
	"math/bits"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// chunkBytes is what a swizzle keeps together.
const chunkBytes = 16

// boxed is the box of a tensor copy that was issued.
type boxed struct {
	rows    []boxRow
	swizzle layout.Swizzle
	combine update // of a reduction; nil: a copy
	elem    int    // bytes of an element
}

// boxRow is the part of a row of a box that lies in the tensor.
type boxRow struct {
	source
	at int // its first byte in the box
}

// tensorOp is a tensor copy instruction.
type tensorOp struct {
	fn      thr.Fn
	arg     *thr.Arg
	site    int32
	chosen  chosen
	coords  []int32 // registers, innermost dimension first
	shared  *access // nil: of a prefetch
	global  *access
	bar     int32 // registers of the mbarrier's offset, and
	mask    int32 // of the blocks
	bars    *thr.SharedBuf
	combine update
}

func (c *compiler) tensorOp(s thr.Do, shared, global string) *tensorOp {
	fixed := thr.Fns[s.Fn].Arity
	if s.Map == nil || len(s.Map.Map.Box) > ir.MaxTensorRank {
		c.fail("%s as a tensor copy with the map %v", s.Fn, s.Map)
	}
	o := &tensorOp{fn: s.Fn, arg: s.Map}
	c.program.async = true
	c.program.word = min(c.program.word, s.Map.Arg.DT.Size())
	o.global = &access{site: c.site(global, 0), write: fixed == 1}
	o.site = o.global.site
	if shared != "" {
		o.shared = c.access(chunkBytes, thr.Shared, fixed > 1, shared, s.Args[0], s.Pred, s.Buf)
		o.site, o.chosen = o.shared.site, o.shared.chosen
	} else {
		o.chosen = c.chosen(s.Pred)
	}
	for _, e := range s.Args[fixed:] {
		o.coords = append(o.coords, c.vec(e).i)
	}
	return o
}

// tensorCopy compiles a copy to shared memory, of one block or of several.
func (c *compiler) tensorCopy(s thr.Do) {
	o := c.tensorOp(s, "tensor write", "tensor read of global memory")
	c.barriers(s.Bar)
	o.bars, o.bar = s.Bar, c.vec(s.Args[1]).i
	if s.Fn == thr.TensorMulticast {
		o.mask = c.vec(s.Args[2]).i
	}
	c.emit(warpSize, o.each(o.load))
}

// tensorStore compiles a copy from shared memory. of finds the function of a reduction by type; kernels with one run their
// blocks one after the other.
func tensorStore(of func(dtype.Type) update) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		o := c.tensorOp(s, "tensor read", "tensor write of global memory")
		c.program.bulkStores = true
		if of != nil {
			c.program.serial = true
			if o.combine = of(s.Map.Arg.DT); o.combine == nil {
				c.fail("no %s of %s", s.Fn, s.Map.Arg.DT)
			}
		}
		c.emit(warpSize, o.each(o.store))
	}
}

func (c *compiler) tensorPrefetch(s thr.Do) {
	o := c.tensorOp(s, "", "prefetch of global memory")
	c.emit(warpSize, o.each(func(w *warp, l int) { o.box(w, l) }))
}

// each issues a copy for each lane that is chosen.
func (o *tensorOp) each(issue func(w *warp, lane int)) func(*warp) {
	return func(w *warp) {
		for m := o.chosen.mask(w); m != 0; m &= m - 1 {
			issue(w, bits.TrailingZeros32(m))
		}
	}
}

// load begins a lane's copy to shared memory.
func (o *tensorOp) load(w *warp, l int) {
	at, bytes, ok := o.place(w, l)
	box := o.box(w, l)
	if !ok || box == nil {
		return
	}
	for _, r := range box.rows {
		w.readSource(o.global, r.source, l)
	}
	for _, b := range o.receivers(w, l) {
		if b != w.block { // whose end the bytes come before, or they are reported as nobody's
			b.runs(w, o.site, l)
		}
		k := &bulk{w: w, site: o.site, shared: at, bytes: bytes, tensor: box}
		if k.bar = b.barrierAt(w, o.site, o.bars, int(uint32(w.vec(o.bar)[l])), l); k.bar == nil || !w.usable(k.bar, o.site, l) {
			continue
		}
		if !k.bar.fenced {
			w.report(MissingFence, o.site, k.bar.init.site(), l, "%s completes at %s, whose init no fence has made visible to the asynchronous proxy",
				w.block.program.sites[o.site].what, k.bar.name())
		}
		for _, r := range box.rows {
			k.checkWritten(o.global.site, r.source, l)
		}
		k.load(l)
		w.block.cluster.fly(k)
	}
}

// receivers are the blocks whose shared memory a lane's copy writes.
func (o *tensorOp) receivers(w *warp, l int) []*block {
	if o.fn != thr.TensorMulticast {
		return []*block{w.block}
	}
	blocks := w.block.cluster.blocks
	mask := uint32(w.vec(o.mask)[l]) & 0xffff // the instruction takes 16 bits
	if mask == 0 || mask>>len(blocks) != 0 {
		w.report(OutOfBounds, o.site, none, l, "a copy to the blocks %#b of a cluster of %d", mask, len(blocks))
	}
	var out []*block
	for rank, b := range blocks {
		if mask>>rank&1 != 0 {
			out = append(out, b)
		}
	}
	return out
}

// store begins a lane's copy from shared memory. What lies outside of the tensor is not read.
func (o *tensorOp) store(w *warp, l int) {
	at, bytes, ok := o.place(w, l)
	box := o.box(w, l)
	if !ok || box == nil {
		return
	}
	k := &bulk{w: w, site: o.site, shared: at, bytes: bytes, tensor: box}
	now := k.stored(l)
	box.chunks(at, func(r *boxRow, at, _, n int) { k.check(now, l, false, at, n) })
	for _, r := range box.rows {
		k.storeTo(o.global, r.source, l)
		if o.combine != nil && r.al.unmarked(uint64(r.off), r.bytes) < uint64(r.off+r.bytes) {
			w.report(Uninitialised, o.global.site, none, l, "%s at byte %d of the allocation of %d bytes at %#x", o.fn, r.off, len(r.al.data), r.al.addr)
		}
	}
	w.block.cluster.fly(k)
}

// place is where in shared memory a lane's box begins, and its size.
func (o *tensorOp) place(w *warp, l int) (at, bytes int, ok bool) {
	at, bytes = int(uint32(w.vec(o.shared.addr)[l])), o.arg.Map.Bytes(o.arg.Arg.DT)
	low, high := o.shared.bounds(w.block)
	align := max(ir.TensorAlign, swizzleOf[o.arg.Map.Swizzle].Align())
	what := w.block.program.sites[o.site].what
	switch {
	case at < low || at+bytes > high:
		w.report(OutOfBounds, o.site, none, l, "%s of %d bytes at byte %d of %d", what, bytes, at-low, high-low)
	case at%align != 0:
		w.report(Misaligned, o.site, none, l, "%s at byte %d: a multiple of %d is needed", what, at, align)
	default:
		ok = true
	}
	return at, bytes, ok
}

// box finds the rows of a lane's box that lie in the tensor; nil, and a report, where the tensor is no memory.
func (o *tensorOp) box(w *warp, l int) *boxed {
	m, elem := w.block.launch.maps[o.arg], o.arg.Arg.DT.Size()
	if m == nil {
		w.report(OutOfBounds, o.site, none, l, "%s by %s, which the launch has not made: the tensor's address, its strides or its sizes allow no tensor map", o.fn, o.arg.Name)
		return nil
	}
	b := &boxed{swizzle: swizzleOf[m.Swizzle], combine: o.combine, elem: elem}
	var from [ir.MaxTensorRank]int
	rows := 1
	for d, r := range o.coords {
		from[d] = int(int32(w.vec(r)[l]))
		if d > 0 {
			rows *= int(m.Box[d])
		}
	}
	if from[0]*elem%ir.CopyBytes != 0 {
		w.report(Misaligned, o.site, none, l, "%s of a box from element %d of its rows on, of %d bytes each: hardware takes multiples of %d bytes, and stops at others", o.fn, from[0], elem, ir.CopyBytes)
		return nil
	}
	lo, hi := max(from[0], 0), min(from[0]+int(m.Box[0]), int(m.Dim[0]))
	for row := range rows {
		addr, inside := m.Addr+uint64(lo*elem), lo < hi
		for d, i := 1, row; d < m.Rank; d++ {
			at := from[d] + i%int(m.Box[d])
			i /= int(m.Box[d])
			inside = inside && at >= 0 && at < int(m.Dim[d])
			addr += uint64(at) * m.Stride[d]
		}
		if !inside {
			continue
		}
		n := (hi - lo) * elem
		al := w.block.mem.at(addr, n)
		if al == nil {
			mem := w.block.mem
			mem.mu.Lock()
			w.report(OutOfBounds, o.site, none, l, "%s of %d bytes at %#x: %s", o.fn, n, addr, mem.describe(addr))
			mem.mu.Unlock()
			return nil
		}
		b.rows = append(b.rows, boxRow{source{al, int(addr - al.addr), n}, (row*int(m.Box[0]) + lo - from[0]) * elem})
	}
	return b
}

// chunks visits the pieces of the box's rows that are whole in shared memory: where there, in the row's allocation, bytes.
func (b *boxed) chunks(shared int, f func(r *boxRow, shared, global, bytes int)) {
	for i := range b.rows {
		r := &b.rows[i]
		for done := 0; done < r.bytes; {
			at := r.at + done
			n := min(chunkBytes-at%chunkBytes, r.bytes-done)
			f(r, b.swizzle.Apply(shared+at), r.off+done, n)
			done += n
		}
	}
}

// moveBox moves the bytes of a tensor copy; data is those of the box in shared memory.
func (k *bulk) moveBox(data []byte) {
	b := k.tensor
	if k.bar != nil {
		clear(data) // what lies outside of the tensor is zero
	}
	b.chunks(k.shared, func(r *boxRow, shared, global, n int) {
		in, out := data[shared-k.shared:][:n], r.al.data[global:][:n]
		switch {
		case k.bar != nil:
			copy(in, out)
			return
		case b.combine == nil:
			copy(out, in)
		default:
			for i := 0; i < n; i += b.elem {
				setWord(out[i:], b.elem, b.combine(word(out[i:], b.elem), word(in[i:], b.elem), 0))
			}
		}
		r.al.mark(uint64(global), n)
	})
}

// tensorAdd, tensorMin and tensorMax are atomicAdd and its neighbours, and the 16-bit floats, computed in f32 and rounded.
func tensorAdd(t dtype.Type) update {
	return halves(t, atomicAdd(t), func(a, b float32) float32 { return a + b })
}
func tensorMin(t dtype.Type) update { return halves(t, atomicMin(t), min32) }
func tensorMax(t dtype.Type) update { return halves(t, atomicMax(t), max32) }

func halves(t dtype.Type, whole update, f func(a, b float32) float32) update {
	switch t {
	case dtype.BF16:
		return func(old, a, _ uint64) uint64 { return bf16(fbits(f(float(old<<16), float(a<<16)))) }
	case dtype.F16:
		return func(old, a, _ uint64) uint64 { return f16(fbits(f(float(unf16(old)), float(unf16(a))))) }
	}
	return whole
}
