package sim_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

type twiceArgs struct {
	X tile.Global[tile.I32] `tile:"n"`
}

// twice is a kernel of one block that doubles n elements in place.
func twice() (*sim.Program, error) {
	k, err := tile.Define("twice", func(k *tile.Builder, a twiceArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(256, 4))
		tile.Store(k, a.X, x.Add(x))
	}, tile.Threads(64))
	if err != nil {
		return nil, err
	}
	ir, err := k.Lower("sm_90a")
	if err != nil {
		return nil, err
	}
	return sim.Compile(ir)
}

// args is the argument struct as C lays it out: x, then n.
func args(x uint64, n uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, x), n)
}

// A program runs on a memory. Most callers have package device do all of this.
func ExampleProgram_Run() {
	p, err := twice()
	if err != nil {
		fmt.Println(err)
		return
	}
	mem := sim.NewMemory(false)
	x, _ := mem.Alloc(4 * 5)
	bytes, _ := mem.Bytes(x, 4*5)
	for i := range 5 {
		binary.LittleEndian.PutUint32(bytes[4*i:], uint32(i))
	}
	stats, err := p.Run(context.Background(), mem, 1, append(args(x, 5), 0, 0, 0, 0), sim.Options{})
	for i := range 5 {
		fmt.Print(binary.LittleEndian.Uint32(bytes[4*i:]), " ")
	}
	fmt.Println(stats.Warps, err)
	// Output: 0 2 4 6 8 2 <nil>
}

// A kernel that reads past the end of its memory is reported with the line of Go that does.
func ExampleErrors() {
	p, err := twice()
	if err != nil {
		fmt.Println(err)
		return
	}
	mem := sim.NewMemory(false)
	x, _ := mem.Alloc(4 * 5)
	_, err = p.Run(context.Background(), mem, 1, append(args(x, 6), 0, 0, 0, 0), sim.Options{})
	var found *sim.Errors
	if errors.As(err, &found) {
		r := found.Reports[0]
		fmt.Println(r.Kind, "by lane", r.Lane, "of warp", r.Warp, "of block", r.Block)
	}
	// Output: out of bounds by lane 1 of warp 0 of block 0
}

type regroupArgs struct {
	X, Y tile.Global[tile.F32] `tile:"32,32"`
}

// regroup is a kernel that writes rows of a shared tile by all lanes, and then reads a row a lane: all rows begin in one
// bank.
func regroup() (*sim.Program, error) {
	k, err := tile.Define("regroup", func(k *tile.Builder, a regroupArgs) {
		block := k.Block()
		shared := tile.NewShared[tile.F32](k, 32, 32)
		tile.Store(k, shared, tile.Load(k, a.X, block.Striped2(32, 32, 1, 32)))
		tile.Store(k, a.Y, tile.Load(k, shared, block.Striped2(32, 32, 1, 1)))
	}, tile.Threads(32))
	if err != nil {
		return nil, err
	}
	ir, err := k.Lower("sm_90a")
	if err != nil {
		return nil, err
	}
	return sim.Compile(ir)
}

// Runs count the passes over the banks of shared memory that conflicts cost, by access.
func ExampleStats() {
	p, err := regroup()
	if err != nil {
		fmt.Println(err)
		return
	}
	mem := sim.NewMemory(false)
	x, _ := mem.Alloc(4 * 32 * 32)
	y, _ := mem.Alloc(4 * 32 * 32)
	var args []byte
	for _, word := range []uint64{x, y, 32, 32} { // addresses, and elements from row to row
		args = binary.LittleEndian.AppendUint64(args, word)
	}
	stats, err := p.Run(context.Background(), mem, 1, args, sim.Options{})
	fmt.Println(stats.BankPasses, err)
	for _, b := range stats.Banks {
		fmt.Println(b.What, b.Accesses, "accesses,", b.Extra, "passes too many")
	}
	// Output:
	// 224 <nil>
	// load of shared memory 8 accesses, 224 passes too many
}
