package sim

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// eval compiles an expression. The value is uniform exactly where uniform(e) says so or where it folds to a constant.
// With dst given the value may be computed right there; the caller compares and moves otherwise.
func (c *compiler) eval(e thr.Expr, dst *operand) operand {
	if v, ok := c.fold(e); ok {
		return c.constant(v)
	}
	switch e := e.(type) {
	case thr.ArgRef:
		i, ok := c.args[e.Arg]
		if !ok {
			c.fail("argument %s is not the kernel's", e.Arg.Name)
		}
		return operand{^i, true}
	case thr.Ref:
		return c.ref(e.Local, e.Index)
	case thr.Apply:
		f, ok := lookup(e.Op, e.T, e.R)
		if !ok {
			c.fail("no %s of %s to %s", e.Op, e.T, e.R)
		}
		if f.rename && len(e.Args) == 1 {
			return c.eval(e.Args[0], dst)
		}
		return c.apply(f, e.Args, dst)
	case thr.PtrAdd:
		return c.apply(pointerAdd(bytesOf(e)), []thr.Expr{e.Base, e.Index}, dst)
	case thr.Call:
		return c.call(e, dst)
	}
	c.fail("expression %T", e)
	panic("unreachable")
}

// vec is eval into a register of lanes.
func (c *compiler) vec(e thr.Expr) operand { return c.splat(c.eval(e, nil)) }

// into computes a value into a register.
func (c *compiler) into(d operand, e thr.Expr) {
	m := c.mark()
	c.move(d, c.eval(e, &d))
	c.release(m)
}

// ref is the register of a local or of an element of an array.
func (c *compiler) ref(l *thr.Local, index thr.Expr) operand {
	d, ok := c.slots[l]
	if !ok {
		c.fail("%s is not declared here", l.Name)
	}
	if (index != nil) != (l.Len > 0) {
		c.fail("%s: an index is for register arrays", l.Name)
	}
	if index == nil {
		c.touch(l, d.i, 1)
		return d
	}
	v, ok := c.fold(index)
	if !ok {
		c.fail("%s is indexed by a run-time value", l.Name)
	}
	if i := int32(v); i < 0 || int(i) >= l.Len {
		c.fail("%s[%d] of %d registers", l.Name, i, l.Len)
	}
	d.i += int32(v)
	c.touch(l, d.i, 1)
	return d
}

// fold evaluates expressions of constants and variables of unrolled loops, by the same functions that run.
func (c *compiler) fold(e thr.Expr) (uint64, bool) {
	switch e := e.(type) {
	case thr.Const:
		if n := e.DT.Size(); n > 0 && n < 8 && e.Bits>>(8*n) != 0 {
			c.fail("constant %#x of %s has more than %d bytes", e.Bits, e.DT, n)
		}
		return e.Bits, true
	case thr.SharedAddr:
		return uint64(uint32(e.Buf.Offset)), true
	case thr.Ref:
		v, ok := c.unrolled[e.Local]
		return v, ok
	case thr.Apply:
		f, ok := lookup(e.Op, e.T, e.R)
		if !ok || len(e.Args) != f.arity {
			return 0, false // eval has the message
		}
		return c.foldArgs(f, e.Args)
	case thr.Call:
		if f := fns[e.Fn].pure; f.scalar != nil && len(e.Args) == f.arity {
			return c.foldArgs(f, e.Args)
		}
	}
	return 0, false
}

func (c *compiler) foldArgs(f fn, args []thr.Expr) (uint64, bool) {
	var x [3]uint64
	for i, a := range args {
		v, ok := c.fold(a)
		if !ok {
			return 0, false
		}
		x[i] = v
	}
	return f.scalar(x[0], x[1], x[2]), true
}

// pointerAdd moves a pointer by elements of a size.
func pointerAdd(size uint64) fn {
	return fn{
		arity:  2,
		scalar: func(p, i, _ uint64) uint64 { return p + i*size },
		vector: func(d, p, i, _ *lanes) {
			for l := range d {
				d[l] = p[l] + i[l]*size
			}
		},
	}
}

// varyingLocals finds the locals that may differ between the lanes of a warp: it starts from none and adds, until
// nothing changes, every local that is set from a value that differs or in some lanes only. Control flow adds none,
// it is uniform.
func varyingLocals(body []thr.Stmt) map[*thr.Local]bool {
	varying := map[*thr.Local]bool{}
	for before := -1; before != len(varying); {
		before = len(varying)
		note := func(l *thr.Local, from ...thr.Expr) {
			for _, e := range from {
				if e != nil && !uniform(e, varying) {
					varying[l] = true
				}
			}
		}
		thr.Each(body, func(s thr.Stmt) {
			switch s := s.(type) {
			case thr.Decl:
				note(s.Local, s.Init)
			case thr.Assign:
				note(s.Dst.Local, s.Src, s.Pred)
			case thr.Load:
				note(s.Dst, s.Addr, s.Pred)
				if s.Order != ir.Relaxed { // each lane's own, see ordered
					varying[s.Dst] = true
				}
			case thr.Asm:
				note(s.Dst.Local, s.Args...)
				if s.Info != nil && s.Info.Volatile {
					varying[s.Dst.Local] = true
				}
			case thr.Do:
				if s.Dst != nil {
					varying[s.Dst.Local] = true
				}
				for _, f := range s.Frags { // those that are read are read as lanes
					varying[f.Local] = true
				}
			}
		})
	}
	return varying
}

// uniform reports whether all lanes of a warp compute the same value.
func uniform(e thr.Expr, varying map[*thr.Local]bool) bool {
	all := func(es []thr.Expr) bool {
		for _, e := range es {
			if !uniform(e, varying) {
				return false
			}
		}
		return true
	}
	switch e := e.(type) {
	case thr.Ref:
		return !varying[e.Local]
	case thr.Apply:
		return all(e.Args)
	case thr.Call:
		return thr.Fns[e.Fn].Uniform && all(e.Args)
	case thr.PtrAdd:
		return uniform(e.Base, varying) && uniform(e.Index, varying)
	}
	return true
}
