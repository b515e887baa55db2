//go:build !gotilegen

package doccheck

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/bench"
)

// results renders bench:FILE or bench:FILE:SHAPE,SHAPE, the table of medians, and floors:FILE:SHAPE.
func results(kind, spec string) (string, error) {
	file, list, some := strings.Cut(spec, ":")
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	var r bench.Results
	if err := json.Unmarshal(b, &r); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if kind == "floors" {
		return FloorsTable(&r, list)
	}
	if !some {
		return ResultsTable(&r, nil)
	}
	return ResultsTable(&r, strings.Split(list, ","))
}

// measured is a run with two shapes: bandwidths 2 and 4 TB/s, copies 4 and 3.
func measured() *bench.Results {
	r := &bench.Results{Suite: "rmsnorm", Device: "GPU", Driver: "1.2", NVRTC: "13.0", Commit: "abc"}
	for _, s := range []string{"8x16", "4x32"} {
		r.Cases = append(r.Cases,
			bench.Case{Name: "rmsnorm/fwd/" + s + "/bf16", Bytes: 2e8, Arms: map[string]bench.Arm{"gotile": {Median: 100, Min: 99, Max: 101.5}, "copy": {Median: 50, Bytes: 2e8}}},
			bench.Case{Name: "rmsnorm/bwd/" + s + "/bf16", Bytes: 4e8, Arms: map[string]bench.Arm{"gotile": {Median: 100, Min: 99, Max: 101.5}, "copy2": {Median: 100, Bytes: 3e8}}})
	}
	return r
}

func TestResultsTable(t *testing.T) {
	const head = "| rows x n | forward, µs | TB/s | copy, µs | TB/s | backward, µs | TB/s | copy2, µs | TB/s |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
	const row = " | 100.0 | 2.00 | 50.0 | 4.00 | 100.0 | 4.00 | 100.0 | 3.00 |\n"
	const foot = "\nGPU, driver 1.2, NVRTC 13.0, commit abc; bf16, medians.\n"
	for want, list := range map[string][]string{
		head + "| 8x16" + row + "| 4x32" + row + foot: nil,
		head + "| 4x32" + row + foot:                  {"4x32"},
	} {
		got, err := ResultsTable(measured(), list)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v: %v\n%s", list, err, d)
		}
	}
	unequal := measured()
	delete(unequal.Cases[1].Arms, "copy2")
	if out, err := ResultsTable(unequal, nil); err == nil {
		t.Errorf("no error without the arm copy2:\n%s", out)
	}
	for _, list := range [][]string{{"5x5"}, {""}} {
		if out, err := ResultsTable(measured(), list); err == nil {
			t.Errorf("no error for shapes %q:\n%s", list, out)
		}
	}
	if out, err := ResultsTable(&bench.Results{}, nil); err == nil {
		t.Errorf("no error for no cases:\n%s", out)
	}
}

func TestFloorsTable(t *testing.T) {
	got, err := FloorsTable(measured(), "8x16")
	want := "| pass | tensors moved | floor, µs | target, 0.93 of its bandwidth | measured, µs (min to max) |\n| --- | --- | --- | --- | --- |\n" +
		"| forward | x read, y written: 2 | 46.7 | 50.2 | 100.0 (99.0 to 101.5) |\n" +
		"| backward, both launches | x and dy read, dx written: 3 | 70.1 | 75.4 | 100.0 (99.0 to 101.5) |\n"
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if out, err := FloorsTable(measured(), "5x5"); err == nil {
		t.Errorf("no error for a shape that was not measured:\n%s", out)
	}
}
