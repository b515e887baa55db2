package sim_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

// launchable is a kernel whose arguments are tensors of i32, row after row without gaps.
type launchable struct {
	low     *thr.Kernel
	program *sim.Program
}

// compiled defines, lowers and compiles a kernel.
func compiled[A any](t *testing.T, target string, f func(k *tile.Builder, a A), opts ...tile.Option) launchable {
	t.Helper()
	k, err := tile.Define("kernel", f, opts...)
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower(target)
	if err != nil {
		t.Fatal(err)
	}
	return recompiled(t, low)
}

// recompiled is a kernel after a change of its thread IR.
func recompiled(t *testing.T, low *thr.Kernel) launchable {
	t.Helper()
	p, err := sim.Compile(low)
	if err != nil {
		t.Fatal(err)
	}
	return launchable{low, p}
}

// run launches blocks on inputs by argument; the others are outputs. It returns what all of them hold afterwards.
func (k launchable) run(t *testing.T, grid int, dims map[string]int, in map[string][]int32, o sim.Options) (map[string][]int32, error) {
	t.Helper()
	mem, args := sim.NewMemory(false), make([]byte, k.low.ArgBytes)
	memory, at := map[string][]byte{}, map[string]uint64{}
	size := func(a *thr.Arg, axis int) int {
		if y := a.Arg.Dims[axis].Symbol; y != nil {
			return dims[y.Name]
		}
		return a.Arg.Dims[axis].Size
	}
	stride := func(a *thr.Arg, axis int) (n int) {
		n = 1
		for d := axis + 1; d < len(a.Arg.Dims); d++ {
			n *= size(a, d)
		}
		return n
	}
	put := func(a *thr.Arg, v uint64) { binary.LittleEndian.PutUint64(args[a.Offset:], v) }
	for _, a := range k.low.Args {
		switch a.Kind {
		case thr.ArgPointer:
			bytes := max(4*stride(a, 0)*size(a, 0), 16)
			addr, err := mem.Alloc(bytes)
			if err != nil {
				t.Fatal(err)
			}
			b, err := mem.Bytes(addr, bytes)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range in[a.Arg.Name] {
				binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
			}
			memory[a.Arg.Name], at[a.Arg.Name] = b[:4*stride(a, 0)*size(a, 0)], addr
			put(a, addr)
		case thr.ArgStride:
			put(a, uint64(stride(a, a.Axis)))
		case thr.ArgDim:
			binary.LittleEndian.PutUint32(args[a.Offset:], uint32(dims[a.Symbol.Name]))
		}
	}
	for _, a := range k.low.Args { // of the pointers
		if a.Kind != thr.ArgMap {
			continue
		}
		m, ok := sim.TensorMap{Addr: at[a.Arg.Name], Rank: len(a.Arg.Dims), Swizzle: a.Map.Swizzle}, true
		for d := range m.Rank {
			axis := m.Rank - 1 - d
			m.Dim[d], m.Box[d] = uint64(size(a, axis)), uint32(a.Map.Box[axis])
			if ok = ok && m.Dim[d] > 0; d > 0 {
				m.Stride[d] = uint64(4 * stride(a, axis))
				ok = ok && m.Stride[d]%16 == 0
			}
		}
		if !ok { // as a launch does
			continue
		}
		for i, w := range m.Words() {
			binary.LittleEndian.PutUint64(args[a.Offset+8*i:], w)
		}
	}
	_, err := k.program.Run(context.Background(), mem, grid, args, o)
	out := map[string][]int32{}
	for name, b := range memory {
		for i := 0; i < len(b); i += 4 {
			out[name] = append(out[name], int32(binary.LittleEndian.Uint32(b[i:])))
		}
	}
	return out, err
}

// counting is 1, 2, 3 and so on.
func counting(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i + 1)
	}
	return out
}

// modes are the ways in which asynchronous copies complete.
var modes = []sim.Completion{sim.BySeed, sim.Early, sim.Late, sim.AtRandom}
