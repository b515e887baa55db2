package oracle

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
)

// scanned is the reduction that a scan makes steps of.
var scanned = map[ir.Op]ir.Op{ir.CumSum: ir.Sum, ir.CumMax: ir.MaxOf, ir.CumMin: ir.MinOf, ir.CumProd: ir.Prod}

// collective executes scans, changes of distribution, which change nothing here, and inverses.
func (m *machine) collective(v *ir.Value, w int) {
	x, out := m.val(v.Args[0], w), m.empty(v.Type.Span, w)
	switch v.Op {
	case ir.Redistribute:
		copy(out.v, x.v)
	case ir.InverseUnitLower:
		n := out.shape[0]
		for j := range n {
			for i := range n {
				sum := Num{}
				if i == j {
					sum.F = 1
				}
				for k := range i {
					sum = round(v.Type.DT, Num{F: sum.F - x.v[i*n+k].F*out.v[k*n+j].F})
				}
				out.v[i*n+j] = sum
			}
		}
	default:
		m.scan(v, x, out)
	}
	m.set(v, w, out)
}

// scan folds, for each element, the valid ones before it.
func (m *machine) scan(v *ir.Value, x, out tile) {
	info, of := v.Attr.(ir.ScanInfo), scanned[v.Op]
	each(x.shape, func(i int, at []int) {
		sum := identity(of, v.Type.DT)
		x.valid(func(j int, other []int) {
			same := slices.Clone(other)
			same[info.Axis] = at[info.Axis]
			before := other[info.Axis] < at[info.Axis]
			if info.Reverse {
				before = other[info.Axis] > at[info.Axis]
			}
			if slices.Equal(same, at) && (before || i == j && !info.Exclusive) {
				sum = combine(of, v.Type.DT, sum, x.v[j])
			}
		})
		out.v[i] = round(v.Type.DT, sum)
	})
}
