//go:build unix

package sim

import (
	"context"
	"math"
	"syscall"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// cpu is the processor time of this process in ns. On a shared machine it says more than the clock.
func cpu(t testing.TB) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return syscall.TimevalToNsec(r.Utime) + syscall.TimevalToNsec(r.Stime)
}

// mix is a kernel whose lane operations are timed, with the sizes of its buffers.
type mix struct {
	kernel *thr.Kernel
	grid   int
	bytes  []int
	rest   []uint64 // arguments behind the buffers' addresses
	copied int      // bytes that asynchronous copies move
}

// launch makes a function that runs the kernel once on one worker and returns its lane operations.
func (x mix) launch(t testing.TB) func() int64 {
	m := NewMemory(false)
	var args []uint64
	for _, n := range x.bytes {
		a, data := output(t, m, n)
		clear(data)
		args = append(args, a)
	}
	args = append(args, x.rest...)
	p, err := Compile(x.kernel)
	if err != nil {
		t.Fatal(err)
	}
	return func() int64 {
		s, err := p.Run(context.Background(), m, x.grid, words(args...), Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s.LaneOps
	}
}

// bench reports the time of a lane operation on one core, all checks on: at most 5 ns on an idle machine.
func bench(b *testing.B, x mix) {
	launch := x.launch(b)
	var ops, launches int64
	start := cpu(b)
	for b.Loop() {
		ops += launch()
		launches++
	}
	spent := float64(cpu(b) - start)
	b.ReportMetric(spent/float64(ops), "cpu-ns/lane-op")
	if x.copied > 0 {
		b.ReportMetric(spent/float64(launches*int64(x.copied)), "cpu-ns/copied-byte")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ops), "ns/lane-op")
}

func BenchmarkReduction(b *testing.B)   { bench(b, reductionMix()) }
func BenchmarkElementwise(b *testing.B) { bench(b, elementwiseMix()) }
func BenchmarkShared(b *testing.B)      { bench(b, sharedMix()) }

// The mixes stay within 5 ns of processor time a lane operation. The test fails above 10, since other processes on the
// core's other thread and in its caches cost up to twice the time.
func TestLaneOpCost(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("measures time; not in short mode")
	case raceEnabled:
		t.Skip("the race detector's own work would be measured")
	case testing.CoverMode() != "":
		t.Skip("the counters of coverage would be measured")
	}
	for name, x := range map[string]mix{"reduction": reductionMix(), "elementwise": elementwiseMix(), "shared": sharedMix()} {
		launch := x.launch(t)
		best := math.Inf(1)
		for range 10 {
			start := cpu(t)
			ops := launch() + launch()
			best = min(best, float64(cpu(t)-start)/float64(ops))
		}
		t.Logf("%s: %.2f ns of processor time a lane operation", name, best)
		if best > 10 {
			t.Errorf("%s: %.1f ns of processor time a lane operation; the budget is 5", name, best)
		}
	}
}

// A reduction: loads of 4 bytes, fma, shuffles, some shared memory.
func reductionMix() mix {
	return mix{kernel: blockSum(256, 16), grid: 64, bytes: []int{4 * 256 * 16 * 64, 4 * 64}}
}

// A row scaled in registers, as RMSNorm does it: 16-byte loads and stores of bf16, unpacking, f32 arithmetic, packing.
func elementwiseMix() mix {
	const threads, vecs = 256, 4
	in, out := pointer("in", tU), pointer("out", tU)
	x, i, j := array("x", tU, 4*vecs), local("i", tI), local("j", tI)
	sum, scale := local("sum", tF), local("scale", tF)
	at4 := op(ir.Mul, ref(i), i32(4))
	word := elem(x, op(ir.Add, at4, ref(j)))
	place := func(p *thr.Arg) thr.Expr {
		row := op(ir.Mul, cast(bid, tQ), i64(threads*vecs*4))
		col := op(ir.Add, op(ir.Mul, tid, i32(4)), op(ir.Mul, ref(i), i32(4*threads)))
		return thr.PtrAdd{Base: thr.PtrAdd{Base: arg(p), Index: row}, Index: cast(col, tQ)}
	}
	loop := func(v *thr.Local, n int, body ...thr.Stmt) thr.Stmt {
		return thr.For{Var: v, Lo: i32(0), Hi: i32(n), Step: i32(1), Unroll: true, Body: body}
	}
	fma := func(f thr.Fn) thr.Stmt {
		return thr.Assign{Dst: ref(sum), Src: op(ir.Fma, call(f, word), call(f, word), ref(sum))}
	}
	scaled := func(f thr.Fn) thr.Expr { return op(ir.Mul, call(f, word), ref(scale)) }
	pred := op(ir.Lt, op(ir.Add, op(ir.Mul, tid, i32(4)), op(ir.Mul, ref(i), i32(4*threads))), i32(threads*vecs*4-8))
	return mix{kernel: kernel(threads, 0, []*thr.Arg{in, out},
		declare(x, nil), declare(sum, cf32(0)),
		loop(i, vecs,
			thr.Load{At: at(), Space: thr.Global, Dst: x, Index: at4, Bytes: 16, Addr: place(in), Pred: pred},
			loop(j, 4, fma(thr.BF16Lo), fma(thr.BF16Hi))),
		declare(scale, op(ir.Rsqrt, op(ir.Fma, ref(sum), cf32(1.0/8), cf32(1e-6)))),
		loop(i, vecs,
			loop(j, 4, thr.Assign{Dst: word, Src: call(thr.BF16Pair, scaled(thr.BF16Lo), scaled(thr.BF16Hi))}),
			thr.Store{At: at(), Space: thr.Global, Src: x, Index: at4, Bytes: 16, Addr: place(out), Pred: pred}),
	), grid: 64, bytes: []int{4 * threads * vecs * 4 * 64, 4 * threads * vecs * 4 * 64}}
}

// A transposition through shared memory: every other operation is a checked shared access.
func sharedMix() mix {
	x, y, i := local("x", tF), local("y", tF), local("i", tI)
	const threads = 256
	other := op(ir.Rem, op(ir.Add, op(ir.Mul, tid, i32(33)), ref(i)), i32(threads))
	return mix{kernel: kernel(threads, 4*threads, nil, declare(x, cast(tid, tF)), declare(y, nil),
		thr.For{Var: i, Lo: i32(0), Hi: i32(64), Step: i32(1), Body: []thr.Stmt{
			storeShared(at(), tid, op(ir.Add, ref(x), ref(x))), barrier(at()), loadShared(at(), x, other), barrier(at())}}), grid: 16}
}

// Arithmetic alone, in the loops of hot.go and lifted.
func BenchmarkOps(b *testing.B) {
	for _, c := range []struct {
		name string
		e    func(x *thr.Local) thr.Expr
	}{
		{"mul", func(x *thr.Local) thr.Expr { return op(ir.Mul, ref(x), ref(x)) }},
		{"fma", func(x *thr.Local) thr.Expr { return op(ir.Fma, ref(x), ref(x), ref(x)) }},
		{"max", func(x *thr.Local) thr.Expr { return op(ir.Max, ref(x), ref(x)) }},
		{"min", func(x *thr.Local) thr.Expr { return op(ir.Min, ref(x), ref(x)) }},
		{"exp", func(x *thr.Local) thr.Expr { return op(ir.Exp, ref(x)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, i, j := local("x", tF), local("i", tI), local("j", tI)
			bench(b, mix{kernel: kernel(256, 0, nil, declare(x, cast(tid, tF)),
				thr.For{Var: i, Lo: i32(0), Hi: i32(16), Step: i32(1), Body: []thr.Stmt{
					thr.For{Var: j, Lo: i32(0), Hi: i32(64), Step: i32(1), Unroll: true, Body: []thr.Stmt{
						thr.Assign{Dst: ref(x), Src: c.e(x)}}}}}), grid: 4})
		})
	}
}
