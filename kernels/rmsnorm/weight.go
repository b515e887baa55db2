package rmsnorm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

type weightArgs[W tile.Float] struct {
	Part tile.Global[tile.F32] `tile:"parts,n"`
	DW   tile.Global[W]        `tile:"n"`
}

// The shape of a weight block: 16 columns, 64 bytes of a row of partial sums, and as many rows at a time as an H200 has
// blocks of a backward pass, so that all loads are under way at once. Clusters that share long rows leave few rows of
// many columns.
const (
	weightCols    = 16
	weightRows    = 320
	weightThreads = 256

	fewRows = 32  // at a time
	fewCap  = 128 // rows that count as few
	fewCols = 64

	fewestCap     = 32 // rows that are loaded at once, of so many columns that a warp reads 512 bytes of each
	fewestCols    = 128
	fewestThreads = 128
)

// weight sums the blocks' shares of dw in a fixed order, so that dw is the same in every run on a device.
func weight[W tile.Float](c Config) (*tile.Kernel, error) {
	threads := weightThreads
	if c.Cap == fewestCap {
		threads = fewestThreads
	}
	return tile.Define(c.KernelName(), func(k *tile.Builder, a weightArgs[W]) {
		defer c.overlap(k)()
		block, rows, cols := k.Block(), weightRows, weightCols
		switch c.Cap {
		case fewestCap:
			rows, cols = fewestCap, fewestCols
		case fewCap:
			rows, cols = fewRows, fewCols
		}
		if c.Cap > 0 {
			a.Part.Dim(0).AtMost(c.Cap)
		}
		const vec = 4
		span := block.Striped2(rows, cols, vec, cols/vec)
		for col := range tile.Persistent(k, a.DW.Dim(0), tile.Step(cols)) {
			acc := tile.NewVar(block, tile.Full(block, span.Clip(nil, a.DW.Dim(0).Sub(col)), tile.F32(0)))
			for part := range tile.Range(block, 0, a.Part.Dim(0), rows) {
				x := tile.Load(block, a.Part.At(part, col), span)
				acc.Set(acc.Get().Add(x.Fill(tile.F32(0), 0)))
			}
			tile.Store(block, a.DW.At(col), tile.Cast[W](acc.Get().Sum(0)))
		}
	}, tile.Threads(threads), tile.Doc("Sums the blocks' shares of dw."))
}

func buildWeight(c Config) (*tile.Kernel, error) {
	switch c.W {
	case dtype.BF16:
		return weight[tile.BF16](c)
	case dtype.F16:
		return weight[tile.F16](c)
	case dtype.F32:
		return weight[tile.F32](c)
	}
	return nil, fmt.Errorf("rmsnorm: no kernel for dw of type %s", c.W)
}
