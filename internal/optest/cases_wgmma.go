//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// wgmmaCases multiply small integers, whose products and sums are exact, by warpgroups.
func wgmmaCases() []tiletest.Case {
	var out []tiletest.Case
	type launch = func(r run, a, b, c, d, e device.Tensor) error
	for _, f := range []struct {
		name           string
		transA, transB bool
		types          []dtype.Type
		launch         launch
	}{
		{"ab", false, false, []dtype.Type{dtype.BF16, dtype.F16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchWgmmaAB(r.Stream, wgmmaABParams{A: a, B: b, C: c, D: d, E: e})
		}},
		{"abt", false, true, []dtype.Type{dtype.BF16, dtype.F16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchWgmmaABt(r.Stream, wgmmaABtParams{A: a, B: b, C: c, D: d, E: e})
		}},
		{"atb", true, false, []dtype.Type{dtype.BF16, dtype.F16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchWgmmaAtB(r.Stream, wgmmaAtBParams{A: a, B: b, C: c, D: d, E: e})
		}},
		{"atbt", true, true, []dtype.Type{dtype.BF16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchWgmmaAtBt(r.Stream, wgmmaAtBtParams{A: a, B: b, C: c, D: d, E: e})
		}},
	} {
		for _, t := range f.types {
			out = append(out, opCase(ir.MMA, "group_"+f.name+"/"+t.String(), func(r run) error {
				for _, s := range [][3]int{{wgmmaM, wgmmaN, wgmmaK}, {wgmmaM - 5, wgmmaN - 3, wgmmaK - 7}, {1, 1, 1}} {
					if err := checkMMA(r, t, 2, s[0], s[1], s[2], f.transA, f.transB, f.launch); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}
	return append(out, opCase(ir.MMA, "group_pipe/bf16", checkWGMMAPipe), opCase(ir.MMA, "group_chain/f16", checkWGMMAChain), opCase(ir.MMA, "group_cluster/bf16", checkWGMMACluster), opCase(ir.WaitMMA, "group_chain/f16", checkWGMMAChain))
}

// checkWGMMAPipe has trip counts from 0 to past the stages, several tiles a block, and tensors without a tensor map.
func checkWGMMAPipe(r run) error {
	for trips := range 2*wgmmaPipeStages + 1 {
		m, n, k := wgmmaPipeM+72*trips%200, wgmmaPipeN+8*trips, wgmmaPipeK*trips
		if trips == 4 {
			n, k = n-3, k-5 // rows of odd bytes
		}
		a, at := mmaOperand(r, dtype.BF16, 1, m, k, false)
		b, bt := mmaOperand(r, dtype.BF16, 2, k, n, false)
		p := wgmmaPipeParams{A: a, B: b, C: r.Out(dtype.F32, m, n)}
		if err := launchWgmmaPipe(r.Stream, p); err != nil {
			return err
		}
		want := make([]int, m*n)
		for i := range want {
			want[i] = product(at, bt, k, i/n, i%n)
		}
		ints(r, fmt.Sprintf("m%dn%dk%d", m, n, k), p.C, want)
	}
	return nil
}

// checkWGMMAChain keeps all numbers below 2048, which f16 has exactly.
func checkWGMMAChain(r run) error {
	const m, n, k = wgmmaRows - 2, wgmmaSide - 1, wgmmaSide - 14
	a, at := mmaOperand(r, dtype.F16, 1, m, k, false)
	b, bt := mmaOperand(r, dtype.F16, 2, k, n, true)
	v, vt := mmaOperand(r, dtype.F16, 3, n, k, false)
	p := wgmmaChainParams{A: a, B: b, V: v, D: r.Out(dtype.F32, m, k), H: r.Out(dtype.F16, m, n)}
	if err := launchWgmmaChain(r.Stream, p); err != nil {
		return err
	}
	return checkChain(r, m, n, k, at, bt, vt, p.D, p.H)
}

// checkWGMMACluster wants the same of both blocks.
func checkWGMMACluster(r run) error {
	const blocks, m, n, k = 2, wgmmaClusterM, wgmmaClusterN, wgmmaClusterK
	a, at := mmaOperand(r, dtype.BF16, 1, m, k, false)
	b, bt := mmaOperand(r, dtype.BF16, 2, k, n, false)
	p := wgmmaClusterParams{A: a, B: b, D: r.Out(dtype.F32, blocks, m, n)}
	if err := launchWgmmaCluster(r.Stream, p); err != nil {
		return err
	}
	want := make([]int, blocks*m*n)
	for i := range want {
		want[i] = product(at, bt, k, i/n%m, i%n)
	}
	ints(r, "the products of a cluster", p.D, want)
	return nil
}
