package optest

import (
	"math"
	"math/bits"
)

// What the instructions of the PTX kernel compute, on bit patterns.

func popc(in []uint64) uint64 { return uint64(bits.OnesCount32(uint32(in[0]))) }

func brev(in []uint64) uint64 { return uint64(bits.Reverse32(uint32(in[0]))) }

// saturate clamps an f32 to [0, 1]; NaN becomes 0.
func saturate(in []uint64) uint64 {
	x := math.Float32frombits(uint32(in[0]))
	switch {
	case !(x > 0):
		return 0
	case x > 1:
		x = 1
	}
	return uint64(math.Float32bits(x))
}
