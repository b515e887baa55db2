package sim

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// body compiles a list of statements, which is a scope.
func (c *compiler) body(list []thr.Stmt) { c.scope(func() { c.list(list) }) }

// scope compiles f and then gives back the registers and the names of what it declared.
func (c *compiler) scope(f func()) {
	m, n := c.mark(), len(c.declared)
	f()
	for _, l := range c.declared[n:] {
		delete(c.slots, l)
	}
	c.declared = c.declared[:n]
	c.release(m)
}

func (c *compiler) list(list []thr.Stmt) {
	for _, s := range list {
		c.pos = s.Source()
		if d, ok := s.(thr.Decl); ok {
			c.declare(d)
			continue
		}
		temporaries := c.mark()
		c.statement(s)
		c.release(temporaries)
	}
}

func (c *compiler) statement(s thr.Stmt) {
	switch s := s.(type) {
	case thr.Comment:
	case thr.Assign:
		c.assign(s)
	case thr.For:
		if s.Unroll {
			c.unroll(s)
		} else {
			c.loop(s)
		}
	case thr.While:
		c.while(s)
	case thr.If:
		c.branch(s)
	case thr.Load:
		c.load(s)
	case thr.Store:
		c.store(s)
	case thr.Do:
		if s.Fn <= thr.InvalidFn || s.Fn >= thr.NumFns || fns[s.Fn].do == nil {
			c.fail("%s is not a statement", s.Fn)
		}
		if len(s.Args) != s.Operands() {
			c.fail("%s of %d operands", s.Fn, len(s.Args))
		}
		fns[s.Fn].do(c, s)
	case thr.Asm:
		c.asm(s)
	default:
		c.fail("statement %T", s)
	}
}

// declare gives a local its registers. Without a first value they are filled with ones (NaN, -1), so that a kernel
// that reads them before it writes them does not find a lucky zero.
func (c *compiler) declare(s thr.Decl) {
	l := s.Local
	if _, ok := c.slots[l]; ok {
		c.fail("%s is declared twice", l.Name)
	}
	if !l.Type.Ptr && !isRegisterType(l.Type.DT) {
		c.fail("%s: no registers of %s", l.Name, l.Type.DT)
	}
	d := c.register(max(l.Len, 1), !c.varying[l])
	c.slots[l] = d
	c.declared = append(c.declared, l)
	if s.Init != nil {
		if l.Len > 0 {
			c.fail("%s: an array with a first value", l.Name)
		}
		c.into(d, s.Init)
		return
	}
	poison := ^uint64(0) >> (64 - 8*size(l.Type))
	if l.Type.DT == dtype.Bool && !l.Type.Ptr {
		poison = 1
	}
	n := max(l.Len, 1)
	c.touch(l, d.i, n)
	c.emit(0, func(w *warp) {
		for i := range n {
			w.fill(operand{d.i + int32(i), d.uniform}, poison)
		}
	})
}

// size is the size in bytes of a register's contents.
func size(t thr.Type) int {
	if t.Ptr {
		return 8
	}
	return t.DT.Size()
}

func (c *compiler) assign(s thr.Assign) {
	d := c.ref(s.Dst.Local, s.Dst.Index)
	if s.Pred == nil {
		c.into(d, s.Src)
		return
	}
	if v, ok := c.fold(s.Pred); ok {
		if v != 0 {
			c.into(d, s.Src)
		}
		return
	}
	c.blend(d, c.eval(s.Pred, nil), c.eval(s.Src, nil))
}

// blend writes x to d in the lanes where p holds.
func (c *compiler) blend(d, p, x operand) {
	if d.uniform {
		c.emit(1, func(w *warp) {
			if w.uni(p.i) != 0 {
				w.u[d.i] = w.uni(x.i)
			}
		})
		return
	}
	p, x = c.splat(p), c.splat(x)
	c.emit(warpSize, func(w *warp) {
		p, x, d := w.vec(p.i), w.vec(x.i), &w.r[d.i]
		for l := range d {
			if p[l] != 0 {
				d[l] = x[l]
			}
		}
	})
}

// asm runs the Go twin of an inline instruction, lane by lane.
func (c *compiler) asm(s thr.Asm) {
	if s.Info == nil || s.Info.Sim == nil {
		c.fail("inline PTX without a Go function for the simulator")
	}
	d := c.ref(s.Dst.Local, s.Dst.Index)
	var x []operand
	for _, a := range s.Args {
		o := c.eval(a, nil)
		if !d.uniform {
			o = c.splat(o)
		}
		x = append(x, o)
	}
	keep, at := ^uint64(0)>>(64-8*size(s.Dst.Local.Type)), c.site("inline PTX", 0)
	f := func(w *warp, lane int, in []uint64) uint64 { return w.twin(s.Info, at, lane, in) }
	if d.uniform {
		c.emit(1, func(w *warp) {
			in := make([]uint64, len(x))
			for i, o := range x {
				in[i] = w.uni(o.i)
			}
			w.u[d.i] = f(w, 0, in) & keep
		})
		return
	}
	c.emit(warpSize, func(w *warp) {
		in := make([]uint64, len(x)) // new for each warp, as f may be called from several goroutines
		to := &w.r[d.i]
		for l := range to {
			for i, o := range x {
				in[i] = w.vec(o.i)[l]
			}
			to[l] = f(w, l, in) & keep
		}
	})
}

// twin calls the author's function for a lane. It panics on a goroutine that the author does not know of, so that nobody
// could recover from it: the panic is reported, and the launch abandoned.
func (w *warp) twin(info *ir.AsmInfo, at int32, lane int, in []uint64) (out uint64) {
	defer func() {
		if r := recover(); r != nil {
			w.report(Panicked, at, none, lane, "%v, in the function for the simulator of PTX %q", r, info.Template)
			w.state = exited
			w.block.cluster.abandoned = true
		}
	}()
	return info.Sim(in)
}
