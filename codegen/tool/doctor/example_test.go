package doctor_test

import (
	"context"
	"fmt"

	"github.com/gotile/gotile/codegen/tool/doctor"
)

// Where Go runs, kernels can be generated and simulated; what else works depends on the machine.
func ExampleExamine() {
	report := doctor.Examine(context.Background(), doctor.This())
	for _, c := range report.Commands[:2] {
		fmt.Println(c.Name, c.Works)
	}
	// Output:
	// gen true
	// sim true
}
