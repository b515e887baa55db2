package ir

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
)

// MBarrier is an array of mbarriers in shared memory, 8 bytes each.
type MBarrier struct {
	Name string
	N    int
	Pos  Pos
}

// BarrierInfo is the attribute of the ops of an mbarrier.
type BarrierInfo struct {
	Bar *MBarrier
	// Leader: of an arrive, the scope meets and its leader arrives for all; otherwise each thread does.
	Leader bool
	// Relaxed, of an arrival at another block: it releases nothing but what a FenceCluster before it has.
	Relaxed bool
}

// MaxArrivals is the most arrivals that an mbarrier counts in a phase, and MaxBytes the most bytes.
const (
	MaxArrivals = 1<<20 - 1
	MaxBytes    = 1<<20 - 1
)

// maxBarriers bounds an array of mbarriers: more than any pipeline has stages.
const maxBarriers = 64

// NewMBarriers records n mbarriers that expect so many arrivals a phase each.
func (b *Builder) NewMBarriers(n int, arrivals *Value) *MBarrier {
	switch {
	case b.poisoned(MBarInit, arrivals):
		return nil
	case b.cur != b.Kernel.Body:
		b.Errorf(MBarInit, ErrScope, "NewMBarriers in the %s at %s: an mbarrier is initialised once, before anybody uses it; make it at the top level of the kernel",
			Table[b.cur.Owner.Op].Go, b.cur.Owner.Pos)
		return nil
	case n < 1 || n > maxBarriers:
		b.Errorf(MBarInit, ErrLimit, "NewMBarriers of %d: make 1 to %d", n, maxBarriers)
		return nil
	case !b.uniform(MBarInit, ScopeBlock, "the number of arrivals", arrivals) || !b.counts(MBarInit, "arrivals", arrivals, 1, MaxArrivals):
		return nil
	}
	m := &MBarrier{Name: fmt.Sprint("bar", len(b.Kernel.Barriers)), N: n, Pos: Here(0)}
	b.Kernel.Barriers = append(b.Kernel.Barriers, m)
	b.emit(&Value{Op: MBarInit, Args: []*Value{arrivals}, Scope: ScopeBlock, Attr: &BarrierInfo{Bar: m}})
	return m
}

// counts checks a constant number of arrivals or bytes.
func (b *Builder) counts(op Op, what string, v *Value, least, most int) bool {
	if n, ok := intConst(v); ok && (n < least || n > most) {
		b.Errorf(op, ErrLimit, "%s with %d %s, which an mbarrier cannot count; use %d to %d", Table[op].Go, n, what, least, most)
		return false
	}
	return true
}

// Barrier records an op of mbarrier i of an array. x is what the op takes: a count of arrivals or bytes, a parity or a
// token; nil: nothing. The result is a token, a bool or nothing, as the op says.
func (b *Builder) Barrier(op Op, s Scope, info BarrierInfo, i, x *Value) *Value {
	v := &Value{Op: op, Args: []*Value{i}, Scope: s, Attr: &info}
	if Table[op].Arity == 2 {
		v.Args = append(v.Args, x)
	}
	if info.Bar == nil || b.poisoned(op, v.Args...) || !b.executes(op, s) {
		return nil
	}
	switch {
	case s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster: an mbarrier belongs to one block; name the block or the warp", Table[op].Go)
		return nil
	case !b.uniform(op, s, "the index", i):
		return nil
	}
	if n, ok := intConst(i); ok && (n < 0 || n >= info.Bar.N) {
		b.Errorf(op, ErrShape, "%s of mbarrier %d of the %d made at %s: use an index from 0 to %d", Table[op].Go, n, info.Bar.N, info.Bar.Pos, info.Bar.N-1)
		return nil
	}
	if !b.barrierOperand(op, s, info, i, x) {
		return nil
	}
	v.Type = barrierResult(op, info)
	return b.emit(v)
}

// barrierOperand checks what an op of an mbarrier takes beside it.
func (b *Builder) barrierOperand(op Op, s Scope, info BarrierInfo, i, x *Value) bool {
	switch op {
	case MBarArrive:
		return b.uniform(op, s, "the count", x) && b.counts(op, "arrivals", x, 1, MaxArrivals)
	case MBarArriveTx, MBarExpectTx:
		return b.uniform(op, s, "the number of bytes", x) && b.counts(op, "bytes", x, 0, MaxBytes)
	case MBarTest, MBarTry:
		if s != ScopeWarp {
			b.Errorf(op, ErrScope, "%s at scope %v: its warps may see different answers; use the warp as the scope, or Wait", Table[op].Go, s)
			return false
		}
	}
	if isToken(x) {
		if x.Scope != s {
			b.Errorf(op, ErrScope, "%s at scope %v with the token of an arrival at scope %v: each thread has its own; name one scope for both", Table[op].Go, s, x.Scope)
			return false
		}
		if !tokenOf(x, info.Bar, i) {
			b.Errorf(op, ErrScope, "%s with the token of an arrival at another mbarrier, at %s: a token says which phase of its own it was; wait at that one", Table[op].Go, x.Pos)
			return false
		}
		return true
	}
	if x == nil { // of MBarTrack and MBarInval
		return true
	}
	if n, ok := intConst(x); ok && n != 0 && n != 1 {
		b.Errorf(op, ErrLimit, "%s of parity %d: the phases of an mbarrier have parities 0, 1, 0, 1 and so on; use 0 or 1", Table[op].Go, n)
		return false
	}
	return b.uniform(op, s, "the parity", x)
}

// isToken reports whether a value is what an arrival returned: the phase that it belongs to. It is no number: each thread
// has its own.
func isToken(v *Value) bool { return v != nil && v.Op == MBarArrive }

// tokenOf reports whether a token may be of mbarrier i of an array: indices that are not constants may be the same.
func tokenOf(token *Value, bar *MBarrier, i *Value) bool {
	n, isConst := intConst(i)
	of, both := intConst(token.Args[0])
	return token.Attr.(*BarrierInfo).Bar == bar && (!isConst || !both || n == of)
}

// barrierResult is what an op of an mbarrier gives.
func barrierResult(op Op, info BarrierInfo) Type {
	switch {
	case op == MBarArrive && !info.Leader:
		return Type{DT: dtype.I64}
	case op == MBarTest || op == MBarTry:
		return Type{DT: dtype.Bool}
	}
	return Type{}
}

// barrier checks the ops of mbarriers.
func (c *checker) barrier(v *Value, r *Region) {
	i, ok := v.Attr.(*BarrierInfo)
	if !ok || !contains(c.k.Barriers, i.Bar) {
		c.fail(v, "its mbarrier is not the kernel's")
		return
	}
	if v.Op == MBarInit && r != c.k.Body {
		c.fail(v, "it stands in a loop or a branch")
	}
	if v.Op != MBarInit && v.Scope > ScopeBlock {
		c.fail(v, "an mbarrier at scope %v", v.Scope)
	}
	for j, a := range v.Args {
		want := dtype.I32
		if j == 1 && isToken(a) {
			want = dtype.I64
		}
		if a.Type != (Type{DT: want}) || a.Scope < v.Scope {
			c.fail(v, "operand %d is %v of rank %d that the %v may not share", j, a.Type.DT, a.Type.Span.Rank(), v.Scope)
		}
	}
	c.typed(v, barrierResult(v.Op, *i))
}
