//go:build !gotilegen

// Package recompute is the suite of autodiff's strategies: eight blocks of residual and gated RMSNorm, forward and
// backward, with all outputs kept (SaveAll) or those of memory-bound ops made again (Recompute), launch by launch and as
// one graph.
package recompute

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
)

// The shapes that are published, rows x n: rows are tokens, n is the width of the model.
var shapes = []string{"4096x1024", "8192x1024", "4096x4096", "8192x4096"}

var dtypes = []string{"bf16", "f32"}

const blockCount = 8

// Suite is what gotile bench recompute runs.
func Suite() bench.Suite { return bench.Suite{Name: "recompute", Benchmarks: benchmarks} }

// arms are the contenders. The first is what the others' gradients are compared with.
var arms = []struct {
	name     string
	strategy autodiff.Strategy
	graph    bool
}{
	{"saveall", autodiff.SaveAll, false},
	{"recompute", autodiff.Recompute, false},
	{"saveall_graph", autodiff.SaveAll, true},
	{"recompute_graph", autodiff.Recompute, true},
}

func benchmarks(sel bench.Selection) ([]bench.Benchmark, error) {
	if sel.Shapes == nil {
		sel.Shapes = shapes
	}
	if sel.DTypes == nil {
		sel.DTypes = dtypes[:1]
	}
	var out []bench.Benchmark
	for _, name := range sel.DTypes {
		dt, err := dtype.Parse(name)
		if err != nil || dt != dtype.BF16 && dt != dtype.F32 {
			return nil, fmt.Errorf("-dtypes: %q; have %s", name, strings.Join(dtypes, ", "))
		}
		for _, shape := range sel.Shapes {
			a, b, _ := strings.Cut(shape, "x")
			rows, err1 := strconv.Atoi(a)
			n, err2 := strconv.Atoi(b)
			if err1 != nil || err2 != nil || rows < 1 || n < 1 {
				return nil, fmt.Errorf("-shapes: %q: want ROWSxN, such as %s", shape, shapes[0])
			}
			p := problem{blocks: blockCount, rows: rows, n: n, dt: dt}
			out = append(out, bench.Benchmark{Name: fmt.Sprintf("recompute/step/%s/%v", shape, dt), Setup: p.setup})
		}
	}
	return out, nil
}
