package bench_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// measured is what a run leaves of one benchmark: times in microseconds, and ratios that are medians within rounds.
var measured = bench.Case{
	Name: "scale/fwd/1024x4096/f32", Bytes: 32 << 20, Base: "gotile",
	Ratio: map[string]float64{"copy": 1.02, "other": 0.8},
	Arms: map[string]bench.Arm{
		"gotile": {Median: 10.2, Min: 10.1, Max: 10.4, Rounds: []float64{10.2, 10.1, 10.4}},
		"copy":   {Median: 10.0, Min: 9.9, Max: 10.2, Rounds: []float64{10.0, 9.9, 10.2}},
		"other":  {Median: 12.8, Min: 12.7, Max: 12.8, Rounds: []float64{12.8, 12.7, 12.8}},
	},
}

// A difference that is smaller than the spread of one of the two is none.
func ExampleCase_Compare() {
	for _, arm := range []string{"copy", "other"} {
		ratio, verdict, _ := measured.Compare(arm)
		fmt.Printf("%s: %.2f, %s; %.2f TB/s\n", arm, ratio, verdict, measured.Bandwidth(arm)/1e12)
	}
	// Output:
	// copy: 1.02, no change; 3.36 TB/s
	// other: 0.80, faster; 2.62 TB/s
}

// Results are JSON that every suite shares; for benchstat they have a line a round.
func ExampleResults_Benchfmt() {
	r := bench.Results{Suite: "scale", Device: "NVIDIA H200", Cases: []bench.Case{measured}}
	fmt.Printf("%s", r.Benchfmt())
	// Output:
	// suite: scale
	// device: NVIDIA H200
	// BenchmarkScale/fwd/1024x4096/f32/arm=copy 1 10000 ns/op 3.35544e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=copy 1 9900 ns/op 3.38934e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=copy 1 10200 ns/op 3.28965e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=gotile 1 10200 ns/op 3.28965e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=gotile 1 10100 ns/op 3.32222e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=gotile 1 10400 ns/op 3.22639e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=other 1 12800 ns/op 2.62144e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=other 1 12700 ns/op 2.64208e+12 B/s
	// BenchmarkScale/fwd/1024x4096/f32/arm=other 1 12800 ns/op 2.62144e+12 B/s
}

// A suite lists its benchmarks without touching a device; `gotile bench` calls the functions of those that it runs.
func ExampleSuite() {
	suite := bench.Suite{Name: "scale", Benchmarks: func(sel bench.Selection) ([]bench.Benchmark, error) {
		return []bench.Benchmark{{
			Name: "scale/fwd/1024x4096/f32", Bytes: 2 * 1024 * 4096 * 4, Input: 1024 * 4096 * 4,
			Setup: func(s *bench.Setup) ([]bench.Contender, error) { // makes tensors for s.Groups groups, and a Launch for each contender
				return nil, nil
			},
		}}, nil
	}}
	list, err := suite.Benchmarks(bench.Selection{})
	fmt.Println(list[0].Name, list[0].Bytes, err)
	fmt.Println(bench.Default.Rounds, "rounds of", bench.Default.Replays, "replays")
	// Output:
	// scale/fwd/1024x4096/f32 33554432 <nil>
	// 9 rounds of 20 replays
}

// A run writes its figures beside what they are of. On the simulator they mean nothing, but everything is exercised.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	suite := bench.Suite{Name: "zero", Benchmarks: func(bench.Selection) ([]bench.Benchmark, error) {
		return []bench.Benchmark{{Name: "zero/4/f32", Bytes: 4 * 4, Setup: func(s *bench.Setup) ([]bench.Contender, error) {
			x, err := s.New(dtype.F32, 4)
			if err != nil {
				return nil, err
			}
			zero := func(int) error { return s.Stream.Fill(x.Buffer(), 0, 16, 0) }
			return []bench.Contender{{Name: "ours", Launch: zero, Outputs: map[string]device.Tensor{"x": x}}}, nil
		}, Checks: func(int) []bench.Check {
			return []bench.Check{{Output: "x", Want: make([]float64, 4)}}
		}}}, nil
	}}
	err = bench.Run(context.Background(), suite, bench.Options{Device: "sim", Plan: bench.Plan{Rounds: 3, Replays: 1}, Out: dir}, io.Discard)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "zero.json"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range r.Cases {
		fmt.Println(c.Name, c.Bytes, "bytes;", len(c.Arms["ours"].Rounds), "rounds")
	}
	// Output:
	// zero/4/f32 16 bytes; 3 rounds
}
