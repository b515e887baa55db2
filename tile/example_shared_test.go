package tile_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gotile/gotile/tile"
)

type sameArgs struct {
	X, Y tile.Global[tile.F32] `tile:"128,128"`
}

// Two tiles of 64 KB, of which a block of sm_120a has 99 KB. The first is not needed when the second is written, and all
// threads have met between the two: they have the same bytes.
func ExampleNewShared_sameBytes() {
	k, err := tile.Define("twice_transposed", func(k *tile.Builder, a sameArgs) {
		block := k.Block()
		rows, columns := block.Striped2(128, 128, 4, 32), block.Striped2(128, 128, 1, 32)
		first := tile.NewShared[tile.F32](k, 128, 128)
		tile.Store(k, first, tile.Load(k, a.X, rows))
		x := tile.Load(k, first, columns)
		block.Sync()
		second := tile.NewShared[tile.F32](k, 128, 128)
		tile.Store(k, second, x.Mul(x))
		tile.Store(k, a.Y, tile.Load(k, second, rows))
	}, tile.Threads(512))
	if err != nil {
		fmt.Println(err)
		return
	}
	low, err := k.Lower("sm_120a")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(low.SharedBytes, "bytes")
	for _, b := range low.Shared {
		fmt.Printf("%s: bytes %d to %d, in stretches %d to %d\n", b.Name, b.Offset, b.Offset+b.Bytes, b.First, b.Last)
	}
	// Output:
	// 65536 bytes
	// s0: bytes 0 to 65536, in stretches 0 to 1
	// s1: bytes 0 to 65536, in stretches 2 to 3
}

// A pipeline with more stages than fit: the error, at the line of NewPipeline, says how many do.
func ExampleNewPipeline_tooManyStages() {
	k, err := tile.Define("too_many", func(k *tile.Builder, a addArgs) {
		pipe := tile.NewPipeline(k, 8, addSlot{X: tile.NewShared[tile.F32](k, 2048), Y: tile.NewShared[tile.F32](k, 2048)})
		for row := range tile.Range(k, 0, a.X.Dim(0), 1) {
			s := pipe.Acquire(k)
			tile.CopyAsync(s, s.X, a.X.At(row))
			tile.CopyAsync(s, s.Y, a.Y.At(row))
			s = pipe.Wait(k)
			span := k.Block().Striped(2048, 4)
			tile.Store(k, a.Z.At(row), tile.Load(k, s.X, span).Add(tile.Load(k, s.Y, span)))
			s.Release(k)
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = k.Lower("sm_120a")
	if e, ok := errors.AsType[*tile.Error](err); ok {
		what, _, _ := strings.Cut(e.Msg, ", or leave")
		fmt.Println(what)
	}
	// Output:
	// the kernel takes 131200 bytes of shared memory and sm_120a has 101376 a block, of which the 8 stages of this pipeline take 131200; use 6 stages, with which it takes 98400
}
