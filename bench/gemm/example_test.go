//go:build !gotilegen

package gemm_test

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/gemm"
)

// What `gotile bench -shapes NT/4096x4096x4096 gemm` would time.
func ExampleSuite() {
	list, err := gemm.Suite().Benchmarks(bench.Selection{Shapes: []string{"NT/4096x4096x4096"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range list {
		fmt.Println(b.Name, b.Bytes, b.FLOPs)
	}
	// Output: gemm/NT/4096x4096x4096/bf16 100663296 137438953472
}
