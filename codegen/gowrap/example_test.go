package gowrap_test

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/tile"
)

type scaleArgs struct {
	X, Y   tile.Global[tile.F32] `tile:"rows,n"`
	Factor tile.Scalar[tile.F32]
}

// Of a family with one kernel: the declarations of the z-file that `gotile gen` writes, and its launch in canonical
// lines.
func ExampleGenerate() {
	k, err := tile.Define("scale_f32", func(k *tile.Builder, a scaleArgs) {
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			x := tile.Load(k, a.X.Row(row), k.Block().Striped(512, 4))
			tile.Store(k, a.Y.Row(row), x.Mul(a.Factor))
		}
	}, tile.Threads(128))
	if err != nil {
		fmt.Println(err)
		return
	}
	ir, err := k.Lower("sm_90a")
	if err != nil {
		fmt.Println(err)
		return
	}
	f := gowrap.Family{Package: "scale", Variants: []gowrap.Variant{{File: "scale_f32.cu", Targets: []string{"sm_90a"}, Kernel: ir}}}
	text, err := gowrap.Generate(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.File())
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "type ") || strings.HasPrefix(line, "func ") {
			fmt.Print(line)
		}
	}
	launch, err := gowrap.LaunchText(ir)
	fmt.Print(launch, err)
	// Output:
	// zscale.go
	// type scaleParams struct {
	// type scaleLayout struct {
	// func scaleWork(config int, p *scaleParams, dims []int32) int {
	// func launchScale(s *device.Stream, p scaleParams) error {
	// func gridScale(s *device.Stream, p scaleParams) (int, error) {
	// kernel scale_f32
	// threads 128
	// min_blocks 0
	// shared 0
	// cluster 1
	// grid min(ceil(rows/1), resident)
	// args 0:x pointer, 8:y pointer, 16:x_stride0 stride, 24:y_stride0 stride, 32:factor f32, 36:rows dim, 40:n dim, 44:pad4; 48 bytes
	// <nil>
}
