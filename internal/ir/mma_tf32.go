package ir

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// TF32Cut is the number of terms of an MMA of f32 that takes operands as they are, without what tf32 has not.
const TF32Cut = 2

// MMATF32 records C += A B of f32 as products of tf32, terms of them for each: 1, or 3 for nearly the accuracy of f32.
// Matrix loads are of 16-bit elements, so operands of a warp in shared memory are loaded as fragments, by plain loads, 8 of
// k at a time where both are there. Those of a warpgroup go the ways of mma_staged.go.
func (b *Builder) MMATF32(acc *Value, form Form, overwrite bool, terms int, x, y MMAOperand) {
	if b.poisoned(MMA, acc) {
		return
	}
	s := acc.Type.Span
	switch {
	case terms != 1 && terms != 3 && terms != TF32Cut:
		b.Errorf(MMA, ErrDType, "MMA with accuracy %d; use tile.TF32 or tile.TF32x3", terms)
		return
	case s == nil || !s.IsFragment():
		b.Errorf(MMA, ErrScope, "MMA of f32 into %s: tf32 is multiplied by warps and warpgroups; make the accumulator with tile.NewAcc", vector(s))
		return
	case terms == TF32Cut && s.Scope != ScopeGroup:
		b.Errorf(MMA, ErrScope, "MMA of tile.TF32Cut by a warp: that is of operands as warpgroups take them; use tile.TF32, which rounds")
		return
	}
	if !b.executes(MMA, s.Scope) {
		return
	}
	m, n := s.Dist.Shape[0], s.Dist.Shape[1]
	a := tf32Operand{"A", form.TransA(), m, x}
	c := tf32Operand{"B", !form.TransB(), n, y} // a fragment of n x k
	ak, aok := a.depth()
	bk, bok := c.depth()
	_, _, dt := x.sides()
	_, _, other := y.sides()
	switch {
	case dt != dtype.F32 || other != dtype.F32:
		b.Errorf(MMA, ErrDType, "MMA of %v and %v with an accuracy of tf32: that is for f32; drop it, or Cast", dt, other)
		return
	case acc.Type.DT != dtype.F32:
		b.Errorf(MMA, ErrDType, "MMA of f32 into an accumulator of %v: products of tf32 are added up in f32; use an accumulator of f32", acc.Type.DT)
		return
	case !aok || !bok || ak != bk:
		b.Errorf(MMA, ErrShape, "MMA %v of an accumulator of %dx%d with A of %s and B of %s, as given: C is m x n, A m x k, B k x n; give operands of these sides", form, m, n, x.sidesText(), y.sidesText())
		return
	case ak%8 != 0:
		b.Errorf(MMA, ErrShape, "MMA of f32 over k = %d: an instruction takes 8 of tf32; make it a multiple, use %d and zeros", ak, (ak+7)/8*8)
		return
	case n%16 != 0 && s.Scope == ScopeWarp:
		b.Errorf(MMA, ErrShape, "MMA of f32 into %d columns: B is loaded as a fragment of n x k, whose rows are a multiple of 16; use %d columns", n, (n+15)/16*16)
		return
	}
	for _, o := range []*tf32Operand{&a, &c} {
		if !b.tf32Check(s, o, ak) {
			return
		}
	}
	if s.Scope == ScopeGroup {
		g := groupTF32{Builder: b, acc: acc, form: form, terms: terms, m: m, n: n, k: ak}
		g.multiply(&a, &c, overwrite)
		return
	}
	step := ak
	if x.Reg == nil && y.Reg == nil {
		step = 8
	}
	for at := 0; at < ak; at += step {
		i := &MMAInfo{Form: form, Overwrite: overwrite && at == 0, M: m, N: n, K: step, DT: dtype.F32, Terms: terms, Accuracy: terms}
		p, q := b.tf32Load(s.Scope, &a, at, step), b.tf32Load(s.Scope, &c, at, step)
		if p == nil || q == nil {
			return
		}
		b.emit(&Value{Op: MMA, Args: []*Value{acc, p, q}, Scope: s.Scope, Attr: i})
	}
}

// tf32Operand is an operand as a fragment of rows x k, given transposed or not.
type tf32Operand struct {
	name  string
	trans bool
	rows  int
	MMAOperand
}

// depth is the operand's k; ok: its other side is the accumulator's.
func (o *tf32Operand) depth() (k int, ok bool) {
	r, k, _ := o.sides()
	if o.trans {
		r, k = k, r
	}
	return k, r == o.rows
}

func (o MMAOperand) sidesText() string {
	r, c, _ := o.sides()
	return sides([]int{r, c})
}

// tf32Check checks an operand; one in registers gets zeros past its extents.
func (b *Builder) tf32Check(acc *Span, o *tf32Operand, k int) bool {
	args, ok := b.mmaOperand(acc, o.name, o.trans, o.MMAOperand)
	if ok && o.Reg != nil {
		o.Reg = args[0]
	}
	return ok
}

// tf32Load is the part of an operand from k = at on, so wide, in registers.
func (b *Builder) tf32Load(s Scope, o *tf32Operand, at, step int) *Value {
	if o.Reg != nil {
		return o.Reg
	}
	d, err := layout.Fragment(o.rows, step, 1)
	if err != nil {
		panic(err) // sides are checked
	}
	span := &Span{Scope: s, Dist: d}
	if o.trans {
		span = span.transpose()
	}
	p := o.Place
	offs := make([]*Value, len(p.Shared.Shape))
	for i := range offs {
		if offs[i] = b.Int(0); i < len(p.Offs) {
			offs[i] = p.Offs[i]
		}
	}
	along := len(offs) - 1
	if o.trans {
		along--
	}
	offs[along] = b.Index(Add, offs[along], b.Int(at))
	p.Offs = offs
	return b.Load(s, p, span, How{})
}
