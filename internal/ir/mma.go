package ir

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// Form says which operands of an MMA are given transposed.
type Form uint8

// The forms: C += A B with A of m x k and B of k x n, or with the transpose of one or both.
const (
	AB  Form = iota
	ABt      // B of n x k
	AtB      // A of k x m
	AtBt
)

// TransA reports whether A is given as k x m.
func (f Form) TransA() bool { return f == AtB || f == AtBt }

// TransB reports whether B is given as n x k.
func (f Form) TransB() bool { return f == ABt || f == AtBt }

func (f Form) String() string {
	if f > AtBt {
		return fmt.Sprintf("Form(%d)", uint8(f))
	}
	return [...]string{"AB", "ABt", "AtB", "AtBt"}[f]
}

// MMAInfo is the attribute of an MMA.
type MMAInfo struct {
	Form      Form
	Overwrite bool        // C = A B
	Sync      bool        // by mma.sync also where the target has a multiply of warpgroups
	A, B      *SharedTile // where they lie; nil: in registers
	M, N, K   int
	DT        dtype.Type // of A and B
	Terms     int        // of an MMA of f32: how many products of tf32 make one, 1 or 3
	Accuracy  int        // of f32: the terms that the author named, of which this MMA may be one
	Cut       bool       // of f32 by a warpgroup: the lower bits of operands do not count, as rounded ones have none
}

// operands splits the operands of an MMA: the variable, and of A and B the tile or the offsets.
func (i *MMAInfo) operands(args []*Value) (acc *Value, a, b []*Value) {
	n := 2
	if i.A != nil {
		n = 1 + len(i.A.Shape)
	}
	return args[0], args[1:n], args[n:]
}

// Staged reports whether B is a copy, rounded and laid out for the instruction, that the MMA makes of what it is given.
func (i *MMAInfo) Staged() bool { return i.B != nil && i.B.staged > 0 }

// Operands are those of an MMA: the variable of the accumulator, and of A and of B the register tile, or the offsets in its
// shared tile.
func (v *Value) Operands() (acc *Value, a, b []*Value) { return v.Attr.(*MMAInfo).operands(v.Args) }

// MMAOperand is A or B as it is given: a tile in registers, or rows x cols of a shared tile.
type MMAOperand struct {
	Reg        *Value
	Place      Place
	Rows, Cols int
}

// sides are the rows and columns of the operand.
func (o MMAOperand) sides() (rows, cols int, dt dtype.Type) {
	if o.Reg != nil {
		return o.Reg.Type.Span.Dist.Shape[0], o.Reg.Type.Span.Dist.Shape[1], o.Reg.Type.DT
	}
	return o.Rows, o.Cols, o.Place.Shared.DT
}

// MMA records C += A B into a variable; sync asks for mma.sync.
func (b *Builder) MMA(acc *Value, form Form, overwrite, sync bool, x, y MMAOperand) {
	if b.poisoned(MMA, acc) {
		return
	}
	s := acc.Type.Span
	if s == nil || !s.IsFragment() {
		b.Errorf(MMA, ErrLayout, "the accumulator of MMA is %s, no fragment of tensor cores; make it with tile.NewAcc", vector(s))
		return
	}
	if !b.executes(MMA, s.Scope) {
		return
	}
	i := &MMAInfo{Form: form, Overwrite: overwrite, Sync: sync, M: s.Dist.Shape[0], N: s.Dist.Shape[1]}
	args := []*Value{acc}
	for n, o := range []MMAOperand{x, y} {
		name, trans := "A", form.TransA()
		if n == 1 {
			name, trans = "B", !form.TransB() // B is a fragment of n x k
		}
		more, ok := b.mmaOperand(s, name, trans, o)
		if !ok {
			return
		}
		args = append(args, more...)
	}
	ar, ac, dt := x.sides()
	br, bc, other := y.sides()
	if form.TransA() {
		ar, ac = ac, ar
	}
	if form.TransB() {
		br, bc = bc, br
	}
	switch i.K, i.DT, i.A, i.B = ac, dt, x.Place.Shared, y.Place.Shared; {
	case dt != other:
		b.Errorf(MMA, ErrDType, "MMA of A of %v and B of %v: both have one type; Cast one", dt, other)
	case ar != i.M || bc != i.N || ac != br:
		b.Errorf(MMA, ErrShape, "MMA %v of an accumulator of %dx%d with A of %dx%d and B of %dx%d, as multiplied: C is m x n, A m x k, B k x n; give operands of these sides", form, i.M, i.N, ar, ac, br, bc)
	case !mmaTypes(acc.Type.DT, dt):
		use := "f32"
		if dt == dtype.I8 {
			use = "i32"
		}
		b.Errorf(MMA, ErrDType, "MMA of %v into an accumulator of %v: tensor cores add floats up in f32, f16 in f16 too, and i8 in i32; use an accumulator of %s", dt, acc.Type.DT, use)
	case dt == dtype.F32:
		b.Errorf(MMA, ErrDType, "MMA of f32 without an accuracy: tensor cores take tf32, with 10 bits of fraction; use tile.TF32, one product of these, or tile.TF32x3, three, for nearly f32")
	case i.K%mmaStep(dt) != 0:
		n := mmaStep(dt)
		b.Errorf(MMA, ErrShape, "MMA over k = %d: an instruction takes %d of %v; make it a multiple, use %d and zeros", i.K, n, dt, (i.K+n-1)/n*n)
	default:
		b.emit(&Value{Op: MMA, Args: args, Scope: s.Scope, Attr: i})
	}
}

// mmaTypes reports whether there is an MMA of a type with an accumulator of another.
func mmaTypes(acc, dt dtype.Type) bool {
	switch {
	case dt == dtype.I8:
		return acc == dtype.I32
	case dt.IsFloat() && acc == dtype.F32:
		return true
	}
	return dt == dtype.F16 && acc == dtype.F16
}

// mmaStep is how much of k the smallest instruction takes: 16 bytes a row, of 8-bit floats and tf32 32.
func mmaStep(dt dtype.Type) int {
	if dt.Is16() || dt == dtype.I8 {
		return 16 / dt.Size()
	}
	return 32 / dt.Size()
}

// mmaOperand checks an operand and returns what stands for it: the tile, with zeros past its extents, or the offsets.
func (b *Builder) mmaOperand(acc *Span, name string, trans bool, o MMAOperand) ([]*Value, bool) {
	if o.Place.Shared != nil {
		box := &Span{Scope: acc.Scope, Dist: &layout.Dist{Shape: []int{o.Rows, o.Cols}}}
		return b.matrixPlace(MMA, acc.Scope, o.Place, box)
	}
	x := o.Reg
	if b.poisoned(MMA, x) {
		return nil, false
	}
	span := x.Type.Span
	switch {
	case span.Rank() != 2:
		b.Errorf(MMA, ErrShape, "operand %s of MMA is %s; give a matrix", name, vector(span))
		return nil, false
	case span.Scope != acc.Scope:
		b.Errorf(MMA, ErrScope, "operand %s of MMA is of scope %v, its accumulator of scope %v; name one scope for both", name, span.Scope, acc.Scope)
		return nil, false
	case name == "B" && acc.Scope == ScopeGroup:
		b.Errorf(MMA, ErrLayout, "operand B of an MMA of a warpgroup is in registers, where each warp has a part of it and needs the whole; give a shared tile, or use warps")
		return nil, false
	}
	want := span
	if trans {
		want = span.transpose()
	}
	if !want.IsFragment() {
		b.Errorf(MMA, ErrLayout, "operand %s of MMA is %s spread %s: %s; load it with that span, or give a shared tile", name, shape(span), modes(span), operandSpan(name, trans))
		return nil, false
	}
	if len(span.Extent) > 0 {
		x = b.Fill(x, b.Const(x.Type.DT, 0))
	}
	return []*Value{x}, x != nil
}

// operandSpan is the span that an operand in registers has.
func operandSpan(name string, trans bool) string {
	side := map[string]string{"A": "m", "B": "n"}[name]
	if trans {
		return "of this form it has Fragment(" + side + ", k).Transpose()"
	}
	return "of this form it has Fragment(" + side + ", k)"
}

func (p *printer) mma(v *Value, i *MMAInfo) {
	acc, a, b := i.operands(v.Args)
	word := "+="
	if i.Overwrite {
		word = "="
	}
	p.printf(" %s %s", name(acc), word)
	for _, o := range []struct {
		tile *SharedTile
		args []*Value
	}{{i.A, a}, {i.B, b}} {
		if o.tile != nil {
			p.printf(" %s[%s]", o.tile.Name, p.list(o.args))
		} else {
			p.printf(" %s", name(o.args[0]))
		}
	}
	p.printf(" %v m%dn%dk%d %v", i.Form, i.M, i.N, i.K, i.DT)
	switch {
	case i.Cut:
		p.printf(" tf32")
	case i.Terms > 0:
		p.printf(" %dxtf32", i.Terms)
	}
	if i.Sync {
		p.printf(" sync")
	}
}

// WaitMMA records a wait until at most n MMAs of a scope are in flight.
func (b *Builder) WaitMMA(s Scope, n int) {
	switch {
	case n < 0 || n > maxMMAs:
		b.Errorf(WaitMMA, ErrLimit, "WaitMMA with %d MMAs in flight: use 0 to %d; 0 waits for all", n, maxMMAs)
	case s != ScopeWarp && s != ScopeGroup:
		b.Errorf(WaitMMA, ErrScope, "WaitMMA at scope %v: tensor cores work for warps and warpgroups; name the scope of the MMAs", s)
	case b.executes(WaitMMA, s):
		b.emit(&Value{Op: WaitMMA, Scope: s, Attr: Groups(n)})
	}
}

// maxMMAs is what the instruction takes.
const maxMMAs = 7

// mma checks an MMA.
func (c *checker) mma(v *Value, r *Region) {
	i, ok := v.Attr.(*MMAInfo)
	if !ok || len(v.Args) < 3 || v.Args[0].Op != Var || v.Args[0].Type.Span == nil || !v.Args[0].Type.Span.IsFragment() || v.Scope != v.Args[0].Scope {
		c.fail(v, "its accumulator is no variable of a fragment of its scope")
		return
	}
	for _, t := range []*SharedTile{i.A, i.B} {
		if t != nil && (!slices.Contains(c.k.Shared, t) || !r.inside(t.In) || t.DT != i.DT) {
			c.fail(v, "a shared tile is not the kernel's, or of %v", i.DT)
			return
		}
	}
	want := 1
	for _, t := range []*SharedTile{i.A, i.B} {
		if t != nil {
			want += len(t.Shape)
		} else {
			want++
		}
	}
	s := v.Args[0].Type
	if len(v.Args) != want || i.K%mmaStep(i.DT) != 0 || i.DT == dtype.F32 && i.Terms != 1 && i.Terms != 3 || !mmaTypes(s.DT, i.DT) || !slices.Equal(s.Span.Dist.Shape, []int{i.M, i.N}) {
		c.fail(v, "m%dn%dk%d of %v with %d operands, into %v of %s", i.M, i.N, i.K, i.DT, len(v.Args), s.DT, shape(s.Span))
	}
}
