//go:build !gotilegen

package worker

import (
	"testing"

	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type multipliesArgs struct {
	X tile.Global[tile.F32] `tile:"m,n"`
	H tile.Global[tile.F16] `tile:"m,n"`
}

// What check says of the products of kernels, from their IR.
func TestMultiplies(t *testing.T) {
	warp := func(f func(k *tile.Builder, w tile.Warp, a multipliesArgs)) func(*tile.Builder, multipliesArgs) {
		return func(k *tile.Builder, a multipliesArgs) { f(k, k.Warp(), a) }
	}
	group := func(f func(k *tile.Builder, c tile.Warpgroup, a multipliesArgs)) func(*tile.Builder, multipliesArgs) {
		return func(k *tile.Builder, a multipliesArgs) {
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) { f(k, c, a) }))
		}
	}
	for _, c := range []struct {
		target, want string
		f            func(*tile.Builder, multipliesArgs)
	}{
		{"sm_90a", "-", func(k *tile.Builder, a multipliesArgs) { tile.Store(k, a.X, tile.F32(0)) }},
		{"sm_90a", "wgmma m64n256k16 bf16", group(func(k *tile.Builder, c tile.Warpgroup, a multipliesArgs) {
			x, y := tile.NewShared[tile.BF16](k, 64, 64).Swizzle(layout.Swizzle128), tile.NewShared[tile.BF16](k, 64, 256).Swizzle(layout.Swizzle128)
			acc := tile.NewAcc[tile.F32](c, 64, 256)
			tile.MMA(acc, x, y)
			tile.Store(c, a.X, acc.Get())
		})},
		{"sm_120a", "mma.sync m16n8k16 f16", group(func(k *tile.Builder, c tile.Warpgroup, a multipliesArgs) {
			x := tile.NewShared[tile.F16](k, 64, 64).Swizzle(layout.Swizzle128)
			acc := tile.NewAcc[tile.F16](c, 64, 64)
			tile.MMA(acc, x, x)
			tile.Store(c, a.H, acc.Get())
		})},
		{"sm_90a", "mma.sync m16n8k16 f16, wgmma m64n24k16 f16", group(func(k *tile.Builder, c tile.Warpgroup, a multipliesArgs) {
			x := tile.NewShared[tile.F16](k, 64, 64).Swizzle(layout.Swizzle128)
			acc := tile.NewAcc[tile.F16](c, 64, 24)
			tile.MMA(acc, x, x.At(0, 0).Matrix(24, 64), tile.ABt)
			tile.MMA(acc, x, x.At(0, 0).Matrix(24, 64), tile.ABt, tile.MMASync)
			tile.Store(c, a.H, acc.Get())
		})},
		{"sm_80", "mma.sync m16n8k8 tf32: TF32, TF32x3, operands by plain loads", warp(func(k *tile.Builder, w tile.Warp, a multipliesArgs) {
			x := tile.NewShared[tile.F32](k, 32, 32)
			acc := tile.NewAcc[tile.F32](w, 32, 32)
			tile.MMA(acc, x, x, tile.TF32)
			tile.MMA(acc, x, x, tile.TF32x3, tile.AtB)
			tile.Store(w, a.X, acc.Get())
		})},
		{"sm_80", "mma.sync m16n8k8 tf32: TF32", warp(func(k *tile.Builder, w tile.Warp, a multipliesArgs) {
			x := tile.Load(w, a.X, w.Fragment(32, 32))
			acc := tile.NewAcc[tile.F32](w, 32, 32)
			tile.MMA(acc, x, x.Transpose(), tile.TF32)
			tile.Store(w, a.X, acc.Get())
		})},
		{"sm_90a", "wgmma m64n64k8 tf32: B through a copy, TF32x3, operands by plain loads", group(func(k *tile.Builder, c tile.Warpgroup, a multipliesArgs) {
			x := tile.NewShared[tile.F32](k, 64, 64).Swizzle(layout.Swizzle128)
			acc := tile.NewAcc[tile.F32](c, 64, 64)
			tile.MMA(acc, x, x, tile.TF32x3)
			tile.Store(c, a.X, acc.Get())
		})},
	} {
		k, err := tile.Define("multiplies", c.f, tile.Threads(128))
		if err != nil {
			t.Error(err)
			continue
		}
		lowered, err := k.Lower(c.target)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := multiplies(lowered.Body, k.IR()); got != c.want {
			t.Errorf("%s: %q, want %q", c.target, got, c.want)
		}
	}
}
