//go:build !gotilegen

package rmsnorm

import (
	"bytes"
	"errors"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// repeat runs both passes 30 times on the same inputs: all bits of y, dx, dw and dz must repeat. Before each run the
// outputs hold other bytes, so that what is not written shows. On the simulator, which has no scheduler to vary, two
// runs over two rows only show that what is compared is what is written.
func (p problem) repeat(r *tiletest.Run) (err error) {
	runs := 30
	if r.Device.Kind() == device.Sim {
		if p.n >= clustered {
			return r.Skip("it would take the simulator minutes, and shorter rows show the same there")
		}
		runs, p.rows = 2, 2
	}
	m := &memory{r: r}
	defer func() { err = errors.Join(err, m.close()) }()
	input := func(salt uint64) device.Tensor {
		x := m.matrix(p.x, p.rows, p.n)
		m.repeat(x, r.Uniform(p.x, salt, min(p.rows, 13)*p.n)) // 13 rows of data: making more takes longer than the runs
		return x
	}
	output := func() device.Tensor { return m.matrix(p.x, p.rows, p.n) }

	in := Inputs{X: input(1), W: r.In(p.w, r.Uniform(p.w, 2, p.n), p.n), Eps: p.epsilon()}
	out := Outputs{Y: output(), Rstd: m.strided(dtype.F32, []int{p.rows}, []int{1})}
	saved := Saved{X: in.X, W: in.W, Rstd: out.Rstd, DY: input(3), Act: p.act}
	if p.residual {
		in.R, out.S = input(4), output()
		saved.X, saved.DS = out.S, input(5)
	}
	grads := Gradients{DX: output(), DW: m.strided(p.w, []int{p.n}, []int{1})}
	if p.act != 0 {
		in.Z, in.Act, grads.DZ = input(6), p.act, output()
		saved.Z = in.Z
	}
	if m.err != nil {
		return m.err
	}
	scratch, err := newScratch(r.Stream, saved, grads, p.work())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()

	type result struct {
		name   string
		tensor device.Tensor
		first  []byte
	}
	results := []result{{name: "y", tensor: out.Y}, {name: "rstd", tensor: out.Rstd}, {name: "dx", tensor: grads.DX}, {name: "dw", tensor: grads.DW}}
	if p.act != 0 {
		results = append(results, result{name: "dz", tensor: grads.DZ})
	}
	for i := range runs {
		m.err = errors.Join(m.err, r.Stream.Fill(scratch.floats, 0, scratch.floats.Bytes(), byte(i)))
		for _, t := range results {
			m.fill(t.tensor, byte(i))
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
		for j := range results {
			t := &results[j]
			got := m.bytes(t.tensor)
			if i == 0 {
				t.first = got
			} else if m.err == nil && !bytes.Equal(got, t.first) {
				r.Errorf("run %d gives other bits than run 0 in %s", i, t.name)
			}
		}
	}
	return m.err
}
