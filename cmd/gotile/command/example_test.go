package command_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gotile/gotile/cmd/gotile/command"
)

// A command line without the program's name, here `gotile gen -check ../../../examples/softmax`: generated files that are
// stale would be shown as a diff, with exit code 1.
func ExampleRun() {
	code := command.Run(context.Background(), []string{"gen", "-check", "../../../examples/softmax"}, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// 3 files are up to date
	// exit code 0
}
