//go:build !gotilegen

package optest

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// wgmmaMoreCases are those of a warpgroup's products of f32 as it lies, and of the most and the fewest columns; and of
// rounding by itself.
func wgmmaMoreCases() []tiletest.Case {
	return append(wgmmaBytesCases(), []tiletest.Case{
		opCase(ir.MMA, "group_cut/integers", func(r run) error {
			return checkCut(r, r.Ints(-3, 3, 1, wgmmaCutM*wgmmaCutK), func(x float64) float64 { return x })
		}),
		opCase(ir.MMA, "group_cut/bits", func(r run) error { return checkCut(r, tf32Ties(r, wgmmaCutM*wgmmaCutK), cutTF32) }),
		opCase(ir.MMA, "group_wide/bf16", checkWide),
		opCase(ir.RoundTF32, "ties/f32", checkRoundTF32),
	}...)
}

// cutTF32 is what is left of a number without the bits that tf32 has not.
func cutTF32(x float64) float64 {
	return float64(math.Float32frombits(math.Float32bits(float32(x)) &^ 0x1fff))
}

// checkCut multiplies by rows with a 1 or, of the first 8, two, so that sums are exact and show how each element was taken.
func checkCut(r run, a []float64, cut func(float64) float64) error {
	const m, n, k = wgmmaCutM, wgmmaCutN, wgmmaCutK
	b := make([]float64, n*k)
	for j := range n {
		b[j*k+j%k] = float64(1 + j%3)
	}
	p := wgmmaCutParams{A: r.In(dtype.F32, a, m, k), B: r.In(dtype.F32, b, n, k), D: r.Out(dtype.F32, 3, m, n), E: r.Out(dtype.F32, 2, m, 8)}
	if err := launchWgmmaCut(r.Stream, p); err != nil {
		return err
	}
	want := func(columns int, take func(float64) float64) (out []float64) {
		for i := range m {
			for j := range columns {
				out = append(out, take(a[i*k+j%k])*float64(1+j%3))
			}
		}
		return out
	}
	thrice := func(x float64) float64 { return nearestTF32(x) + nearestTF32(x-nearestTF32(x)) }
	d := append(append(want(n, cut), want(n, cut)...), want(n, nearestTF32)...)
	r.Compare("products", r.Floats(p.D), d, 0)
	r.Compare("of the first rows, as they lie", r.Floats(p.E)[:m*8], want(8, cut), 0)
	r.Compare("of the first rows, 3xTF32", r.Floats(p.E)[m*8:], want(8, thrice), 1e-6) // twice and thrice such a sum is rounded
	return nil
}

// checkWide multiplies small integers.
func checkWide(r run) error {
	const m, n, k = wgmmaWideSide, wgmmaWideN, wgmmaWideSide
	a, at := mmaOperand(r, dtype.BF16, 1, m, k, false)
	b, bt := mmaOperand(r, dtype.BF16, 2, k, n, false)
	p := wgmmaWideParams{A: a, B: b, D: r.Out(dtype.F32, 2, m, n), E: r.Out(dtype.F32, 3, m, 8)}
	if err := launchWgmmaWide(r.Stream, p); err != nil {
		return err
	}
	for _, o := range []struct {
		what           string
		times, columns int
	}{{"256 columns", 2, n}, {"8 columns", 3, 8}} {
		var want []int
		for range o.times {
			for i := range m {
				for j := range o.columns {
					want = append(want, product(at, bt, k, i, j))
				}
			}
		}
		out := p.D
		if o.columns == 8 {
			out = p.E
		}
		ints(r, o.what, out, want)
	}
	return nil
}

// checkRoundTF32 has ties, numbers just below, all other fractions, zeros, denormals, and what has none.
func checkRoundTF32(r run) error {
	x := tf32Ties(r, 1000)
	special := []uint32{0, 0x80000000, 1, 0x1000, 0x0fff, 0x80001000, 0x007fffff, 0x7f7fefff, 0x7f7ff000, 0x7f800000, 0xff800000, 0x3f801000, 0xbf803000}
	for _, b := range special {
		x = append(x, float64(math.Float32frombits(b)))
	}
	p := roundTF32Params{X: r.In(dtype.F32, x, len(x)), Y: r.Out(dtype.F32, len(x))}
	if err := launchRoundTF32(r.Stream, p); err != nil {
		return err
	}
	got := r.Floats(p.Y)
	if len(got) != len(x) {
		return nil // it could not be read, which is noted
	}
	m := &mistakes{r: r, what: "numbers"}
	for i, x := range x {
		bits := math.Float32bits(float32(x))
		if bits&0x7f800000 != 0x7f800000 {
			bits = (bits + 0x1000) &^ 0x1fff
		}
		if want := float64(math.Float32frombits(bits)); got[i] != want || math.Signbit(got[i]) != math.Signbit(want) {
			m.at(i, got[i], "%v, of %v", want, fmt.Sprintf("%#x", math.Float32bits(float32(x))))
		}
	}
	m.done(len(x))
	return nil
}
