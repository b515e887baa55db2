package device

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/dtype"
)

func TestBuffer(t *testing.T) {
	other := opened(t, "sim")
	each(t, func(t *testing.T, d *Device) {
		s := d.Stream()
		b, c := must(d.Alloc(64)), must(d.Alloc(64))
		in := []byte("0123456789")
		ok(t, s.Fill(b, 0, 64, '.'))
		ok(t, s.CopyIn(b, 54, in))
		ok(t, s.Copy(c, 0, b, 50, 14))
		out := make([]byte, 14)
		ok(t, s.CopyOut(out, c, 0))
		if !bytes.Equal(out, []byte("....0123456789")) {
			t.Errorf("%q", out)
		}
		is(t, s.CopyIn(b, 55, in), ErrShape, "CopyIn", "10 bytes from byte 55", "64")
		is(t, s.CopyOut(out, b, -1), ErrShape)
		is(t, s.Fill(b, 0, 65, 0), ErrShape)
		is(t, s.Fill(b, 1, math.MaxInt, 0), ErrShape)
		is(t, s.Copy(b, 0, c, 60, 5), ErrShape)
		is(t, s.Copy(b, 0, b, 4, 5), ErrShape, "overlap")
		ok(t, s.Copy(b, 0, b, 5, 5))
		is(t, s.Fill(must(other.Alloc(8)), 0, 8, 0), ErrWrongDevice, "sim")
		is(t, s.Fill(nil, 0, 0, 0), ErrClosed)
		if b.Addr()%256 != 0 || b.Addr() == c.Addr() || b.Device() != d || b.Bytes() != 64 {
			t.Errorf("buffer %#x of %d bytes", b.Addr(), b.Bytes())
		}
		ok(t, b.Close())
		ok(t, b.Close())
		is(t, s.Fill(b, 0, 8, 0), ErrClosed, "64 bytes")
		is(t, s.Copy(c, 0, b, 0, 8), ErrClosed)
		ok(t, c.Close())

		_, err := d.Alloc(-1)
		is(t, err, ErrShape)
		_, err = d.Alloc(1 << 50)
		is(t, err, ErrOutOfMemory, "1125899906842624 bytes")
		var e *Error
		if !errors.As(err, &e) || e.Device != d.Name() {
			t.Errorf("%#v", err)
		}
		zero := must(d.Alloc(0))
		ok(t, s.CopyIn(zero, 0, nil))
		ok(t, s.Fill(zero, 0, 0, 1))
		is(t, s.Fill(zero, 0, 1, 1), ErrShape)
		ok(t, zero.Close())
	})
}

func TestTensorShapes(t *testing.T) {
	d := opened(t, "sim")
	b := must(d.Alloc(100))
	for _, c := range []struct {
		err error
		got func() (Tensor, error)
	}{
		{ErrShape, func() (Tensor, error) { return NewTensor(d, dtype.F32, -1) }},
		{ErrShape, func() (Tensor, error) { return NewTensor(d, dtype.F32, 1<<31, 1<<31, 2) }},
		{ErrShape, func() (Tensor, error) { return NewTensor(d, dtype.I64, 1<<60) }},
		{ErrShape, func() (Tensor, error) { return NewTensor(d, dtype.F32, 0, 1<<31, 1<<32) }}, // no elements, but absurd
		{ErrShape, func() (Tensor, error) { return NewTensor(d, dtype.F32, 1, 1, 1, 1, 1, 1) }},
		{ErrDType, func() (Tensor, error) { return NewTensor(d, dtype.Bool, 1) }},
		{ErrDType, func() (Tensor, error) { return NewTensor(d, dtype.Invalid, 1) }},
		{ErrOutOfMemory, func() (Tensor, error) { return NewTensor(d, dtype.F32, 1<<20, 1<<20) }},
		{nil, func() (Tensor, error) { return View(b, 0, dtype.F32, []int{5, 5}, nil) }},
		{nil, func() (Tensor, error) { return View(b, 5, dtype.F32, []int{2, 10}, []int{10, 1}) }},
		{nil, func() (Tensor, error) { return View(b, 24, dtype.F32, []int{3, 7}, []int{0, 0}) }},
		{nil, func() (Tensor, error) { return View(b, 25, dtype.F32, []int{0}, nil) }},
		{nil, func() (Tensor, error) { return View(b, 24, dtype.F32, nil, nil) }},
		{ErrShape, func() (Tensor, error) { return View(b, 6, dtype.F32, []int{2, 10}, []int{10, 1}) }},
		{ErrShape, func() (Tensor, error) { return View(b, 26, dtype.F32, []int{0}, nil) }},
		{ErrShape, func() (Tensor, error) { return View(b, 25, dtype.F32, nil, nil) }},
		{ErrShape, func() (Tensor, error) { return View(b, -1, dtype.F32, []int{1}, nil) }},
		{ErrShape, func() (Tensor, error) { return View(b, 0, dtype.F32, []int{2}, []int{-1}) }},
		{ErrShape, func() (Tensor, error) { return View(b, 0, dtype.F32, []int{2}, []int{1, 1}) }},
		{ErrShape, func() (Tensor, error) { return View(b, 0, dtype.F32, []int{2, 2}, []int{math.MaxInt, math.MaxInt}) }},
		{ErrShape, func() (Tensor, error) { return View(b, 0, dtype.F32, []int{3}, []int{math.MaxInt}) }},
		{ErrShape, func() (Tensor, error) { return View(b, math.MaxInt, dtype.F32, []int{2}, nil) }},
		{ErrClosed, func() (Tensor, error) { return View(nil, 0, dtype.F32, nil, nil) }},
	} {
		x, err := c.got()
		if !errors.Is(err, c.err) {
			t.Errorf("%v, error %v; want %v", x, err, c.err)
		}
	}
	ok(t, b.Close())
	_, err := View(b, 0, dtype.F32, nil, nil)
	is(t, err, ErrClosed)

	x := must(NewTensor(d, dtype.BF16, 2, 3, 4))
	if s := x.String(); s != "bf16[2, 3, 4]" || x.Stride(0) != 12 || x.Stride(2) != 1 || x.Rank() != 3 || x.Elems() != 24 {
		t.Errorf("%s", s)
	}
	if s := must(View(x.Buffer(), 1, dtype.BF16, []int{2, 3}, []int{12, 1})).String(); s != "bf16[2, 3] with strides [12 1]" {
		t.Errorf("%s", s)
	}
	is(t, Tensor{}.Check(d), ErrShape, "not set")
	is(t, x.Check(opened(t, "sim")), ErrWrongDevice)
	if (Tensor{}).Addr() != 0 || (Tensor{}).Close() != nil {
		t.Error("the zero tensor")
	}
}

// transferred moves numbers of one type there and back.
func transferred[T Number](t *testing.T, d *Device, make func(i int) T) {
	const rows, n, pad = 3, 5, 2
	var zero T
	b := must(d.Alloc((1 + rows*(n+pad)) * zero.DType().Size()))
	x := must(View(b, 1, zero.DType(), []int{rows, n}, []int{n + pad, 1}))
	var in []T
	for i := range rows * n {
		in = append(in, make(i))
	}
	out := append([]T(nil), in...)
	clear(out)
	ok(t, Upload(d.Stream(), x, in))
	ok(t, Download(d.Stream(), out, x))
	for i := range in {
		if in[i] != out[i] {
			t.Errorf("%v: element %d: %v became %v", zero.DType(), i, in[i], out[i])
		}
	}
	ok(t, b.Close())
}

func TestTransferTypes(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		transferred(t, d, func(i int) dtype.Float32 { return dtype.Float32(i) / 7 })
		transferred(t, d, func(i int) dtype.BFloat16 { return dtype.BF16FromBits(uint16(i * 4097)) })
		transferred(t, d, func(i int) dtype.Float16 { return dtype.F16FromBits(uint16(i * 4097)) })
		transferred(t, d, func(i int) dtype.Int32 { return dtype.Int32(-i * 100_000_007) })
		transferred(t, d, func(i int) dtype.Uint32 { return dtype.Uint32(i * 200_000_007) })
		transferred(t, d, func(i int) dtype.Int64 { return dtype.Int64(-i) << 40 })
		x := must(NewTensor(d, dtype.F32, 2))
		is(t, Upload(d.Stream(), x, []dtype.Int32{1, 2}), ErrDType, "i32", "f32[2]")
		is(t, Upload(d.Stream(), x, []dtype.Float32{1}), ErrShape, "1 numbers", "has 2")
		is(t, Download(d.Stream(), make([]dtype.Float32, 3), x), ErrShape)
		repeated := must(View(x.Buffer(), 0, dtype.F32, []int{3, 2}, []int{0, 1}))
		is(t, UploadFloats(d.Stream(), repeated, make([]float64, 6)), ErrShape, "overlap")
		ok(t, UploadFloats(d.Stream(), x, []float64{3, 4}))
		if got := must(DownloadFloats(d.Stream(), repeated)); fmt.Sprint(got) != "[3 4 3 4 3 4]" {
			t.Errorf("a repeated row reads %v", got)
		}
		ok(t, UploadFloats(d.Stream(), must(NewTensor(d, dtype.F32, 0, 3)), nil))
		ok(t, x.Close())
		is(t, UploadFloats(d.Stream(), x, []float64{3, 4}), ErrClosed)
		is(t, UploadFloats(d.Stream(), Tensor{}, nil), ErrShape)
		_, err := DownloadFloats(d.Stream(), Tensor{})
		is(t, err, ErrShape)
	})
}

// Random shapes and strides against indexing by hand: elements land where they belong and nothing else changes.
func TestTransferStrides(t *testing.T) {
	d := opened(t, "sim")
	s := d.Stream()
	rapid.Check(t, func(r *rapid.T) {
		rank := rapid.IntRange(0, MaxRank).Draw(r, "rank")
		shape, strides := make([]int, rank), make([]int, rank)
		need := 1 // elements that the axes so far span
		for _, i := range rapid.Permutation(axes(rank)).Draw(r, "order") {
			shape[i] = rapid.IntRange(0, 4).Draw(r, "dim")
			strides[i] = need + rapid.IntRange(0, 2).Draw(r, "gap")
			need = max(need, strides[i]*max(shape[i], 1))
		}
		offset := rapid.IntRange(0, 3).Draw(r, "offset")
		size := offset + need
		b := must(d.Alloc(4 * size))
		defer b.Close()
		x := must(View(b, offset, dtype.I32, shape, strides))
		ok(t, s.Fill(b, 0, 4*size, 0xff))
		in := make([]dtype.Int32, x.Elems())
		want := make([]int32, size)
		for i := range want {
			want[i] = -1
		}
		for i := range in {
			in[i] = dtype.Int32(i)
			at, rest := offset, i
			for a := rank - 1; a >= 0; a-- {
				at += rest % shape[a] * strides[a]
				rest /= shape[a]
			}
			want[at] = int32(i)
		}
		ok(t, Upload(s, x, in))
		raw := make([]byte, 4*size)
		ok(t, s.CopyOut(raw, b, 0))
		for i, w := range want {
			if got := *(*int32)(unsafe.Pointer(&raw[4*i])); got != w {
				r.Fatalf("%v from %d on: element %d of the buffer is %d, want %d", x, offset, i, got, w)
			}
		}
		out := make([]dtype.Int32, len(in))
		ok(t, Download(s, out, x))
		for i := range out {
			if out[i] != in[i] {
				r.Fatalf("%v: element %d is %d", x, i, out[i])
			}
		}
	})
}

func axes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// The nearest 16-bit number found by trying both neighbours, against the conversion by way of float32.
func TestFloatsRoundOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	formats := map[dtype.Type]struct {
		round func(float32) float64
		ulp   func(x float64) float64
	}{
		dtype.BF16: {func(f float32) float64 { return dtype.BF16FromFloat32(f).Float() }, func(x float64) float64 { return ulp(x, 8, -133) }},
		dtype.F16:  {func(f float32) float64 { return dtype.F16FromFloat32(f).Float() }, func(x float64) float64 { return ulp(x, 11, -24) }},
	}
	d := opened(t, "sim")
	for dt, format := range formats {
		var in []float64
		for range 2000 {
			x := math.Ldexp(rng.Float64()-0.5, rng.IntN(40)-25)
			u := format.ulp(x)
			half := (math.Floor(x/u) + 0.5) * u
			in = append(in, x, half, math.Nextafter(half, math.Inf(1)), math.Nextafter(half, math.Inf(-1)))
		}
		in = append(in, 0, math.Copysign(0, -1), math.Inf(1), 1e300, -1e300, 1e-300, math.MaxFloat32)
		x := must(NewTensor(d, dt, len(in)))
		ok(t, UploadFloats(d.Stream(), x, in))
		for i, got := range must(DownloadFloats(d.Stream(), x)) {
			want := in[i]
			if u := format.ulp(in[i]); !math.IsInf(in[i], 0) {
				want = math.RoundToEven(in[i]/u) * u // exact: u is a power of two
				want = format.round(float32(want))   // overflow to infinity, the sign of zero
			}
			if got != want || math.Signbit(got) != math.Signbit(in[i]) {
				t.Fatalf("%v: %v (%b) becomes %v, want %v", dt, in[i], in[i], got, want)
			}
		}
	}
	x := must(NewTensor(d, dtype.F16, 1))
	ok(t, UploadFloats(d.Stream(), x, []float64{math.NaN()}))
	if got := must(DownloadFloats(d.Stream(), x))[0]; got == got {
		t.Errorf("NaN becomes %v", got)
	}
}

// ulp is the distance of neighbours of x in a format with so many significant bits, at least 2^least.
func ulp(x float64, bits, least int) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-bits, least))
}

func TestFloatsToIntegers(t *testing.T) {
	d := opened(t, "sim")
	for _, c := range []struct {
		dt  dtype.Type
		x   float64
		fit bool
	}{
		{dtype.I32, -1 << 31, true}, {dtype.I32, 1 << 31, false}, {dtype.I32, 0.5, false}, {dtype.I32, math.NaN(), false},
		{dtype.U32, 1<<32 - 1, true}, {dtype.U32, -1, false}, {dtype.U32, 1 << 32, false},
		{dtype.I64, -1 << 63, true}, {dtype.I64, 1 << 63, false}, {dtype.I64, math.Inf(1), false},
	} {
		x := must(NewTensor(d, c.dt))
		err := UploadFloats(d.Stream(), x, []float64{c.x})
		if (err == nil) != c.fit {
			t.Errorf("%v as %v: %v", c.x, c.dt, err)
		}
		if err == nil {
			if got := must(DownloadFloats(d.Stream(), x))[0]; got != c.x {
				t.Errorf("%v as %v: %v", c.x, c.dt, got)
			}
		}
	}
}
