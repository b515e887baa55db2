// Command progverify runs the fixed random programs of package progen on a GPU and on the simulator, demands the same
// bits of both, and keeps a receipt: what `gotile verify` does for committed kernels, for programs whose CUDA is not
// committed but printed and compiled when they run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/gotile/gotile/internal/progen"
	"github.com/gotile/gotile/runtime/device"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Receipts is where receipts are committed, from the root of the module.
const Receipts = "internal/progen/verified"

const help = `usage: progverify [flags]

Progverify runs %d random programs on cuda:0 and on the simulator, for the GPU's target and those that it stands for.
It writes GPU.json into the folder of receipts if no program differs. With -check it runs nothing and needs no GPU: it
fails unless there is a receipt and each is of the programs as they are printed now.

	go run ./internal/progverify -check
	CGO_ENABLED=0 go build ./internal/progverify   # then, on the machine with the GPU: ./progverify -receipts DIR

`

// errFailed ends a run whose output has said why.
var errFailed = errors.New("failed")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("progverify", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, help, progen.Count)
		fs.PrintDefaults()
	}
	v := verification{count: progen.Count, stdout: stdout}
	check := fs.Bool("check", false, "only compare the receipts with the programs")
	dir := fs.String("receipts", Receipts, "`folder` of the receipts")
	name := fs.String("device", "cuda:0", "the `GPU`")
	only := fs.Int("only", -1, "run program `number` alone, print it, and write no receipt")
	fs.IntVar(&v.parallel, "p", runtime.NumCPU(), "`number` of programs to run at the same time")
	fs.StringVar(&v.commit, "commit", "", "`revision` to note in the receipt")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil || fs.NArg() > 0 || v.parallel < 1:
		fmt.Fprintln(stderr, "progverify: see progverify -h")
		return 2
	}
	err := error(nil)
	if *check {
		err = checkReceipts(*dir, v.count, stdout)
	} else {
		err = v.device(ctx, *name, *dir, *only)
	}
	switch {
	case err == nil:
		return 0
	case !errors.Is(err, errFailed):
		fmt.Fprintf(stderr, "progverify: %+v\n", err)
	}
	return 1
}

// device verifies on a device for each target that it stands for, and writes its receipt.
func (v *verification) device(ctx context.Context, name, dir string, only int) error {
	d, err := device.Open(name)
	if err != nil {
		return fmt.Errorf("a GPU is needed, but for -check: %w", err)
	}
	info, own := d.Info(), d.Target()
	if err := d.Close(); err != nil {
		return err
	}
	if v.first = 0; only >= 0 {
		v.first, v.count, v.verbose = only, 1, true
	}
	r := receipt{Device: info.Name, Driver: info.Driver, NVRTC: info.NVRTC, Commit: v.commit, Programs: v.count}
	for _, target := range standsFor(own) {
		ran, err := v.target(ctx, name, target)
		if err != nil {
			return err
		}
		r.Runs = append(r.Runs, ran)
	}
	if only >= 0 {
		return nil
	}
	return r.write(filepath.Join(dir, info.GPU+".json"))
}
