package plan_test

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/sim"
)

func init() { plan.Verify = true }

// launch runs one block or one cluster of thread IR on the simulator. Buffers hold small integers, contiguous, by argument
// name; those after the run are returned.
func launch(low *thr.Kernel, t dtype.Type, in map[string][]int64, dims map[string]int, seed uint64) (map[string][]int64, error) {
	return launchGrid(low, t, in, dims, seed, max(1, low.Cluster))
}

// launchGrid runs a number of blocks; with clusters, races on global memory are looked for too.
func launchGrid(low *thr.Kernel, t dtype.Type, in map[string][]int64, dims map[string]int, seed uint64, grid int) (map[string][]int64, error) {
	p, err := sim.Compile(low)
	if err != nil {
		return nil, err
	}
	mem := sim.NewMemory(false)
	args := make([]byte, low.ArgBytes)
	buffers := map[string][]byte{}
	for _, a := range low.Args {
		switch a.Kind {
		case thr.ArgPointer:
			b, addr, err := place(mem, t, in[a.Name])
			if err != nil {
				return nil, err
			}
			buffers[a.Name] = b
			binary.LittleEndian.PutUint64(args[a.Offset:], addr)
		case thr.ArgStride:
			stride := 1
			for _, d := range a.Arg.Dims[a.Axis+1:] {
				if d.Symbol != nil {
					stride *= dims[d.Symbol.Name]
				} else {
					stride *= d.Size
				}
			}
			binary.LittleEndian.PutUint64(args[a.Offset:], uint64(stride))
		case thr.ArgDim:
			binary.LittleEndian.PutUint32(args[a.Offset:], uint32(dims[a.Symbol.Name]))
		}
	}
	if _, err := p.Run(context.Background(), mem, grid, args, sim.Options{Seed: seed, GlobalRaces: low.Cluster > 0 || p.Ordered()}); err != nil {
		return nil, err
	}
	out := map[string][]int64{}
	for name, b := range buffers {
		for i := 0; i < len(b); i += t.Size() {
			out[name] = append(out[name], decode(t, b[i:]))
		}
	}
	return out, nil
}

func place(mem *sim.Memory, t dtype.Type, values []int64) ([]byte, uint64, error) {
	addr, err := mem.Alloc(len(values) * t.Size())
	if err != nil {
		return nil, 0, err
	}
	b, err := mem.Bytes(addr, len(values)*t.Size())
	for i, v := range values {
		encode(t, b[i*t.Size():], v)
	}
	return b, addr, err
}

func encode(t dtype.Type, b []byte, v int64) {
	switch t {
	case dtype.F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
	case dtype.BF16:
		binary.LittleEndian.PutUint16(b, dtype.BF16FromFloat32(float32(v)).Bits())
	case dtype.I64:
		binary.LittleEndian.PutUint64(b, uint64(v))
	default:
		binary.LittleEndian.PutUint32(b, uint32(v))
	}
}

func decode(t dtype.Type, b []byte) int64 {
	switch t {
	case dtype.F32:
		return int64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case dtype.BF16:
		return int64(dtype.BF16FromBits(binary.LittleEndian.Uint16(b)).Float())
	case dtype.I64:
		return int64(binary.LittleEndian.Uint64(b))
	}
	return int64(int32(binary.LittleEndian.Uint32(b)))
}
