package drivertest

import "github.com/gotile/gotile/runtime/driver"

// maps are descriptions of every rank, with different numbers everywhere. Addr is an offset.
var maps = []driver.Tiled{
	{Type: driver.TensorF32, Dim: []uint64{4096}, Box: []uint32{256}},
	{Type: driver.TensorBF16, Dim: []uint64{1000, 77}, Stride: []uint64{2048}, Box: []uint32{64, 128}, Swizzle: driver.TensorSwizzle128, Promotion: driver.L2Promotion128},
	{Type: driver.TensorU8, Addr: 16, Dim: []uint64{64, 32, 16}, Stride: []uint64{64, 2048}, Box: []uint32{32, 8, 4}, Swizzle: driver.TensorSwizzle32, Promotion: driver.L2Promotion256},
	{Type: driver.TensorF16, Dim: []uint64{32, 16, 8, 4}, Stride: []uint64{64, 1024, 8192}, Box: []uint32{32, 16, 8, 2}, Swizzle: driver.TensorSwizzle64, Promotion: driver.L2Promotion64},
	{Type: driver.TensorTF32, Dim: []uint64{16, 8, 4, 3, 2}, Stride: []uint64{64, 512, 2048, 6144}, Box: []uint32{4, 8, 4, 3, 2}},
}

// Plain is a tensor map that holds what it was made of, as the fake and Loopback make it.
func Plain(d *driver.Tiled) (m driver.TensorMap) {
	m[0] = uint64(d.Addr)
	m[1] = uint64(d.Type) | uint64(len(d.Dim))<<8 | uint64(d.Swizzle)<<16 | uint64(d.Promotion)<<24
	copy(m[2:], d.Dim)
	copy(m[7:], d.Stride)
	for i, n := range d.Box {
		m[11+i/2] |= uint64(n) << (32 * (i % 2))
	}
	return m
}

func tensorMaps(t *tester) {
	if t.capability() < 90 {
		t.Skip("no kernel of it is for devices before compute capability 9.0: they have no tensor maps")
	}
	p := t.alloc(1<<18, 0)
	seen := map[driver.TensorMap]int{}
	for i, d := range maps {
		d.Addr += p
		m := must[driver.TensorMap](t.T)(t.c.EncodeTiled(&d))
		if again := must[driver.TensorMap](t.T)(t.c.EncodeTiled(&d)); m != again {
			t.Errorf("map %d: two encodings differ", i)
		}
		if other, ok := seen[m]; ok || m == (driver.TensorMap{}) {
			t.Errorf("map %d is empty, or that of %d", i, other)
		}
		seen[m] = i
		if want := Plain(&d); t.Transparent && m != want {
			t.Errorf("map %d: %x, want %x", i, m, want)
		}
	}
	ok(t.T, t.c.Free(p))
}

func tensorMapRefused(t *tester) {
	d := maps[1]
	d.Addr, d.Stride = 0x10000, []uint64{2008} // not a multiple of 16
	_, err := t.c.EncodeTiled(&d)
	is(t.T, err, "cuTensorMapEncodeTiled", driver.InvalidValue)
	d.Stride = nil
	_, err = t.c.EncodeTiled(&d)
	is(t.T, err, "cuTensorMapEncodeTiled", driver.InvalidValue)
}
