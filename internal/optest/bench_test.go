//go:build !gotilegen

package optest

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// BenchmarkWarpgroupMMA simulates, on one core, the product of 128x128 and 128x64 bf16 by two warpgroups, with the tensor
// copies of its operands and the store of its result: as many multiplications as an MMA of 64x128x128.
func BenchmarkWarpgroupMMA(b *testing.B) {
	d, err := device.Open("sim", device.WithSim(device.SimConfig{Workers: 1}))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	matrix := func(t dtype.Type, rows, cols int) device.Tensor {
		x, err := device.NewTensor(d, t, rows, cols)
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	p := wgmmaPipeParams{A: matrix(dtype.BF16, 128, 128), B: matrix(dtype.BF16, 128, 64), C: matrix(dtype.F32, 128, 64)}
	for b.Loop() {
		if err := launchWgmmaPipe(d.Stream(), p); err != nil {
			b.Fatal(err)
		}
	}
}
