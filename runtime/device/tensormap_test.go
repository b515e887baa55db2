package device

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// What a tensor map says of a tensor: the innermost dimension first, strides in bytes, a legal stride for a dimension that
// nobody steps along; and what has no map.
func TestTensorMapOf(t *testing.T) {
	d, err := Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, err := d.Alloc(1 << 12)
	if err != nil {
		t.Fatal(err)
	}
	m := TensorMap{Box: []int{1, 8, 64}, Swizzle: 128, Promotion: 128}
	view := func(shape, strides []int) Tensor {
		x, err := View(b, 8, dtype.BF16, shape, strides)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := view([]int{3, 5, 60}, []int{400, 72, 1})
	got, err := m.of(&x)
	if err != nil || got.Check() != nil {
		t.Fatal(err, got.Check())
	}
	if got.Dim[0] != 60 || got.Dim[2] != 3 || got.Stride[0] != 144 || got.Stride[1] != 800 || got.Box[0] != 64 || got.Box[2] != 1 || uint64(got.Addr) != b.Addr()+16 {
		t.Errorf("%+v", got)
	}
	x = view([]int{1, 5, 60}, []int{7, 72, 1})
	if got, err = m.of(&x); err != nil || got.Check() != nil {
		t.Errorf("a stride that nobody steps along: %v, %v", err, got.Check())
	}
	for want, bad := range map[string]Tensor{"dimension 0 is 0": view([]int{0, 5, 60}, nil), "rank 2": view([]int{5, 60}, nil), "last stride of 2": view([]int{1, 5, 60}, []int{600, 120, 2})} {
		if _, err := m.of(&bad); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A launch with maps that the kernel has seen asks the driver for none, and allocates nothing; another tensor at the same
// address is another map.
func TestTensorMapAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("testing.AllocsPerRun is wrong under -race")
	}
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	k := scaleKernel()
	k.Maps = []TensorMap{{Box: []int{8, 16}}, {Box: []int{8, 16}, Swizzle: 64}}
	x := must(NewTensor(d, dtype.F32, 8, scaleThreads))
	half := must(View(x.Buffer(), 0, dtype.F32, []int{4, scaleThreads}, nil))
	const encode = "cuTensorMapEncodeTiled"
	launch := func(x *Tensor) {
		f := must(d.Load(k))
		first, second := must(f.TensorMap(0, x)), must(f.TensorMap(1, x))
		if first[0] != x.Addr() || first == second {
			t.Fatalf("maps %v and %v of a tensor at %#x", first, second, x.Addr())
		}
		a := scaleArgs{x: x.Addr(), y: x.Addr(), a: 2, n: scaleThreads}
		ok(t, d.Stream().Launch(f, 1, unsafe.Pointer(&a)))
	}
	launch(&x)
	if n := testing.AllocsPerRun(1000, func() { launch(&x) }); n != 0 || drv.Count(encode) != 2 {
		t.Errorf("%v allocations a launch with two maps, %d of which were made", n, drv.Count(encode))
	}
	launch(&half)
	launch(&x)
	if n := drv.Count(encode); n != 4 {
		t.Errorf("%d maps were made for two tensors of two maps each", n)
	}
}

// What the L2 cache fetches at once is what a row of the box fills, and the driver's map says so.
func TestTensorMapPromotion(t *testing.T) {
	d := openFake(t, newFake(fake.H200))
	x := must(NewTensor(d, dtype.BF16, 8, 256))
	for _, c := range []struct {
		cols, bytes int
		want        driver.L2Promotion
	}{{8, 0, driver.L2PromotionNone}, {24, 0, driver.L2PromotionNone}, {32, 64, driver.L2Promotion64}, {56, 64, driver.L2Promotion64}, {64, 128, driver.L2Promotion128}, {120, 128, driver.L2Promotion128}, {128, 256, driver.L2Promotion256}, {256, 256, driver.L2Promotion256}} {
		n := (&thr.TensorMap{Box: []int{8, c.cols}}).Promotion(dtype.BF16)
		k := scaleKernel()
		k.Maps = []TensorMap{{Box: []int{8, c.cols}, Promotion: n}}
		m := must(must(d.Load(k)).TensorMap(0, &x))
		if got := driver.L2Promotion(m[1] >> 24 & 0xff); n != c.bytes || got != c.want {
			t.Errorf("rows of %d bf16: %d bytes, in the map %d; want %d and %d", c.cols, n, got, c.bytes, c.want)
		}
	}
	if n := (&thr.TensorMap{Box: []int{256, 16}}).Promotion(dtype.F32); n != 64 {
		t.Errorf("rows of 16 f32: %d bytes", n)
	}
	ok(t, x.Close())
}
