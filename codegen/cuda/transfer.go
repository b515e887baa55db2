package cuda

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// load prints a load: of one register as a value, of several into a register array.
func (p *printer) load(s thr.Load) {
	a, ok := p.newAccess(false, s.Space, s.Dst.Type.DT, s.Bytes, s.Cache, s.Order, s.Pred != nil)
	if !ok {
		return
	}
	if a.n == 1 {
		p.line("%s = %s;", p.ref(thr.Ref{Local: s.Dst, Index: s.Index}).text, p.loadValue(s))
		return
	}
	args := []code{p.registers(s.Dst, s.Index, a.n), p.address(s.Space, s.Addr)}
	if s.Pred != nil {
		args = append(args, p.expr(s.Pred))
	}
	p.line("%s;", call(a.name(), args...).text)
}

// loadValue prints a load of one register as an expression.
func (p *printer) loadValue(s thr.Load) string {
	a, ok := p.newAccess(false, s.Space, s.Dst.Type.DT, s.Bytes, s.Cache, s.Order, s.Pred != nil)
	if ok && a.n > 1 {
		p.fail("a load of %d bytes needs a register array, not %s", s.Bytes, s.Dst.Name)
	}
	args := []code{p.address(s.Space, s.Addr)}
	if s.Pred != nil {
		args = append(args, p.expr(s.Pred))
	}
	return call(a.name(), args...).text
}

func (p *printer) store(s thr.Store) {
	t := dtype.Invalid
	switch {
	case (s.Src == nil) == (s.Value == nil):
		p.fail("a store takes registers or a value, one of the two")
		return
	case s.Src != nil:
		t = s.Src.Type.DT
	default:
		t = s.Value.ExprType().DT
	}
	a, ok := p.newAccess(true, s.Space, t, s.Bytes, s.Cache, s.Order, s.Pred != nil)
	if !ok {
		return
	}
	args := []code{p.address(s.Space, s.Addr)}
	switch {
	case s.Value != nil && a.n > 1:
		p.fail("a store of %d bytes needs a register array", s.Bytes)
	case s.Value != nil:
		args = append(args, p.expr(s.Value))
	case a.n == 1:
		args = append(args, p.ref(thr.Ref{Local: s.Src, Index: s.Index}))
	default:
		args = append(args, p.registers(s.Src, s.Index, a.n))
	}
	if s.Pred != nil {
		args = append(args, p.expr(s.Pred))
	}
	p.line("%s;", call(a.name(), args...).text)
}

// registers prints a pointer to n registers of an array, from index on.
func (p *printer) registers(l *thr.Local, index thr.Expr, n int) code {
	if l.Len < n || index == nil {
		return p.fail("%s: an access of %d registers needs an array and an index", l.Name, n)
	}
	if c, ok := index.(thr.Const); ok {
		if int(c.Bits)+n > l.Len {
			return p.fail("%s: registers %d to %d of %d", l.Name, c.Bits, int(c.Bits)+n-1, l.Len)
		}
		if c.Bits == 0 {
			return primary(p.name(l))
		}
	}
	return prefix("&", p.ref(thr.Ref{Local: l, Index: index}))
}

// address prints a pointer: global ones are typed, shared ones are byte offsets into smem.
func (p *printer) address(space thr.Space, e thr.Expr) code {
	if space == thr.Global {
		if !e.ExprType().Ptr {
			return p.fail("the address of a global access is no pointer")
		}
		return p.expr(e)
	}
	if p.k.SharedBytes == 0 {
		return p.fail("a shared access in a kernel without shared memory")
	}
	i := p.expr(e)
	if s, ok := e.(thr.SharedAddr); ok {
		e = sharedOffset(s)
	}
	if c, ok := e.(thr.Const); ok {
		if c.Bits == 0 {
			return primary("smem")
		}
		i = literal(thr.Const{DT: dtype.I32, Bits: c.Bits})
	}
	return infix("+", precAdd, primary("smem"), i)
}

// sharedOffset is where a buffer begins in shared memory.
func sharedOffset(e thr.SharedAddr) thr.Const {
	return thr.Const{DT: dtype.U32, Bits: uint64(e.Buf.Offset)}
}
