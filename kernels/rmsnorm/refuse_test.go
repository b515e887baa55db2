//go:build !gotilegen

package rmsnorm

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// arguments are right arguments of both passes.
type arguments struct {
	in    Inputs
	out   Outputs
	saved Saved
	grads Gradients
	part  device.Tensor
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

// arguments have x in bf16 and w in f32.
func (m maker) arguments(rows, n int, residual bool) *arguments {
	x := func() device.Tensor { return m.tensor(dtype.BF16, rows, n) }
	a := &arguments{in: Inputs{X: x(), W: m.tensor(dtype.F32, n), Eps: 1e-6}, out: Outputs{Y: x(), Rstd: m.tensor(dtype.F32, rows)}}
	a.saved = Saved{X: a.in.X, W: a.in.W, Rstd: a.out.Rstd, DY: x()}
	a.grads = Gradients{DX: x(), DW: m.tensor(dtype.F32, n)}
	if residual {
		a.in.R, a.out.S, a.saved.DS = x(), x(), x()
	}
	a.part = m.tensor(dtype.F32, max(rows, 1), n) // never fewer than Parts
	return a
}

// refusal is a row of the tables: what is spoiled in right arguments of 19 x 40, and what the error then says.
type refusal struct {
	name     string
	residual bool
	spoil    func(maker, *arguments)
	is       error
	text     string
}

// sized is a refusal of all arguments for a size.
func sized(name string, rows, n int, is error, text string) refusal {
	return refusal{name, false, func(m maker, a *arguments) { *a = *m.arguments(rows, n, false) }, is, text}
}

func TestForwardRefuses(t *testing.T) {
	refuses(t, func(s *device.Stream, a *arguments) error { return Forward(s, a.in, a.out) }, []refusal{
		sized("n = 0", 2, 0, device.ErrShape, "rmsnorm.Forward: Inputs.X: n is 0; a row has 1 to 16384 elements"),
		sized("n = 0 without rows", 0, 0, device.ErrShape, "rmsnorm.Forward: Inputs.X: n is 0; a row has 1 to 16384 elements"),
		sized("n = 16385", 1, 16385, bind.ErrLimit, "rmsnorm.Forward: Inputs.X: n is 16385; a row has 1 to 16384 elements"),
		{"rank", false, func(m maker, a *arguments) { a.in.X = m.tensor(dtype.BF16, 760) }, device.ErrShape, "rmsnorm.Forward: Inputs.X: the tensor has rank 1, not 2"},
		{"rows", false, func(m maker, a *arguments) { a.out.Y = m.tensor(dtype.BF16, 18, 40) }, device.ErrShape, "rmsnorm.Forward: Outputs.Y: rows (dimension 0) is 18, but Inputs.X has rows = 19"},
		{"W", false, func(m maker, a *arguments) { a.in.W = m.tensor(dtype.F32, 41) }, device.ErrShape, "rmsnorm.Forward: Inputs.W: n (dimension 0) is 41, but Inputs.X has n = 40"},
		{"type of x", false, func(m maker, a *arguments) { a.in.X = m.tensor(dtype.I32, 19, 40) }, device.ErrDType, "rmsnorm.Forward: no kernel takes Inputs.X i32, Outputs.Y bf16"},
		{"type of y", false, func(m maker, a *arguments) { a.out.Y = m.tensor(dtype.F16, 19, 40) }, device.ErrDType, "rmsnorm.Forward: no kernel takes Inputs.X bf16, Outputs.Y f16"},
		{"type of w", false, func(m maker, a *arguments) { a.in.W = m.tensor(dtype.F16, 40) }, device.ErrDType, "Inputs.W f16"},
		{"type of rstd", false, func(m maker, a *arguments) { a.out.Rstd = m.tensor(dtype.BF16, 19) }, device.ErrDType, "Outputs.Rstd bf16"},
		{"last stride", false, func(m maker, a *arguments) { a.in.X = m.apart(dtype.BF16, 19, 40) }, bind.ErrStride, "rmsnorm.Forward: Inputs.X: the last stride is 2, not 1"},
		{"closed", false, func(m maker, a *arguments) { a.in.W.Close() }, device.ErrClosed, "rmsnorm.Forward: Inputs.W: the tensor's buffer is closed"},
		{"X unset", false, func(m maker, a *arguments) { a.in.X = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Inputs.X: the tensor is not set"},
		{"Rstd unset", false, func(m maker, a *arguments) { a.out.Rstd = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Outputs.Rstd: the tensor is not set"},
		{"R without S", true, func(m maker, a *arguments) { a.out.S = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Outputs.S: the tensor is not set, but Inputs.R is: a residual needs both"},
		{"S without R", true, func(m maker, a *arguments) { a.in.R = device.Tensor{} }, device.ErrShape, "rmsnorm.Forward: Inputs.R: the tensor is not set, but Outputs.S is: a residual needs both"},
		{"type of R", true, func(m maker, a *arguments) { a.in.R = m.tensor(dtype.F32, 19, 40) }, device.ErrDType, "Inputs.R f32"},
		{"rows of S", true, func(m maker, a *arguments) { a.out.S = m.tensor(dtype.BF16, 20, 40) }, device.ErrShape, "rmsnorm.Forward: Outputs.S: rows (dimension 0) is 20, but Inputs.X has rows = 19"},
	})
}

func TestBackwardRefuses(t *testing.T) {
	refuses(t, func(s *device.Stream, a *arguments) error { return Backward(s, a.saved, a.grads, a.part) }, append(ofBoth(),
		refusal{"part of no row", false, func(m maker, a *arguments) { a.part = m.tensor(dtype.F32, 0, 40) }, device.ErrShape, "rmsnorm.Backward: part: it has 0 rows; here it needs 5, as Parts says"},
		refusal{"part of too few rows", false, func(m maker, a *arguments) { a.part = m.tensor(dtype.F32, 2, 40) }, device.ErrShape, "rmsnorm.Backward: part: it has 2 rows; here it needs 5, as Parts says"},
		refusal{"part of no row, without rows", false, func(m maker, a *arguments) { *a = *m.arguments(0, 40, false); a.part = m.tensor(dtype.F32, 0, 40) }, device.ErrShape, "rmsnorm.Backward: part: it has 0 rows; here it needs 1, as Parts says"},
		refusal{"part of too few rows, with ds", true, func(m maker, a *arguments) { a.part = m.tensor(dtype.F32, 2, 40) }, device.ErrShape, "rmsnorm.Backward: part: it has 2 rows; here it needs 5, as Parts says"},
		refusal{"part of other columns", false, func(m maker, a *arguments) { a.part = m.tensor(dtype.F32, 19, 39) }, device.ErrShape, "rmsnorm.Backward: part: n (dimension 1) is 39, but Saved.X has n = 40"},
		refusal{"type of part", false, func(m maker, a *arguments) { a.part = m.tensor(dtype.BF16, 19, 40) }, device.ErrDType, "part bf16"},
		refusal{"last stride of part", false, func(m maker, a *arguments) { a.part = m.apart(dtype.F32, 19, 40) }, bind.ErrStride, "rmsnorm.Backward: part: the last stride is 2, not 1"},
		refusal{"part unset", false, func(m maker, a *arguments) { a.part = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: part: the tensor is not set"},
		refusal{"DX unset", false, func(m maker, a *arguments) { a.grads.DX = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Gradients.DX: the tensor is not set"},
		refusal{"DW unset", false, func(m maker, a *arguments) { a.grads.DW = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: the tensor is not set"},
		refusal{"X unset", false, func(m maker, a *arguments) { a.saved.X = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Saved.X: the tensor is not set"},
		refusal{"W unset", true, func(m maker, a *arguments) { a.saved.W = device.Tensor{} }, device.ErrShape, "rmsnorm.Backward: Saved.W: the tensor is not set"},
	))
}

func TestPartsRefuses(t *testing.T) {
	refuses(t, func(s *device.Stream, a *arguments) error { _, err := Parts(s, a.saved, a.grads); return err }, append(ofBoth(),
		refusal{"nothing set", false, func(m maker, a *arguments) { *a = arguments{} }, device.ErrShape, "rmsnorm.Backward: the size of the grid depends on rows: set one of Saved.X"}))
}

// ofBoth are refusals of Parts and of Backward.
func ofBoth() []refusal {
	return []refusal{
		sized("n = 0", 2, 0, device.ErrShape, "rmsnorm.Backward: Saved.X: n is 0; a row has 1 to 16384 elements"),
		sized("n = 16385", 1, 16385, bind.ErrLimit, "rmsnorm.Backward: Saved.X: n is 16385; a row has 1 to 16384 elements"),
		{"rows of dy", false, func(m maker, a *arguments) { a.saved.DY = m.tensor(dtype.BF16, 18, 40) }, device.ErrShape, "rmsnorm.Backward: Saved.DY: rows (dimension 0) is 18, but Saved.X has rows = 19"},
		{"rows of rstd", false, func(m maker, a *arguments) { a.saved.Rstd = m.tensor(dtype.F32, 20) }, device.ErrShape, "rmsnorm.Backward: Saved.Rstd: rows (dimension 0) is 20, but Saved.X has rows = 19"},
		{"columns of ds", true, func(m maker, a *arguments) { a.saved.DS = m.tensor(dtype.BF16, 19, 41) }, device.ErrShape, "rmsnorm.Backward: Saved.DS: n (dimension 1) is 41, but Saved.X has n = 40"},
		{"columns of dw", false, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.F32, 39) }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: n (dimension 0) is 39, but Saved.X has n = 40"},
		{"columns of dw, with ds", true, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.F32, 39) }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: n (dimension 0) is 39, but Saved.X has n = 40"},
		{"rank of dw", false, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.F32, 1, 40) }, device.ErrShape, "rmsnorm.Backward: Gradients.DW: the tensor has rank 2, not 1"},
		{"type of dw", false, func(m maker, a *arguments) { a.grads.DW = m.tensor(dtype.BF16, 40) }, device.ErrDType, "rmsnorm.Backward: Gradients.DW: its type is bf16, but that of Saved.W is f32: they must be one"},
		{"type of w and dw", false, func(m maker, a *arguments) {
			a.saved.W, a.grads.DW = m.tensor(dtype.F16, 40), m.tensor(dtype.F16, 40)
		}, device.ErrDType, "Saved.W f16"},
		{"type of dx", false, func(m maker, a *arguments) { a.grads.DX = m.tensor(dtype.F32, 19, 40) }, device.ErrDType, "Gradients.DX f32"},
		{"type of ds", true, func(m maker, a *arguments) { a.saved.DS = m.tensor(dtype.F32, 19, 40) }, device.ErrDType, "Saved.DS f32"},
		{"last stride of dy", false, func(m maker, a *arguments) { a.saved.DY = m.apart(dtype.BF16, 19, 40) }, bind.ErrStride, "rmsnorm.Backward: Saved.DY: the last stride is 2, not 1"},
		{"closed dw", false, func(m maker, a *arguments) { a.grads.DW.Close() }, device.ErrClosed, "rmsnorm.Backward: Gradients.DW: the tensor's buffer is closed"},
		{"closed x", true, func(m maker, a *arguments) { a.saved.X.Close() }, device.ErrClosed, "rmsnorm.Backward: Saved.X: the tensor's buffer is closed"},
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
		a := m.arguments(19, 40, c.residual)
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
	for _, residual := range []bool{false, true} {
		if err := call(d.Stream(), m.arguments(19, 40, residual)); err != nil {
			t.Errorf("right arguments: %v", err)
		}
	}
}

// Parts asks for less than Backward: outputs may be unset.
func TestPartsOfUnsetOutputs(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		rows, want int
	}{{0, 1}, {1, 1}, {19, 5}} { // four rows of 40 elements a block
		a := maker{t, d}.arguments(c.rows, 40, false)
		if got, err := Parts(d.Stream(), a.saved, Gradients{}); err != nil || got != c.want {
			t.Errorf("%d rows: %d parts, %v; want %d", c.rows, got, err, c.want)
		}
	}
}
