package ir

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// An MMA of f32 by a warpgroup is wgmma of tf32. It takes A in registers or, as B, in shared memory with rows along k, and
// cuts the lower bits of what it takes. So operands are rounded before, in registers: A comes there as the instruction has
// it, and B goes through a copy, the staged tile, which also turns a B whose rows run along n. Of three terms there is a
// second copy, of what rounding left. Operands that the author has rounded and laid out go without: TF32Cut.

// groupTF32 is an MMA of f32 by a warpgroup that is being recorded.
type groupTF32 struct {
	*Builder
	acc     *Value
	form    Form
	terms   int
	m, n, k int
}

// multiply records the MMA of A, of m x k, and B, of n x k, each given transposed or not.
func (g *groupTF32) multiply(a, b *tf32Operand, overwrite bool) {
	if g.terms == TF32Cut {
		x := *a
		if a.Reg != nil {
			x.Reg = g.Redistribute(a.Reg, g.spanA(a.trans))
		}
		g.emitMMA(g.form, x.MMAOperand, b.MMAOperand, overwrite)
		return
	}
	as, bs := g.split(g.loadA(a)), g.split(g.loadB(b))
	var staged []MMAOperand
	for i, part := range bs {
		staged = append(staged, g.stage(i+1, part, b.trans))
	}
	type pair struct{ a, b int }
	pairs := []pair{{0, 0}}
	if g.terms == 3 { // small ones first
		pairs = []pair{{1, 0}, {0, 1}, {0, 0}}
	}
	form := ABt
	if a.trans {
		form = AtBt
	}
	for i, p := range pairs {
		g.emitMMA(form, MMAOperand{Reg: as[p.a]}, staged[p.b], overwrite && i == 0)
	}
}

// emitMMA records one product of tf32.
func (g *groupTF32) emitMMA(form Form, a, b MMAOperand, overwrite bool) {
	args := []*Value{g.acc}
	for _, o := range []MMAOperand{a, b} {
		if o.Place.Shared == nil {
			args = append(args, o.Reg)
			continue
		}
		more, ok := g.mmaOperand(g.acc.Type.Span, "", false, o)
		if !ok {
			return
		}
		args = append(args, more...)
	}
	if g.poisoned(MMA, args...) {
		return
	}
	i := &MMAInfo{Form: form, Overwrite: overwrite, A: a.Place.Shared, B: b.Place.Shared, M: g.m, N: g.n, K: g.k, DT: dtype.F32, Terms: 1, Accuracy: g.terms, Cut: true}
	g.emit(&Value{Op: MMA, Args: args, Scope: ScopeGroup, Attr: i})
}

// spanA is that of operand A, as the instruction has it, or as it is given transposed.
func (g *groupTF32) spanA(trans bool) *Span {
	d, err := layout.FragmentTF32(g.m, g.k)
	if err != nil {
		panic(err) // sides are checked
	}
	s := &Span{Scope: ScopeGroup, Dist: d}
	if trans {
		s = s.transpose()
	}
	return s
}

func (g *groupTF32) loadA(a *tf32Operand) *Value {
	if a.Reg != nil {
		return g.Redistribute(a.Reg, g.spanA(a.trans))
	}
	return g.Load(ScopeGroup, a.Place, g.spanA(a.trans), How{})
}

// loadB loads B as it is given, in vectors along its rows.
func (g *groupTF32) loadB(b *tf32Operand) *Value {
	const vec = 4
	d := copyDist(g.threads(ScopeGroup), []int{b.Rows, b.Cols}, vec)
	return g.Load(ScopeGroup, b.Place, &Span{Scope: ScopeGroup, Dist: d}, How{})
}

// split is a tile rounded and, of three terms, what that left.
func (g *groupTF32) split(x *Value) []*Value {
	first := g.Apply(RoundTF32, nil, dtype.F32, x)
	if g.terms == 1 || first == nil {
		return []*Value{first}
	}
	rest := g.Apply(Sub, nil, dtype.F32, x, first)
	return []*Value{first, g.Apply(RoundTF32, nil, dtype.F32, rest)}
}

// stage copies a part of B, by its number from 1 on, to a tile of n x k of the warpgroup's own.
func (g *groupTF32) stage(number int, part *Value, trans bool) MMAOperand {
	p, shape := Place{}, []int{g.n, g.k}
	if r := g.cur.InRole(); r != nil && r.Parts > 1 {
		shape = []int{r.Parts, g.n, g.k}
		p.Offs = []*Value{g.GroupID(r)}
	}
	p.Shared = g.stagedTile(number, shape)
	if trans && part != nil {
		part = g.Transpose(part)
	}
	g.Store(Store, ScopeGroup, p, How{}, part)
	return MMAOperand{Place: p, Rows: g.n, Cols: g.k}
}

// stagedTile is a tile for a part: that of an MMA before, of these sides, whose end the store waits for, or a new one.
func (g *groupTF32) stagedTile(number int, shape []int) *SharedTile {
	for _, t := range g.Kernel.Shared {
		if t.staged == number && slices.Equal(t.Shape, shape) && g.reaches(t.In) {
			return t
		}
	}
	t := g.NewShared("staged", dtype.F32, shape)
	t.staged = number
	for _, s := range []layout.Swizzle{layout.Swizzle128, layout.Swizzle64, layout.Swizzle32} {
		if g.k*dtype.F32.Size()%s.Width() == 0 {
			t.Swizzle = s
			break
		}
	}
	return t
}
