//go:build !gotilegen

package host

import (
	"unsafe"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
)

// emptyArgs are four words, as a launch of a few tensors has.
type emptyArgs struct{ A, B, C, D tile.Scalar[tile.I64] }

// words is emptyArgs as C lays it out.
type words [4]int64

const emptyThreads = 32

// emptyKernel is a kernel that does nothing, printed for a device: it is not among the committed ones, as there is
// nothing in it to verify.
func emptyKernel(d *device.Device) (*device.Kernel, error) {
	k, err := tile.Define("empty", func(*tile.Builder, emptyArgs) {}, tile.Threads(emptyThreads))
	if err != nil {
		return nil, err
	}
	low, err := k.Lower(d.Target().Name)
	if err != nil {
		return nil, err
	}
	text, err := cuda.Print(low, cuda.Options{})
	if err != nil {
		return nil, err
	}
	return &device.Kernel{Name: "empty", Source: text, Threads: emptyThreads, ArgBytes: int(unsafe.Sizeof(words{})),
		Build: func() (device.Program, error) { return k, nil }}, nil
}
