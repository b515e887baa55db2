package bind

import (
	"errors"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// wholeFamily is family with a config in front whose X and Y are whole vectors of f32, up to n = 256, and, with alone,
// without the others.
func wholeFamily(alone bool) *Family {
	f := family()
	first := f.Configs[0]
	first.Kernel = &device.Kernel{Name: "f_f32_c256_v", Targets: first.Kernel.Targets}
	first.Max = []int{0, 256}
	first.Aligned, first.Multiple = []int{0, 3}, []int{1, 4}
	f.Configs = append([]Config{first}, f.Configs...)
	if alone {
		f.Configs = f.Configs[:1]
	}
	return f
}

// Whole vectors take the first config, others the next that holds them; where none is left, the launch says what is not
// whole.
func TestWholeVectors(t *testing.T) {
	d := open(t)
	big := tensor(t, d, dtype.F32, 4096)
	at := func(offset int, shape, strides []int) device.Tensor {
		v, err := device.View(big.Buffer(), offset, dtype.F32, shape, strides)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const way = "pad it, or add a config without tile.WholeVectors and run gotile gen"
	for _, c := range []struct {
		name    string
		rows, n int
		spoil   func(a []device.Tensor)
		next    int // config without the demands
		is      error
		text    string
	}{
		{"whole", 3, 32, nil, 0, nil, ""},
		{"no rows", 0, 32, nil, 0, nil, ""},
		{"rows of 20 floats apart", 3, 16, func(a []device.Tensor) { a[0] = at(4, []int{3, 16}, []int{20, 1}) }, 0, nil, ""},
		{"one row, whose stride is of no account", 1, 16, func(a []device.Tensor) { a[3] = at(0, []int{1, 16}, []int{17, 1}) }, 0, nil, ""},
		{"a tensor that is not asked", 3, 16, func(a []device.Tensor) { a[1] = at(1, []int{16}, []int{1}) }, 0, nil, ""},
		{"length", 3, 30, nil, 1, device.ErrShape, "launchF: X: n is 30; f_f32_c256_v takes multiples of 4, whole vectors of 16 bytes: " + way},
		{"address", 3, 32, func(a []device.Tensor) { a[0] = at(1, []int{3, 32}, []int{32, 1}) }, 1, ErrAlign,
			"launchF: X: its address or a stride is no multiple of 16 bytes, as f_f32_c256_v needs: " + way},
		{"stride", 3, 32, func(a []device.Tensor) { a[3] = at(0, []int{3, 32}, []int{34, 1}) }, 1, ErrAlign,
			"launchF: Y: its address or a stride is no multiple of 16 bytes, as f_f32_c256_v needs: " + way},
		{"more than it holds", 3, 260, nil, 2, ErrLimit,
			"launchF: X: n is 260; the largest kernel for these types, f_f32_c256_v, holds 256: split it, or add a config with a larger capacity and run gotile gen"},
	} {
		a := args(t, d, dtype.F32, c.rows, c.n)
		if c.spoil != nil {
			c.spoil(a)
		}
		var dims [2]int32
		if got, err := wholeFamily(false).Bind(d.Stream(), a, dims[:]); err != nil || got != c.next {
			t.Errorf("%s: config %d, %v; want config %d", c.name, got, err, c.next)
		}
		_, err := wholeFamily(true).Bind(d.Stream(), a, dims[:])
		if c.is == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.Is(err, c.is) || err.Error() != c.text {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.text)
		}
	}
}

// Where tensor copies ask for whole vectors, not the option, the way out is one without them.
func TestWholeVectorsOfTensorCopies(t *testing.T) {
	d := open(t)
	f := wholeFamily(true)
	f.Configs[0].Kernel.Maps = []device.TensorMap{{Tensor: 0, Box: []int{1, 64}}}
	var dims [2]int32
	_, err := f.Bind(d.Stream(), args(t, d, dtype.F32, 3, 30), dims[:])
	const want = "launchF: X: n is 30; f_f32_c256_v takes multiples of 4, whole vectors of 16 bytes: pad it, or add a config without tensor copies and run gotile gen"
	if !errors.Is(err, device.ErrShape) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Of a launch that is not complete, what is unset is taken to be whole, and is not what a refusal names.
func TestWholeVectorsKnown(t *testing.T) {
	d := open(t)
	f := wholeFamily(true)
	f.Fields[0].Dims = []Dim{{Symbol: 0}, {-1, 32}} // so that n is Y's, W's and T's alone
	odd, err := device.View(tensor(t, d, dtype.F32, 200).Buffer(), 1, dtype.F32, []int{3, 32}, []int{32, 1})
	if err != nil {
		t.Fatal(err)
	}
	var dims [2]int32
	a := make([]device.Tensor, 4)
	a[0] = tensor(t, d, dtype.F32, 3, 32)
	if got, err := f.BindKnown(d.Stream(), a, dims[:]); err != nil || got != 0 || dims != [2]int32{3, 0} {
		t.Errorf("config %d, dims %v, %v", got, dims, err)
	}
	a[0] = odd
	_, err = f.BindKnown(d.Stream(), a, dims[:])
	if !errors.Is(err, ErrAlign) {
		t.Errorf("got %v, want a refusal of the address", err)
	}
}
