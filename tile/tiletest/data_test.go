package tiletest

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/dtype"
)

// The first outputs of the reference implementation (https://prng.di.unimi.it/splitmix64.c) for seeds 0 and
// 1234567.
func TestBitsIsSplitmix64(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		want []uint64
	}{
		{0, []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f}},
		{1234567, []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423}},
	} {
		for i, w := range c.want {
			if got := Bits(c.seed, uint64(i)); got != w {
				t.Errorf("Bits(%d, %d) = %#x, want %#x", c.seed, i, got, w)
			}
		}
	}
}

func TestUniformIsExactInItsType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.BF16, dtype.F16}).Draw(t, "type")
		x := UniformAt(dt, rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "index"))
		var b [8]byte
		put(b[:], dt, x)
		if back := get(b[:], dt); back != x || x < -1 || x >= 1 {
			t.Fatalf("%v is %v as %v", x, back, dt)
		}
	})
}

func TestUniformMeanAndSpread(t *testing.T) {
	const n = 100_000
	for _, dt := range []dtype.Type{dtype.F32, dtype.BF16, dtype.F16} {
		sum, square := 0.0, 0.0
		for _, x := range Uniform(dt, 1, n) {
			sum += x
			square += x * x
		}
		// 5 standard deviations of the mean of n uniform numbers, and the bias of half a step.
		if tol := 5/math.Sqrt(3*n) + 1.0/256; math.Abs(sum/n) > tol || math.Abs(square/n-1.0/3) > tol {
			t.Errorf("%v: mean %v, mean square %v", dt, sum/n, square/n)
		}
	}
}

func TestInts(t *testing.T) {
	seen := map[float64]bool{}
	for _, x := range Ints(-3, 4, 9, 1000) {
		seen[x] = true
		if x < -3 || x > 4 || x != math.Trunc(x) {
			t.Fatalf("%v is no integer in [-3, 4]", x)
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d of 8 integers occur", len(seen))
	}
}

func TestPutRoundsOnce(t *testing.T) {
	// Just above the middle of two bf16 neighbours, by less than float32 resolves: rounding to float32 first would
	// make it the middle, and nearest even would go down.
	x := 1 + 1.0/256 + 1.0/(1<<40)
	var b [8]byte
	put(b[:], dtype.BF16, x)
	if got := get(b[:], dtype.BF16); got != 1+1.0/128 {
		t.Errorf("%v became %v", x, got)
	}
	put(b[:], dtype.BF16, -x)
	if got := get(b[:], dtype.BF16); got != -1-1.0/128 {
		t.Errorf("%v became %v", -x, got)
	}
	for _, dt := range dtype.All() {
		fillPoison(b[:], dt)
		if !isPoison(b[:], dt) {
			t.Errorf("%v: poison is not recognised", dt)
		}
		put(b[:], dt, 1)
		if isPoison(b[:], dt) || get(b[:], dt) != 1 {
			t.Errorf("%v: 1 is poison, or %v", dt, get(b[:], dt))
		}
		if x := get(b[:], dt); dt.IsFloat() && x != x {
			t.Errorf("%v: NaN after writing 1", dt)
		}
	}
}
