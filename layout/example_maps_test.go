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

// One mma.sync: where value 1 of lane 5 lies in A, in B and in C. A of wgmma from registers is A of mma.sync, of four
// warps, one below the other.
func ExampleMMASyncB() {
	a, _ := layout.MMASyncA(16, 16)
	b, _ := layout.MMASyncB(16, 16)
	c := layout.MMASyncC()
	fmt.Println(a.Coord(5, 1), b.Coord(5, 1), c.Coord(5, 1))
	w, err := layout.WGMMAA(16)
	fmt.Println(w, err)
	fmt.Println(a)
	// Output:
	// [1 3] [3 1] [1 3]
	// [64,16] thread (4:2@1,8:1@0,4:16@0) value (2:1@1,2:8@0,2:8@1) <nil>
	// [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
}

// Before a store through stmatrix, lane 9 holds these two elements in its first register, and gives the address of this
// row.
func ExampleStmatrix() {
	held, err := layout.Stmatrix(4, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := layout.StmatrixRows(4)
	fmt.Println("matrix, row, column:", held.Coord(9, 0), held.Coord(9, 1))
	fmt.Println("matrix, row:", rows.Coord(9, 0), err)
	// Output:
	// matrix, row, column: [0 2 2] [0 2 3]
	// matrix, row: [1 1] <nil>
}

// A vector of 64 over 8 threads, in runs of 4: the next run of a thread begins where all threads have had one.
func ExampleStriped() {
	d := layout.Striped(8, 64, 4)
	fmt.Println(d)
	for v := range d.Values() {
		fmt.Print(d.Coord(1, v), " ")
	}
	fmt.Println()
	// Output:
	// [64] thread (8:4@0) value (4:1@0,2:32@0)
	// [4] [5] [6] [7] [36] [37] [38] [39]
}

// A counter that is kept counts without allocation, for simulators. Wider accesses are served by fewer lanes at a time.
func ExampleBankCounter() {
	var addr [layout.WarpSize]int
	for lane := range addr {
		addr[lane] = lane * 16 % 512 // each of 32 places of 16 bytes
	}
	var n layout.BankCounter
	for _, width := range []int{4, 8, 16} {
		wavefronts, least := n.Count(&addr, layout.AllLanes, width)
		fmt.Println(width, "bytes:", layout.PhaseLanes(width), "lanes at once,", wavefronts, "wavefronts,", least, "at least")
	}
	// Output:
	// 4 bytes: 32 lanes at once, 4 wavefronts, 1 at least
	// 8 bytes: 16 lanes at once, 4 wavefronts, 2 at least
	// 16 bytes: 8 lanes at once, 4 wavefronts, 4 at least
}

func ExampleFragmentTF32() {
	a, err := layout.FragmentTF32(64, 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a)
	fmt.Println(a.Coord(5, 0), a.Coord(5, 1), a.Coord(5, 2), a.Coord(5, 4)) // 8 rows, 4 and 8 columns further
	// Output:
	// [64,16] thread (4:1@1,8:1@0,4:16@0) value (2:8@0,2:4@1,2:8@1)
	// [1 1] [9 1] [1 5] [1 9]
}

func ExampleFragment() {
	acc, err := layout.Fragment(32, 16, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := acc.Transpose()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(acc)
	fmt.Println(acc.Coord(5, 9), b.Coord(5, 9)) // the same register of the same lane
	_, err = layout.Fragment(32, 16, 4)
	fmt.Println(err)
	// Output:
	// [32,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1,2:16@0)
	// [17 3] [3 17]
	// layout: a fragment of 32x16 over 4 warps: the rows are a multiple of 64, the columns of 8
}
