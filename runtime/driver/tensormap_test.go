package driver

import (
	"errors"
	"strings"
	"testing"
)

func TestTiledCheck(t *testing.T) {
	for want, change := range map[string]func(d *Tiled){
		"":                              func(*Tiled) {},
		"1 to 5 dimensions, not 0":      func(d *Tiled) { d.Dim = nil },
		"1 strides and 2 sides":         func(d *Tiled) { d.Stride = nil },
		"not 1 and 3":                   func(d *Tiled) { d.Box = append(d.Box, 1) },
		"element type 10 is none":       func(d *Tiled) { d.Type = 10 },
		"element type 99 is none":       func(d *Tiled) { d.Type = 99 },
		"swizzle 4 is none":             func(d *Tiled) { d.Swizzle = 4 },
		"promotion 4 is none":           func(d *Tiled) { d.Promotion = 4 },
		"address 0x1008":                func(d *Tiled) { d.Addr = 0x1008 },
		"dimension 1 has 0 elements":    func(d *Tiled) { d.Dim[1] = 0 },
		"dimension 0 has 4294967297":    func(d *Tiled) { d.Dim[0] = 1<<32 + 1 },
		"side 1 of the box has 257":     func(d *Tiled) { d.Box[1] = 257 },
		"side 0 of the box has 0":       func(d *Tiled) { d.Box[0] = 0 },
		"dimension 1 has a stride of 8": func(d *Tiled) { d.Stride[0] = 8 },
		"stride of 1099511627776 bytes": func(d *Tiled) { d.Stride[0] = 1 << 40 },
		"a row of the box is 8 bytes":   func(d *Tiled) { d.Box[0] = 4 },
		"is 256 bytes; the swizzle":     func(d *Tiled) { d.Box[0] = 128 },
		"is 64 bytes; the swizzle takes 32: split": func(d *Tiled) {
			d.Box[0], d.Swizzle = 32, TensorSwizzle32
		},
	} {
		d := &Tiled{Type: TensorBF16, Addr: 0x1000, Dim: []uint64{1 << 32, 7}, Stride: []uint64{1 << 33}, Box: []uint32{64, 256}, Swizzle: TensorSwizzle128}
		change(d)
		err := d.Check()
		if want == "" {
			if err != nil {
				t.Errorf("a description within the rules: %v", err)
			}
			continue
		}
		if !errors.Is(err, InvalidValue) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE") {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
