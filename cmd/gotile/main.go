// Command gotile generates, compiles, simulates, verifies and times the kernels of Go packages; see gotile help.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/gotile/gotile/codegen/tool"
)

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	os.Exit(tool.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
