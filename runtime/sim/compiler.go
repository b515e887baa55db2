package sim

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// compiler flattens one kernel.
type compiler struct {
	kernel   *thr.Kernel
	program  *Program
	pos      ir.Pos // of the statement being compiled
	varying  map[*thr.Local]bool
	slots    map[*thr.Local]operand // registers of the locals in scope; arrays: the first
	declared []*thr.Local           // those of open scopes, in order
	unrolled map[*thr.Local]uint64  // variables of unrolled loops, now
	pool     map[uint64]int32       // constants
	args     map[*thr.Arg]int32
	sites    map[site]int32
	vecs     stack // registers of 32 lanes
	unis     stack // scalar registers

	heldLocals map[*thr.Local]bool // fragments of multiplies of warpgroups, and
	holding    bool                // it is one of these that is compiled
}

// stack hands out registers; locals and temporaries live on it by scope.
type stack struct{ top, most int }

func (s *stack) take(n int) int32 {
	at := s.top
	s.top += n
	s.most = max(s.most, s.top)
	return int32(at)
}

type mark struct{ vecs, unis int }

func (c *compiler) mark() mark     { return mark{c.vecs.top, c.unis.top} }
func (c *compiler) release(m mark) { c.vecs.top, c.unis.top = m.vecs, m.unis }

// register takes n registers of the file that uniform says.
func (c *compiler) register(n int, uniform bool) operand {
	if uniform {
		return operand{c.unis.take(n), true}
	}
	return operand{c.vecs.take(n), false}
}

func (c *compiler) emit(ops int64, run func(w *warp)) {
	c.program.code = append(c.program.code, instr{run, ops})
}

// here is the number of the next instruction.
func (c *compiler) here() int { return len(c.program.code) }

// site numbers the place that is being compiled. Copies of a statement in an unrolled loop are one place.
func (c *compiler) site(what string, bytes int) int32 { return c.siteOf(what, bytes, nil) }

// siteOf is site for an access to a buffer of shared memory.
func (c *compiler) siteOf(what string, bytes int, buf *thr.SharedBuf) int32 {
	s := site{pos: c.pos, what: what, bytes: bytes, buf: buf}
	i, ok := c.sites[s]
	if !ok {
		i = int32(len(c.program.sites))
		if i == maxSites {
			c.fail("more than %d memory accesses", maxSites)
		}
		c.program.sites = append(c.program.sites, s)
		c.sites[s] = i
	}
	return i
}

// constant is the pool's entry for a value.
func (c *compiler) constant(v uint64) operand {
	i, ok := c.pool[v]
	if !ok {
		i = int32(len(c.program.consts))
		c.program.consts = append(c.program.consts, v)
		c.pool[v] = i
	}
	return operand{^i, true}
}

// splat makes a uniform value readable as lanes. Pool entries are kept in both forms.
func (c *compiler) splat(o operand) operand {
	if !o.uniform || o.pooled() {
		return o
	}
	d := c.register(1, false)
	c.move(d, o)
	return d
}

// move copies a value to a register.
func (c *compiler) move(d, s operand) {
	switch {
	case d == s:
	case d.uniform:
		if !s.uniform {
			panic("sim: a varying value for a uniform register") // varyingLocals and eval disagree
		}
		c.emit(1, func(w *warp) { w.u[d.i] = w.uni(s.i) })
	case s.uniform && !s.pooled():
		c.emit(0, func(w *warp) {
			x, r := w.u[s.i], &w.r[d.i]
			for l := range r {
				r[l] = x
			}
		})
	default:
		c.emit(warpSize, func(w *warp) { w.r[d.i] = *w.vec(s.i) })
	}
}

// apply emits an operation. The result goes to dst where that is given and fits, or to a new temporary, which may be
// the register of an operand: an operation reads a lane's operands before it writes the lane's result.
func (c *compiler) apply(f fn, args []thr.Expr, dst *operand) operand {
	if len(args) != f.arity {
		c.fail("%d operands where %d are needed", len(args), f.arity)
	}
	m := c.mark()
	var x [3]operand
	uniform := true
	for i, a := range args {
		x[i] = c.eval(a, nil)
		uniform = uniform && x[i].uniform
	}
	for i := range x {
		if i >= f.arity {
			x[i] = x[0] // unused, but readable
		} else if !uniform {
			x[i] = c.splat(x[i])
		}
	}
	c.release(m)
	d := c.result(uniform, dst)
	a, b, e := x[0].i, x[1].i, x[2].i
	if uniform {
		op := f.scalar
		c.emit(1, func(w *warp) { w.u[d.i] = op(w.uni(a), w.uni(b), w.uni(e)) })
	} else {
		op := f.vector
		c.emit(warpSize, func(w *warp) { op(&w.r[d.i], w.vec(a), w.vec(b), w.vec(e)) })
	}
	return d
}

// result is where an operation writes: dst if it is of the right file, else a new temporary.
func (c *compiler) result(uniform bool, dst *operand) operand {
	if dst != nil && dst.uniform == uniform {
		return *dst
	}
	return c.register(1, uniform)
}
