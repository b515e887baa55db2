//go:build !gotilegen

package optest

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// mmaTF32Cases multiply small integers, exactly; by the identity, which shows how elements are rounded; and numbers in
// [-1, 1) with the bars of the accuracies: 2e-3 and 1e-5 of the largest element.
func mmaTF32Cases() []tiletest.Case {
	return []tiletest.Case{
		opCase(ir.MMA, "tf32/integers", func(r run) error {
			return checkTF32(r, r.Ints(-3, 3, 1, tf32Side*tf32Side), r.Ints(-3, 3, 2, tf32Side*tf32Side), [2]float64{0, 0})
		}),
		opCase(ir.MMA, "tf32/uniform", func(r run) error {
			return checkTF32(r, r.Uniform(dtype.F32, 1, tf32Side*tf32Side), r.Uniform(dtype.F32, 2, tf32Side*tf32Side), [2]float64{2e-3, 1e-5})
		}),
		opCase(ir.MMA, "tf32/rounding", checkTF32Rounding),
	}
}

// tf32Product is the product of a form.
func tf32Product(a, b []float64, form int) []float64 {
	at := func(x []float64, i, j int, trans bool) float64 {
		i, j = mmaSides(i, j, trans)
		return x[i*tf32Side+j]
	}
	var out []float64
	for i := range tf32Side {
		for j := range tf32Side {
			s := 0.0
			for k := range tf32Side {
				s += at(a, i, k, transposedA(tf32Forms[form])) * at(b, k, j, transposedB(tf32Forms[form]))
			}
			out = append(out, s)
		}
	}
	return out
}

func launchTF32(r run, a, b []float64) ([]float64, error) {
	d := r.Out(dtype.F32, 16, tf32Side, tf32Side)
	err := launchMmaTF32(r.Stream, mmaTF32Params{A: r.In(dtype.F32, a, tf32Side, tf32Side), B: r.In(dtype.F32, b, tf32Side, tf32Side), D: d})
	if err != nil {
		return nil, err
	}
	return r.Floats(d), nil
}

func checkTF32(r run, a, b []float64, bars [2]float64) error {
	got, err := launchTF32(r, a, b)
	if err != nil || len(got) != 16*tf32Side*tf32Side {
		return err
	}
	for i := range 16 {
		r.Compare(fmt.Sprintf("%dxTF32", tf32Accuracies[i/4%2]), got[i*tf32Side*tf32Side:][:tf32Side*tf32Side], tf32Product(a, b, i%4), bars[i/4%2])
	}
	return nil
}

// checkTF32Rounding multiplies numbers with all bits of fraction, ties among them, by 1: TF32 gives the nearest number of
// 10 bits, ties away from zero, and TF32x3 adds what is nearest to the rest.
func checkTF32Rounding(r run) error {
	a, one := make([]float64, tf32Side*tf32Side), make([]float64, tf32Side*tf32Side)
	for i := range a {
		bits := uint32(tiletest.Bits(r.Seed, uint64(i)))
		switch i % 3 {
		case 0:
			bits = bits&^0x1fff | 0x1000 // a tie
		case 1:
			bits = bits&^0x1fff | 0x0fff // just below one
		}
		a[i] = float64(math.Float32frombits(bits&0x807fffff | 0x3f000000 | bits>>2&0x00800000))
	}
	for i := range tf32Side {
		one[i*tf32Side+i] = 1
	}
	got, err := launchTF32(r, a, one)
	if err != nil || len(got) != 16*tf32Side*tf32Side {
		return err
	}
	for i := range 16 {
		m := &mistakes{r: r, what: fmt.Sprintf("product %d", i)}
		for at, x := range tf32Product(a, one, i%4) {
			want := nearestTF32(x)
			if i/4%2 == 1 {
				want += nearestTF32(x - want)
			}
			if got[i*tf32Side*tf32Side+at] != want {
				m.at(at, got[i*tf32Side*tf32Side+at], "%v, of %v", want, x)
			}
		}
		m.done(tf32Side * tf32Side)
	}
	return nil
}

// nearestTF32 is the number of 11 significant bits next to x, ties away from zero.
func nearestTF32(x float64) float64 {
	f, e := math.Frexp(x)
	return math.Ldexp(math.Round(math.Ldexp(f, 11)), e-11)
}
