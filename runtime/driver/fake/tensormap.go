package fake

import "github.com/gotile/gotile/runtime/driver"

// EncodeTiled makes a map that holds what it was made of: address; type, rank, swizzle and promotion in a byte each;
// five dimensions; four strides; five sides of the box, two a word.
func (c *context) EncodeTiled(t *driver.Tiled) (m driver.TensorMap, err error) {
	if err := t.Check(); err != nil {
		return m, err
	}
	err = c.do("cuTensorMapEncodeTiled", func() driver.Result {
		m[0] = uint64(t.Addr)
		m[1] = uint64(t.Type) | uint64(len(t.Dim))<<8 | uint64(t.Swizzle)<<16 | uint64(t.Promotion)<<24
		copy(m[2:7], t.Dim)
		copy(m[7:11], t.Stride)
		for i, n := range t.Box {
			m[11+i/2] |= uint64(n) << (32 * (i % 2))
		}
		return driver.Success
	})
	return m, err
}
