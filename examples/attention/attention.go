// Package attention is one head of attention by tensor cores, to start from: an online softmax between two products.
//
//	o = softmax(scale q kT) v
package attention

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

//go:generate go run github.com/gotile/gotile/cmd/gotile gen

// The columns of a head, the queries of a block, and the keys of a step.
const (
	head    = 64
	queries = 64
	keys    = 64
)

// attentionArgs are of this family alone: another kernel that takes the same would have a type of its own,
// `type pipedArgs attentionArgs`.
type attentionArgs struct {
	Q, O  tile.Global[tile.BF16] `tile:"m,64"`
	K, V  tile.Global[tile.BF16] `tile:"n,64"`
	Scale tile.Scalar[tile.F32]
}

func attention(c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a attentionArgs) {
		ks := tile.NewShared[tile.BF16](k, keys, head).Swizzle(layout.Swizzle128)
		vs := tile.NewShared[tile.BF16](k, keys, head).Swizzle(layout.Swizzle128)
		work, n := k.Schedule(tile.Linear(a.Q.Dim(0), queries)), a.K.Dim(0)
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			// fill copies rows from one on; those past the last are zeros, as MMA reads all of a shared tile.
			fill := func(s tile.Shared[tile.BF16], g tile.Global[tile.BF16], row tile.Index) {
				tile.Store(c, s, tile.Load(c, g.Row(row), c.Striped2(keys, head, 8, 8)).Fill(tile.Const[tile.BF16](0)))
			}
			for t := range work.Tiles(c) {
				q := tile.Load(c, a.Q.Row(t.Row), c.Fragment(queries, head))
				out := tile.NewAcc[tile.F32](c, queries, head)
				perRow := c.Fragment(queries, keys).Axis(0) // a number for each row of the scores
				largest := tile.NewVar(c, tile.Full(c, perRow, tile.F32(-1e30)))
				sums := tile.NewVar(c, tile.Full(c, perRow, tile.F32(0)))
				for row := range tile.Range(c, 0, n, keys) {
					fill(ks, a.K, row)
					fill(vs, a.V, row)
					scores := tile.NewAcc[tile.F32](c, queries, keys)
					tile.MMA(scores, q, ks, tile.ABt)

					x := scores.Get().Mul(a.Scale)
					x = tile.Mask(x, tile.Coord(x.Span(), 1).Lt(n.Sub(row).Int()), tile.F32(-1e30)) // no keys past the last
					before := largest.Get()
					now := before.Max(x.MaxOf(1))
					p := x.Sub(tile.Expand(now, x.Span(), 1)).Exp()
					shrink := before.Sub(now).Exp()
					sums.Set(sums.Get().Mul(shrink).Add(p.Sum(1)))
					largest.Set(now)

					tile.ScaleRows(out, shrink)
					tile.MMA(out, tile.Cast[tile.BF16](p), vs) // an accumulator in bf16 is an operand as it lies
				}
				y := out.Get().Div(tile.Expand(sums.Get(), out.Get().Span(), 1))
				tile.Store(c, a.O.Row(t.Row), tile.Cast[tile.BF16](y))
			}
		}))
	}, tile.Threads(128), tile.Doc("One head of attention."))
}

// Config is the one compiled kernel.
type Config struct{}

// KernelName is its name.
func (Config) KernelName() string { return "attention_bf16" }

// Kernels lists the committed kernels.
func Kernels() tile.Set { return tile.Configs(attention, Config{}) }
