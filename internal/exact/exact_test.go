package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/dtype"
)

func same(a, b float64) bool {
	return a != a && b != b || a == b && math.Signbit(a) == math.Signbit(b)
}

// Every pattern of the 16-bit formats, and any of f32, is the number that package dtype and Go say.
func TestFloat(t *testing.T) {
	for bits := range uint64(1 << 16) {
		if got, want := Float(dtype.BF16, bits), dtype.BF16FromBits(uint16(bits)).Float(); !same(got, want) {
			t.Fatalf("bf16 %#x is %v, dtype says %v", bits, got, want)
		}
		if got, want := Float(dtype.F16, bits), dtype.F16FromBits(uint16(bits)).Float(); !same(got, want) {
			t.Fatalf("f16 %#x is %v, dtype says %v", bits, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint32().Draw(t, "bits")
		if got, want := Float(dtype.F32, uint64(bits)), float64(math.Float32frombits(bits)); !same(got, want) {
			t.Errorf("f32 %#x is %v, Go says %v", bits, got, want)
		}
	})
}

// Round keeps numbers of the type, and goes to the nearer neighbour of others, halfway to the one that is even.
func TestRound(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.BF16, dtype.F16} {
		infinity := uint64(0x7f80)
		if dt == dtype.F16 {
			infinity = 0x7c00
		}
		for bits := range infinity {
			x := Float(dt, bits)
			next := 2*x - Float(dt, bits-1) // above the largest number, the one that would follow
			if bits+1 < infinity {
				next = Float(dt, bits+1)
			}
			up, even := next, x
			if bits+1 == infinity {
				up = math.Inf(1)
			}
			if bits%2 == 1 {
				even = up
			}
			half := x + (next-x)/2
			for _, c := range []struct{ x, want float64 }{{x, x}, {math.Nextafter(half, 0), x}, {half, even}, {math.Nextafter(half, math.Inf(1)), up}} {
				if got := Round(dt, c.x); !same(got, c.want) {
					t.Fatalf("%v: %v rounds to %v, want %v", dt, c.x, got, c.want)
				}
				if got := Round(dt, -c.x); !same(got, -c.want) {
					t.Fatalf("%v: %v rounds to %v, want %v", dt, -c.x, got, -c.want)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		if got, want := Round(dtype.F32, x), float64(float32(x)); !same(got, want) {
			t.Errorf("%v rounds to %v, Go says %v", x, got, want)
		}
	})
}

// Narrow rounds twice: 1 + 2^-8 + 2^-30 is halfway between two bf16 numbers once it is an f32.
func TestNarrow(t *testing.T) {
	x := 1 + 0x1p-8 + 0x1p-30
	if once, twice := Round(dtype.BF16, x), Narrow(dtype.BF16, x); once != 1+0x1p-7 || twice != 1 {
		t.Errorf("once %v, twice %v", once, twice)
	}
}

func TestInt(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.I32, dtype.U32, dtype.I64, dtype.Bool} {
		least, most := Limits(dt)
		if dt == dtype.Bool {
			least, most = 0, 1
		}
		size := new(big.Int).Sub(big.NewInt(most), big.NewInt(least)) // of the type's range, less 1
		size.Add(size, big.NewInt(1))
		rapid.Check(t, func(t *rapid.T) {
			bits := rapid.Uint64().Draw(t, "bits")
			got := Int(dt, bits)
			apart := new(big.Int).Sub(new(big.Int).SetUint64(bits), big.NewInt(got))
			if got < least || got > most || apart.Mod(apart, size).Sign() != 0 {
				t.Errorf("%v: %#x is %d", dt, bits, got)
			}
		})
	}
}

func TestTruncate(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.I32, dtype.U32, dtype.I64} {
		least, most := Limits(dt)
		rapid.Check(t, func(t *rapid.T) {
			x := math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "fraction"), rapid.IntRange(0, 70).Draw(t, "exponent"))
			want, _ := new(big.Float).SetFloat64(x).Int(nil)
			if lo := big.NewInt(least); want.Cmp(lo) < 0 {
				want = lo
			}
			if hi := big.NewInt(most); want.Cmp(hi) > 0 {
				want = hi
			}
			if got := Truncate(dt, x); got != want.Int64() {
				t.Errorf("%v: %v becomes %d, want %d", dt, x, got, want)
			}
		})
		if Truncate(dt, math.NaN()) != 0 || Truncate(dt, math.Inf(1)) != most || Truncate(dt, math.Inf(-1)) != least {
			t.Errorf("%v: NaN and infinities become %d, %d, %d", dt, Truncate(dt, math.NaN()), Truncate(dt, math.Inf(1)), Truncate(dt, math.Inf(-1)))
		}
	}
}
