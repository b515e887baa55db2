package sim

import (
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

func init() {
	const I, U, Q, B = dtype.I32, dtype.U32, dtype.I64, dtype.Bool
	integerLoops[int32](I)
	integerLoops[uint32](U)
	integerLoops[int64](Q)
	for _, t := range []dtype.Type{I, U, Q, B} {
		hot(ir.And, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = a[l] & b[l]
			}
		})
		hot(ir.Or, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = a[l] | b[l]
			}
		})
		hot(ir.Xor, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = a[l] ^ b[l]
			}
		})
	}
	hot(ir.Not, B, B, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = a[l] ^ 1
		}
	})
	hot(ir.Cast, I, Q, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = uint64(int32(a[l]))
		}
	})
}

// view is a lane as its Go type, read in place.
func view[T number](x *uint64) T { return *(*T)(unsafe.Pointer(x)) }

// whole is put for integers: put goes through memory, which a loop waits for.
func whole[T integer](v T) uint64 { return uint64(v) & (^uint64(0) >> (64 - 8*unsafe.Sizeof(v))) }

// truth is put for bool.
func truth(b bool) (x uint64) {
	if b {
		x = 1
	}
	return x
}

func integerLoops[T integer](t dtype.Type) {
	hot(ir.Add, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(view[T](&a[l]) + view[T](&b[l]))
		}
	})
	hot(ir.Sub, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(view[T](&a[l]) - view[T](&b[l]))
		}
	})
	hot(ir.Mul, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(view[T](&a[l]) * view[T](&b[l]))
		}
	})
	hot(ir.Div, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(div(view[T](&a[l]), view[T](&b[l])))
		}
	})
	hot(ir.Rem, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(rem(view[T](&a[l]), view[T](&b[l])))
		}
	})
	hot(ir.Min, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(min(view[T](&a[l]), view[T](&b[l])))
		}
	})
	hot(ir.Max, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(max(view[T](&a[l]), view[T](&b[l])))
		}
	})
	hot(ir.Shl, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(shl(view[T](&a[l]), view[T](&b[l])))
		}
	})
	hot(ir.Shr, t, t, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = whole(shr(view[T](&a[l]), view[T](&b[l])))
		}
	})
	compareLoops[T](t)
}

func compareLoops[T integer | float32](t dtype.Type) {
	hot(ir.Lt, t, dtype.Bool, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = truth(view[T](&a[l]) < view[T](&b[l]))
		}
	})
	hot(ir.Le, t, dtype.Bool, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = truth(view[T](&a[l]) <= view[T](&b[l]))
		}
	})
	hot(ir.Gt, t, dtype.Bool, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = truth(view[T](&a[l]) > view[T](&b[l]))
		}
	})
	hot(ir.Ge, t, dtype.Bool, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = truth(view[T](&a[l]) >= view[T](&b[l]))
		}
	})
	hot(ir.Eq, t, dtype.Bool, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = truth(view[T](&a[l]) == view[T](&b[l]))
		}
	})
	hot(ir.Ne, t, dtype.Bool, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = truth(view[T](&a[l]) != view[T](&b[l]))
		}
	})
}
