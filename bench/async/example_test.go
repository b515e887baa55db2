//go:build !gotilegen

package async_test

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/async"
)

// What `gotile bench async` would time for a shape: as many blocks on a multiprocessor as fit.
func ExampleSuite() {
	list, err := async.Suite().Benchmarks(bench.Selection{Shapes: []string{"8192x4096"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range list {
		fmt.Println(b.Name)
	}
	// Output:
	// async/blocks1/8192x4096/bf16
	// async/blocks2/8192x4096/bf16
	// async/blocks3/8192x4096/bf16
}
