//go:build !gotilegen

package optest

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// tf32Launch computes the products of a kernel of tf32Forms and tf32Accuracies, of matrices of sides x sides.
type tf32Launch struct {
	side int
	run  func(r run, a, b, d device.Tensor) error
}

var (
	warpTF32 = tf32Launch{tf32Side, func(r run, a, b, d device.Tensor) error {
		return launchMmaTF32(r.Stream, mmaTF32Params{A: a, B: b, D: d})
	}}
	groupTF32 = tf32Launch{wgmmaTF32Side, func(r run, a, b, d device.Tensor) error {
		return launchWgmmaTF32(r.Stream, wgmmaTF32Params{A: a, B: b, D: d})
	}}
)

// mmaTF32Cases multiply small integers, exactly; by the identity, which shows how elements are rounded; and numbers in
// [-1, 1) with the bars of the accuracies: 2e-3 and 1e-5 of the largest element.
func mmaTF32Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, l := range []tf32Launch{warpTF32, groupTF32} {
		name, n := "tf32", l.side*l.side
		if l.side == wgmmaTF32Side {
			name = "group_tf32"
		}
		out = append(out,
			opCase(ir.MMA, name+"/integers", func(r run) error {
				return l.check(r, r.Ints(-3, 3, 1, n), r.Ints(-3, 3, 2, n), [2]float64{0, 0})
			}),
			opCase(ir.MMA, name+"/uniform", func(r run) error {
				return l.check(r, r.Uniform(dtype.F32, 1, n), r.Uniform(dtype.F32, 2, n), [2]float64{2e-3, 1e-5})
			}),
			opCase(ir.MMA, name+"/rounding", l.checkRounding))
	}
	return out
}

// product is the product of a form.
func (l tf32Launch) product(a, b []float64, form int) []float64 {
	at := func(x []float64, i, j int, trans bool) float64 {
		i, j = mmaSides(i, j, trans)
		return x[i*l.side+j]
	}
	var out []float64
	for i := range l.side {
		for j := range l.side {
			s := 0.0
			for k := range l.side {
				s += at(a, i, k, transposedA(tf32Forms[form])) * at(b, k, j, transposedB(tf32Forms[form]))
			}
			out = append(out, s)
		}
	}
	return out
}

// launch is D; empty: it could not be read, which is noted.
func (l tf32Launch) launch(r run, a, b []float64) ([]float64, error) {
	d := r.Out(dtype.F32, 16, l.side, l.side)
	err := l.run(r, r.In(dtype.F32, a, l.side, l.side), r.In(dtype.F32, b, l.side, l.side), d)
	if err != nil {
		return nil, err
	}
	return r.Floats(d), nil
}

func (l tf32Launch) check(r run, a, b []float64, bars [2]float64) error {
	n := l.side * l.side
	got, err := l.launch(r, a, b)
	if err != nil || len(got) != 16*n {
		return err
	}
	var want [4][]float64
	for i := range want {
		want[i] = l.product(a, b, i)
	}
	for i := range 16 {
		r.Compare(fmt.Sprintf("%dxTF32", tf32Accuracies[i/4%2]), got[i*n:][:n], want[i%4], bars[i/4%2])
	}
	return nil
}

// checkRounding multiplies numbers with all bits of fraction, ties among them, by 1: TF32 gives the nearest number of 10
// bits, ties away from zero, and TF32x3 adds what is nearest to the rest.
func (l tf32Launch) checkRounding(r run) error {
	n := l.side * l.side
	a, one := tf32Ties(r, n), make([]float64, n)
	for i := range l.side {
		one[i*l.side+i] = 1
	}
	got, err := l.launch(r, a, one)
	if err != nil || len(got) != 16*n {
		return err
	}
	for i := range 16 {
		m := &mistakes{r: r, what: fmt.Sprintf("product %d", i)}
		for at, x := range l.product(a, one, i%4) {
			want := nearestTF32(x)
			if i/4%2 == 1 {
				want += nearestTF32(x - want)
			}
			if got[i*n+at] != want {
				m.at(at, got[i*n+at], "%v, of %v", want, x)
			}
		}
		m.done(n)
	}
	return nil
}

// tf32Ties are numbers with all bits of fraction, a third of them just between two of tf32, a third just below that.
func tf32Ties(r run, n int) []float64 {
	a := make([]float64, n)
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
	return a
}

// nearestTF32 is the number of 11 significant bits next to x, ties away from zero.
func nearestTF32(x float64) float64 {
	f, e := math.Frexp(x)
	return math.Ldexp(math.Round(math.Ldexp(f, 11)), e-11)
}
