package report_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/report"
)

// A page of one case. `gotile report` loads the files and writes what this writes.
func ExampleWrite() {
	results := &bench.Results{Suite: "scale", Device: "NVIDIA H200", Cases: []bench.Case{{
		Name: "scale/fwd/1024x4096/f32", Bytes: 32 << 20, Base: "gotile", Ratio: map[string]float64{"copy": 1.02},
		Arms: map[string]bench.Arm{"gotile": {Median: 10.2, Min: 10.1, Max: 10.4}, "copy": {Median: 10.0, Min: 9.9, Max: 10.2}},
	}}}
	var page bytes.Buffer
	err := report.Write(&page, []report.File{{Name: "h200/scale.json", Results: results}})
	fmt.Println(strings.Contains(page.String(), "1024x4096"), err)
	fmt.Println(report.Words("bwd"))
	// Output:
	// true <nil>
	// backward
}

// Results are files, or folders with files; what is no results file is refused with its name.
func ExampleLoad() {
	list, err := report.Load([]string{"../results/h200/host.json"})
	fmt.Println(list[0].Name, list[0].Results.Suite, err)
	_, err = report.Load([]string{"example_test.go"})
	fmt.Println(strings.Contains(err.Error(), "example_test.go is no results file"))
	// Output:
	// ../results/h200/host.json host <nil>
	// true
}
