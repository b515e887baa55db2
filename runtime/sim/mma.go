package sim

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// A matrix multiply adds exact products in float64 and rounds once: the GPU's tensor cores align the summands of a few
// products and cut, in an order and with a width that NVIDIA does not document, so that bits agree where all sums are
// exact, as of small integers, and else within the rounding of a few f32 sums.

// mmaPlace is where a fragment has an element: in which of its registers, of which lane, and in which part.
type mmaPlace struct {
	reg, lane int8
	shift     uint8
}

// mmaPlaces is the inverse of a fragment by element, row by row, for registers of so many elements.
func mmaPlaces(d *layout.Dist, each int) []mmaPlace {
	cols := d.Shape[1]
	out := make([]mmaPlace, d.Shape[0]*cols)
	for lane := range d.Threads() {
		for v := range d.Values() {
			at := d.Coord(lane, v)
			out[at[0]*cols+at[1]] = mmaPlace{int8(v / each), int8(lane), uint8(v % each * 32 / each)}
		}
	}
	return out
}

// mmaShape is an mma.sync m16n8k: where its fragments have their elements.
type mmaShape struct {
	k       int
	a, b, d []mmaPlace
}

const mmaM, mmaN = 16, 8

// newMMA finds the shape by the registers of its fragments; ok is false where there is none.
func newMMA(bits, a, b, d int) (s mmaShape, ok bool) {
	each := 32 / bits
	s.k = a * each * warpSize / mmaM
	da, err := layout.MMASyncA(s.k, bits)
	if err != nil || b*each*warpSize != s.k*mmaN || mmaM*mmaN%(d*warpSize) != 0 {
		return s, false
	}
	db, err := layout.MMASyncB(s.k, bits)
	if err != nil {
		return s, false
	}
	s.a, s.b = mmaPlaces(da, each), mmaPlaces(db, each)
	s.d = mmaPlaces(layout.MMASyncC(), mmaM*mmaN/(d*warpSize))
	return s, true
}

// decoder reads an element of an operand from the bits of its place.
func decoder(t dtype.Type) func(bits uint64) float64 {
	switch t {
	case dtype.BF16:
		return func(b uint64) float64 { return float64(math.Float32frombits(uint32(b&0xffff) << 16)) }
	case dtype.F16:
		return func(b uint64) float64 { return float64(dtype.F16FromBits(uint16(b)).Float32()) }
	case dtype.E4M3:
		return func(b uint64) float64 { return dtype.E4M3FromBits(uint8(b)).Float() }
	case dtype.E5M2:
		return func(b uint64) float64 { return dtype.E5M2FromBits(uint8(b)).Float() }
	case dtype.I8:
		return func(b uint64) float64 { return float64(int8(b)) }
	case dtype.F32: // tf32: the hardware reads 10 bits of the fraction
		return func(b uint64) float64 { return float64(math.Float32frombits(uint32(b) &^ 0x1fff)) }
	}
	return nil
}

// tf32 rounds an f32 to 10 bits of fraction, ties away from zero.
func tf32(bits uint64) uint64 {
	if bits&0x7f800000 == 0x7f800000 { // infinite, or NaN
		return bits
	}
	return (bits + 0x1000) &^ 0x1fff
}

// mmaSync is D += A B of a warp.
func (c *compiler) mmaSync(s thr.Do) {
	if s.Pred != nil || len(s.Frags) != 3 {
		c.fail("%s for some lanes, or of %d fragments", s.Fn, len(s.Frags))
	}
	decode := decoder(s.DT)
	if decode == nil {
		c.fail("%s of %s", s.Fn, s.DT)
	}
	d, a, b := c.fragment(s, 0), c.fragment(s, 1), c.fragment(s, 2)
	acc := s.Frags[0].Local.Type.DT
	half := acc == dtype.U32 // an accumulator of f16, in pairs
	shape, ok := newMMA(8*s.DT.Size(), len(a), len(b), len(d))
	if !ok || half != (len(d) == 2) || half && s.DT != dtype.F16 || (s.DT == dtype.I8) != (acc == dtype.I32) {
		c.fail("%s of %s with %d, %d and %d registers", s.Fn, s.DT, len(d), len(a), len(b))
	}
	c.emit(int64(mmaM*mmaN*shape.k), func(w *warp) {
		var x, y [512]float64 // the most of A, 16x32, and of B
		for i, p := range shape.a {
			x[i] = decode(w.vec(a[p.reg])[p.lane] >> p.shift)
		}
		for i, p := range shape.b {
			y[i] = decode(w.vec(b[p.reg])[p.lane] >> p.shift)
		}
		for i := range mmaM {
			for j := range mmaN {
				p := shape.d[i*mmaN+j]
				r := &w.r[d[p.reg]][p.lane]
				sum := float64(0)
				for k, v := range x[i*shape.k:][:shape.k] {
					sum += float64(v * y[j+k*mmaN])
				}
				if acc == dtype.I32 { // wraps
					*r = put(get[int32](*r) + int32(sum))
					continue
				}
				accumulate(r, p.shift, half, sum)
			}
		}
	})
}

// accumulate adds a sum of products to an element of an accumulator.
func accumulate(r *uint64, shift uint8, half bool, sum float64) {
	if !half {
		*r = fbits(float32(sum + float64(float(*r))))
		return
	}
	sum += float64(dtype.F16FromBits(uint16(*r >> shift)).Float32())
	*r = *r&^(0xffff<<shift) | f16(fbits(float32(sum)))<<shift
}
