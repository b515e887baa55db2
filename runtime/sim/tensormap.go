package sim

import (
	"encoding/binary"
	"fmt"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// TensorMap is a tensor map of a launch's arguments: what the simulator takes in place of a CUtensorMap. Dimension 0 is the
// innermost.
type TensorMap struct {
	Addr    uint64
	Rank    int
	Dim     [5]uint64 // elements
	Stride  [5]uint64 // bytes; that of dimension 0 is not used
	Box     [5]uint32 // elements
	Swizzle int       // bytes: 0, 32, 64 or 128
}

// Words is the map as it stands in the argument struct.
func (m *TensorMap) Words() (w [thr.MapBytes / 8]uint64) {
	w[0], w[1] = m.Addr, uint64(m.Rank)|uint64(m.Swizzle)<<8
	copy(w[2:7], m.Dim[:])
	copy(w[7:11], m.Stride[1:])
	for i, n := range m.Box {
		w[11+i] = uint64(n)
	}
	return w
}

// readMap is the inverse of Words.
func readMap(b []byte) (m TensorMap) {
	w := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	m.Addr, m.Rank, m.Swizzle = w(0), int(w(1)&0xff), int(w(1)>>8)
	for i := range m.Dim {
		m.Dim[i], m.Box[i] = w(2+i), uint32(w(11+i))
		if i > 0 {
			m.Stride[i] = w(6 + i)
		}
	}
	return m
}

// tensorMaps reads the tensor maps of a launch; they must be what the kernel was lowered for.
func (p *Program) tensorMaps(args []byte) (map[*thr.Arg]*TensorMap, error) {
	var out map[*thr.Arg]*TensorMap
	for _, a := range p.kernel.Args {
		if a.Kind != thr.ArgMap {
			continue
		}
		m := readMap(args[a.Offset:])
		if a.Map.Optional && m == (TensorMap{}) { // the launch could not make it
			continue
		}
		ok := m.Rank == len(a.Map.Box) && m.Swizzle == a.Map.Swizzle
		for i := 0; ok && i < m.Rank; i++ {
			ok = int(m.Box[i]) == a.Map.Box[m.Rank-1-i]
		}
		if !ok {
			return nil, fmt.Errorf("%w: argument %s is no tensor map with %s", ErrLaunch, a.Name, a.Map)
		}
		if out == nil {
			out = map[*thr.Arg]*TensorMap{}
		}
		out[a] = &m
	}
	return out, nil
}

// swizzleOf is the swizzle of a number of bytes.
var swizzleOf = map[int]layout.Swizzle{32: layout.Swizzle32, 64: layout.Swizzle64, 128: layout.Swizzle128}
