//go:build !gotilegen

package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
	"github.com/gotile/gotile/examples/softmax"
)

// The program that gotile builds for a package is this call in a main, with what the package exports.
func ExampleRun() {
	sources, err := worker.HashSources("../../../../examples/softmax")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := worker.Package{Command: "sim", Path: "github.com/gotile/gotile/examples/softmax", Name: "softmax",
		Kernels: softmax.Kernels, Cases: softmax.Cases, Sources: sources}
	code := worker.Run(context.Background(), p, []string{"-run", "^f32/1x100$"}, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// 1 cases passed on sim
	// exit code 0
}

// A row of the table of commands says what a package must export for it.
func ExampleLookup() {
	verify, _ := worker.Lookup("verify")
	bench, _ := worker.Lookup("bench")
	fmt.Println(verify.Exports())
	fmt.Println(bench.Exports())
	// Output:
	// Kernels() tile.Set
	// Suite() bench.Suite
}

// A receipt is JSON: which text of which kernel ran on which GPU, and with what errors.
func ExampleReceipt() {
	text, err := os.ReadFile("../../../../examples/softmax/receipts/h200.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	var r worker.Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Device, r.Target)
	for _, k := range r.Kernels {
		fmt.Println(k.Name, k.Target, k.Worst["y"] < 4e-3)
	}
	// Output:
	// NVIDIA H200 sm_90a
	// softmax_bf16_c4096 sm_90a true
	// softmax_bf16_c4096 sm_90a-as-120 true
	// softmax_f32_c4096 sm_90a true
	// softmax_f32_c4096 sm_90a-as-120 true
}
