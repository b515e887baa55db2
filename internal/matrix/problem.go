package matrix

import (
	"math"

	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/tile/tiletest"
)

// grid is a tile of side x side numbers, of which a case uses a part.
type grid [][]float64

func newGrid() grid {
	g := make(grid, side)
	for i := range g {
		g[i] = make([]float64, side)
	}
	return g
}

func (g grid) clone() grid {
	out := newGrid()
	for i := range g {
		copy(out[i], g[i])
	}
	return out
}

func (g grid) flat() []float64 {
	var out []float64
	for _, row := range g {
		out = append(out, row...)
	}
	return out
}

// problem is one worker's part of a case: what it was given, and what is wanted of it.
type problem struct {
	*testCase
	x, second grid // the tile and the second operand
	y         grid // the tile as the body leaves it
}

// outside is what stands, with both signs, where a clipped tile has ended: far from all results.
const outside = 112

// newProblem draws the small integers of a worker. No element outside of the valid part counts in any way.
func (c *testCase) newProblem(seed uint64, worker int) *problem {
	p := &problem{testCase: c, x: newGrid(), second: newGrid()}
	n := uint64(2 * worker * side * side)
	for i := range side {
		for j := range side {
			at := n + uint64(i*side+j)
			p.x[i][j] = small(tiletest.Bits(seed, at))
			p.second[i][j] = small(tiletest.Bits(seed, at+side*side))
			if i >= c.m || j >= c.n {
				p.x[i][j] = outside * float64(1-2*((i+j)&1))
			}
		}
	}
	p.y = p.x.clone()
	return p
}

// small is an integer of -3 to 3.
func small(bits uint64) float64 { return float64(bits>>33%7) - 3 }

// each sets the elements of the valid part.
func (p *problem) each(f func(i, j int, x float64) float64) {
	for i := range p.m {
		for j := range p.n {
			p.y[i][j] = f(i, j, p.x[i][j])
		}
	}
}

// row and col are the valid part of one.
func (p *problem) row(i int) []float64 { return p.x[i][:p.n] }

func (p *problem) col(j int) []float64 {
	var out []float64
	for i := range p.m {
		out = append(out, p.x[i][j])
	}
	return out
}

// round rounds as an op on the case's type does.
func (p *problem) round(x float64) float64 {
	if !p.module.dt.IsFloat() {
		return math.Trunc(x)
	}
	return exact.Narrow(p.module.dt, x)
}

// The reductions of small integers.
func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}

func largest(xs []float64) float64 {
	m := math.Inf(-1)
	for _, x := range xs {
		m = max(m, x)
	}
	return m
}

func least(xs []float64) float64 {
	m := math.Inf(1)
	for _, x := range xs {
		m = min(m, x)
	}
	return m
}
