package sim

import (
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// A matrix descriptor of wgmma says where a matrix of some rows and 32 bytes of k lies in shared memory. In units of 16
// bytes it has the address in bits 0 to 13, the leading and the stride byte offset from bits 16 and 32 on, and the swizzle
// in bits 62 and 63. Source: PTX ISA, "Matrix Descriptor Format" of wgmma; CUTLASS, mma_sm90_desc.hpp.

const (
	wgmmaStep = 32 // bytes along k
	descField = 1<<14 - 1
)

// swizzleCodes are the swizzles by their code in a descriptor.
var swizzleCodes = [4]layout.Swizzle{layout.NoSwizzle, layout.Swizzle128, layout.Swizzle64, layout.Swizzle32}

// wgmmaDesc compiles a descriptor.
func (c *compiler) wgmmaDesc(e thr.Call, dst *operand) operand {
	var f [3]uint64
	for i, a := range e.Args[1:] {
		v, ok := c.fold(a)
		if !ok {
			c.fail("%s with offsets or a swizzle that are no constants", e.Fn)
		}
		f[i] = v
	}
	code := slices.IndexFunc(swizzleCodes[:], func(s layout.Swizzle) bool { return s.Bits() > 0 && s.Width() == int(f[2]) })
	rest := f[0]>>4<<16 | f[1]>>4<<32 | uint64(max(code, 0))<<62
	return c.apply(raw(1, func(at, _, _ uint64) uint64 { return at>>4&descField | rest }), e.Args[:1], dst)
}

// descriptor is a descriptor taken apart: of a K-major matrix, whose rows run along k, or of an MN-major one.
type descriptor struct {
	at, lbo, sbo int
	swizzle      layout.Swizzle
	mn           bool
}

func newDescriptor(d uint64, mn bool) descriptor {
	field := func(shift int) int { return int(d>>shift&descField) << 4 }
	return descriptor{field(0), field(16), field(32), swizzleCodes[d>>62], mn}
}

// chunk is where 16 bytes lie: of chunk number col of the line with a number. Lines run along k, of a K-major matrix, or
// along the rows, of an MN-major one. With 8 lines of the swizzle's width one below the other, in units of 16 bytes:
//
//	K-major   ((8,rows/8),2):((width,SBO),1), without a swizzle ((8,rows/8),2):((1,SBO),LBO)
//	MN-major  ((width,rows/width),(8,k/8)):((1,LBO),(width,SBO)), without a swizzle ((1,rows),(8,k/8)):((-,SBO),(1,LBO))
func (d descriptor) chunk(line, col int) int {
	width := 1
	if d.swizzle.Bits() > 0 {
		width = d.swizzle.Width() / chunkBytes
	}
	across, down := d.lbo, d.sbo
	if d.mn && width == 1 {
		across, down = d.sbo, d.lbo
	}
	return d.swizzle.Apply(d.at + (col%width+line%8*width)*chunkBytes + col/width*across + line/8*down)
}

// chunks visits the chunks of rows of a matrix of elements of so many bytes: where each lies, and the row and the k of its
// first element. Rows are multiples of what a chunk holds.
func (d descriptor) chunks(row, rows, size int, visit func(at, row, k int)) {
	each := chunkBytes / size
	if d.mn {
		for k := range wgmmaStep / size {
			for r := row; r < row+rows; r += each {
				visit(d.chunk(k, r/each), r, k)
			}
		}
		return
	}
	for r := row; r < row+rows; r++ {
		for c := range wgmmaStep / chunkBytes {
			visit(d.chunk(r, c), r, c*each)
		}
	}
}

// matrix reads rows of a matrix, row by row. What lies outside of shared memory, which was reported, is NaN.
func (d descriptor) matrix(data []byte, row, rows int, t dtype.Type, out []float64) {
	size, decode := t.Size(), decoder(t)
	step, each := wgmmaStep/size, chunkBytes/size
	d.chunks(row, rows, size, func(at, r, k int) {
		to, apart := out[(r-row)*step+k:], 1
		if d.mn {
			apart = step
		}
		switch {
		case at+chunkBytes > len(data):
			for i := range each {
				to[i*apart] = math.NaN()
			}
		case t == dtype.BF16: // as a rule
			p := data[at:][:chunkBytes]
			for i := range each {
				to[i*apart] = float64(math.Float32frombits(uint32(p[2*i])<<16 | uint32(p[2*i+1])<<24))
			}
		default:
			for i := range each {
				to[i*apart] = decode(word(data[at+i*size:], size))
			}
		}
	})
}
