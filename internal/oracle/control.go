package oracle

import "github.com/gotile/gotile/internal/ir"

// region executes a region by the warps that come to it: each op by all its units before the next op, loops and branches
// by one unit after the other.
func (m *machine) region(r *ir.Region, warps []int) {
	for _, v := range r.Ops {
		for _, unit := range m.units(v.Scope, warps) {
			m.op(v, unit)
		}
	}
}

func (m *machine) op(v *ir.Value, warps []int) {
	w := warps[0]
	switch v.Op {
	case ir.Range:
		m.loop(v, warps, m.index(v.Args[0], w), m.index(v.Args[1], w), m.index(v.Args[2], w))
	case ir.Persistent:
		step := m.index(v.Args[1], w)
		m.loop(v, warps, m.unit(v.Scope, w)*step, m.index(v.Args[0], w), m.total(v.Scope)*step)
	case ir.If:
		taken := v.Regions[0]
		if m.val(v.Args[0], w).v[0].I == 0 {
			taken = v.Regions[1]
		}
		if taken != nil {
			m.region(taken, warps)
		}
	case ir.While:
		for n := 0; ; n++ {
			if n == maxTrips {
				fail(v, "While has not ended after %d iterations", n)
			}
			m.region(v.Regions[0], warps)
			if m.val(v.Regions[0].Yield, w).v[0].I == 0 {
				break
			}
			m.region(v.Regions[1], warps)
		}
	case ir.Barrier, ir.ClusterBarrier, ir.Commit, ir.WaitGroup: // order only
	case ir.Var:
		m.set(v, w, m.val(v.Args[0], w))
	case ir.Get:
		m.set(v, w, m.val(v.Args[0], w))
	case ir.Set:
		m.assign(v, w)
	case ir.BlockID:
		m.set(v, w, single(Num{I: int64(m.unit(ir.ScopeBlock, w))}))
	case ir.NumBlocks:
		m.set(v, w, single(Num{I: int64(m.l.Grid)}))
	case ir.WarpID:
		m.set(v, w, single(Num{I: int64(w % warpsOf(m.k))}))
	case ir.ClusterID:
		m.set(v, w, single(Num{I: int64(m.unit(ir.ScopeCluster, w))}))
	case ir.NumClusters:
		m.set(v, w, single(Num{I: int64(m.total(ir.ScopeCluster))}))
	case ir.ClusterRank:
		m.set(v, w, single(Num{I: int64(m.unit(ir.ScopeBlock, w) % max(1, m.k.Cluster))}))
	case ir.CopyAsync:
		m.copyAsync(v, w)
	case ir.Fold:
		m.fold(v, w)
	default:
		switch ir.Table[v.Op].Class {
		case ir.Elementwise:
			m.elementwise(v, w)
		case ir.Shape:
			m.reshape(v, w)
		case ir.Reduction:
			m.reduce(v, w)
		case ir.Collective:
			m.collective(v, w)
		case ir.Memory:
			m.access(v, w)
		default:
			fail(v, "the oracle does not know %v", v.Op)
		}
	}
}

// maxTrips bounds loops whose condition never fails.
const maxTrips = 1 << 20

func (m *machine) loop(v *ir.Value, warps []int, lo, hi, step int) {
	body := v.Regions[0]
	for i := lo; i < hi; i += step {
		m.set(body.Ind, warps[0], single(Num{I: int64(i)}))
		m.region(body, warps)
	}
}

// assign keeps the variable's extents.
func (m *machine) assign(v *ir.Value, w int) {
	x, have := m.val(v.Args[1], w), m.val(v.Args[0], w)
	m.set(v.Args[0], w, tile{have.shape, have.ext, x.v})
}
