//go:build !gotilegen

// Package gemm is the suite of matrix products: the kernels that the package kernels/gemm chooses, its kernels with
// mma.sync, and cuBLAS through PyTorch.
package gemm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/data"
	"github.com/gotile/gotile/bench/peers"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/gemm"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// The forms with the shapes and the types that are published: large products, and those of a layer's forward pass and of
// the gradient of its weights.
var (
	shapes = []string{"NT/4096x4096x4096", "NT/8192x8192x8192", "NN/4096x4096x4096", "TN/4096x4096x4096", "NT/4096x1408x512", "TN/512x1408x16384"}
	dtypes = []string{"bf16"}
)

// Suite is what gotile bench gemm runs.
func Suite() bench.Suite {
	return bench.Suite{Name: "gemm", Benchmarks: benchmarks, Peers: &bench.Peers{
		Files: peers.Files, Main: peers.Main, Families: []bench.Family{{Name: "torch", Arms: []string{"cublas"}}},
	}}
}

// problem is a product.
type problem struct {
	form    gemm.Form
	m, n, k int
	dt      dtype.Type
}

func benchmarks(sel bench.Selection) ([]bench.Benchmark, error) {
	if sel.Shapes == nil {
		sel.Shapes = shapes
	}
	if sel.DTypes == nil {
		sel.DTypes = dtypes
	}
	var out []bench.Benchmark
	for _, t := range sel.DTypes {
		dt, ok := map[string]dtype.Type{"bf16": dtype.BF16, "f16": dtype.F16}[t]
		if !ok {
			return nil, fmt.Errorf("-dtypes: %q; have bf16, f16", t)
		}
		for _, s := range sel.Shapes {
			p, err := parse(s)
			if err != nil {
				return nil, err
			}
			p.dt = dt
			out = append(out, p.benchmark())
		}
	}
	return out, nil
}

// parse reads a form and a shape.
func parse(shape string) (problem, error) {
	form, sides, _ := strings.Cut(shape, "/")
	var p problem
	i := slices.IndexFunc(gemm.Forms[:], func(f gemm.Form) bool { return f.String() == form })
	n, err := fmt.Sscanf(sides, "%dx%dx%d", &p.m, &p.n, &p.k)
	if i < 0 || err != nil || n != 3 || sides != fmt.Sprintf("%dx%dx%d", p.m, p.n, p.k) || min(p.m, p.n, p.k) < 1 {
		return p, fmt.Errorf("-shapes: %q: want FORM/MxNxK, such as %s", shape, shapes[0])
	}
	p.form = gemm.Forms[i]
	return p, nil
}

func (p problem) benchmark() bench.Benchmark {
	size := p.dt.Size()
	return bench.Benchmark{
		Name:  fmt.Sprintf("gemm/%v/%dx%dx%d/%v", p.form, p.m, p.n, p.k, p.dt),
		Bytes: size * (p.m*p.k + p.k*p.n + p.m*p.n),
		FLOPs: 2 * p.m * p.n * p.k,
		Input: size * (p.m*p.k + p.k*p.n),
		Peer:  map[string]any{"form": p.form.String(), "m": p.m, "n": p.n, "k": p.k, "dtype": p.dt.String()},
		Setup: p.setup, Checks: p.checks,
	}
}

// sides are those of an operand as it is given.
func sides(rows, cols int, trans bool) []int {
	if trans {
		return []int{cols, rows}
	}
	return []int{rows, cols}
}

// setup makes the operands and our contenders.
func (p problem) setup(s *bench.Setup) ([]bench.Contender, error) {
	in, d := make([]gemm.Inputs, s.Groups), make([]device.Tensor, s.Groups)
	for i := range in {
		var err error
		if in[i].A, err = data.Input(s, p.dt, 0, i, sides(p.m, p.k, p.form.TransA())...); err != nil {
			return nil, err
		}
		if in[i].B, err = data.Input(s, p.dt, 1, i, sides(p.k, p.n, p.form.TransB())...); err != nil {
			return nil, err
		}
		if d[i], err = s.New(p.dt, p.m, p.n); err != nil {
			return nil, err
		}
		n, err := gemm.ScratchSize(s.Stream, p.form, in[i], d[i])
		if err != nil {
			return nil, err
		}
		if n > 0 && i == 0 {
			if in[i].Scratch, err = s.New(dtype.F32, n); err != nil {
				return nil, err
			}
		}
		in[i].Scratch = in[0].Scratch
	}
	out := map[string]device.Tensor{"d": d[len(d)-1]}
	return []bench.Contender{
		{Name: "gotile", Outputs: out, Launch: func(i int) error { return gemm.Multiply(s.Stream, p.form, in[i], d[i]) }},
		{Name: "gotile_sync", Outputs: out, Launch: func(i int) error { return gemm.MultiplyBy(s.Stream, p.form, in[i], d[i], gemm.Choice{Sync: true}) }},
	}, nil
}

// checks compare stretches of a few rows with a float64 reference.
func (p problem) checks(group int) []bench.Check {
	const most = 16 // columns
	at := func(input, rows, cols int, trans bool) func(i, j int) float64 {
		if trans {
			cols = rows
		}
		return func(i, j int) float64 {
			if trans {
				i, j = j, i
			}
			return tiletest.UniformAt(p.dt, bench.Seed(input, group), uint64(i*cols+j))
		}
	}
	a, b := at(0, p.m, p.k, p.form.TransA()), at(1, p.k, p.n, p.form.TransB())
	var out []bench.Check
	for i, row := range slices.Compact([]int{0, p.m / 3, p.m / 2, p.m - 1}) {
		first := i * max(0, p.n-most) / 3
		want := make([]float64, min(most, p.n))
		for k := range p.k {
			x := a(row, k)
			for j := range want {
				want[j] += x * b(k, first+j)
			}
		}
		out = append(out, bench.Check{Output: "d", At: row*p.n + first, Want: want, Tol: map[dtype.Type]float64{dtype.BF16: 5e-3, dtype.F16: 1e-3}[p.dt]})
	}
	return out
}
