package tiletest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
)

// Bits is the index-th output of splitmix64 seeded with seed: state seed + (index+1)*0x9e3779b97f4a7c15, then
//
//	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
//	z = (z ^ z>>27) * 0x94d049bb133111eb
//	z ^ z>>31
//
// (Steele, Lea and Flood, OOPSLA 2014). Each value depends on (seed, index) alone, so a device can make the same data.
func Bits(seed, index uint64) uint64 { return fixture.Bits(seed, index) }

// UniformAt is a number in [-1, 1) that t, a float type, holds exactly: with b the bits of its significand (f32 24,
// f16 11, bf16 8) and k the top b bits of Bits(seed, index), it is (k - 2^(b-1)) / 2^(b-1). Both steps are exact.
func UniformAt(t dtype.Type, seed, index uint64) float64 { return fixture.UniformAt(t, seed, index) }

// Uniform is UniformAt of the indices 0 to n-1.
func Uniform(t dtype.Type, seed uint64, n int) []float64 { return fixture.Uniform(t, seed, n) }

// IntAt is an integer in [lo, hi]: lo + floor(h*(hi-lo+1)/2^32), with h the upper half of Bits(seed, index). Small
// integers are exact in every type, so sums and products of them can be demanded to the last bit.
// hi-lo is below 2^31.
func IntAt(lo, hi int64, seed, index uint64) int64 { return fixture.IntAt(lo, hi, seed, index) }

// Ints is IntAt of the indices 0 to n-1.
func Ints(lo, hi int64, seed uint64, n int) []float64 { return fixture.Ints(lo, hi, seed, n) }
