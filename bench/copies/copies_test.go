//go:build !gotilegen

package copies

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

func TestCopyRefuses(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, err := device.NewTensor(d, dtype.F32, 8)
	if err != nil {
		t.Fatal(err)
	}
	none := device.Tensor{}
	for _, c := range []struct{ xs, ys []device.Tensor }{
		{[]device.Tensor{x}, []device.Tensor{none}}, {[]device.Tensor{none}, []device.Tensor{x}}, {[]device.Tensor{x}, nil},
		{[]device.Tensor{x, x, x, x}, []device.Tensor{x}},
	} {
		if err := Copy(d.Stream(), c.xs, c.ys); err == nil {
			t.Errorf("%v to %v is taken", c.xs, c.ys)
		}
	}
}
