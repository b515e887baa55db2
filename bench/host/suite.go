//go:build !gotilegen

// Package host is the suite of what the host spends: on a launch, beyond what the driver itself takes; on applying an op
// of autodiff; and on a step of training of about 400 launches, one by one and as a graph.
package host

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/bench"
)

// Goals, in microseconds above the driver's own launch.
const (
	launchGoal = 1.0
	applyGoal  = 3.0
)

// The arms that do nothing but launch the empty kernel by the driver.
const (
	armDriver = "driver" // by runtime/driver, the layer that takes Go's calls to libcuda
	armC      = "c"      // libcuda's function itself, with all arguments made before
)

// Suite is what gotile bench host runs.
func Suite() bench.Suite { return bench.Suite{Name: "host", Benchmarks: benchmarks} }

func benchmarks(sel bench.Selection) ([]bench.Benchmark, error) {
	if len(sel.Shapes)+len(sel.DTypes) > 0 {
		return nil, errors.New("suite host has one shape and type a case: choose by -case, without -shapes and -dtypes")
	}
	return []bench.Benchmark{
		{Name: "host/launch/32B", Setup: setupLaunch, Goal: &bench.Goal{Above: map[string]float64{armC: launchGoal}}},
		{Name: fmt.Sprintf("host/apply/%d/f32", elements), Setup: setupApply, Goal: &bench.Goal{Above: map[string]float64{armC: applyGoal}}},
		{Name: fmt.Sprintf("host/step/%dx%d/f32", published.rows, published.n), Setup: published.setup},
	}, nil
}
