package bind

import (
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// family has Y[rows, n] = f(X[rows, n], W[n], T[4, n] strided) in f32 up to n = 64 and 1024, and in bf16 up to 1024.
func family(targets ...string) *Family {
	if targets == nil {
		targets = []string{"sm_90a"}
	}
	kernel := func(name string) *device.Kernel { return &device.Kernel{Name: name, Targets: targets} }
	types := func(t dtype.Type) []dtype.Type { return []dtype.Type{t, dtype.F32, dtype.F32, t} }
	return &Family{
		Name:    "launchF",
		Symbols: []string{"rows", "n"},
		Fields: []Field{
			{Name: "X", Dims: []Dim{{Symbol: 0}, {Symbol: 1}}},
			{Name: "W", Dims: []Dim{{Symbol: 1}}},
			{Name: "T", Dims: []Dim{{-1, 4}, {Symbol: 1}}, Strided: true},
			{Name: "Y", Dims: []Dim{{Symbol: 0}, {Symbol: 1}}, Written: true},
		},
		Configs: []Config{
			{Kernel: kernel("f_f32_c64"), DTypes: types(dtype.F32), Max: []int{0, 64}, Work: []int{0}},
			{Kernel: kernel("f_f32_c1024"), DTypes: types(dtype.F32), Max: []int{0, 1024}, Work: []int{0}},
			{Kernel: kernel("f_bf16_c1024"), DTypes: types(dtype.BF16), Max: []int{0, 1024}, Work: []int{0}},
		},
	}
}

// writesT is family with T, which is strided, an output.
func writesT() *Family {
	f := family()
	f.Fields[2].Written = true
	return f
}

func open(t *testing.T) *device.Device {
	t.Helper()
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func tensor(t *testing.T, d *device.Device, dt dtype.Type, shape ...int) device.Tensor {
	t.Helper()
	x, err := device.NewTensor(d, dt, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// args makes right arguments of rows x n in a type.
func args(t *testing.T, d *device.Device, dt dtype.Type, rows, n int) []device.Tensor {
	return []device.Tensor{tensor(t, d, dt, rows, n), tensor(t, d, dtype.F32, n), tensor(t, d, dtype.F32, 4, n), tensor(t, d, dt, rows, n)}
}

func view(t *testing.T, x device.Tensor, shape, strides []int) device.Tensor {
	t.Helper()
	v, err := device.View(x.Buffer(), 0, x.DType(), shape, strides)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBindPicksTheFirstThatFits(t *testing.T) {
	d := open(t)
	for _, c := range []struct {
		dt      dtype.Type
		rows, n int
		want    int
	}{
		{dtype.F32, 3, 64, 0}, {dtype.F32, 3, 65, 1}, {dtype.F32, 0, 1024, 1}, {dtype.BF16, 1, 1, 2}, {dtype.F32, 5, 0, 0},
	} {
		var dims [2]int32
		got, err := family().Bind(d.Stream(), args(t, d, c.dt, c.rows, c.n), dims[:])
		if err != nil || got != c.want || dims != [2]int32{int32(c.rows), int32(c.n)} {
			t.Errorf("%v %dx%d: config %d, dims %v, %v; want config %d", c.dt, c.rows, c.n, got, dims, err, c.want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	d, other := open(t), open(t)
	outT := func(a []device.Tensor, shape, strides []int) []device.Tensor {
		return []device.Tensor{a[0], a[1], view(t, tensor(t, d, dtype.F32, 256), shape, strides), a[3]}
	}
	for _, c := range []struct {
		name   string
		spoil  func([]device.Tensor)
		is     error
		text   string
		family *Family
	}{
		{"unset", func(a []device.Tensor) { a[1] = device.Tensor{} }, device.ErrShape, "launchF: W: the tensor is not set", nil},
		{"rank", func(a []device.Tensor) { a[0] = tensor(t, d, dtype.F32, 96) }, device.ErrShape,
			"launchF: X: the tensor has rank 1, not 2: its shape is [rows, n]", nil},
		{"symbol", func(a []device.Tensor) { a[3] = tensor(t, d, dtype.F32, 3, 31) }, device.ErrShape,
			"launchF: Y: n (dimension 1) is 31, but X has n = 32", nil},
		{"fixed size", func(a []device.Tensor) { a[2] = tensor(t, d, dtype.F32, 5, 32) }, device.ErrShape,
			"launchF: T: dimension 0 is 5, not 4: its shape is [4, n]", nil},
		{"last stride", func(a []device.Tensor) { a[0] = view(t, tensor(t, d, dtype.F32, 3, 64), []int{3, 32}, []int{64, 2}) }, ErrStride,
			"launchF: X: the last stride is 2, not 1; copy it, or tag the argument strided", nil},
		{"overlapping output", func(a []device.Tensor) { a[3] = view(t, a[3], []int{3, 32}, []int{0, 1}) }, ErrStride,
			"launchF: Y: stride 0 of an output is 0: its elements would overlap", nil},
		{"overlapping rows", func(a []device.Tensor) { a[3] = view(t, a[3], []int{3, 32}, []int{5, 1}) }, ErrStride,
			"launchF: Y: stride 0 of an output is 5, but the dimensions inside it reach 31 elements far: its elements would overlap; make the stride at least 32", nil},
		{"rows that share one element", func(a []device.Tensor) { a[3] = view(t, a[3], []int{3, 32}, []int{31, 1}) }, ErrStride,
			"launchF: Y: stride 0 of an output is 31, but the dimensions inside it reach 31 elements far: its elements would overlap; make the stride at least 32", nil},
		{"equal strides", func(a []device.Tensor) { a[3] = view(t, a[3], []int{3, 32}, []int{1, 1}) }, ErrStride,
			"launchF: Y: stride 0 of an output is 1, but the dimensions inside it reach 31 elements far: its elements would overlap; make the stride at least 32", nil},
		{"overlapping columns", func(a []device.Tensor) { copy(a, outT(a, []int{4, 32}, []int{1, 3})) }, ErrStride,
			"launchF: T: stride 1 of an output is 3, but the dimensions inside it reach 3 elements far: its elements would overlap; make the stride at least 4", writesT()},
		{"countable", func(a []device.Tensor) { copy(a, args(t, d, dtype.F32, 1<<30+1, 0)) }, ErrLimit,
			"launchF: rows is 1073741825; a loop over the grid counts to 1073741824: split the launch", nil},
		{"types", func(a []device.Tensor) { a[3] = tensor(t, d, dtype.F16, 3, 32) }, device.ErrDType,
			"launchF: no kernel takes X f32, W f32, T f32, Y f16; the generated ones take X f32, W f32, T f32, Y f32; or X bf16, W f32, T f32, Y bf16", nil},
		{"capacity", func(a []device.Tensor) { copy(a, args(t, d, dtype.F32, 2, 1025)) }, ErrLimit,
			"launchF: X: n is 1025; the largest kernel for these types, f_f32_c1024, holds 1024: split it, or add a config with a larger capacity and run gotile gen", nil},
		{"2^31", func(a []device.Tensor) {
			a[0] = view(t, a[0], []int{maxDim + 1, 32}, []int{0, 1})
		}, ErrLimit, "launchF: X: dimension 0 is 2147418112; a dimension holds at most 2147418111: split the launch", nil},
		{"closed", func(a []device.Tensor) { a[0].Close() }, device.ErrClosed, "launchF: X: the tensor's buffer is closed", nil},
		{"another device", func(a []device.Tensor) { a[1] = tensor(t, other, dtype.F32, 32) }, device.ErrWrongDevice,
			"launchF: W: the tensor is on device sim, the stream on another that was opened as sim; copy it over", nil},
		{"target", func([]device.Tensor) {}, device.ErrTarget,
			"launchF: the device's target is sm_90a; the kernels are generated for sm_80, sm_86: add it to tile.Targets and run gotile gen", family("sm_80", "sm_86")},
	} {
		a := args(t, d, dtype.F32, 3, 32)
		c.spoil(a)
		f := c.family
		if f == nil {
			f = family()
		}
		var dims [2]int32
		_, err := f.Bind(d.Stream(), a, dims[:])
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, c.is) || err.Error() != c.text {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.text)
		}
	}
	var dims [2]int32
	if _, err := family().Bind(nil, args(t, d, dtype.F32, 1, 1), dims[:]); !errors.Is(err, device.ErrWrongDevice) {
		t.Errorf("nil stream: %v", err)
	}
}

func TestBindTakesStrides(t *testing.T) {
	d := open(t)
	a := args(t, d, dtype.F32, 3, 32)
	big := tensor(t, d, dtype.F32, 1000)
	a[0] = view(t, big, []int{3, 32}, []int{0, 1})  // an input may repeat a row
	a[2] = view(t, big, []int{4, 32}, []int{1, 4})  // strided
	a[3] = view(t, big, []int{3, 32}, []int{40, 1}) // rows apart
	var dims [2]int32
	if _, err := family().Bind(d.Stream(), a, dims[:]); err != nil {
		t.Error(err)
	}
	// The stride of a dimension of size 1 says nothing, of an output neither; an empty output has no elements to share.
	for _, c := range []struct {
		rows, n int
		strides []int
	}{{3, 1, []int{9, 9}}, {3, 1, []int{1, 7}}, {1, 32, []int{5, 1}}, {1, 32, []int{0, 1}}, {0, 32, []int{5, 1}}, {3, 0, []int{0, 1}}} {
		a := args(t, d, dtype.F32, c.rows, c.n)
		a[0] = view(t, big, []int{c.rows, c.n}, c.strides)
		a[3] = view(t, big, []int{c.rows, c.n}, c.strides)
		if _, err := family().Bind(d.Stream(), a, dims[:]); err != nil {
			t.Errorf("%dx%d with strides %d: %v", c.rows, c.n, c.strides, err)
		}
	}
	// Rows may lie as close as they are long, and the first axis may be the inner one.
	for _, c := range []struct {
		strides []int
		f       *Family
	}{{[]int{32, 1}, writesT()}, {[]int{1, 4}, writesT()}, {[]int{2, 8}, writesT()}} {
		a := args(t, d, dtype.F32, 3, 32)
		a[2] = view(t, big, []int{4, 32}, c.strides)
		if _, err := c.f.Bind(d.Stream(), a, dims[:]); err != nil {
			t.Errorf("output with strides %d: %v", c.strides, err)
		}
	}
}

// The work of a loop over the grid may be 2^30 iterations; one more is refused in TestBindRefuses.
func TestBindCountsTo1G(t *testing.T) {
	d := open(t)
	var dims [2]int32
	if _, err := family().Bind(d.Stream(), args(t, d, dtype.F32, 1<<30, 0), dims[:]); err != nil || dims[0] != 1<<30 {
		t.Errorf("rows = %d, %v", dims[0], err)
	}
}

func TestBindKnown(t *testing.T) {
	d := open(t)
	a := args(t, d, dtype.BF16, 3, 100)
	a[3] = device.Tensor{}
	var dims [2]int32
	if got, err := family().BindKnown(d.Stream(), a, dims[:]); err != nil || got != 2 || dims != [2]int32{3, 100} {
		t.Errorf("config %d, dims %v, %v", got, dims, err)
	}
	a[0] = device.Tensor{}
	_, err := family().BindKnown(d.Stream(), a, dims[:])
	if want := "launchF: the size of the grid depends on rows: set one of X, Y"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBindAllocatesNothing(t *testing.T) {
	if race() {
		t.Skip("the race detector's allocations would be counted")
	}
	d := open(t)
	f, a := family(), args(t, d, dtype.F32, 3, 100)
	n := testing.AllocsPerRun(100, func() {
		var dims [2]int32
		if _, err := f.Bind(d.Stream(), a, dims[:]); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWork(t *testing.T) {
	for _, c := range []struct {
		n    int64
		step int
		want int
	}{{0, 1, 0}, {-5, 2, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}, {maxWork, 1, maxWork}, {maxWork + 1, 1, tooMuch}, {1 << 40, 1 << 20, tooMuch}} {
		if got := Work(c.n, c.step); got != c.want {
			t.Errorf("Work(%d, %d) = %d, want %d", c.n, c.step, got, c.want)
		}
	}
	if Quo(7, 0) != -1 || Quo(-7, 2) != -3 || Rem(7, 0) != 7 || Rem(-7, 2) != -1 || Quo(math.MinInt32, -1) != 1<<31 {
		t.Error("division differs from the kernel's")
	}
}

func race() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
