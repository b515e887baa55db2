package layout_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/layout"
)

func ExampleLayout() {
	a, err := layout.Parse("(4,2):(2,1)") // 4 rows of 2, row-major
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.AtCoord(layout.Ints(3, 1))) // row 3, column 1
	fmt.Println(a.Size(), "elements in", a.Cosize(), "places")
	fmt.Println(a.At(5))    // index 5 is coordinate (1,1): the left mode moves fastest
	fmt.Println(a.Coord(5)) // and back
	fmt.Println(a.At(8))
	// Output:
	// 7 <nil>
	// 8 elements in 8 places
	// 3 <nil>
	// (1,1) <nil>
	// 0 layout: index 8 of (4,2):(2,1) is not in [0, 8)
}

func ExampleLayout_nested() {
	// The columns are two groups of 4: 4 apart within a group, 32 from one group to the next.
	a := layout.MustParse("(4,(4,2)):(1,(4,32))")
	fmt.Println(a.AtCoord(layout.Ints(2, 5))) // an index may stand for any part of a coordinate
	fmt.Println(a.AtCoord(layout.Nest(layout.Int(2), layout.Ints(1, 1))))
	fmt.Println(a.Rank(), a.Depth(), a.Modes()[1])
	// Output:
	// 38 <nil>
	// 38 <nil>
	// 2 2 (4,2):(4,32)
}

func ExampleNew() {
	fmt.Println(layout.New(layout.Ints(8, 4), layout.Ints(1, 8)))
	fmt.Println(layout.New(layout.Ints(8, 4), layout.Ints(1)))
	// Output:
	// (8,4):(1,8) <nil>
	// ():() layout: shape (8,4) and stride (1) are not nested alike: give an integer in one for each integer in the other
}

func ExampleColMajor() {
	fmt.Println(layout.ColMajor(layout.Ints(8, 4)))
	fmt.Println(layout.RowMajor(layout.Ints(8, 4)))
	// Output:
	// (8,4):(1,8) <nil>
	// (8,4):(4,1) <nil>
}

func ExampleConcat() {
	fmt.Println(layout.Concat(layout.MustParse("8:1"), layout.MustParse("(2,3):(24,8)")))
	// Output:
	// (8,(2,3)):(1,(24,8)) <nil>
}

func ExampleTuple() {
	shape := layout.Nest(layout.Int(2), layout.Ints(1, 6))
	fmt.Println(shape)
	same, err := layout.ParseTuple("( 2, (1, 6) )")
	fmt.Println(shape.Equal(same), err)
	// Output:
	// (2,(1,6))
	// true <nil>
}

func ExampleLayout_Offsets() {
	for i, at := range layout.MustParse("(2,2):(4,1)").Offsets() {
		fmt.Println(i, at)
	}
	// Output:
	// 0 0
	// 1 4
	// 2 1
	// 3 5
}

func ExampleLayout_Coalesce() {
	fmt.Println(layout.MustParse("(2,(1,6)):(1,(6,2))").Coalesce())
	fmt.Println(layout.MustParse("(2,(1,6)):(1,(6,2))").CoalesceBy(layout.Ints(1, 1))) // two modes stay two
	// Output:
	// 12:1
	// (2,6):(1,2) <nil>
}

func ExampleLayout_Equivalent() {
	a, b := layout.MustParse("(4,2):(1,4)"), layout.MustParse("8:1")
	fmt.Println(a.Equal(b), a.Equivalent(b))
	// Output:
	// false true
}

func ExampleLayout_Compose() {
	a := layout.MustParse("(6,2):(8,2)")
	fmt.Println(a.Compose(layout.MustParse("(4,3):(3,1)")))
	fmt.Println(a.Compose(layout.Ints(3, 2))) // by mode: the first 3 of mode 0, 2 of mode 1
	_, err := a.Compose(layout.MustParse("(8,2):(1,6)"))
	fmt.Println(errors.Is(err, layout.ErrUndefined), err)
	// Output:
	// ((2,2),3):((24,2),8) <nil>
	// (3,2):(8,2) <nil>
	// true layout: composition (6,2):(8,2) o (8,2):(1,6): the second reaches index 13, the first has 12 elements; use a smaller tile or pad the first
}

func ExampleByMode() {
	a := layout.MustParse("(9,(4,8)):(59,(13,1))")
	// Every third row, and columns 0, 1, 8, 9, 16, ...
	tile := layout.ByMode{layout.MustParse("3:3"), layout.MustParse("(2,4):(1,8)")}
	fmt.Println(a.Compose(tile))
	// Output:
	// (3,(2,4)):(177,(13,2)) <nil>
}

func ExampleLayout_Complement() {
	a := layout.MustParse("(2,2):(1,6)") // 0 1 6 7
	fmt.Println(a.Complement(24))        // moved by 0 2 4, and by 12 more
	_, err := layout.MustParse("(4,4):(1,2)").Complement(24)
	fmt.Println(err)
	// Output:
	// (3,2):(2,12) <nil>
	// layout: complement of (4,4):(1,2): mode 4:2 begins within the extent 4 of the smaller strides; a stride must not be below the size times the stride before it
}

func ExampleLayout_LogicalDivide() {
	a := layout.MustParse("(8,8):(8,1)")
	fmt.Println(a.LogicalDivide(layout.Ints(4, 2))) // each mode: (within the tile, which tile)
	_, err := a.LogicalDivide(layout.Ints(3, 2))
	fmt.Println(err)
	// Output:
	// ((4,2),(2,4)):((8,32),(1,2)) <nil>
	// layout: division of 8:8 by 3:1: 3 tiles of 3 elements are not the 8 of the first; the tile must fill it exactly
}

func ExampleLayout_ZippedDivide() {
	a := layout.MustParse("(128,64):(64,1)")
	tiles, err := a.ZippedDivide(layout.Ints(16, 16))
	fmt.Println(tiles, err)
	tile, offset, err := tiles.Slice(layout.Nest(layout.All, layout.Ints(3, 2))) // tile (3,2)
	fmt.Println(tile, "at", offset, err)
	// Output:
	// ((16,16),(8,4)):((64,1),(1024,16)) <nil>
	// (16,16):(64,1) at 3104 <nil>
}

func ExampleLayout_TiledDivide() {
	fmt.Println(layout.MustParse("(128,64):(64,1)").TiledDivide(layout.Ints(16, 16)))
	// Output:
	// ((16,16),8,4):((64,1),1024,16) <nil>
}

func ExampleLayout_LogicalProduct() {
	fmt.Println(layout.MustParse("(2,2):(4,1)").LogicalProduct(layout.MustParse("6:1")))
	// Output:
	// ((2,2),(2,3)):((4,1),(2,8)) <nil>
}

func ExampleLayout_ZippedProduct() {
	a := layout.MustParse("(4,2):(1,8)")
	by := layout.Ints(2, 3)
	fmt.Println(a.LogicalProduct(by))
	fmt.Println(a.ZippedProduct(by))
	fmt.Println(a.TiledProduct(by))
	// Output:
	// ((4,2),(2,3)):((1,4),(8,1)) <nil>
	// ((4,2),(2,3)):((1,8),(4,1)) <nil>
	// ((4,2),2,3):((1,8),4,1) <nil>
}

func ExampleLayout_BlockedProduct() {
	block, tiles := layout.MustParse("(2,5):(5,1)"), layout.MustParse("(3,4):(1,3)")
	fmt.Println(block.BlockedProduct(tiles)) // blocks side by side
	fmt.Println(block.RakedProduct(tiles))   // the elements of a block apart
	// Output:
	// ((2,3),(5,4)):((5,10),(1,30)) <nil>
	// ((3,2),(4,5)):((10,5),(30,1)) <nil>
}

func ExampleLayout_TileToShape() {
	block := layout.MustParse("(8,64):(64,1)")
	fmt.Println(block.TileToShape(layout.Ints(128, 128)))       // the next block lies below
	fmt.Println(block.TileToShape(layout.Ints(128, 128), 1, 0)) // the next block lies to the right
	// Output:
	// ((8,16),(64,2)):((64,512),(1,8192)) <nil>
	// ((8,16),(64,2)):((64,1024),(1,512)) <nil>
}

func ExampleLayout_RightInverse() {
	a := layout.MustParse("(8,4):(4,1)")
	fmt.Println(a.RightInverse())                                  // from an offset to the index there
	fmt.Println(layout.MustParse("(32,128):(0,1)").RightInverse()) // 32 copies: the first
	fmt.Println(layout.MustParse("4:2").RightInverse())            // no element at offset 1
	// Output:
	// (4,8):(8,1)
	// 128:32
	// 1:0
}

func ExampleLayout_LeftInverse() {
	fmt.Println(layout.MustParse("(4,2):(1,16)").LeftInverse()) // from an element's offset to its index
	_, err := layout.MustParse("(4,2):(1,2)").LeftInverse()
	fmt.Println(err)
	// Output:
	// (16,2):(1,4) <nil>
	// layout: left inverse of (4,2):(1,2): stride 2 follows 4:1; it must be a multiple of 1 and at least 4 times as large
}

func ExampleLayout_Slice() {
	a := layout.MustParse("(4,(2,3)):(1,(4,8))")
	fmt.Println(a.Slice(layout.Nest(layout.All, layout.Int(3)))) // column 3, and where it begins
	fmt.Println(a.Slice(layout.Nest(layout.Int(2), layout.Nest(layout.All, layout.Int(1)))))
	// Output:
	// 4:1 12 <nil>
	// 2:4 10 <nil>
}

func ExampleSwizzle() {
	// The 16-byte chunks of 8 rows of 128 bytes, by where they lie in shared memory: each column is in 8 places.
	for row := range 8 {
		var to []int
		for chunk := range 8 {
			to = append(to, layout.Swizzle128.Apply(128*row+16*chunk)/16%8)
		}
		fmt.Println(to)
	}
	// Output:
	// [0 1 2 3 4 5 6 7]
	// [1 0 3 2 5 4 7 6]
	// [2 3 0 1 6 7 4 5]
	// [3 2 1 0 7 6 5 4]
	// [4 5 6 7 0 1 2 3]
	// [5 4 7 6 1 0 3 2]
	// [6 7 4 5 2 3 0 1]
	// [7 6 5 4 3 2 1 0]
}

func ExampleSwizzle_Check() {
	for _, s := range []layout.Swizzle{layout.Swizzle128, layout.Swizzle64, layout.Swizzle32} {
		fmt.Printf("%v: rows of %d bytes, repeats after %d rows, aligned to %d bytes\n", s, s.Width(), s.Rows(), s.Align())
	}
	fmt.Println(layout.Swizzle128.Check(2048, 128))
	fmt.Println(layout.Swizzle128.Check(512, 128))
	fmt.Println(layout.Swizzle128.Check(0, 96))
	// Output:
	// Sw<3,4,3>: rows of 128 bytes, repeats after 8 rows, aligned to 1024 bytes
	// Sw<2,4,3>: rows of 64 bytes, repeats after 8 rows, aligned to 512 bytes
	// Sw<1,4,3>: rows of 32 bytes, repeats after 8 rows, aligned to 256 bytes
	// <nil>
	// layout: Sw<3,4,3> at address 512: the address must be a multiple of 1024
	// layout: Sw<3,4,3> of rows of 96 bytes: a row must be a multiple of 128 bytes; use a narrower swizzle or wider rows
}

func ExampleNewSwizzle() {
	fmt.Println(layout.NewSwizzle(2, 5, 2))
	fmt.Println(layout.NewSwizzle(3, 4, 2))
	// Output:
	// Sw<2,5,2> <nil>
	// Sw<0,0,0> layout: swizzle (3,4,2): |shift| is at least bits, for the fields must not overlap
}

func ExampleSwizzled() {
	elements, err := layout.Swizzle128.Elements(2) // bf16
	if err != nil {
		fmt.Println(err)
		return
	}
	tile, err := elements.Compose(0, layout.MustParse("(8,64):(64,1)"))
	fmt.Println(tile, err)
	fmt.Println(tile.AtCoord(layout.Ints(3, 0))) // row 3 begins with chunk 3 of its row
	fmt.Println(tile.Slice(layout.Nest(layout.Int(3), layout.All)))
	// Output:
	// Sw<3,3,3> o 0 o (8,64):(64,1) <nil>
	// 216 <nil>
	// Sw<3,3,3> o 192 o 64:1 <nil>
}

func ExampleDist_Layout() {
	a, err := layout.MMASyncA(16, 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	tv, err := a.Layout() // (thread, value) -> row + 16*column
	fmt.Println(tv, err)
	tile := layout.MustParse("(16,16):(72,1)") // rows of 16, 72 apart, in shared memory
	fmt.Println(tile.Compose(tv))              // where each value of each lane lies there
	fmt.Println(layout.DistOf(tv, 16, 16))
	// Output:
	// ((4,8),(2,2,2)):((32,1),(16,8,128)) <nil>
	// ((4,8),(2,2,2)):((2,72),(1,576,8)) <nil>
	// [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1) <nil>
}

// The text of a swizzle, and of a swizzle after a layout, reads back.
func ExampleParseSwizzled() {
	s, err := layout.ParseSwizzle("Sw<3,4,3>")
	fmt.Println(s == layout.Swizzle128, err)
	tile, err := layout.ParseSwizzled("Sw<3,3,3> o 0 o (8,64):(64,1)")
	fmt.Println(tile, err)
	_, err = layout.ParseSwizzle("Sw<3,4,2>")
	fmt.Println(err)
	// Output:
	// true <nil>
	// Sw<3,3,3> o 0 o (8,64):(64,1) <nil>
	// layout: swizzle (3,4,2): |shift| is at least bits, for the fields must not overlap
}
