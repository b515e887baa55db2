package matrix

import (
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// forms are those of products, each with another swizzle of the second operand.
var forms = []variant{
	{"ab", layout.Swizzle128, tile.AB}, {"abt", layout.Swizzle64, tile.ABt}, {"atb", layout.NoSwizzle, tile.AtB}, {"atbt", layout.Swizzle32, tile.AtBt},
}

// products are MMAs of each form, of operands in shared memory and in registers: the layout. Of clipped tiles operands
// in registers end, and count as zeros beyond.
var products = &family{
	name: "mma", doc: "products of tensor cores.", ways: []way{warpwise}, variants: forms, results: ofProducts, more: []int{side},
	layouts: []string{"shared_shared", "registers_shared", "shared_registers", "registers_registers"},
	ends:    func(layout string) bool { return strings.HasPrefix(layout, "registers") },
	bodies:  bodies{bf16: product[tile.BF16, tile.F32], f16: product[tile.F16, tile.F32]},
	sides: func(m *module, b body) (int, int) {
		transA, _ := m.variant.transposed()
		return swapped(b.rows, b.depth(m.dt), transA)
	},
	want: multiplied,
}

// productsTF32 are those of f32, with both accuracies.
var productsTF32 = &family{
	name: "mma_tf32", doc: "products of f32 by tensor cores.", ways: []way{onewarp}, variants: forms, results: ofProducts, more: products.more,
	layouts: products.layouts, ends: products.ends, sides: products.sides,
	bodies: bodies{f32: product[tile.F32, tile.F32]},
	want:   multiplied,
}

// forms8 are the forms of 8-bit types, whose rows have 64 bytes.
var forms8 = []variant{
	{"ab", layout.Swizzle64, tile.AB}, {"abt", layout.Swizzle32, tile.ABt}, {"atb", layout.NoSwizzle, tile.AtB}, {"atbt", layout.Swizzle64, tile.AtBt},
}

// products8 are those of 8-bit types: by matrix loads where rows run along k and nothing is in registers, else by plain ones.
var products8 = &family{
	name: "mma8", doc: "products of 8-bit types by tensor cores.", ways: []way{warpwise}, variants: forms8, results: ofProducts, more: products.more,
	layouts: products.layouts, ends: products.ends, sides: products.sides,
	bodies: bodies{e4m3: product[tile.E4M3, tile.F32], e5m2: product[tile.E5M2, tile.F32], i8: product[tile.I8, tile.I32]},
	want:   multiplied,
}

// productsGroup are those of a warpgroup: by wgmma of parts of tiles, from an element on, or with A in registers.
var productsGroup = &family{
	name: "mma_group", doc: "products of a warpgroup.", ways: []way{groupwise}, results: ofProducts, more: products.more, swizzled: true,
	variants: []variant{{"ab", layout.Swizzle128, tile.AB}, {"abt", layout.Swizzle64, tile.ABt}, {"atb", layout.Swizzle64, tile.AtB}, {"atbt", layout.Swizzle32, tile.AtBt}},
	layouts:  products.layouts[:2], ends: products.ends, sides: products.sides,
	bodies: bodies{bf16: product[tile.BF16, tile.F32], f16: product[tile.F16, tile.F32]},
	want:   multiplied,
}

// productsGroupTF32 are those of f32.
var productsGroupTF32 = &family{
	name: "mma_group_tf32", doc: "products of f32 by a warpgroup.", ways: []way{groupwise}, variants: forms, results: ofProducts, more: products.more,
	layouts: products.layouts[:2], ends: products.ends, sides: products.sides,
	bodies: bodies{f32: product[tile.F32, tile.F32]},
	want:   multiplied, targets: []string{"sm_90a"},
}

// parts are where the operands of a body's product begin: so many elements of k, and columns of B, from the first. Those of
// a warp are whole tiles. A multiply of a warpgroup reads panels of a swizzle from their first column on, or parts within.
func (m *module) parts(b body) (k, n int) {
	if m.way.kind != perGroup || b.layout != "shared_shared" {
		return 0, 0
	}
	k, n = side-b.depth(m.dt), side-b.cols
	panel := side
	if w := m.variant.swizzle.Width(); w > 0 {
		panel = w / m.dt.Size()
	}
	if k%panel+b.depth(m.dt) > panel && k%panel != 0 {
		k = 0
	}
	if n%panel != 0 {
		n = 0
	}
	return k, n
}

// multiplied is the product of what is valid of the tile and of the second operand, plus 1.
func multiplied(p *problem) {
	transA, transB := p.module.variant.transposed()
	k, n := p.module.parts(p.body)
	for i := range p.body.rows {
		for j := range p.body.cols {
			s := 1.0
			for l := range p.depth(p.module.dt) {
				if r, c := swapped(i, l, transA); r < p.m && c < p.n {
					r, c := swapped(i, l+k, transA)
					s += p.x[r][c] * at(p.second, l+k, j+n, transB)
				}
			}
			p.y[i][j] = s
		}
	}
}

// options are those of a body's product: its form, and of f32 an accuracy.
func (e *env[T]) options() []tile.MMAOption {
	if e.m.dt != dtype.F32 {
		return []tile.MMAOption{e.m.variant.form}
	}
	return []tile.MMAOption{e.m.variant.form, []tile.Accuracy{tile.TF32, tile.TF32x3}[e.pick(2)]}
}

// transposed says which operands of a form are given transposed.
func (v variant) transposed() (a, b bool) {
	return v.form == tile.AtB || v.form == tile.AtBt, v.form == tile.ABt || v.form == tile.AtBt
}

func at(g grid, i, j int, trans bool) float64 {
	i, j = swapped(i, j, trans)
	return g[i][j]
}

// swapped is a size, or a place, transposed or not.
func swapped(rows, cols int, trans bool) (int, int) {
	if trans {
		return cols, rows
	}
	return rows, cols
}

// depth is the k of a body's product of a type.
func (b body) depth(t dtype.Type) int {
	if t.Is8() && t.IsFloat() { // an instruction takes 32
		return 2 * base * (1 + b.pick(2))
	}
	return base * (1 + b.pick(4))
}

// sum32 are the accumulators.
type sum32 interface {
	tile.F32 | tile.I32
	DType() dtype.Type
}

func product[T tile.Number, C sum32](e *env[T]) {
	depth := e.depth(e.m.dt)
	w, opts := e.scope.(fragmented), e.options()
	transA, transB := e.m.variant.transposed()
	span := func(rows int, trans bool) tile.Span {
		if s := w.Fragment(rows, depth); !trans {
			return s
		}
		return w.Fragment(rows, depth).Transpose()
	}
	acc := tile.NewVar(w, tile.Operand[C](tile.Full(w, w.Fragment(e.rows, e.cols), tile.Const[C](1))))
	ar, ac := swapped(e.rows, depth, transA)
	br, bc := swapped(depth, e.cols, transB)
	k, n := e.m.parts(e.body)
	fromA, alongA := swapped(0, k, transA)
	fromB, alongB := swapped(k, n, transB)
	sharedA, sharedB := e.at(fromA, alongA).Matrix(ar, ac), e.more[side].At(e.worker, fromB, alongB).Matrix(br, bc)
	regA := func() tile.Reg[T] { return tile.Load(w, e.at(), e.ends(span(e.rows, transA))) }
	regB := func() tile.Reg[T] { return tile.Load(w, e.more[side].At(e.worker), span(e.cols, !transB)) }
	switch e.layout {
	case "shared_shared":
		tile.MMA(acc, sharedA, sharedB, opts...)
	case "registers_shared":
		tile.MMA(acc, regA(), sharedB, opts...)
	case "shared_registers":
		tile.MMA(acc, sharedA, regB(), opts...)
	default:
		tile.MMA(acc, regA(), regB(), opts...)
	}
	tile.Store(w, e.a.F.At(e.worker), tile.Cast[tile.F32](acc.Get()))
}
