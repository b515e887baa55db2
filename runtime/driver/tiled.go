//go:build linux && (amd64 || arm64) && !nocuda

package driver

import "unsafe"

// tensorMapAlign is the alignment of a CUtensorMap in bytes by the header of CUDA 13; that of CUDA 12 has 64.
const tensorMapAlign = 128

// tiled is what cuTensorMapEncodeTiled reads and writes.
type tiled struct {
	dim    [5]uint64
	stride [4]uint64 // bytes
	box    [5]uint32
	step   [5]uint32                  // of the traversal: 1, every element
	out    [2*tensorMapAlign - 8]byte // the map, at its first multiple of tensorMapAlign: Go aligns to 8
}

// tensorMap is where the map is.
func (t *tiled) tensorMap() *TensorMap {
	at := unsafe.Pointer(&t.out)
	return (*TensorMap)(unsafe.Add(at, -uintptr(at)&(tensorMapAlign-1)))
}

func (c *context) EncodeTiled(t *Tiled) (TensorMap, error) {
	if err := t.Check(); err != nil {
		return TensorMap{}, err
	}
	if c.lib.fn[cuTensorMapEncodeTiled] == 0 {
		return TensorMap{}, &Error{Call: "cuTensorMapEncodeTiled", Code: NotSupported, Text: "this driver is older than CUDA 12"}
	}
	f := newFrame()
	defer f.done()
	copy(f.tiled.dim[:], t.Dim)
	copy(f.tiled.stride[:], t.Stride)
	copy(f.tiled.box[:], t.Box)
	f.tiled.step = [5]uint32{1, 1, 1, 1, 1}
	at := f.tiled.tensorMap()
	*at = TensorMap{}
	f.args = [12]uintptr{
		addr(at), uintptr(t.Type), uintptr(len(t.Dim)), uintptr(t.Addr),
		addr(&f.tiled.dim), addr(&f.tiled.stride), addr(&f.tiled.box), addr(&f.tiled.step),
		0, uintptr(t.Swizzle), uintptr(t.Promotion), 0, // no interleaving; zeros outside
	}
	err := c.lib.check(c.lib.callIn(c.ctx, cuTensorMapEncodeTiled, f, 12))
	return *at, err
}
