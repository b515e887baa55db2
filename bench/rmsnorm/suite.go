//go:build !gotilegen

// Package rmsnorm is the suite of RMSNorm: forward and backward, plain, with a residual and gated, beside plain copies of as
// many tensors, PyTorch, fla, Liger and quack.
package rmsnorm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/peers"
	"github.com/gotile/gotile/dtype"
)

// The shapes and types that are published.
var (
	shapes = []string{"4096x512", "32768x1024", "32768x2048", "32768x4096", "16384x8192", "8192x16384", "4096x32768", "4096x65536", "2048x131072"}
	dtypes = []string{"bf16", "f32"}
)

// Suite is what gotile bench rmsnorm runs.
func Suite() bench.Suite {
	return bench.Suite{Name: "rmsnorm", Benchmarks: benchmarks, Peers: &bench.Peers{
		Files: peers.Files, Main: peers.Main,
		Families: []bench.Family{ // torch and fla time configurations of a kernel before they choose one
			{Name: "torch", Arms: []string{"torch", "torch_compile"}, Alone: true},
			{Name: "fla", Arms: []string{"fla"}, Alone: true},
			{Name: "liger", Arms: []string{"liger"}},
			{Name: "quack", Arms: []string{"quack"}},
		},
	}}
}

// pass is one operation.
type pass struct {
	name          string
	reads, writes int // tensors of rows x n, which also names the copy to compare with
	vectors       int // of n elements, read or written
	flops         int // an element
}

var passes = []pass{
	{name: "fwd", reads: 1, writes: 1, vectors: 1, flops: 4},        // x; y; w
	{name: "bwd", reads: 2, writes: 1, vectors: 2, flops: 11},       // x, dy; dx; w, dw
	{name: "add_fwd", reads: 2, writes: 2, vectors: 1, flops: 5},    // x, r; s, y; w
	{name: "add_bwd", reads: 3, writes: 1, vectors: 2, flops: 12},   // s, dy, ds; dx; w, dw
	{name: "gated_fwd", reads: 2, writes: 1, vectors: 1, flops: 9},  // x, z; y; w
	{name: "gated_bwd", reads: 3, writes: 2, vectors: 2, flops: 23}, // x, z, dy; dx, dz; w, dw
}

// problem is a pass on a shape.
type problem struct {
	pass
	rows, n int
	dt      dtype.Type
}

const eps = 1e-6 // the activation of the gated passes is silu; sigmoid moves the same bytes

// benchmarks lists the problems by shape, since neighbours share what peers have compiled.
func benchmarks(sel bench.Selection) ([]bench.Benchmark, error) {
	if sel.Shapes == nil {
		sel.Shapes = shapes
	}
	if sel.DTypes == nil {
		sel.DTypes = dtypes
	}
	var out []bench.Benchmark
	for _, t := range sel.DTypes {
		if !slices.Contains(dtypes, t) {
			return nil, fmt.Errorf("-dtypes: %q; have %s", t, strings.Join(dtypes, ", "))
		}
		dt := map[string]dtype.Type{"bf16": dtype.BF16, "f32": dtype.F32}[t]
		for _, s := range sel.Shapes {
			rows, n, err := parse(s)
			if err != nil {
				return nil, err
			}
			for _, p := range passes {
				out = append(out, problem{pass: p, rows: rows, n: n, dt: dt}.benchmark())
			}
		}
	}
	return out, nil
}

func parse(shape string) (rows, n int, err error) {
	a, b, ok := strings.Cut(shape, "x")
	rows, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || rows < 1 || n < 1 || rows*n%2 != 0 {
		return 0, 0, fmt.Errorf("-shapes: %q: want ROWSxN, such as %s, with an even number of elements", shape, shapes[0])
	}
	return rows, n, nil
}

func (p problem) benchmark() bench.Benchmark {
	size := p.dt.Size()
	return bench.Benchmark{
		Name:  fmt.Sprintf("rmsnorm/%s/%dx%d/%v", p.name, p.rows, p.n, p.dt),
		Bytes: (p.reads+p.writes)*p.tensor() + p.vectors*p.n*size + p.rows*dtype.F32.Size(), // rstd
		FLOPs: p.flops * p.rows * p.n,
		Input: p.reads * p.tensor(),
		Goal:  p.goal(),
		Peer:  map[string]any{"pass": p.name, "rows": p.rows, "n": p.n, "dtype": p.dt.String(), "eps": eps, "act": "silu"},
		Setup: p.setup, Checks: p.checks,
	}
}

// goal is what is asked of the plain passes and of those with a residual, at the published shapes: to be as fast as memory
// allows, a little less where rows are short, and not to be slower than any peer. docs/performance.md says where that is
// missed, and why. Of the gated passes only exactness is asked.
func (p problem) goal() *bench.Goal {
	shape := fmt.Sprintf("%dx%d", p.rows, p.n)
	if strings.HasPrefix(p.name, "gated") || !slices.Contains(shapes, shape) {
		return nil
	}
	g := &bench.Goal{Copy: 0.97, Peers: 1}
	switch {
	case shape == "4096x512" && p.backward():
		g.Copy = 0 // launches are most of it
	case shape == "32768x1024" && p.backward():
		g.Copy = 0.90
	case shape == "32768x1024":
		g.Copy = 0.95
	}
	return g
}

// backward says that the pass gives gradients.
func (p pass) backward() bool { return strings.HasSuffix(p.name, "bwd") }

// tensor is the size of a tensor in bytes.
func (p problem) tensor() int { return p.rows * p.n * p.dt.Size() }
