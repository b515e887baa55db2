package sim_test

import (
	"fmt"

	"github.com/gotile/gotile/runtime/sim"
)

// The simulator's form of a tensor map, for the argument struct of a launch: a tensor of 100 rows of 64 bf16, 256 bytes from
// one to the next, in boxes of 8 rows.
func ExampleTensorMap() {
	m := sim.TensorMap{Addr: 0x1000, Rank: 2, Swizzle: 128}
	m.Dim = [5]uint64{64, 100}
	m.Stride = [5]uint64{0, 256}
	m.Box = [5]uint32{64, 8}
	words := m.Words()
	fmt.Printf("%#x %d bytes\n", words[0], 8*len(words))
	// Output: 0x1000 128 bytes
}
