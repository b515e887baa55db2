//go:build !gotilegen

package worker

import (
	"context"
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// zeros is a suite of one benchmark that fills a tensor.
func zeros() bench.Suite {
	return bench.Suite{Name: "zeros", Benchmarks: func(sel bench.Selection) ([]bench.Benchmark, error) {
		return []bench.Benchmark{{Name: "zeros/" + strings.Join(append(sel.Shapes, "end"), "/"), Bytes: 64, Input: 64, Setup: func(s *bench.Setup) ([]bench.Contender, error) {
			x, err := s.New(dtype.F32, 16)
			return []bench.Contender{{Name: "gotile", Outputs: map[string]device.Tensor{"x": x},
				Launch: func(int) error { return s.Stream.Fill(x.Buffer(), 0, 64, 0) }}}, err
		}}}, nil
	}}
}

func TestBench(t *testing.T) {
	p := Package{Path: "example.com/zeros", Name: "zeros", Dir: t.TempDir(), Commit: "c0ffee", Suite: zeros}
	dir := t.TempDir()
	out := mustRun(t, p, "bench", "-device", "sim", "-rounds", "2", "-replays", "1", "-shapes", "a,b", "-out", dir, "-benchfmt", dir+"/new.txt")
	if !strings.Contains(out, "zeros/a/b/end: 2 groups\n  gotile ") {
		t.Errorf("got %q", out)
	}
	r, err := bench.Read(dir + "/sim/zeros.json")
	if err != nil {
		t.Fatal(err)
	}
	if want := "gotile bench -device sim -shapes a,b -rounds 2 -replays 1 example.com/zeros"; r.Command != want || r.Commit != "c0ffee" {
		t.Errorf("command %q of %s, want %q", r.Command, r.Commit, want)
	}
	if !strings.Contains(read(t, dir, "new.txt"), "BenchmarkZeros/a/b/end/arm=gotile 1 ") {
		t.Errorf("benchfmt: %s", read(t, dir, "new.txt"))
	}
	mustFail(t, 1, "at least 1 of each", p, "bench", "-device", "sim", "-rounds", "0")
	mustFail(t, 1, "tpu", p, "bench", "-device", "tpu")
	mustFail(t, 0, "gotile bench rmsnorm", p, "bench", "-h")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Command = "bench"
	var errs strings.Builder
	if code := Run(ctx, p, []string{"-device", "sim"}, &errs, &errs); code != ExitInterrupted {
		t.Errorf("cancelled: exit code %d: %s", code, errs.String())
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"fwd/.*x4096/bf16$": "'fwd/.*x4096/bf16$'", "a|b": "'a|b'", "": "''", "it's": `'it'\''s'`, "4x64,8x64": "4x64,8x64"} {
		if got := quoted(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}
