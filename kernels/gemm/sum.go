package gemm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// sumArgs: D = the sum of the parts of each product + C + Bias. C and Bias may have no elements.
type sumArgs[T, O tile.Float] struct {
	Parts  tile.Global[tile.F32] `tile:"count,m,n"` // Splits of each product, one behind the other
	C      tile.Global[O]        `tile:"c0,c1,c2"`
	Bias   tile.Global[T]        `tile:"biased"`
	D      tile.Global[O]        `tile:"batch,m,n"`
	Splits tile.Scalar[tile.I32]
}

const (
	sumCols    = 512 // of a row, that a block adds up at a time
	sumThreads = 128
	sumAtOnce  = 8 // parts, whose loads do not wait for one another
)

// sum adds up the parts of products in their order, so that every run has the same result.
func sum[T, O tile.Float](c sumConfig) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a sumArgs[T, O]) {
		block, rows, n := k.Block(), a.D.Dim(1), a.D.Dim(2)
		across := up(n, sumCols)
		splits := tile.AsIndex(a.Splits.Reg())
		for item := range tile.Persistent(block, a.D.Dim(0).Mul(rows).Mul(across)) {
			col, line := item.Rem(across).Scale(sumCols), item.Div(across)
			batch, row := line.Div(rows), line.Rem(rows)
			span := block.Striped(sumCols, sumCols/sumThreads)
			d := tile.NewVar(block, tile.Full(block, span, tile.F32(0)))
			for i := range tile.Range(block, 0, splits, sumAtOnce) {
				var parts [sumAtOnce]tile.Reg[tile.F32]
				for j := range parts {
					part := i.AddInt(j)
					there := splits.Sub(part).MaxInt(0).MinInt(1) // 0: no part, of which nothing is loaded
					parts[j] = tile.Load(block, a.Parts.At(batch.Mul(splits).Add(part), row, col), span.Clip(n.Sub(col).Mul(there)))
				}
				for _, x := range parts {
					d.Set(d.Get().Add(x.Fill(tile.F32(0))))
				}
			}
			tile.If(block, a.C.Dim(0).GtInt(0), func() {
				d.Set(d.Get().Add(tile.Cast[tile.F32](tile.Load(block, a.C.At(batch, row, col), span).Fill(tile.Const[O](0)))))
			})
			tile.If(block, a.Bias.Dim(0).GtInt(0), func() {
				d.Set(d.Get().Add(tile.Cast[tile.F32](tile.Load(block, a.Bias.At(col), span).Fill(tile.Const[T](0)))))
			})
			tile.Store(block, a.D.At(batch, row, col), tile.Cast[O](d.Get()))
		}
	}, tile.Threads(sumThreads), tile.Doc("D = the sums of the parts of products + C + bias."))
}

// sumConfig is a kernel of sums: the types of the operands and of the result.
type sumConfig struct{ t, o dtype.Type }

// KernelName says all that configs differ in.
func (c sumConfig) KernelName() string { return fmt.Sprintf("gemm_sum_%v_%v", c.t, c.o) }

func sumKernels() tile.Set {
	return tile.Configs(func(c sumConfig) (*tile.Kernel, error) {
		switch c {
		case sumConfig{dtype.BF16, dtype.BF16}:
			return sum[tile.BF16, tile.BF16](c)
		case sumConfig{dtype.BF16, dtype.F32}:
			return sum[tile.BF16, tile.F32](c)
		case sumConfig{dtype.F16, dtype.F16}:
			return sum[tile.F16, tile.F16](c)
		}
		return sum[tile.F16, tile.F32](c)
	}, sumConfig{dtype.BF16, dtype.BF16}, sumConfig{dtype.BF16, dtype.F32}, sumConfig{dtype.F16, dtype.F16}, sumConfig{dtype.F16, dtype.F32})
}
