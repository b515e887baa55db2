package ir

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
)

// What is refused here surely spills: the accumulators of products and the tiles in variables that a thread holds at one
// time have more registers than it gets. Everything else is left out, and these count only where their values are sure to
// be needed later, so that no kernel is refused that a compiler can fit into registers.

// threadRegs are the registers that an instruction can name.
const threadRegs = 255

// checkRegisters refuses what no thread can hold, role by role.
func (b *Builder) checkRegisters() {
	if len(b.errs) > 0 {
		return // regions may be incomplete
	}
	c := &registerCheck{b: b, vars: map[*Value]*heldVar{}}
	c.collect(b.Kernel.Body)
	c.region(b.Kernel.Body, nil)
	for _, p := range c.peaks {
		b.refuseHeld(p)
	}
}

// heldVar is a variable of a tile, with what becomes of it in the region where it is declared.
type heldVar struct {
	v       *Value
	regs    int
	varied  bool // its elements differ from one another, for all that is known
	whole   bool // all of it is read
	lastGet int
	events  []heldEvent // in the order of that region's ops
}

// heldEvent is what an op of that region, with all within it, does to the variable.
type heldEvent struct {
	at     int
	writes bool
	kills  bool // some write does not need the value before it
}

type registerCheck struct {
	b     *Builder
	vars  map[*Value]*heldVar
	order []*heldVar
	peaks []*heldPeak
}

// heldPeak is the most that is held at one time under one limit.
type heldPeak struct {
	role *Role
	regs int
	vars []*heldVar
}

// collect finds the variables and what happens to them.
func (c *registerCheck) collect(r *Region) {
	for _, v := range r.Ops {
		switch v.Op {
		case Var:
			if s := v.Type.Span; s != nil && v.Type.DT != dtype.Bool {
				h := &heldVar{v: v, regs: (s.Dist.Values()*v.Type.DT.Size() + 3) / 4, lastGet: -1}
				c.vars[v] = h
				c.order = append(c.order, h)
			}
		case Get:
			if h := c.vars[v.Args[0]]; h != nil {
				h.note(v, false, false)
				h.lastGet = h.events[len(h.events)-1].at
			}
		case Set:
			if h := c.vars[v.Args[0]]; h != nil {
				h.note(v, true, !derives(v.Args[1], h.v, map[*Value]bool{}))
				h.varied = h.varied || varies(v.Args[1], map[*Value]bool{})
			}
		case MMA:
			if h := c.vars[v.Args[0]]; h != nil {
				h.varied = true
				h.note(v, true, v.Attr.(*MMAInfo).Overwrite)
			}
		}
		switch Table[v.Op].Class {
		case Reduction, Memory, Matrix:
			if !partial(v.Type.Span) {
				for _, a := range v.Args {
					c.whole(a)
				}
			}
		}
		for _, in := range v.Regions {
			if in != nil {
				c.collect(in)
			}
		}
	}
}

// whole notes the variables of which x needs every element.
func (c *registerCheck) whole(x *Value) {
	switch {
	case x == nil || x.Type.Span == nil:
	case x.Op == Get:
		if h := c.vars[x.Args[0]]; h != nil {
			h.whole = true
		}
	case sameElements(x.Op):
		for _, a := range x.Args {
			c.whole(a)
		}
	}
}

// sameElements reports whether each element of an op's result needs those of its operands that lie in its place.
func sameElements(op Op) bool { return Table[op].Class == Elementwise || op == Fill }

// partial reports whether a span ends before its capacity for certain.
func partial(s *Span) bool {
	return s != nil && slices.ContainsFunc(s.Extent, func(e *Value) bool { return e != nil && e.Op == Const })
}

// note adds an op, by where it lies in the variable's region.
func (h *heldVar) note(v *Value, writes, kills bool) {
	for v.In != h.v.In {
		v = v.In.Owner
	}
	at := slices.Index(v.In.Ops, v)
	if n := len(h.events); n == 0 || h.events[n-1].at != at {
		h.events = append(h.events, heldEvent{at: at})
	}
	e := &h.events[len(h.events)-1]
	e.writes, e.kills = e.writes || writes, e.kills || kills
}

// counts reports whether the variable takes as many registers as its tile has elements: a compiler joins those that are
// equal, and drops those that are not used.
func (h *heldVar) counts() bool {
	return h.varied && h.whole && !partial(h.v.Type.Span)
}

// after reports whether the variable is held after op at of its region.
func (h *heldVar) after(at int) bool {
	written := false
	for _, e := range h.events {
		if e.at > at {
			return written && !e.kills && h.lastGet > at
		}
		written = written || e.writes
	}
	return false
}

// through reports whether the variable is held all the time within op at of its region: it was written before and is read
// behind, or each iteration goes on with what the one before has left.
func (h *heldVar) through(at int, loop bool) bool {
	before := false
	for _, e := range h.events {
		switch {
		case e.at < at:
			before = before || e.writes
		case e.at == at:
			return !e.kills && (before && h.lastGet > at || loop && e.writes && h.lastGet >= at)
		default:
			return before && !e.kills && h.lastGet > at
		}
	}
	return false
}

// region finds the peaks of a region, in which outer is held all the time.
func (c *registerCheck) region(r *Region, outer []*heldVar) {
	var own []*heldVar
	for _, h := range c.order {
		if h.v.In == r && h.counts() {
			own = append(own, h)
		}
	}
	for at, v := range r.Ops {
		held := slices.Clone(outer)
		for _, h := range own {
			if h.after(at) {
				held = append(held, h)
			}
		}
		c.peak(r.InRole(), held)
		if v.Regions == nil {
			continue
		}
		inside := slices.Clone(outer)
		for _, h := range own {
			if h.through(at, repeats(v)) {
				inside = append(inside, h)
			}
		}
		for _, in := range v.Regions {
			if in != nil {
				c.region(in, inside)
			}
		}
	}
}

func (c *registerCheck) peak(role *Role, held []*heldVar) {
	n := 0
	for _, h := range held {
		n += h.regs
	}
	i := slices.IndexFunc(c.peaks, func(p *heldPeak) bool { return p.role == role })
	switch {
	case i < 0:
		c.peaks = append(c.peaks, &heldPeak{role, n, held})
	case n > c.peaks[i].regs:
		c.peaks[i] = &heldPeak{role, n, held}
	}
}

// repeats reports whether an op is a loop that is not known to run once at most.
func repeats(v *Value) bool {
	switch v.Op {
	case While, Persistent:
		return true
	case Range:
		lo, a := intConst(v.Args[0])
		hi, b := intConst(v.Args[1])
		step, c := intConst(v.Args[2])
		return !a || !b || !c || lo+step < hi
	}
	return false
}

// derives reports whether a tile is computed from the tile of a variable.
func derives(x, v *Value, seen map[*Value]bool) bool {
	if x == nil || seen[x] || x.Type.Span == nil {
		return false
	}
	seen[x] = true
	if x.Op == Get {
		return x.Args[0] == v
	}
	return slices.ContainsFunc(x.Args, func(a *Value) bool { return derives(a, v, seen) })
}

// varies reports whether the elements of a tile come from memory or from products, each on its own.
func varies(x *Value, seen map[*Value]bool) bool {
	if x == nil || seen[x] || x.Type.Span == nil {
		return false
	}
	seen[x] = true
	if sameElements(x.Op) {
		return slices.ContainsFunc(x.Args, func(a *Value) bool { return varies(a, seen) })
	}
	return x.Op == Load
}

// refuseHeld notes a peak that is too high.
func (b *Builder) refuseHeld(p *heldPeak) {
	limit, who := b.Kernel.registers(p.role)
	more := ""
	if limit < threadRegs && p.role != nil && p.role.Regs > 0 {
		more = ", or a larger budget"
	}
	if p.regs <= limit {
		return
	}
	last := slices.MaxFunc(p.vars, func(x, y *heldVar) int { return cmp.Compare(x.v.ID, y.v.ID) })
	var each []string
	for i := 0; i < len(p.vars); {
		h, n := p.vars[i], 0
		for ; i < len(p.vars) && p.vars[i].v.Pos == h.v.Pos && p.vars[i].regs == h.regs; i++ {
			n++
		}
		text := fmt.Sprintf("%d of %s %v at %s", h.regs, shape(h.v.Type.Span), h.v.Type.DT, h.v.Pos)
		if n > 1 {
			text = fmt.Sprintf("%d times ", n) + text
		}
		each = append(each, text)
	}
	b.errorAt(last.v.Pos, Var, ErrLimit, "tiles in variables take %d registers of a thread at one time (%s), and %s; use smaller tiles or more warps, or end one before the next begins%s",
		p.regs, strings.Join(each, ", "), who, more)
}

// registers are those that a thread of a role can have, or of no role, and how this is said.
func (k *Kernel) registers(r *Role) (n int, who string) {
	if r != nil && r.Regs > 0 {
		n = min(r.Regs, threadRegs)
		return n, fmt.Sprintf("the %s of %s have %d", r.Name, r.Pos, n)
	}
	if n = allRegs / (k.Threads * max(1, k.MinBlocks)) / regStep * regStep; n >= threadRegs {
		return threadRegs, fmt.Sprintf("a thread has %d at most", threadRegs)
	}
	return n, fmt.Sprintf("a thread has %d at most where a multiprocessor holds %s of %d", n, Count(max(1, k.MinBlocks), "block"), k.Threads)
}
