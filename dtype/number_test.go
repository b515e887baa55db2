package dtype

import (
	"math"
	"testing"
	"unsafe"
)

// format is a 16-bit float format, described apart from the code under test.
type format struct {
	name     string
	exponent int // bits
	fraction int // bits
	to       func(float32) uint16
	from     func(uint16) float32
	from64   func(uint16) float64
}

var formats = []format{
	{"bf16", 8, 7, func(f float32) uint16 { return BF16FromFloat32(f).Bits() },
		func(b uint16) float32 { return BF16FromBits(b).Float32() }, func(b uint16) float64 { return BF16FromBits(b).Float() }},
	{"f16", 5, 10, func(f float32) uint16 { return F16FromFloat32(f).Bits() },
		func(b uint16) float32 { return F16FromBits(b).Float32() }, func(b uint16) float64 { return F16FromBits(b).Float() }},
}

func (f *format) bias() int { return 1<<(f.exponent-1) - 1 }

// value is the number with a bit pattern, by the definition of the format.
func (f *format) value(b uint16) float64 {
	sign := 1.0
	if b>>15 == 1 {
		sign = -1
	}
	e := int(b>>f.fraction) & (1<<f.exponent - 1)
	m := int(b) & (1<<f.fraction - 1)
	switch {
	case e == 1<<f.exponent-1 && m != 0:
		return math.NaN()
	case e == 1<<f.exponent-1:
		return math.Inf(int(sign))
	case e == 0:
		return sign * math.Ldexp(float64(m), 1-f.bias()-f.fraction)
	}
	return sign * math.Ldexp(float64(m+1<<f.fraction), e-f.bias()-f.fraction)
}

// largest is the largest finite bit pattern.
func (f *format) largest() uint16 { return 1<<15 - 1 - 1<<f.fraction }

// Every bit pattern reads as the definition says, and a number goes back to its own pattern.
func TestEveryPattern(t *testing.T) {
	for _, f := range formats {
		for b := range 1 << 16 {
			x := uint16(b)
			want := f.value(x)
			got := f.from(x)
			if math.IsNaN(want) {
				if got == got || !math.IsNaN(f.from64(x)) {
					t.Fatalf("%s %#x is %g, want NaN", f.name, x, got)
				}
				if f.to(got) != 0x7fff {
					t.Fatalf("%s: NaN %#x became %#x, want 0x7fff", f.name, x, f.to(got))
				}
				continue
			}
			if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) || f.from64(x) != want {
				t.Fatalf("%s %#x is %g, want %g", f.name, x, got, want)
			}
			if f.to(got) != x {
				t.Fatalf("%s %#x = %g went to %#x", f.name, x, got, f.to(got))
			}
		}
	}
}

// The interval of f32 that rounds to each pattern ends exactly where the definition says: at the midpoint with its
// neighbour, which goes to the even one. With monotonicity between the ends this covers all f32.
func TestEveryRoundingBoundary(t *testing.T) {
	for _, f := range formats {
		for b := uint16(0); b <= f.largest(); b++ {
			lo := f.value(b)
			hi := f.value(b + 1)
			if b == f.largest() { // the next power of two, if the exponent had one more value
				hi = math.Ldexp(1, f.bias()+1)
			}
			mid := (lo + hi) / 2 // exact in float64, and in f32
			if float64(float32(mid)) != mid {
				t.Fatalf("%s: midpoint %g above %#x is no f32", f.name, mid, b)
			}
			even := b + b&1
			for _, c := range []struct {
				x    float32
				want uint16
			}{
				{math.Nextafter32(float32(mid), 0), b},
				{float32(mid), even},
				{math.Nextafter32(float32(mid), float32(math.Inf(1))), b + 1},
			} {
				if got := f.to(c.x); got != c.want {
					t.Fatalf("%s of %g (%#x): %#x, want %#x", f.name, c.x, math.Float32bits(c.x), got, c.want)
				}
				if got := f.to(-c.x); got != c.want|0x8000 {
					t.Fatalf("%s of %g: %#x, want %#x", f.name, -c.x, got, c.want|0x8000)
				}
			}
		}
		inf := f.largest() + 1
		for _, x := range []float32{math.MaxFloat32, float32(math.Inf(1))} {
			if f.to(x) != inf || f.to(-x) != inf|0x8000 {
				t.Fatalf("%s of %g: %#x", f.name, x, f.to(x))
			}
		}
	}
}

// Rounding is monotonic between the boundaries. Every 29th f32 is looked at: all of them, which pass too, take a minute.
func TestRoundingIsMonotonic(t *testing.T) {
	for _, f := range formats {
		last := uint16(0)
		for b := uint32(0); b < 0x7f800000; b += 29 {
			x := f.to(math.Float32frombits(b))
			if x < last || x > f.largest()+1 {
				t.Fatalf("%s of %#x: %#x after %#x", f.name, b, x, last)
			}
			last = x
		}
	}
}

func TestEveryNaN(t *testing.T) {
	for _, f := range formats {
		for b := uint32(0x7f800001); b < 0x80000000; b += 97 {
			if x, y := f.to(math.Float32frombits(b)), f.to(math.Float32frombits(b|1<<31)); x != 0x7fff || y != 0x7fff {
				t.Fatalf("%s of NaN %#x: %#x, %#x", f.name, b, x, y)
			}
		}
	}
}

// The host numbers have the size and the type that a kernel assumes.
func TestHostNumbers(t *testing.T) {
	type host interface{ DType() Type }
	for _, c := range []struct {
		x    host
		want Type
		size uintptr
	}{
		{Float32(0), F32, unsafe.Sizeof(Float32(0))}, {BFloat16{}, BF16, unsafe.Sizeof(BFloat16{})}, {Float16{}, F16, unsafe.Sizeof(Float16{})},
		{Int32(0), I32, unsafe.Sizeof(Int32(0))}, {Uint32(0), U32, unsafe.Sizeof(Uint32(0))}, {Int64(0), I64, unsafe.Sizeof(Int64(0))},
		{Int8(0), I8, unsafe.Sizeof(Int8(0))}, {Float8E4M3{}, E4M3, unsafe.Sizeof(Float8E4M3{})}, {Float8E5M2{}, E5M2, unsafe.Sizeof(Float8E5M2{})},
		{Boolean(false), Bool, unsafe.Sizeof(Boolean(false))},
	} {
		if c.x.DType() != c.want || int(c.size) != c.want.Size() {
			t.Errorf("%T is %s of %d bytes, want %s of %d", c.x, c.x.DType(), c.size, c.want, c.want.Size())
		}
	}
}
