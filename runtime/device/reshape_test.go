package device

import (
	"errors"
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
)

func TestReshape(t *testing.T) {
	d, err := Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, err := NewTensor(d, dtype.F32, 4, 6)
	if err != nil {
		t.Fatal(err)
	}
	part, err := View(x.Buffer(), 6, dtype.F32, []int{2, 6}, nil) // keeps its offset
	if err != nil {
		t.Fatal(err)
	}
	if y, err := part.Reshape(3, 4); err != nil || y.Addr() != part.Addr() || y.Dim(0) != 3 || y.Stride(0) != 4 {
		t.Errorf("Reshape gives %v at %#x, %v", y, y.Addr(), err)
	}
	strided, err := View(x.Buffer(), 0, dtype.F32, []int{4, 3}, []int{6, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x     Tensor
		shape []int
		want  error
	}{{x, []int{5, 5}, ErrShape}, {x, []int{-4, -6}, ErrShape}, {x, []int{math.MaxInt, 3}, ErrShape}, {strided, []int{12}, ErrShape}, {Tensor{}, nil, ErrClosed}} {
		if _, err := c.x.Reshape(c.shape...); !errors.Is(err, c.want) {
			t.Errorf("%v as %v: %v, want %v", c.x, c.shape, err, c.want)
		}
	}
}
