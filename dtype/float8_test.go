package dtype

import (
	"math"
	"testing"
)

// format8 is an 8-bit format, by table 1 of the OCP 8-bit Floating Point Specification (OFP8), apart from the code under
// test.
type format8 struct {
	name           string
	fraction, bias int
	infinity       bool // has one; the patterns above it, or else only the last, are NaN
	largest, least float64
	subnormal      float64 // the largest
	to             func(float32) uint8
	from           func(uint8) float32
	from64         func(uint8) float64
	round          func(float32) float32
}

var formats8 = []format8{
	{"e4m3", 3, 7, false, 448, 0x1p-9, 0.875 * 0x1p-6, func(x float32) uint8 { return E4M3FromFloat32(x).Bits() },
		func(b uint8) float32 { return E4M3FromBits(b).Float32() }, func(b uint8) float64 { return E4M3FromBits(b).Float() }, E4M3.Round},
	{"e5m2", 2, 15, true, 57344, 0x1p-16, 0.75 * 0x1p-14, func(x float32) uint8 { return E5M2FromFloat32(x).Bits() },
		func(b uint8) float32 { return E5M2FromBits(b).Float32() }, func(b uint8) float64 { return E5M2FromBits(b).Float() }, E5M2.Round},
}

// value is the number with a pattern, by the definition.
func (f *format8) value(b uint8) float64 {
	sign := 1 - 2*float64(b>>7)
	e, m := int(b&0x7f)>>f.fraction, float64(int(b)&(1<<f.fraction-1))
	last := 1<<(7-f.fraction) - 1
	switch {
	case f.infinity && e == last && m == 0:
		return math.Inf(int(sign))
	case f.infinity && e == last, !f.infinity && b&0x7f == 0x7f:
		return math.NaN()
	case e == 0:
		return math.Copysign(math.Ldexp(m, 1-f.bias-f.fraction), sign)
	}
	return sign * math.Ldexp(1+m/float64(int(1)<<f.fraction), e-f.bias)
}

// finite are the patterns of the numbers from 0 on, in their order.
func (f *format8) finite() (out []uint8) {
	for b := uint8(0); b < 0x80; b++ {
		if v := f.value(b); v-v == 0 {
			out = append(out, b)
		}
	}
	return out
}

// Every pattern reads as the definition says, and a number goes back to its own pattern.
func TestEvery8BitPattern(t *testing.T) {
	for _, f := range formats8 {
		n := f.finite()
		if last := f.value(n[len(n)-1]); last != f.largest || f.value(1) != f.least || f.value(1<<f.fraction-1) != f.subnormal {
			t.Fatalf("%s: the definition here has %g, %g, %g", f.name, last, f.value(1), f.value(1<<f.fraction-1))
		}
		for i := range 256 {
			b := uint8(i)
			want, got := f.value(b), f.from(b)
			switch {
			case math.IsNaN(want):
				if got == got || !math.IsNaN(f.from64(b)) || f.to(got) != 0x7f {
					t.Errorf("%s %#02x is %g, and goes to %#02x; want NaN, 0x7f", f.name, b, got, f.to(got))
				}
				continue
			case float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) || f.from64(b) != want:
				t.Errorf("%s %#02x is %g, want %g", f.name, b, got, want)
			case math.IsInf(want, 0):
				if back := f.to(got); f.value(back) != math.Copysign(f.largest, want) {
					t.Errorf("%s of %g: %#02x, want the largest number", f.name, want, back)
				}
				continue
			}
			if f.to(got) != b || f.round(got) != got {
				t.Errorf("%s %#02x = %g went to %#02x", f.name, b, got, f.to(got))
			}
		}
	}
}

// The interval of f32 that rounds to each pattern ends at the midpoint with its neighbour, which goes to the even one; the
// last has no end. Between the ends rounding is monotonic, which TestEvery8BitRounding looks at.
func TestEvery8BitBoundary(t *testing.T) {
	for _, f := range formats8 {
		n := f.finite()
		check := func(x float32, want uint8) {
			if got := f.to(x); got != want {
				t.Errorf("%s of %g: %#02x, want %#02x", f.name, x, got, want)
			}
			if got := f.to(-x); got != want|0x80 {
				t.Errorf("%s of %g: %#02x, want %#02x", f.name, -x, got, want|0x80)
			}
		}
		for i, b := range n[:len(n)-1] {
			next := n[i+1]
			mid := float32((f.value(b) + f.value(next)) / 2) // exact
			even := b
			if b&1 == 1 {
				even = next
			}
			check(math.Nextafter32(mid, 0), b)
			check(mid, even)
			check(math.Nextafter32(mid, math.MaxFloat32), next)
		}
		last := n[len(n)-1]
		for _, x := range []float64{f.largest, f.largest * 1.01, f.largest * 1.07, f.largest * 2, math.MaxFloat32, math.Inf(1)} {
			check(float32(x), last)
		}
		check(math.SmallestNonzeroFloat32, 0)
	}
}

// Rounding is monotonic.
func TestEvery8BitRounding(t *testing.T) {
	for _, f := range formats8 {
		last := uint8(0)
		for b := uint32(0); b <= 0x7f800000; b += 97 {
			x := f.to(math.Float32frombits(b))
			if x < last || f.value(x)-f.value(x) != 0 {
				t.Fatalf("%s of %#x: %#02x after %#02x", f.name, b, x, last)
			}
			last = x
		}
		for b := uint32(0x7f800001); b < 0x80000000; b += 997 {
			if x, y := f.to(math.Float32frombits(b)), f.to(math.Float32frombits(b|1<<31)); x != 0x7f || y != 0x7f {
				t.Fatalf("%s of NaN %#x: %#02x, %#02x", f.name, b, x, y)
			}
		}
	}
}

func TestI8FromFloat32(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want Int8
	}{{0, 0}, {0.99, 0}, {-0.99, 0}, {1.5, 1}, {-1.5, -1}, {126.99, 126}, {127, 127}, {127.5, 127}, {128, 127}, {-127.99, -127}, {-128, -128},
		{-128.5, -128}, {-1e30, -128}, {1e30, 127}, {math.Inf(1), 127}, {math.Inf(-1), -128}, {math.NaN(), 0}} {
		if got := I8FromFloat32(float32(c.x)); got != c.want {
			t.Errorf("%g became %d, want %d", c.x, got, c.want)
		}
	}
}
