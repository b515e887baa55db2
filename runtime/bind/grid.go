package bind

import (
	"math"

	"github.com/gotile/gotile/runtime/device"
)

// tooMuch is the work of a loop that the kernel's 32-bit variable cannot count.
const tooMuch = -1

// Work is the number of blocks, or of clusters in a kernel that has them, that find work in a loop of n iterations, step at a time: ceil(n/step), 0 where n is
// negative. n is computed in 64 bits, so that a product of dimensions that would wrap in the kernel is refused.
func Work(n int64, step int) int {
	switch {
	case n <= 0:
		return 0
	case n > maxWork:
		return tooMuch
	}
	return (int(n)-1)/step + 1
}

// Quo is the kernel's division: truncated, all ones for a zero divisor.
func Quo(a, b int64) int64 {
	if b == 0 {
		return -1
	}
	return a / b
}

// Rem is the kernel's remainder: the sign of the dividend, a for a zero divisor.
func Rem(a, b int64) int64 {
	if b == 0 {
		return a
	}
	return a % b
}

// Grid loads a config's kernel on the stream's device and gives the grid of a launch: the Blocks dimension where the
// kernel asks for exactly as many, otherwise as many blocks as find work and are resident at once. A grid of 0 means
// that there is nothing to launch; nothing is loaded then. An exact grid of 0 blocks with work to do is ErrShape: it
// would leave the outputs unwritten. Blocks without work are launched, for what they write outside the loop. For a
// kernel with clusters all of this counts clusters, and the grid is their blocks.
func (f *Family) Grid(s *device.Stream, config int, dims []int32, work int) (*device.Func, int, error) {
	c := &f.Configs[config]
	cluster := max(1, c.Kernel.Cluster)
	if work == tooMuch {
		return nil, 0, f.uncountable(c, dims)
	}
	if c.Exact {
		blocks := int(dims[c.Blocks])
		if blocks > maxWork/max(1, c.Step, cluster) {
			return nil, 0, f.errorf(ErrLimit, "", "%s is %d blocks of %d iterations a step; a loop over the grid counts to %d: use fewer blocks", f.Symbols[c.Blocks], blocks, c.Step, maxWork)
		}
		if blocks == 0 && work > 0 {
			return nil, 0, f.noBlocks(c, dims, work)
		}
		work = blocks
	}
	if work == 0 {
		return nil, 0, nil
	}
	fn, err := s.Device().Load(c.Kernel)
	if err != nil {
		return nil, 0, err
	}
	if !c.Exact && !c.Each {
		work = max(1, min(work, fn.Blocks()/cluster))
	}
	if work > math.MaxInt32/cluster {
		return nil, 0, f.uncountable(c, dims)
	}
	return fn, work * cluster, nil
}

// Resident is the number of blocks, or of clusters, of a launch whose grid is free: as many as find work and are resident
// at once.
func (f *Family) Resident(s *device.Stream, config int, dims []int32, work int) (int, error) {
	if work == tooMuch {
		return 0, f.uncountable(&f.Configs[config], dims)
	}
	if work == 0 || f.Configs[config].Each {
		return work, nil
	}
	fn, err := s.Device().Load(f.Configs[config].Kernel)
	if err != nil {
		return 0, err
	}
	return max(1, min(work, fn.Blocks()/max(1, f.Configs[config].Kernel.Cluster))), nil
}
