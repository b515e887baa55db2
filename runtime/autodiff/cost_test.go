package autodiff_test

import (
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// race reports whether the race detector is built in.
func race() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// silent does all that an op does but launch: two ports, an output, scratch that is saved, views of all of them.
var silent = autodiff.New("silent", autodiff.Spec[*float64, binaryIn, out, cubeSaved]{
	Forward: func(x *autodiff.Exec, views *float64, in binaryIn) (o out, s cubeSaved, err error) {
		o.Y, s.Square = x.Like(in.A), x.Scratch(dtype.F32, in.A.Dim(0))
		measure(views, func() { touch(x.View(in.A), x.View(in.B), x.View(o.Y), x.Flat(in.A)) })
		return o, s, nil
	},
	Backward: func(x *autodiff.Exec, views *float64, in binaryIn, s cubeSaved, dy out) (d binaryIn, err error) {
		d.A = x.Like(in.A)
		measure(views, func() { touch(x.View(in.A), x.View(in.B), x.View(dy.Y), x.Flat(d.A)) })
		return d, nil
	},
})

// touch uses the views.
func touch(a, b, c, d device.Tensor) bool { return a.Elems()+b.Elems()+c.Elems() == 3*d.Elems() }

// measure does what an op does with views, and where it is asked to adds up what that allocates.
func measure(sum *float64, views func()) {
	if sum == nil {
		views()
		return
	}
	*sum += testing.AllocsPerRun(10, views)
}

// chain makes a step of n applications of silent, forward and backward.
func chain(t testing.TB, n int) (step func(views *float64)) {
	s := sim(t)
	pool := autodiff.NewPool(s)
	t.Cleanup(func() { pool.Close() })
	data, w := tensor(t, s, dtype.F32, make([]float64, 64), 8, 8), tensor(t, s, dtype.F32, make([]float64, 64), 8, 8)
	p := autodiff.NewParam("p", w)
	return func(views *float64) {
		tp := tape(t, s, autodiff.WithPool(pool))
		x, c := tp.Param(p), tp.Input("c", data)
		for range n {
			x = silent.Apply(tp, views, binaryIn{x, c}).Y
		}
		if err := tp.BackwardFrom(autodiff.Seed{Of: x, Grad: data}); err != nil {
			t.Fatal(err)
		}
		closed(t, tp)
	}
}

// Between an op's function and its launch nothing is allocated, and all that the tape keeps of an application, forward
// and backward, is one object and its share of larger ones.
func TestAllocations(t *testing.T) {
	if race() {
		t.Skip("testing.AllocsPerRun is wrong under -race")
	}
	views := 0.0
	chain(t, 3)(&views)
	if views != 0 {
		t.Errorf("views of 3 ops, forward and backward, allocate %v times", views)
	}
	const few, many = 100, 1100
	allocs := func(n int) float64 {
		step := chain(t, n)
		step(nil)
		return testing.AllocsPerRun(5, func() { step(nil) })
	}
	if per := (allocs(many) - allocs(few)) / (many - few); per > 1.5 {
		t.Errorf("an application with its backward step allocates %.2f times", per)
	}
}

// BenchmarkApply is the host's time for an op, forward and backward, without launches.
func BenchmarkApply(b *testing.B) {
	const n = 100
	step := chain(b, n)
	step(nil)
	b.ReportAllocs()
	for b.Loop() {
		step(nil)
	}
	per := float64(b.N) * n
	b.ReportMetric(float64(b.Elapsed())/float64(time.Microsecond)/per, "µs/op-fwd+bwd")
}
