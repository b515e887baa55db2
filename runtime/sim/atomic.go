package sim

import (
	"math/bits"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// update is what an atomic makes of memory's old value, given its operands.
type update func(old, a, b uint64) uint64

// atomicDo compiles an atomic on global memory; of finds its function by type. A kernel with one runs its blocks one
// after the other, so nothing here locks; within a warp lower lanes come first.
func atomicDo(of func(t dtype.Type) update) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		f := of(s.DT)
		if f == nil {
			c.fail("no %s of %s", s.Fn, s.DT)
		}
		c.program.serial = true
		c.program.ordered = c.program.ordered || s.Order != ir.Relaxed
		size := s.DT.Size()
		a := c.access(size, thr.Global, true, s.Fn.String(), s.Args[0], s.Pred, nil)
		x := c.vec(s.Args[1]).i
		y := x
		if len(s.Args) > 2 {
			y = c.vec(s.Args[2]).i
		}
		old := operand{i: -1}
		if s.Dst != nil {
			old = c.ref(s.Dst.Local, s.Dst.Index)
		}
		c.emit(warpSize, func(w *warp) {
			var off offsets
			for m := a.lanes(w); m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m)
				addr := w.vec(a.addr)[l]
				al := w.global(addr, size, a.site, l)
				if al == nil {
					continue
				}
				off[l] = int(addr - al.addr)
				if al.init != nil && !al.marked(uint64(off[l]), size) {
					w.report(Uninitialised, a.site, none, l, "%s at byte %d of the allocation of %d bytes at %#x", s.Fn, off[l], len(al.data), al.addr)
				}
				a.checkStores(w, al, 1<<l, &off, true)
				if w.block.launch.global != nil {
					a.checkBlocks(w, al, 1<<l, &off, true, nil)
					w.order(place{al, off[l]}, s.Order, l, true, true)
				}
				w.checkEarly(al, a.site, l, true)
				al.writes(w.block.launch.number)
				at := al.data[off[l]:]
				was := word(at, size)
				setWord(at, size, f(was, w.vec(x)[l], w.vec(y)[l]))
				al.mark(uint64(off[l]), size)
				if !old.pooled() {
					w.r[old.i][l] = was
				}
			}
		})
	}
}

// atomicAdd of f32 flushes subnormals, operands and result, as atom.global.add.f32 does.
func atomicAdd(t dtype.Type) update {
	switch t {
	case dtype.F32:
		return func(old, a, _ uint64) uint64 { return fbits(ftz(ftz(float(old)) + ftz(float(a)))) }
	case dtype.I32, dtype.U32:
		return func(old, a, _ uint64) uint64 { return uint64(uint32(old + a)) }
	case dtype.I64:
		return func(old, a, _ uint64) uint64 { return old + a }
	}
	return nil
}

func atomicMax(t dtype.Type) update {
	switch t {
	case dtype.I32:
		return func(old, a, _ uint64) uint64 { return put(max(int32(old), int32(a))) }
	case dtype.U32:
		return func(old, a, _ uint64) uint64 { return max(old, a) }
	case dtype.I64:
		return func(old, a, _ uint64) uint64 { return put(max(int64(old), int64(a))) }
	}
	return nil
}

func atomicMin(t dtype.Type) update {
	switch t {
	case dtype.I32:
		return func(old, a, _ uint64) uint64 { return put(min(int32(old), int32(a))) }
	case dtype.U32:
		return func(old, a, _ uint64) uint64 { return min(old, a) }
	case dtype.I64:
		return func(old, a, _ uint64) uint64 { return put(min(int64(old), int64(a))) }
	}
	return nil
}

func atomicExch(t dtype.Type) update {
	if !isRegisterType(t) || t == dtype.Bool {
		return nil
	}
	return func(_, a, _ uint64) uint64 { return a }
}

func atomicCAS(t dtype.Type) update {
	if !t.IsInt() {
		return nil
	}
	return func(old, compare, value uint64) uint64 {
		if old == compare {
			return value
		}
		return old
	}
}
