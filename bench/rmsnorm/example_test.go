//go:build !gotilegen

package rmsnorm_test

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/rmsnorm"
)

// What `gotile bench -shapes 4096x512 -dtypes bf16 rmsnorm` would time.
func ExampleSuite() {
	list, err := rmsnorm.Suite().Benchmarks(bench.Selection{Shapes: []string{"4096x512"}, DTypes: []string{"bf16"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range list {
		fmt.Println(b.Name, b.Bytes)
	}
	// Output:
	// rmsnorm/fwd/4096x512/bf16 8406016
	// rmsnorm/bwd/4096x512/bf16 12601344
	// rmsnorm/add_fwd/4096x512/bf16 16794624
	// rmsnorm/add_bwd/4096x512/bf16 16795648
	// rmsnorm/gated_fwd/4096x512/bf16 12600320
	// rmsnorm/gated_bwd/4096x512/bf16 20989952
}
