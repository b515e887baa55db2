//go:build unix && !gotilegen

package optest

import (
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// warpgroupMMA makes a function that simulates, on one core, the product of 128x128 and 128x64 bf16 by two warpgroups,
// with the tensor copies of its operands and the store of its result: as many multiplications as an MMA of 64x128x128.
func warpgroupMMA(t testing.TB) func() {
	d, err := device.Open("sim", device.WithSim(device.SimConfig{Workers: 1}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	matrix := func(e dtype.Type, rows, cols int) device.Tensor {
		x, err := device.NewTensor(d, e, rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	p := wgmmaPipeParams{A: matrix(dtype.BF16, 128, 128), B: matrix(dtype.BF16, 128, 64), C: matrix(dtype.F32, 128, 64)}
	return func() {
		if err := launchWgmmaPipe(d.Stream(), p); err != nil {
			t.Fatal(err)
		}
	}
}

// clocks are the wall clock and the processor time of this process.
func clocks(t testing.TB) (wall time.Time, cpu time.Duration) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Now(), time.Duration(syscall.TimevalToNsec(r.Utime) + syscall.TimevalToNsec(r.Stime))
}

func BenchmarkWarpgroupMMA(b *testing.B) {
	launch, n := warpgroupMMA(b), 0
	_, start := clocks(b)
	for b.Loop() {
		launch()
		n++
	}
	_, end := clocks(b)
	b.ReportMetric(float64(end-start)/float64(n), "cpu-ns/op")
}

// A launch takes at most 3 ms on an idle machine. The best of several rounds counts, by the clock that says less: on a busy
// machine the wall clock has the time of others in it, and processor time that of the garbage collector beside.
func TestWarpgroupMMATakes3ms(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("measures time; not in short mode")
	case testing.CoverMode() != "":
		t.Skip("the counters of coverage would be measured")
	case raceEnabled:
		t.Skip("the race detector's own work would be measured")
	}
	const launches, most = 10, 3 * time.Millisecond
	launch := warpgroupMMA(t)
	launch() // the first lowers the kernel
	byWall, byCPU := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 10 {
		wall, cpu := clocks(t)
		for range launches {
			launch()
		}
		end, spent := clocks(t)
		byWall, byCPU = min(byWall, end.Sub(wall)/launches), min(byCPU, (spent-cpu)/launches)
	}
	t.Logf("%v a launch, %v of processor time", byWall, byCPU)
	switch {
	case byWall <= 0 || byCPU < 0 || byCPU > 8*byWall: // one worker, and the runtime's own threads
		t.Errorf("the clocks disagree: %v a launch, %v of processor time", byWall, byCPU)
	case byCPU > most && byWall > most:
		t.Errorf("%v a launch, %v of processor time; at most %v", byWall, byCPU, most)
	}
}
