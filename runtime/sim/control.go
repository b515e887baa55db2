package sim

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// maxUnrolled bounds the instructions of a kernel; a loop that exceeds it was marked by mistake.
const maxUnrolled = 1 << 22

// unroll compiles the body once for each value of the variable, which is a constant there.
func (c *compiler) unroll(s thr.For) {
	var b [3]int64
	for i, e := range []thr.Expr{s.Lo, s.Hi, s.Step} {
		v, ok := c.fold(e)
		if !ok {
			c.fail("unrolled loop over %s: a bound is a run-time value", s.Var.Name)
		}
		b[i] = int64(int32(v))
	}
	if b[2] <= 0 {
		c.fail("loop over %s by %d", s.Var.Name, b[2])
	}
	if _, ok := c.unrolled[s.Var]; ok {
		c.fail("%s is the variable of two nested loops", s.Var.Name)
	}
	for v := b[0]; v < b[1]; v += b[2] {
		c.unrolled[s.Var] = uint64(uint32(v))
		c.body(s.Body)
		if c.here() > maxUnrolled {
			c.fail("unrolled loop over %s: more than %d instructions", s.Var.Name, maxUnrolled)
		}
	}
	delete(c.unrolled, s.Var)
}

// loop compiles a counted loop. The variable and the bounds are scalars: control flow is uniform.
func (c *compiler) loop(s thr.For) {
	if _, ok := c.slots[s.Var]; ok {
		c.fail("%s is the variable of two nested loops", s.Var.Name)
	}
	if s.Var.Len > 0 || s.Var.Type != thr.Val(dtype.I32) {
		c.fail("loop variable %s is not an i32", s.Var.Name)
	}
	m := c.mark()
	at := c.site("loop", 0)
	v, hi, step := c.register(1, true).i, c.register(1, true).i, c.register(1, true).i
	c.agreed(v, s.Lo, at, "first value")
	c.agreed(hi, s.Hi, at, "bound")
	c.agreed(step, s.Step, at, "step")
	var end int
	c.emit(1, func(w *warp) {
		if int32(w.u[step]) <= 0 {
			w.report(Runaway, at, none, 0, "a loop by %d", int32(w.u[step]))
			w.pc = end
		} else if int32(w.u[v]) >= int32(w.u[hi]) {
			w.pc = end
		}
	})
	top := c.here()
	c.slots[s.Var] = operand{v, true}
	c.body(s.Body)
	delete(c.slots, s.Var)
	length := c.here() - top + 1
	c.emit(2, func(w *warp) { // add, compare
		next := int64(int32(w.u[v])) + int64(int32(w.u[step])) // cannot wrap
		if next < int64(int32(w.u[hi])) {
			w.u[v] = uint64(uint32(next))
			w.back(top, length, at)
		}
	})
	end = c.here()
	c.release(m)
}

// while compiles a loop whose head computes its condition. What the head declares is visible in condition and body.
func (c *compiler) while(s thr.While) {
	at := c.site("loop", 0)
	c.scope(func() {
		top := c.here()
		c.list(s.Head)
		c.pos = s.Source()
		m := c.mark()
		cond := c.condition(s.Cond, at)
		c.release(m)
		var end int
		c.emit(1, func(w *warp) {
			if !cond(w) {
				w.pc = end
			}
		})
		c.body(s.Body)
		length := c.here() - top + 1
		c.emit(0, func(w *warp) { w.back(top, length, at) })
		end = c.here()
	})
}

func (c *compiler) branch(s thr.If) {
	if v, ok := c.fold(s.Cond); ok { // a comparison of unrolled variables
		if v != 0 {
			c.body(s.Then)
		} else {
			c.body(s.Else)
		}
		return
	}
	m := c.mark()
	cond := c.condition(s.Cond, c.site("if", 0))
	c.release(m) // read before either side runs
	var otherwise, end int
	c.emit(1, func(w *warp) {
		if !cond(w) {
			w.pc = otherwise
		}
	})
	c.body(s.Then)
	if len(s.Else) > 0 {
		c.emit(0, func(w *warp) { w.pc = end })
	}
	otherwise = c.here()
	c.body(s.Else)
	end = c.here()
}

// condition compiles a branch condition. Where the lanes disagree that is reported and the first lane decides.
func (c *compiler) condition(e thr.Expr, at int32) func(w *warp) bool {
	o := c.eval(e, nil)
	if o.uniform {
		return func(w *warp) bool { return w.uni(o.i) != 0 }
	}
	return func(w *warp) bool { return w.agree(o.i, at, "condition") != 0 }
}

// agreed computes a loop bound into a scalar register.
func (c *compiler) agreed(d int32, e thr.Expr, at int32, what string) {
	m := c.mark()
	if o := c.eval(e, nil); o.uniform {
		c.move(operand{d, true}, o)
	} else {
		c.emit(warpSize, func(w *warp) { w.u[d] = w.agree(o.i, at, what) })
	}
	c.release(m)
}

// agree is the value of a register that is to be the same in all lanes.
func (w *warp) agree(reg int32, at int32, what string) uint64 {
	x := w.vec(reg)
	for l := range x {
		if x[l] != x[0] {
			w.report(NonUniform, at, none, l, "%s %d in lane 0, %d in lane %d", what, int64(x[0]), int64(x[l]), l)
			break
		}
	}
	return x[0]
}

// back is a jump to an earlier instruction: where a warp may be stopped.
func (w *warp) back(to, length int, at int32) {
	w.pc = to
	w.fuel -= int64(length)
	w.steps += int64(length)
	if w.steps > w.block.launch.steps {
		w.report(Runaway, at, none, 0, "stopped after %d instructions of a warp", w.steps)
		w.state = exited
		w.block.cluster.abandoned = true
	} else if w.fuel < 0 {
		w.yield()
	}
}

func (c *compiler) blockSync(s thr.Do) {
	if s.Pred != nil {
		c.fail("a barrier for some lanes")
	}
	at := c.site("barrier", 0)
	c.emit(0, func(w *warp) { w.state, w.waits = waiting, at })
}

func (c *compiler) clusterSync(s thr.Do) {
	if s.Pred != nil {
		c.fail("a barrier for some lanes")
	}
	c.clustered(s.Fn)
	at := c.site("barrier of the cluster", 0)
	c.emit(0, func(w *warp) {
		w.between(at)
		w.state, w.waits = meeting, at
	})
}

// clustered refuses built-ins about clusters in a kernel without.
func (c *compiler) clustered(f thr.Fn) {
	if c.kernel.Cluster == 0 {
		c.fail("%s in a kernel without clusters", f)
	}
}

func (c *compiler) warpSync(s thr.Do) {
	if s.Pred != nil {
		c.fail("a barrier for some lanes")
	}
	c.emit(0, func(w *warp) {
		w.ended()
		w.settle()
	})
}
