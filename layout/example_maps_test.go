package layout_test

import (
	"fmt"

	"github.com/gotile/gotile/layout"
)

func ExampleMMASyncA() {
	a, err := layout.MMASyncA(16, 16) // bf16 or f16
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a)
	fmt.Println(a.Coord(5, 3)) // value 3 of lane 5: row 5/4+8, column 2*(5%4)+1
	_, err = layout.MMASyncA(32, 16)
	fmt.Println(err)
	// Output:
	// [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	// [9 3]
	// layout: mma.sync m16n8k32 of elements of 16 bits: k is 128 or 256 bits; use k8 or k16
}

func ExampleWGMMAD() {
	d, err := layout.WGMMAD(256)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Threads(), "threads of", d.Values(), "values")
	fmt.Println(d.Reduce(1)) // a row's maximum: four lanes hold copies
	// Output:
	// 128 threads of 128 values
	// [64] thread (4:0,8:1@0,4:16@0) value (2:8@0)
}

func ExampleLdmatrix() {
	d, err := layout.Ldmatrix(4, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := layout.LdmatrixRows(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("lane 13 gives the address of [matrix, row]", rows.Coord(13, 0))
	fmt.Println("and has, as the first half of register 2, [matrix, row, column]", d.Coord(13, 4))
	// Output:
	// lane 13 gives the address of [matrix, row] [1 5]
	// and has, as the first half of register 2, [matrix, row, column] [2 3 2]
}

func ExampleDist_Holders() {
	sum := layout.Striped2(64, 8, 16, 128, 8).Reduce(1) // a sum over the rows of a tile
	fmt.Println(sum.Holders(3))
	// Output:
	// [{24 0} {25 0} {26 0} {27 0} {28 0} {29 0} {30 0} {31 0}]
}

// A column of a row-major tile of 32 columns of floats is one bank; a column more spreads it over all.
func ExampleCountBanks() {
	for _, pitch := range []int{32, 33} {
		var column []int
		for lane := range layout.WarpSize {
			column = append(column, lane*pitch*4)
		}
		cost, err := layout.CountBanks(column, 4)
		fmt.Println(cost.Ways, cost.Wavefronts, cost.Conflicts(), err)
	}
	// Output:
	// [32] 32 31 <nil>
	// [1] 1 0 <nil>
}

// Ldmatrix reads 8 rows of 16 bytes at once. In rows of 128 bytes the same columns of all rows lie in the same banks;
// the 128-byte swizzle moves them apart.
func ExampleDist_Accesses() {
	source, err := layout.LdmatrixSource(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []layout.Swizzle{layout.NoSwizzle, layout.Swizzle128} {
		elements, err := s.Elements(2) // bf16
		if err != nil {
			fmt.Println(err)
			return
		}
		tile, err := elements.Compose(0, layout.MustParse("(16,64):(64,1)"))
		if err != nil {
			fmt.Println(err)
			return
		}
		all, err := source.Accesses(tile, 2, 16)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s, all[0].Cost.Ways, all[0].Cost.Conflicts())
	}
	// Output:
	// Sw<0,4,3> [8 8 8 8] 28
	// Sw<3,4,3> [1 1 1 1] 0
}
