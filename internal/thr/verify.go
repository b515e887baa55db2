package thr

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// Verify checks what every pass must keep: locals are declared once and before use, register indices are known at
// compile time, operand types match, accesses fit their registers. That conditions are uniform is the tile layer's
// promise, which the simulator checks at run time.
func Verify(k *Kernel) error {
	v := &verifier{kernel: k, scope: map[*Local]bool{}, names: map[string]*Local{}, static: map[*Local]bool{}}
	for i, a := range k.Args {
		if a.Offset%a.Align() != 0 {
			v.fail("argument %d (%s) is misaligned at offset %d", i, a.Name, a.Offset)
		}
	}
	v.block(k.Body)
	return errors.Join(v.errs...)
}

type verifier struct {
	kernel *Kernel
	scope  map[*Local]bool
	names  map[string]*Local
	static map[*Local]bool // variables of unrolled loops
	errs   []error
}

func (v *verifier) fail(format string, args ...any) {
	if len(v.errs) < 10 {
		v.errs = append(v.errs, fmt.Errorf(format, args...))
	}
}

// block checks statements; what it declares goes out of scope at its end.
func (v *verifier) block(body []Stmt) {
	var declared []*Local
	for _, s := range body {
		if d, ok := s.(Decl); ok {
			declared = append(declared, d.Local)
		}
		v.stmt(s)
	}
	for _, l := range declared {
		delete(v.scope, l)
	}
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case Comment:
	case Decl:
		if o := v.names[s.Local.Name]; o != nil && o != s.Local {
			v.fail("two locals are named %s", s.Local.Name)
		}
		if v.scope[s.Local] {
			v.fail("%s is declared twice", s.Local.Name)
		}
		v.names[s.Local.Name] = s.Local
		if s.Init != nil {
			v.same("initialiser of "+s.Local.Name, s.Local.Type, v.expr(s.Init))
			if s.Local.Len > 0 {
				v.fail("array %s has an initialiser", s.Local.Name)
			}
		}
		v.scope[s.Local] = true
	case Assign:
		v.same("assignment to "+s.Dst.Local.Name, v.ref(s.Dst), v.expr(s.Src))
		v.pred(s.Pred)
	case For:
		for _, e := range []Expr{s.Lo, s.Hi, s.Step} {
			v.same("bound of "+s.Var.Name, Val(dtype.I32), v.expr(e))
			if s.Unroll {
				v.known(e)
			}
		}
		v.scope[s.Var], v.static[s.Var] = true, s.Unroll
		v.block(s.Body)
		delete(v.scope, s.Var)
		delete(v.static, s.Var)
	case While:
		v.block(append(append(append([]Stmt{}, s.Head...), If{Cond: s.Cond}), s.Body...))
	case If:
		v.same("condition", Val(dtype.Bool), v.expr(s.Cond))
		v.block(s.Then)
		v.block(s.Else)
	case Load:
		v.ordered(s.Order, s.Order == ir.Acquire && s.Space == Global && s.Cache == ir.CacheDefault, s.Bytes, s.Dst.Type)
		v.memory(s.Space, s.Addr, s.Rank)
		v.pred(s.Pred)
		v.registers(s.Dst, s.Index, s.Bytes)
	case Store:
		v.memory(s.Space, s.Addr, s.Rank)
		v.pred(s.Pred)
		if s.Order != ir.Relaxed {
			if s.Value == nil {
				v.fail("a store with order %s of registers, not of a value", s.Order)
				return
			}
			v.ordered(s.Order, s.Order == ir.Release && s.Space == Global && s.Cache == ir.CacheDefault, s.Bytes, s.Value.ExprType())
		}
		if s.Src != nil {
			v.registers(s.Src, s.Index, s.Bytes)
		} else if t := v.expr(s.Value); max(s.Bytes, 4) != max(t.DT.Size(), 4) {
			v.fail("a store of %d bytes has a value of type %s", s.Bytes, t)
		}
	case Do:
		if s.Fn == InvalidFn || s.Fn >= NumFns || Fns[s.Fn].Pure || len(s.Args) != s.Operands() || s.Map != nil && !slices.Contains(v.kernel.Args, s.Map) {
			v.fail("%s is not a statement of %d operands", s.Fn, len(s.Args))
			return
		}
		if s.Order != ir.Relaxed && (s.Fn < AtomicAdd || s.Fn > AtomicCAS) {
			v.fail("%s with order %s", s.Fn, s.Order)
		}
		v.clusters(s.Fn)
		for i, a := range s.Args {
			if t := v.expr(a); t.Ptr != (i == 0 && s.Fn.Pointer()) {
				v.fail("operand %d of %s is of type %s", i, s.Fn, t)
			}
		}
		if i := s.Fn.Barrier(); i >= 0 {
			v.same("the place of an mbarrier", Val(dtype.U32), v.expr(s.Args[i]))
		}
		if (s.Fn.Barrier() >= 0) != (s.Bar != nil) {
			v.fail("%s with the mbarriers %v", s.Fn, s.Bar)
		}
		if s.Fn.Tensor() {
			for _, a := range s.Args[Fns[s.Fn].Arity:] {
				v.same("a coordinate of "+s.Fn.String(), Val(dtype.I32), v.expr(a))
			}
		}
		if s.Dst != nil {
			v.ref(*s.Dst)
		}
		v.frags(s)
		v.pred(s.Pred)
	case Asm:
		for _, a := range s.Args {
			v.expr(a)
		}
		v.ref(s.Dst)
	default:
		v.fail("unknown statement %T", s)
	}
}

// frags checks the registers of a statement of tensor cores.
func (v *verifier) frags(s Do) {
	if s.Fn.Whole() {
		for _, f := range s.Frags {
			if v.ref(f.At(0)); f.Step != 1 || f.N != max(f.Local.Len, 1) || f.Local.Type.Ptr {
				v.fail("%s of part of %s", s.Fn, f.Local.Name)
			}
		}
		return
	}
	uses := s.Fn.Frags()
	if len(s.Frags) != len(uses) {
		v.fail("%s with %d fragments, not %d", s.Fn, len(s.Frags), len(uses))
		return
	}
	for i, f := range s.Frags {
		if !slices.Contains(uses[i].Counts, f.N) || f.Step < 1 || f.First == nil && f.N > 1 {
			v.fail("fragment %d of %s has %d registers, %d apart", i, s.Fn, f.N, f.Step)
			return
		}
		if t := f.Local.Type; t.Ptr || t.DT.Size() != 4 {
			v.fail("fragment %d of %s is of %s", i, s.Fn, t)
		}
		v.ref(f.At(0))
		if c, ok := f.First.(Const); ok && int(c.Bits)+(f.N-1)*f.Step >= f.Local.Len {
			v.fail("fragment %d of %s ends at register %d of %s, which has %d", i, s.Fn, int(c.Bits)+(f.N-1)*f.Step, f.Local.Name, f.Local.Len)
		}
	}
}

// ordered checks an access with an order: of one register, and of a kind that has it.
func (v *verifier) ordered(o ir.Order, has bool, bytes int, t Type) {
	if o != ir.Relaxed && (!has || bytes > max(4, t.DT.Size())) {
		v.fail("an access of %d bytes with order %s", bytes, o)
	}
}

func (v *verifier) same(what string, want, have Type) {
	if want.DT != have.DT || want.Ptr != have.Ptr {
		v.fail("%s: %s where %s is wanted", what, have, want)
	}
}

func (v *verifier) pred(e Expr) {
	if e != nil {
		v.same("predicate", Val(dtype.Bool), v.expr(e))
	}
}

func (v *verifier) memory(space Space, addr, rank Expr) {
	if rank != nil {
		v.same("a block's number", Val(dtype.I32), v.expr(rank))
		if space != Shared || v.kernel.Cluster == 0 {
			v.fail("an access to %s memory of another block, in a cluster of %d", space, v.kernel.Cluster)
		}
	}
	t := v.expr(addr)
	if space == Global && !t.Ptr || space == Shared && t != Val(dtype.U32) {
		v.fail("a %s address of type %s", space, t)
	}
}

// registers checks that an access of n bytes fits a local's registers.
func (v *verifier) registers(l *Local, index Expr, n int) {
	if index != nil {
		v.ref(Ref{l, index})
	} else {
		v.ref(Ref{Local: l})
	}
	size := l.Type.DT.Size()
	switch n {
	case 1, 2, 4, 8, 16:
	default:
		v.fail("an access of %d bytes", n)
	}
	if regs := max(1, n/max(4, size)); regs > max(1, l.Len) || n > 4 && n%size != 0 {
		v.fail("an access of %d bytes does not fit %s, %d registers of %s", n, l.Name, max(1, l.Len), l.Type)
	}
}

// known checks that an index can be computed while compiling.
func (v *verifier) known(e Expr) {
	switch e := e.(type) {
	case Const:
	case Ref:
		if !v.static[e.Local] {
			v.fail("%s indexes registers but is not the variable of an unrolled loop", e.Local.Name)
		}
	case Apply:
		for _, a := range e.Args {
			v.known(a)
		}
	default:
		v.fail("%s indexes registers but is not known while compiling", Text(e))
	}
}

func (v *verifier) ref(r Ref) Type {
	if !v.scope[r.Local] {
		v.fail("%s is used outside its declaration", r.Local.Name)
	}
	if (r.Local.Len > 0) != (r.Index != nil) {
		v.fail("%s has %d registers: an index is wanted exactly for arrays", r.Local.Name, r.Local.Len)
	}
	if r.Index != nil {
		v.expr(r.Index)
		v.known(r.Index)
	}
	return r.Local.Type
}

func (v *verifier) expr(e Expr) Type {
	switch e := e.(type) {
	case Const, ArgRef, SharedAddr:
	case Ref:
		return v.ref(e)
	case PtrAdd:
		if t := v.expr(e.Base); !t.Ptr {
			v.fail("pointer arithmetic on %s", t)
		}
		v.same("pointer index", Val(dtype.I64), v.expr(e.Index))
	case Apply:
		info := ir.Table[e.Op]
		if info.Class != ir.Elementwise || len(e.Args) != info.Arity {
			v.fail("%s applied to %d operands", e.Op, len(e.Args))
			break
		}
		for i, a := range e.Args {
			want := Val(e.T)
			if e.Op == ir.Select && i == 0 {
				want = Val(dtype.Bool)
			}
			v.same(e.Op.String(), want, v.expr(a))
		}
	case Call:
		if e.Fn == InvalidFn || e.Fn >= NumFns || !Fns[e.Fn].Pure || len(e.Args) != Fns[e.Fn].Arity {
			v.fail("%s is not an expression of %d operands", e.Fn, len(e.Args))
			break
		}
		v.clusters(e.Fn)
		for _, a := range e.Args {
			v.expr(a)
		}
	default:
		v.fail("unknown expression %T", e)
		return Type{}
	}
	return e.ExprType()
}

// clusters checks that a built-in about clusters stands in a kernel that has them.
func (v *verifier) clusters(f Fn) {
	if (f >= ClusterRank && f <= ClusterWait || f == TensorMulticast || f.Remote()) && v.kernel.Cluster == 0 {
		v.fail("%s in a kernel without clusters", f)
	}
}
