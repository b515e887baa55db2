package sim

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// elect is true in one lane of each warp. Nobody may count on which: it is another one in each warp and with each seed, but
// the same all through the kernel, as on a GPU.
func (c *compiler) elect(e thr.Call, dst *operand) operand {
	c.program.elects = true
	d := c.result(false, dst)
	c.emit(1, func(w *warp) {
		for l := range w.r[d.i] {
			w.r[d.i][l] = put(uint64(l) == w.elected)
		}
	})
	return d
}

// regsDo compiles a move of registers between the threads of a warp and the block. A GPU does it by whole warpgroups.
func regsDo(inc bool) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		n, ok := c.fold(s.Args[0])
		if !ok || s.Pred != nil || c.kernel.MinBlocks == 0 {
			c.fail("%s: a constant number of registers and no predicate are needed, in a kernel with a number of blocks", s.Fn)
		}
		site, want := c.site(s.Fn.String(), 0), int(n)
		c.program.regsSite = site
		c.program.entryRegs = (&ir.Kernel{Threads: c.kernel.Threads, MinBlocks: c.kernel.MinBlocks}).EntryRegs()
		c.emit(0, func(w *warp) { w.setRegs(want, inc, site) })
	}
}

// setRegs moves registers; a warp that takes some waits until they are free.
func (w *warp) setRegs(n int, inc bool, site int32) {
	b := w.block
	more := (n - w.regs) * warpSize
	switch {
	case inc != (more > 0) && more != 0:
		w.report(BadRegisters, site, none, 0, "%s to %d registers of a warp that has %d", b.program.sites[site].what, n, w.regs)
		return
	case more > b.freeRegs:
		w.pc-- // again, when some are given back
		w.state, w.waits, w.lacks = stalled, site, n
		return
	}
	b.freeRegs -= more
	w.regs, w.lacks = n, 0
	for _, v := range b.warps {
		if more < 0 && v.lacks > 0 {
			v.lacks = 0
			b.cluster.resume(v)
		}
	}
}

// finishRegs reports warpgroups whose warps have different numbers of registers at the end.
func (b *block) finishRegs() {
	for i, w := range b.warps {
		if first := b.warps[i/ir.WarpgroupWarps*ir.WarpgroupWarps]; w.regs != first.regs {
			w.report(BadRegisters, b.program.regsSite, none, 0, "warp %d ends with %d registers a thread and warp %d of its warpgroup with %d: setmaxnreg is of whole warpgroups", w.id, w.regs, first.id, first.regs)
		}
	}
}
