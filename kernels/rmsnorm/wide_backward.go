package rmsnorm

import "github.com/gotile/gotile/tile"

// The backward pass of wide rows has three kernels: the mean of w*g*xh of each row; dx, in stripes of columns, with the
// shares of dw; and the sum of the shares. g is dy, times act(z) in the gated form.

type meanArgs[T, W tile.Float] struct {
	X, DY tile.Global[T]        `tile:"rows,n"`
	W     tile.Global[W]        `tile:"n"`
	Rstd  tile.Global[tile.F32] `tile:"rows"`
	Mean  tile.Global[tile.F32] `tile:"rows"` // rstd*mean(w*g*xh): what x is multiplied by in dx
}

type gatedMeanArgs[T, W tile.Float] struct {
	X, Z, DY tile.Global[T]        `tile:"rows,n"`
	W        tile.Global[W]        `tile:"n"`
	Rstd     tile.Global[tile.F32] `tile:"rows"`
	Mean     tile.Global[tile.F32] `tile:"rows"`
}

type stripesArgs[T, W tile.Float] struct {
	X, DY, DX  tile.Global[T]        `tile:"rows,n"`
	W          tile.Global[W]        `tile:"n"`
	Rstd, Mean tile.Global[tile.F32] `tile:"rows"`
	Part       tile.Global[tile.F32] `tile:"parts,n"` // the share of dw of each group of rows
}

type stripesAddArgs[T, W tile.Float] struct {
	S, DY, DS, DX tile.Global[T]        `tile:"rows,n"`
	W             tile.Global[W]        `tile:"n"`
	Rstd, Mean    tile.Global[tile.F32] `tile:"rows"`
	Part          tile.Global[tile.F32] `tile:"parts,n"`
}

type gatedStripesArgs[T, W tile.Float] struct {
	X, Z, DY, DX, DZ tile.Global[T]        `tile:"rows,n"`
	W                tile.Global[W]        `tile:"n"`
	Rstd, Mean       tile.Global[tile.F32] `tile:"rows"`
	Part             tile.Global[tile.F32] `tile:"parts,n"`
}

type (
	meanSiluArgs[T, W tile.Float]       gatedMeanArgs[T, W]
	meanSigmoidArgs[T, W tile.Float]    gatedMeanArgs[T, W]
	stripesSiluArgs[T, W tile.Float]    gatedStripesArgs[T, W]
	stripesSigmoidArgs[T, W tile.Float] gatedStripesArgs[T, W]
)

const meanDoc = "RMSNorm backward of wide rows, first part: rstd^2*sum(x*w*g)/n of each row"

func mean[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a meanArgs[T, W]) {
		defer c.overlap(k)()
		block, n := k.Block(), a.X.Dim(1)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
			sum := rowSum(c, block, n, func(col tile.Index) tile.Reg[tile.F32] {
				x, dy := chunk(c, block, a.X, row, col), chunk(c, block, a.DY, row, col)
				return x.Mul(dy.Mul(chunk(c, block, a.W, col)))
			})
			rstd := tile.LoadScalar(block, a.Rstd.At(row))
			tile.Store(block, a.Mean.At(row), sum.Mul(rstd).Mul(rstd).Div(n.Float()))
		}
	}, c.options(meanDoc+", g = dy.")...)
}

func gatedMean[T, W tile.Float](c Config) (*tile.Kernel, error) {
	body := func(k *tile.Builder, a gatedMeanArgs[T, W]) {
		defer c.overlap(k)()
		block, n := k.Block(), a.X.Dim(1)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
			sum := rowSum(c, block, n, func(col tile.Index) tile.Reg[tile.F32] {
				x, z, dy := chunk(c, block, a.X, row, col), chunk(c, block, a.Z, row, col), chunk(c, block, a.DY, row, col)
				return x.Mul(c.gated(block, dy, z).Mul(chunk(c, block, a.W, col)))
			})
			rstd := tile.LoadScalar(block, a.Rstd.At(row))
			tile.Store(block, a.Mean.At(row), sum.Mul(rstd).Mul(rstd).Div(n.Float()))
		}
	}
	opts := c.options(meanDoc + ", g = dy * " + c.Act.String() + "(z).")
	if c.Act == Sigmoid {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a meanSigmoidArgs[T, W]) { body(k, gatedMeanArgs[T, W](a)) }, opts...)
	}
	return tile.Define(c.KernelName(), func(k *tile.Builder, a meanSiluArgs[T, W]) { body(k, gatedMeanArgs[T, W](a)) }, opts...)
}

// stripe is one row's columns in a stripe, as its block works on them.
type stripe struct {
	block    tile.Block
	row, col tile.Index
	w        tile.Reg[tile.F32] // of the stripe
	dw       tile.Var[tile.F32] // the block's share
}

// stripes runs body for every stripe of columns and each of its rows. A block owns a stripe and a group of rows, every
// parts-th from the group's number on, so that blocks which run together read along rows; it writes the group's share of
// dw for the stripe.
func stripes[W tile.Float](k *tile.Builder, c Config, rows, n tile.Index, w tile.Global[W], part tile.Global[tile.F32], body func(stripe)) {
	block, span, parts := k.Block(), c.chunkSpan(k.Block()), part.Dim(0)
	count := n.AddInt(c.chunk() - 1).DivInt(c.chunk())
	for i := range tile.Persistent(k, count.Mul(parts)) {
		group, col := i.Div(count), i.Rem(count).Scale(c.chunk())
		s := stripe{block: block, col: col, w: chunk(c, block, w, col)}
		s.dw = tile.NewVar(block, tile.Full(block, span.Clip(n.Sub(col)), tile.F32(0)))
		for s.row = range tile.Range(block, group, rows, parts) {
			body(s)
		}
		tile.Store(block, part.At(group, col), s.dw.Get())
	}
}

// add adds one row to the stripe's share of dw, and gives dx in f32.
func (s stripe) add(x, g tile.Reg[tile.F32], rstd, mean tile.Global[tile.F32]) tile.Reg[tile.F32] {
	r, m := tile.LoadScalar(s.block, rstd.At(s.row)), tile.LoadScalar(s.block, mean.At(s.row))
	s.dw.Set(s.dw.Get().Add(g.Mul(x.Mul(r))))
	return g.Mul(s.w).Sub(x.Mul(m)).Mul(r)
}

func wideBackward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a stripesArgs[T, W]) {
		defer c.overlap(k)()
		stripes(k, c, a.X.Dim(0), a.X.Dim(1), a.W, a.Part, func(s stripe) {
			x, dy := chunk(c, s.block, a.X, s.row, s.col), chunk(c, s.block, a.DY, s.row, s.col)
			dx := s.add(x, dy, a.Rstd, a.Mean)
			tile.Store(s.block, a.DX.At(s.row, s.col), tile.Cast[T](dx), tile.Streaming)
		})
	}, c.options("RMSNorm backward of wide rows: dx, and the share of dw of each group of rows in f32.")...)
}

func wideBackwardAdd[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a stripesAddArgs[T, W]) {
		defer c.overlap(k)()
		stripes(k, c, a.S.Dim(0), a.S.Dim(1), a.W, a.Part, func(s stripe) {
			x, dy, ds := chunk(c, s.block, a.S, s.row, s.col), chunk(c, s.block, a.DY, s.row, s.col), chunk(c, s.block, a.DS, s.row, s.col)
			dx := s.add(x, dy, a.Rstd, a.Mean).Add(ds)
			tile.Store(s.block, a.DX.At(s.row, s.col), tile.Cast[T](dx), tile.Streaming)
		})
	}, c.options("RMSNorm backward of a sum of wide rows: dx = dr, and the share of dw of each group of rows in f32.")...)
}

func gatedWideBackward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	body := func(k *tile.Builder, a gatedStripesArgs[T, W]) {
		defer c.overlap(k)()
		stripes(k, c, a.X.Dim(0), a.X.Dim(1), a.W, a.Part, func(s stripe) {
			x, z, dy := chunk(c, s.block, a.X, s.row, s.col), chunk(c, s.block, a.Z, s.row, s.col), chunk(c, s.block, a.DY, s.row, s.col)
			r := tile.LoadScalar(s.block, a.Rstd.At(s.row))
			act, slope := c.slope(s.block, z)
			dx := s.add(x, dy.Mul(act), a.Rstd, a.Mean)
			tile.Store(s.block, a.DZ.At(s.row, s.col), tile.Cast[T](dy.Mul(x.Mul(r)).Mul(s.w).Mul(slope)), tile.Streaming)
			tile.Store(s.block, a.DX.At(s.row, s.col), tile.Cast[T](dx), tile.Streaming)
		})
	}
	opts := c.options("Gated RMSNorm backward of wide rows, " + c.Act.String() + ": dx, dz, and the share of dw of each group of rows in f32.")
	if c.Act == Sigmoid {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a stripesSigmoidArgs[T, W]) { body(k, gatedStripesArgs[T, W](a)) }, opts...)
	}
	return tile.Define(c.KernelName(), func(k *tile.Builder, a stripesSiluArgs[T, W]) { body(k, gatedStripesArgs[T, W](a)) }, opts...)
}
