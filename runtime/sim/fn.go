package sim

import (
	"unsafe"

	"github.com/gotile/gotile/dtype"
)

// lanes is a register of a warp. Every type sits in the low bits, the rest is zero: f32, i32 and u32 in 32 bits, i64
// and pointers in 64, a bool as 0 or 1.
type lanes = [32]uint64

// fn is the meaning of an operation, twice: on one value and over the lanes of a warp. Both take the operands that
// the arity says.
type fn struct {
	arity  int
	scalar func(a, b, c uint64) uint64
	vector func(d, a, b, c *lanes)
	rename bool // the result is the operand's bits, which takes no instruction, here or on a GPU
}

// sig is what an op table row is keyed by: the type of the operands and that of the result.
type sig struct{ T, R dtype.Type }

type integer interface{ int32 | uint32 | int64 }

// number are the types of register contents.
type number interface{ integer | float32 | bool }

// get and put convert between a lane and its Go type. Lanes are little-endian, as the hosts that gotile runs on.
func get[T number](x uint64) T { return *(*T)(unsafe.Pointer(&x)) }

func put[T number](v T) (x uint64) {
	*(*T)(unsafe.Pointer(&x)) = v
	return x
}

// lift1, lift2 and those below lift a Go function on values: a call a lane. hot.go replaces the loops that matter. They
// are not inlined since the compiler inlines nothing into closures that it copies into a package's initialisation.
//
//go:noinline
func lift1[T, R number](f func(T) R) fn {
	return fn{
		arity:  1,
		scalar: func(a, _, _ uint64) uint64 { return put(f(get[T](a))) },
		vector: func(d, a, _, _ *lanes) {
			for l := range d {
				d[l] = put(f(get[T](a[l])))
			}
		},
	}
}

//go:noinline
func lift2[T, R number](f func(a, b T) R) fn {
	return fn{
		arity:  2,
		scalar: func(a, b, _ uint64) uint64 { return put(f(get[T](a), get[T](b))) },
		vector: func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = put(f(get[T](a[l]), get[T](b[l])))
			}
		},
	}
}

//go:noinline
func raw(arity int, f func(a, b, c uint64) uint64) fn {
	return fn{arity: arity, scalar: f, vector: func(d, a, b, c *lanes) {
		for l := range d {
			d[l] = f(a[l], b[l], c[l])
		}
	}}
}

// floats1, floats2 and floats3 lift functions with an f32 result, whose NaNs are made canonical.
//
//go:noinline
func floats1(f func(float32) float32) fn {
	return fn{
		arity:  1,
		scalar: func(a, _, _ uint64) uint64 { return fbits(f(float(a))) },
		vector: func(d, a, _, _ *lanes) {
			for l := range d {
				d[l] = fbits(f(float(a[l])))
			}
		},
	}
}

//go:noinline
func floats2(f func(a, b float32) float32) fn {
	return fn{
		arity:  2,
		scalar: func(a, b, _ uint64) uint64 { return fbits(f(float(a), float(b))) },
		vector: func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = fbits(f(float(a[l]), float(b[l])))
			}
		},
	}
}

//go:noinline
func floats3(f func(a, b, c float32) float32) fn {
	return raw(3, func(a, b, c uint64) uint64 { return fbits(f(float(a), float(b), float(c))) })
}

// renamed marks a function as one that leaves the bits alone.
func (f fn) renamed() fn {
	f.rename = true
	return f
}

// with gives an fn a loop of its own.
func (f fn) with(vector func(d, a, b, c *lanes)) fn {
	f.vector = vector
	return f
}
