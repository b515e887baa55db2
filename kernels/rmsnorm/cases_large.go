//go:build !gotilegen

package rmsnorm

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// The large cases go past 2^31 elements: offsets must be 64-bit. They take up to 35 GB of device memory, and are
// skipped where there is not as much. Small ones of the same code run everywhere.

// far is a case of few rows, far apart.
func (p problem) far(large bool) tiletest.Case {
	return p.big("far", large, func(m *memory) big {
		strided := func() device.Tensor { return m.strided(p.x, []int{p.rows, p.n}, []int{p.n + p.pad, 1}) }
		return big{period: p.rows, parts: [][2]int{{0, p.rows}},
			output: strided,
			input: func(first []float64) device.Tensor {
				x := strided()
				m.upload(x, first)
				return x
			},
			read: func(x device.Tensor, _, _ int) []float64 { return m.floats(x) }, // parts has all rows
		}
	})
}

// long is a case of many rows without gaps. They repeat a few, since making them on the host would take minutes; rows
// at the start, around the middle and at the end are compared, and dw, to which all contribute.
func (p problem) long(large bool) tiletest.Case {
	return p.big("long", large, func(m *memory) big {
		const period, compared = 7, 6 // the last six rows begin before element 2^31 and end after it
		return big{period: period, parts: [][2]int{{0, compared}, {p.rows/2 - 1, compared}, {p.rows - compared, compared}},
			output: func() device.Tensor { return m.matrix(p.x, p.rows, p.n) },
			input: func(first []float64) device.Tensor {
				x := m.matrix(p.x, p.rows, p.n)
				m.repeat(x, first)
				return x
			},
			read: func(x device.Tensor, from, count int) []float64 { return m.floats(m.rows(x, from, count)) },
		}
	})
}

// big is how a large case makes and reads matrices.
type big struct {
	period int      // row i has the numbers of row i mod period
	parts  [][2]int // rows to compare: the first, and how many
	output func() device.Tensor
	input  func(first []float64) device.Tensor // of period rows
	read   func(x device.Tensor, from, count int) []float64
}

// big is a case with matrices made by how.
func (p problem) big(name string, large bool, how func(*memory) big) tiletest.Case {
	return tiletest.Case{Name: name + "/" + p.String(), Alone: large, Run: func(r *tiletest.Run) error {
		if large && r.Device.Kind() == device.Sim {
			return r.Skip("it needs gigabytes of memory and minutes of a simulator")
		}
		m := &memory{r: r}
		err := p.bigCheck(r, m, how(m))
		if e := m.close(); e != nil && err == nil {
			err = e
		}
		if large && errors.Is(err, device.ErrOutOfMemory) {
			return r.Skip(fmt.Sprintf("the device has too little memory: %v", err))
		}
		return err
	}}
}

// bigCheck allocates all before it launches anything, and compares both passes with float64.
func (p problem) bigCheck(r *tiletest.Run, m *memory, b big) error {
	count := b.period * p.n
	xs, ws, dys := r.Uniform(p.x, 1, count), r.Uniform(p.w, 2, p.n), r.Uniform(p.x, 3, count)
	vector := func(t dtype.Type, n int) device.Tensor { return m.strided(t, []int{n}, []int{1}) }
	in := Inputs{X: b.input(xs), W: vector(p.w, p.n), Eps: p.epsilon()}
	m.upload(in.W, ws)
	out := Outputs{Y: b.output(), Rstd: vector(dtype.F32, p.rows)}
	saved := Saved{X: in.X, W: in.W, Rstd: out.Rstd, DY: b.input(dys), Act: p.act}
	grads := Gradients{DX: b.output(), DW: vector(p.w, p.n)}
	zs := p.gates(r, count)
	if p.act != 0 {
		in.Z, in.Act, grads.DZ = b.input(zs), p.act, b.output()
		saved.Z = in.Z
	}
	var dss []float64
	if p.residual {
		rs := r.Uniform(p.x, 4, count)
		in.R, out.S = b.input(rs), b.output()
		xs, dss = p.sums(xs, rs), r.Uniform(p.x, 5, count)
		saved.X, saved.DS = out.S, b.input(dss)
	}
	if m.err != nil {
		return m.err
	}
	scratch, err := newScratch(r.Stream, saved, grads, p.work())
	if err != nil {
		return err
	}
	defer scratch.Close()
	for _, x := range []device.Tensor{out.Y, out.S, grads.DX, grads.DZ} {
		if set(x) {
			m.fill(x, 0xff) // NaN: what is not written shows
		}
	}
	if m.err != nil {
		return m.err
	}
	if err := p.forward(r, in, out); err != nil {
		return err
	}
	if err := p.backward(r, saved, grads, scratch); err != nil {
		return err
	}

	ref, bar := p.reference(xs, zs, ws), barsOf(p.x)
	y := ref.Forward()
	dx, _ := ref.Backward(dys)
	for i := range dss {
		dx[i] += dss[i]
	}
	for _, rows := range b.parts {
		compare := func(what string, x device.Tensor, want []float64, bar float64) {
			if got := b.read(x, rows[0], rows[1]); m.err == nil {
				r.Compare(what, got, p.cycle(want, rows[0], rows[1]), bar)
			}
		}
		compare("y", out.Y, y, bar.forward)
		compare("dx", grads.DX, dx, bar.backward)
		if p.residual {
			compare("s", out.S, xs, 0)
		}
		if p.act != 0 {
			compare("dz", grads.DZ, ref.BackwardGate(dys), bar.backward)
		}
	}
	if got := m.floats(grads.DW); m.err == nil {
		r.Compare("dw", got, p.cycleDW(ref, dys), barDW(p.w))
	}
	return m.err
}

// cycle is count rows, the first of number from, of a matrix whose rows repeat.
func (p problem) cycle(period []float64, from, count int) []float64 {
	var out []float64
	for i := from; i < from+count; i++ {
		at := i * p.n % len(period)
		out = append(out, period[at:at+p.n]...)
	}
	return out
}

// cycleDW is dw of a matrix whose rows repeat: each row's share as often as it occurs.
func (p problem) cycleDW(ref Reference, dy []float64) []float64 {
	out := make([]float64, p.n)
	rstd, g := ref.Rstd(), ref.gated(dy)
	for i := range ref.Rows {
		times := float64((p.rows - i + ref.Rows - 1) / ref.Rows)
		for j, x := range ref.row(ref.X, i) {
			out[j] += times * g[i*p.n+j] * x * rstd[i]
		}
	}
	return out
}
