package matrix

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// A family is ops of one kind: bodies, and a reference for what they do to a tile.
type family struct {
	name    string
	doc     string
	bodies  bodies
	ways    []way
	layouts []string // of fragments; nil: fragments and the transposes of some
	// variants multiply the modules: swizzles, or forms. nil: one without a name.
	variants []variant
	fits     func(m *module, rows, cols int) bool // which sizes there are; nil: all
	ends     func(layout string) bool             // of which layouts some tiles are clipped; nil: of all
	more     []int                                // the columns of further tiles in shared memory, swizzled as the variant says
	swizzled bool                                 // the worker's tile is, too
	targets  []string                             // nil: those of all modules
	results  results
	// sides is the size of what is valid of the worker's tile in a body without ends; nil: the body's.
	sides func(m *module, b body) (rows, cols int)
	// want turns the worker's tile, which holds what was put in, into what the body makes of it; bar is the scale-relative
	// error that is allowed, 0: the results are exact.
	want func(p *problem)
	bar  func(t dtype.Type) float64
}

// results says where the results of a family are.
type results uint8

const (
	inPlace    results = iota // in the tile that was given, all of which is compared
	toGlobal                  // in Y, which the body writes by itself, as it reads X
	ofProducts                // in F
)

// bodies are a family's bodies, by type.
type bodies struct {
	f32  func(*env[tile.F32])
	bf16 func(*env[tile.BF16])
	f16  func(*env[tile.F16])
	i32  func(*env[tile.I32])
	e4m3 func(*env[tile.E4M3])
	e5m2 func(*env[tile.E5M2])
	i8   func(*env[tile.I8])
}

// types are those that a family has bodies for.
func (b bodies) types() []dtype.Type {
	var out []dtype.Type
	add := func(t dtype.Type, has bool) {
		if has {
			out = append(out, t)
		}
	}
	add(dtype.F32, b.f32 != nil)
	add(dtype.BF16, b.bf16 != nil)
	add(dtype.F16, b.f16 != nil)
	add(dtype.I32, b.i32 != nil)
	add(dtype.E4M3, b.e4m3 != nil)
	add(dtype.E5M2, b.e5m2 != nil)
	add(dtype.I8, b.i8 != nil)
	return out
}

// variant is a swizzle or a form of a product.
type variant struct {
	name    string
	swizzle layout.Swizzle
	form    tile.Form
}

var swizzles = []variant{{name: "swizzle0", swizzle: layout.NoSwizzle}, {name: "swizzle32", swizzle: layout.Swizzle32},
	{name: "swizzle64", swizzle: layout.Swizzle64}, {name: "swizzle128", swizzle: layout.Swizzle128}}

// serves reports whether rows of cols elements are whole panels of the variant's swizzle.
func (v variant) serves(t dtype.Type, cols int) bool {
	width := v.swizzle.Width()
	return width == 0 || cols*t.Size()%width == 0
}

// never is ends of families whose tiles are whole.
func never(string) bool { return false }

// each are the variants of the family's modules.
func (f *family) each() []variant {
	if f.variants == nil {
		return []variant{{}}
	}
	return f.variants
}
