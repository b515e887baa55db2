//go:build !gotilegen

package rmsnorm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// arguments are right arguments of both passes.
type arguments struct {
	in      Inputs
	out     Outputs
	saved   Saved
	grads   Gradients
	scratch *Scratch
}

// maker makes tensors on one device.
type maker struct {
	t *testing.T
	d *device.Device
}

func (m maker) tensor(dt dtype.Type, shape ...int) device.Tensor {
	m.t.Helper()
	x, err := device.NewTensor(m.d, dt, shape...)
	if err != nil {
		m.t.Fatal(err)
	}
	return x
}

// apart is a matrix whose last stride is 2.
func (m maker) apart(dt dtype.Type, rows, n int) device.Tensor {
	m.t.Helper()
	x, err := device.View(m.tensor(dt, rows, 2*n).Buffer(), 0, dt, []int{rows, n}, []int{2 * n, 2})
	if err != nil {
		m.t.Fatal(err)
	}
	return x
}

// arguments have x in bf16 and w in f32; the scratch fits them.
func (m maker) arguments(rows, n int, form form) *arguments {
	m.t.Helper()
	x := func() device.Tensor { return m.tensor(dtype.BF16, rows, n) }
	a := &arguments{in: Inputs{X: x(), W: m.tensor(dtype.F32, n), Eps: 1e-6}, out: Outputs{Y: x(), Rstd: m.tensor(dtype.F32, rows)}}
	a.saved = Saved{X: a.in.X, W: a.in.W, Rstd: a.out.Rstd, DY: x()}
	a.grads = Gradients{DX: x(), DW: m.tensor(dtype.F32, n)}
	switch form {
	case added:
		a.in.R, a.out.S, a.saved.DS = x(), x(), x()
	case gatedSilu:
		a.in.Z, a.in.Act, a.grads.DZ = x(), Silu, x()
		a.saved.Z, a.saved.Act = a.in.Z, Silu
	}
	if n > 0 {
		a.scratch = m.scratch(a)
	}
	return a
}

// scratch is one that fits arguments.
func (m maker) scratch(a *arguments) *Scratch {
	m.t.Helper()
	c, err := NewScratch(m.d.Stream(), a.saved, a.grads)
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

// refusal is a row of the tables: what is spoiled in right arguments of 19 x 40, and what the error then says.
type refusal struct {
	name  string
	form  form
	spoil func(maker, *arguments)
	is    error
	text  string
}

// sized is a refusal of all arguments for a size.
func sized(name string, rows, n int, is error, text string) refusal {
	return refusal{name, plain, func(m maker, a *arguments) { *a = *m.arguments(rows, n, plain) }, is, text}
}

func TestForwardRefuses(t *testing.T) {
	refuses(t, func(s *device.Stream, a *arguments) error { return Forward(s, a.in, a.out) }, []refusal{
		sized("n = 0", 2, 0, device.ErrShape, "rmsnorm.Forward: Inputs.X: n is 0; a row has at least 1 element"),
		sized("n = 0 without rows", 0, 0, device.ErrShape, "rmsnorm.Forward: Inputs.X: n is 0; a row has at least 1 element"),
		{"rank", plain, func(m maker, a *arguments) { a.in.X = m.tensor(dtype.BF16, 760) }, device.ErrShape, "rmsnorm.Forward: Inputs.X: the tensor has rank 1, not 2"},
		{"rows", plain, func(m maker, a *arguments) { a.out.Y = m.tensor(dtype.BF16, 18, 40) }, device.ErrShape, "rmsnorm.Forward: Outputs.Y: rows (dimension 0) is 18, but Inputs.X has rows = 19"},
		{"W", plain, func(m maker, a *arguments) { a.in.W = m.tensor(dtype.F32, 41) }, device.ErrShape, "rmsnorm.Forward: Inputs.W: n (dimension 0) is 41, but Inputs.X has n = 40"},
		{"type of x", plain, func(m maker, a *arguments) { a.in.X = m.tensor(dtype.I32, 19, 40) }, device.ErrDType, "rmsnorm.Forward: no kernel takes Inputs.X i32, Outputs.Y bf16"},
		{"type of y", plain, func(m maker, a *arguments) { a.out.Y = m.tensor(dtype.F16, 19, 40) }, device.ErrDType, "rmsnorm.Forward: no kernel takes Inputs.X bf16, Outputs.Y f16"},
		{"type of w", plain, func(m maker, a *arguments) { a.in.W = m.tensor(dtype.F16, 40) }, device.ErrDType, "Inputs.W f16"},
		{"type of rstd", plain, func(m maker, a *arguments) { a.out.Rstd = m.tensor(dtype.BF16, 19) }, device.ErrDType, "Outputs.Rstd bf16"},
		{"last stride", plain, func(m maker, a *arguments) { a.in.X = m.apart(dtype.BF16, 19, 40) }, bind.ErrStride, "rmsnorm.Forward: Inputs.X: the last stride is 2, not 1"},
		{"closed", plain, func(m maker, a *arguments) { a.in.W.Close() }, device.ErrClosed, "rmsnorm.Forward: Inputs.W: the tensor's buffer is closed"},
		{"negative Eps", plain, func(m maker, a *arguments) { a.in.Eps = -1e-6 }, bind.ErrValue, "rmsnorm.Forward: Inputs.Eps: it is -1e-06; the number"},
		{"no Eps", added, func(m maker, a *arguments) { a.in.Eps = float32(math.NaN()) }, bind.ErrValue, "rmsnorm.Forward: Inputs.Eps: it is NaN"},
		{"endless Eps", gatedSilu, func(m maker, a *arguments) { a.in.Eps = float32(math.Inf(1)) }, bind.ErrValue, "rmsnorm.Forward: Inputs.Eps: it is +Inf"},
		{"X unset", plain, func(m maker, a *arguments) { a.in.X = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Inputs.X: the tensor is not set"},
		{"Rstd unset", plain, func(m maker, a *arguments) { a.out.Rstd = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Outputs.Rstd: the tensor is not set"},
		{"R without S", added, func(m maker, a *arguments) { a.out.S = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Outputs.S: the tensor is not set, but Inputs.R is: a residual needs both"},
		{"S without R", added, func(m maker, a *arguments) { a.in.R = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Inputs.R: the tensor is not set, but Outputs.S is: a residual needs both"},
		{"Z without Act", gatedSilu, func(m maker, a *arguments) { a.in.Act = 0 }, device.ErrShape, "rmsnorm.Forward: Inputs.Act: the activation is not set, but Inputs.Z is: a gate needs both"},
		{"Act without Z", gatedSilu, func(m maker, a *arguments) { a.in.Z = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Inputs.Z: the tensor is not set, but Inputs.Act is silu: a gate needs both"},
		{"unknown Act", gatedSilu, func(m maker, a *arguments) { a.in.Act = 7 }, device.ErrDType, "rmsnorm.Forward: Inputs.Act: Activation(7) is no activation: use Sigmoid or Silu"},
		{"Z and R", gatedSilu, func(m maker, a *arguments) { a.in.R, a.out.S = a.in.X, a.out.Y }, device.ErrShape, "rmsnorm.Forward: Inputs.Z: there is a gate, and with Inputs.R a residual: no kernel has both; add first and drop Inputs.R"},
		{"type of Z", gatedSilu, func(m maker, a *arguments) { a.in.Z = m.tensor(dtype.F32, 19, 40) }, device.ErrDType, "Inputs.Z f32"},
		{"columns of Z", gatedSilu, func(m maker, a *arguments) { a.in.Z = m.tensor(dtype.BF16, 19, 41) }, device.ErrShape, "rmsnorm.Forward: Inputs.Z: n (dimension 1) is 41, but Inputs.X has n = 40"},
		{"rows of Z, sigmoid", gatedSilu, func(m maker, a *arguments) { a.in.Z, a.in.Act = m.tensor(dtype.BF16, 18, 40), Sigmoid }, device.ErrShape, "rmsnorm.Forward: Inputs.Z: rows (dimension 0) is 18, but Inputs.X has rows = 19"},
		{"type of R", added, func(m maker, a *arguments) { a.in.R = m.tensor(dtype.F32, 19, 40) }, device.ErrDType, "Inputs.R f32"},
		{"rows of S", added, func(m maker, a *arguments) { a.out.S = m.tensor(dtype.BF16, 20, 40) }, device.ErrShape, "rmsnorm.Forward: Outputs.S: rows (dimension 0) is 20, but Inputs.X has rows = 19"},
	})
}

func TestBackwardRefuses(t *testing.T) {
	other, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	refuses(t, func(s *device.Stream, a *arguments) error { return Backward(s, a.saved, a.grads, a.scratch) }, append(ofBoth(),
		refusal{"no scratch", plain, func(m maker, a *arguments) { a.scratch = nil }, device.ErrClosed, "rmsnorm.Backward: scratch: there is none; make one with NewScratch"},
		refusal{"zero scratch", plain, func(m maker, a *arguments) { a.scratch = &Scratch{} }, device.ErrClosed, "rmsnorm.Backward: scratch: there is none; make one with NewScratch"},
		refusal{"closed scratch", plain, func(m maker, a *arguments) { a.scratch.Close() }, device.ErrClosed, "rmsnorm.Backward: scratch: it is closed; make one with NewScratch"},
		refusal{"scratch elsewhere", plain, func(m maker, a *arguments) { a.scratch = maker{m.t, other}.arguments(19, 40, plain).scratch }, device.ErrWrongDevice, "rmsnorm.Backward: scratch: it is on device sim, the stream on sim; make one there with NewScratch"},
		refusal{"scratch of fewer rows", plain, func(m maker, a *arguments) { a.scratch = m.arguments(8, 40, plain).scratch }, device.ErrShape, "rmsnorm.Backward: scratch: it holds 120 numbers; here it needs 240, for 6 shares of dw of 40 columns and the means of 0 rows: make one with NewScratch for these tensors"},
		refusal{"scratch of fewer rows, with ds", added, func(m maker, a *arguments) { a.scratch = m.arguments(1, 40, added).scratch }, device.ErrShape, "rmsnorm.Backward: scratch: it holds 80 numbers; here it needs 240"},
		refusal{"scratch of fewer columns", gatedSilu, func(m maker, a *arguments) { a.scratch = m.arguments(19, 39, gatedSilu).scratch }, device.ErrShape, " shares of dw of 40 columns and the means of 0 rows: make one with NewScratch for these tensors"},
		refusal{"scratch without means", plain, func(m maker, a *arguments) {
			*a = *m.arguments(19, 16400, plain)
			a.scratch = m.arguments(18, 16400, plain).scratch
		}, device.ErrShape, "rmsnorm.Backward: scratch: it holds 16418 numbers; here it needs 16419, for 1 shares of dw of 16400 columns and the means of 19 rows"},
		refusal{"DX unset", plain, func(m maker, a *arguments) { a.grads.DX = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Gradients.DX: the tensor is not set"},
		refusal{"DW unset", plain, func(m maker, a *arguments) { a.grads.DW = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: the tensor is not set"},
		refusal{"DZ unset", gatedSilu, func(m maker, a *arguments) { a.grads.DZ = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Gradients.DZ: the tensor is not set"},
		refusal{"X unset", plain, func(m maker, a *arguments) { a.saved.X = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Saved.X: the tensor is not set"},
		refusal{"W unset", added, func(m maker, a *arguments) { a.saved.W = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Saved.W: the tensor is not set"},
	))
}

func TestNewScratchRefuses(t *testing.T) {
	refuses(t, func(s *device.Stream, a *arguments) error {
		c, err := NewScratch(s, a.saved, a.grads)
		if err != nil {
			return err
		}
		return c.Close()
	}, append(ofBoth(),
		refusal{"nothing set", plain, func(m maker, a *arguments) { *a = arguments{} }, device.ErrShape, "rmsnorm.Backward: the size of the grid depends on rows: set one of Saved.X"},
		refusal{"no row length", plain, func(m maker, a *arguments) { *a = arguments{saved: Saved{Rstd: a.saved.Rstd}} }, device.ErrShape, "rmsnorm.Backward: the size of the grid depends on n: set one of Saved.X"}))
}

// ofBoth are refusals of NewScratch and of Backward.
func ofBoth() []refusal {
	return []refusal{
		sized("n = 0", 2, 0, device.ErrShape, "rmsnorm.Backward: Saved.X: n is 0; a row has at least 1 element"),
		{"rows of dy", plain, func(m maker, a *arguments) { a.saved.DY = m.tensor(dtype.BF16, 18, 40) }, device.ErrShape, "rmsnorm.Backward: Saved.DY: rows (dimension 0) is 18, but Saved.X has rows = 19"},
		{"rows of rstd", plain, func(m maker, a *arguments) { a.saved.Rstd = m.tensor(dtype.F32, 20) }, device.ErrShape, "rmsnorm.Backward: Saved.Rstd: rows (dimension 0) is 20, but Saved.X has rows = 19"},
		{"columns of ds", added, func(m maker, a *arguments) { a.saved.DS = m.tensor(dtype.BF16, 19, 41) }, device.ErrShape, "rmsnorm.Backward: Saved.DS: n (dimension 1) is 41, but Saved.X has n = 40"},
		{"columns of dw", plain, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.F32, 39) }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: n (dimension 0) is 39, but Saved.X has n = 40"},
		{"columns of dw, with ds", added, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.F32, 39) }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: n (dimension 0) is 39, but Saved.X has n = 40"},
		{"rank of dw", plain, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.F32, 1, 40) }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: the tensor has rank 2, not 1"},
		{"type of dw", plain, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.BF16, 40) }, device.ErrDType, "rmsnorm.Backward: Gradients.DW: its type is bf16, but that of Saved.W is f32: they must be one"},
		{"type of w and dw", plain, func(m maker, a *arguments) {
			a.saved.W, a.grads.DW = m.tensor(dtype.F16, 40), m.tensor(dtype.F16, 40)
		}, device.ErrDType, "Saved.W f16"},
		{"columns of dw, wide", plain, func(m maker, a *arguments) {
			*a = *m.arguments(2, 16400, plain)
			a.grads.DW = m.tensor(dtype.F32, 16399)
		}, device.ErrShape, "rmsnorm.Backward: Gradients.DW: n (dimension 0) is 16399, but Saved.X has n = 16400"},
		{"Z without Act", gatedSilu, func(m maker, a *arguments) { a.saved.Act = 0 }, device.ErrShape, "rmsnorm.Backward: Saved.Act: the activation is not set, but Saved.Z is: a gate needs both"},
		{"Act without Z", gatedSilu, func(m maker, a *arguments) { a.saved.Z = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Saved.Z: the tensor is not set, but Saved.Act is silu: a gate needs both"},
		{"DZ without Z", plain, func(m maker, a *arguments) { a.grads.DZ = a.grads.DX }, device.ErrShape, "rmsnorm.Backward: Saved.Z: the tensor is not set, but Gradients.DZ is: a gate needs both"},
		{"unknown Act", gatedSilu, func(m maker, a *arguments) { a.saved.Act = 3 }, device.ErrDType, "rmsnorm.Backward: Saved.Act: Activation(3) is no activation: use Sigmoid or Silu"},
		{"Z and DS", gatedSilu, func(m maker, a *arguments) { a.saved.DS = a.saved.DY }, device.ErrShape, "rmsnorm.Backward: Saved.Z: there is a gate, and with Saved.DS a residual"},
		{"type of z", gatedSilu, func(m maker, a *arguments) { a.saved.Z = m.tensor(dtype.F16, 19, 40) }, device.ErrDType, "Saved.Z f16"},
		{"columns of dz", gatedSilu, func(m maker, a *arguments) { a.grads.DZ = m.tensor(dtype.BF16, 19, 41) }, device.ErrShape, "rmsnorm.Backward: Gradients.DZ: n (dimension 1) is 41, but Saved.X has n = 40"},
		{"type of dx", plain, func(m maker, a *arguments) { a.grads.DX = m.tensor(dtype.F32, 19, 40) }, device.ErrDType, "Gradients.DX f32"},
		{"type of ds", added, func(m maker, a *arguments) { a.saved.DS = m.tensor(dtype.F32, 19, 40) }, device.ErrDType, "Saved.DS f32"},
		{"last stride of dy", plain, func(m maker, a *arguments) { a.saved.DY = m.apart(dtype.BF16, 19, 40) }, bind.ErrStride, "rmsnorm.Backward: Saved.DY: the last stride is 2, not 1"},
		{"closed dw", plain, func(m maker, a *arguments) { a.grads.DW.Close() }, device.ErrClosed, "rmsnorm.Backward: Gradients.DW: the tensor's buffer is closed"},
		{"closed x", added, func(m maker, a *arguments) { a.saved.X.Close() }, device.ErrClosed, "rmsnorm.Backward: Saved.X: the tensor's buffer is closed"},
	}
}

// refuses runs a table: each error is a *bind.Error with its sentinel and begins with or contains its text, and nothing
// was launched. The arguments that are spoiled pass unspoiled.
func refuses(t *testing.T, call func(*device.Stream, *arguments) error, table []refusal) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m := maker{t, d}
	for _, c := range table {
		a := m.arguments(19, 40, c.form)
		c.spoil(m, a)
		err := call(d.Stream(), a)
		var e *bind.Error
		if !errors.As(err, &e) || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "rmsnorm.") {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.text)
		}
	}
	if n := d.Launches(); len(n) > 0 {
		t.Errorf("launched %v", n)
	}
	for _, form := range []form{plain, added, gatedSilu} {
		if err := call(d.Stream(), m.arguments(19, 40, form)); err != nil {
			t.Errorf("right arguments: %v", err)
		}
	}
}

// NewScratch asks for less than Backward: outputs may be unset. Its sizes are those of the blocks that run at once.
func TestScratchOfUnsetOutputs(t *testing.T) {
	d, err := device.Open("sim", device.WithSim(device.SimConfig{SMs: 10}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct{ rows, n, floats int }{
		{0, 40, 2 * 40}, {1, 40, 2 * 40}, {19, 40, 6 * 40}, // four rows of 40 elements a block, and the sum of a group
		{1, 1025, 1025}, {19, 1025, 19 * 1025}, {100, 1025, 20 * 1025}, // 20 blocks at once
		{0, 16385, 16385}, {2, 16385, 2*16385 + 2}, {100, 16385, 4*16385 + 100}, {3, 262144, 262144 + 3}, // 5 and 64 stripes
	} {
		a := maker{t, d}.arguments(c.rows, c.n, plain)
		s, err := NewScratch(d.Stream(), a.saved, Gradients{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := s.floats.Bytes() / 4; got != c.floats {
			t.Errorf("%d rows of %d: %d numbers, want %d", c.rows, c.n, got, c.floats)
		}
	}
}

// What a failed NewScratch gives may be closed.
func TestNoScratchCloses(t *testing.T) {
	for _, c := range []*Scratch{nil, {}} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A scratch serves smaller problems than that it was made for, in any order, and allocates nothing for one of the same
// shape as the last.
func TestScratchServesOthers(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, stream := maker{t, d}, d.Stream()
	wide := m.arguments(4, 16400, plain)
	for _, a := range []*arguments{wide, m.arguments(19, 40, gatedSilu), m.arguments(3, 16400, added), wide, wide} {
		if err := Backward(stream, a.saved, a.grads, wide.scratch); err != nil {
			t.Error(err)
		}
	}
	p := plan{wide: true, rows: 4, n: 16400, parts: 1}
	if n := testing.AllocsPerRun(10, func() {
		if err := wide.scratch.fit(stream, p); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
