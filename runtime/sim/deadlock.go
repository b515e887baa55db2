package sim

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/internal/ir"
)

// progress lets something happen when no warp can run: a copy arrives or a barrier of the cluster opens. It reports
// whether the run goes on; where warps wait that nobody can wake, that is reported.
func (c *cluster) progress() bool {
	if len(c.flying) > 0 {
		c.land()
		return true
	}
	for _, w := range c.warps {
		if w.state == stalled && (w.blocked != nil || w.meets != nil || w.lacks > 0) {
			c.deadlocked(w)
			return false
		}
	}
	return c.release()
}

// deadlocked reports that nobody can go on, where a warp waits; the rest of the cluster is not run.
func (c *cluster) deadlocked(w *warp) {
	w.report(Deadlock, w.waits, none, 0, "%s", c.waitFor())
	c.abandoned = true
}

// waitFor is the table of who waits where, for what, and who could still come: a line a warp.
func (c *cluster) waitFor() string {
	out := []string{"nobody can go on"}
	told := map[*mbar]bool{}
	for _, w := range c.warps {
		b, waits := w.blocked, "waits"
		if b == nil && w.state == yielded {
			b, waits = w.asked, "asks"
		}
		switch {
		case w.state == waiting || w.state == meeting:
			out = append(out, fmt.Sprintf("  warp %d%s waits at the %s of %s", w.id, w.whose(), w.block.program.sites[w.waits].what, w.block.program.sites[w.waits].pos))
		case w.state == exited:
			out = append(out, fmt.Sprintf("  warp %d%s has left the kernel", w.id, w.whose()))
		case w.lacks > 0:
			out = append(out, fmt.Sprintf("  warp %d%s waits at %s for %d registers a thread: %d of the block's are free", w.id, w.whose(), w.block.program.sites[w.waits].pos, w.lacks, w.block.freeRegs))
		case w.meets != nil:
			out = append(out, fmt.Sprintf("  warp %d%s waits at %s at named barrier %d: %s", w.id, w.whose(), w.block.program.sites[w.waits].pos, w.meets.id, w.meets.lacks()))
		case b != nil:
			out = append(out, fmt.Sprintf("  warp %d%s %s at %s for phase %d (parity %d) of %s", w.id, w.whose(), waits, w.block.program.sites[w.waits].pos, w.wants, w.wants&1, b.name()))
			if !told[b] {
				told[b] = true
				out = append(out, b.lacks()...)
			}
		}
	}
	return strings.Join(out, "\n")
}

// lacks says what a phase lacks, and where it could come from.
func (b *mbar) lacks() []string {
	p := b.block.program
	s := fmt.Sprintf("    %s is in phase %d: %d of %s pending", b.name(), b.phase, b.pending, ir.Count(b.count, "arrival"))
	if b.tx != 0 || b.expected > 0 || b.issued > 0 {
		s += fmt.Sprintf(", %d bytes expected, %d copied", b.expected, b.issued)
	}
	out := []string{s}
	var at []string
	for _, site := range p.arrivals[p.bars[b.slot].buf] {
		at = append(at, p.sites[site].pos.String())
	}
	if len(at) == 0 {
		return append(out, "    no line of the kernel arrives at "+p.bars[b.slot].buf.Name)
	}
	return append(out, "    who arrives does so at "+strings.Join(at, ", "))
}

// finishAsync reports, at the end of a cluster, the copies whose phase nobody has seen to be over, and lets all arrive.
func (c *cluster) finishAsync() {
	for _, k := range c.flying {
		k.arrive()
	}
	c.flying = c.flying[:0]
	for _, b := range c.blocks {
		b.finishRegs()
		for _, n := range b.named {
			if n.come > 0 {
				b.warps[0].report(BadBarrier, n.site, none, 0, "the kernel ends, and at named barrier %d %s", n.id, n.lacks())
			}
		}
		for _, m := range b.bars {
			for _, k := range m.unseen {
				k.w.report(NotAwaited, k.site, none, 0, "the kernel ends, and nobody has waited for phase %d of %s, in which this copy arrives", k.phase, m.name())
			}
		}
	}
}
