//go:build !gotilegen

package recompute_test

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/recompute"
)

// What `gotile bench recompute` would time.
func ExampleSuite() {
	list, err := recompute.Suite().Benchmarks(bench.Selection{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range list {
		fmt.Println(b.Name)
	}
	// Output:
	// recompute/step/4096x1024/bf16
	// recompute/step/8192x1024/bf16
	// recompute/step/4096x4096/bf16
	// recompute/step/8192x4096/bf16
}
