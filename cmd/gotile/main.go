// Command gotile generates, compiles, simulates, verifies and times the kernels of Go packages; see gotile help.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/gotile/gotile/cmd/gotile/command"
)

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	os.Exit(command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
