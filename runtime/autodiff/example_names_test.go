package autodiff_test

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/runtime/autodiff"
)

// Off and GOTILE_OFF take the names of the ops of a program.
func ExampleOps() {
	fmt.Println(slices.Contains(autodiff.Ops(), "duplicate"), slices.IsSorted(autodiff.Ops()))
	// Output: true true
}
