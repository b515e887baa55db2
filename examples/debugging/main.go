// Command debugging launches a kernel with a mistake that no compiler sees, for the tools that do: it gathers rows by
// numbers that it reads from memory, and one number is wrong. docs/debugging.md shows what the simulator,
// compute-sanitizer and ncu say about it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"structs"
	"unsafe"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
)

func main() {
	err := run(context.Background(), os.Stdout, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintf(os.Stderr, "debugging: %+v\n", err)
	os.Exit(1)
}

type args struct {
	X     tile.Global[tile.F32] `tile:"rows,n"`
	Index tile.Global[tile.I32] `tile:"m"`
	Y     tile.Global[tile.F32] `tile:"m,n"`
}

// gather is y[i] = x[index[i]].
func gather() (*tile.Kernel, error) {
	return tile.Define("gather", func(k *tile.Builder, a args) {
		cols := k.Block().Striped(1024, 4)
		for i := range tile.Persistent(k, a.Index.Dim(0)) {
			row := tile.AsIndex(tile.LoadScalar(k, a.Index.At(i))) // nothing checks the number
			x := tile.Load(k, a.X.Row(row), cols)                  // so this may be anywhere
			tile.Store(k, a.Y.Row(i), x.Mul(tile.F32(2)))
		}
	})
}

// arguments is the kernel's argument struct, in the order that the printed CUDA shows: pointers, strides, sizes.
type arguments struct {
	_                structs.HostLayout
	x, index, y      uint64
	xStride, yStride int64
	rows, n, m       int32
	_                int32
}

const rows, n = 3, 512

func run(ctx context.Context, stdout io.Writer, flags []string) error {
	fs := flag.NewFlagSet("debugging", flag.ContinueOnError)
	fs.SetOutput(stdout)
	name := fs.String("device", "sim", "`device`: sim, cuda:0, ...")
	right := fs.Bool("right", false, "without the mistake")
	if err := fs.Parse(flags); err != nil {
		return err
	}
	index := []tile.I32{2, 0, 1 << 20, 1}
	if *right {
		index[2] = 2
	}
	k, err := gather()
	if err != nil {
		return err
	}
	d, err := device.Open(*name)
	if err != nil {
		return err
	}
	defer d.Close()
	f, err := load(d, k)
	if err != nil {
		return err
	}
	x, err := device.NewTensor(d, dtype.F32, rows, n)
	if err != nil {
		return err
	}
	i, err := device.NewTensor(d, dtype.I32, len(index))
	if err != nil {
		return err
	}
	y, err := device.NewTensor(d, dtype.F32, len(index), n)
	if err != nil {
		return err
	}
	values := make([]tile.F32, rows*n)
	for j := range values {
		values[j] = tile.F32(j / n)
	}
	s := d.Stream()
	if err := errors.Join(device.Upload(s, x, values), device.Upload(s, i, index)); err != nil {
		return err
	}
	a := arguments{x: x.Addr(), index: i.Addr(), y: y.Addr(), xStride: n, yStride: n, rows: rows, n: n, m: int32(len(index))}
	if err := s.Launch(f, len(index), unsafe.Pointer(&a)); err != nil {
		return err
	}
	if err := s.Sync(ctx); err != nil {
		return err
	}
	got := make([]tile.F32, len(index)*n)
	if err := device.Download(s, got, y); err != nil {
		return err
	}
	for j, row := range index {
		fmt.Fprintf(stdout, "row %d of y is twice row %d of x: %v...\n", j, row, got[j*n:j*n+4])
	}
	return nil
}

// load makes a kernel ready that has no generated file: a program that has one calls its launch function instead.
func load(d *device.Device, k *tile.Kernel) (*device.Func, error) {
	low, err := k.Lower(d.Target().Name)
	if err != nil {
		return nil, err
	}
	text, err := cuda.Print(low, cuda.Options{})
	if err != nil {
		return nil, err
	}
	return d.Load(&device.Kernel{Name: k.Name(), Source: text, Threads: low.Threads, Shared: low.SharedBytes, ArgBytes: low.ArgBytes,
		Build: func() (device.Program, error) { return k, nil }})
}
