//go:build !gotilegen

package host_test

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/host"
)

// What `gotile bench host` would time, and what is asked of it.
func ExampleSuite() {
	list, err := host.Suite().Benchmarks(bench.Selection{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range list {
		if b.Goal != nil {
			fmt.Println(b.Name, "at most so many µs above", b.Goal.Above)
		} else {
			fmt.Println(b.Name)
		}
	}
	// Output:
	// host/launch/32B at most so many µs above map[c:1]
	// host/apply/256/f32 at most so many µs above map[c:3]
	// host/step/16x128/f32
}
