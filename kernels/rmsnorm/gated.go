package rmsnorm

import "github.com/gotile/gotile/tile"

type gatedForwardArgs[T, W tile.Float] struct {
	X, Z, Y tile.Global[T]        `tile:"rows,n"` // Z: the gate, before its activation
	W       tile.Global[W]        `tile:"n"`
	Rstd    tile.Global[tile.F32] `tile:"rows"`
	Eps     tile.Scalar[tile.F32]
}

type gatedBackwardArgs[T, W tile.Float] struct {
	X, Z, DY, DX, DZ tile.Global[T]        `tile:"rows,n"`
	W                tile.Global[W]        `tile:"n"`
	Rstd             tile.Global[tile.F32] `tile:"rows"`
	Part             tile.Global[tile.F32] `tile:"parts,n"`
}

// An activation is compiled in, and nothing in the tensors of a launch tells one from another: each has families of its
// own, which are told apart by the types of their arguments.
type (
	forwardSiluArgs[T, W tile.Float]     gatedForwardArgs[T, W]
	forwardSigmoidArgs[T, W tile.Float]  gatedForwardArgs[T, W]
	backwardSiluArgs[T, W tile.Float]    gatedBackwardArgs[T, W]
	backwardSigmoidArgs[T, W tile.Float] gatedBackwardArgs[T, W]
)

func gatedForward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	body := func(k *tile.Builder, a gatedForwardArgs[T, W]) {
		defer c.overlap(k)()
		switch {
		case c.Shared > 0:
			stagedGatedForward(k, c, a)
			return
		case c.Wide:
			wideGatedForward(k, c, a)
			return
		}
		block := k.Block()
		span := c.span(block)
		w := weightOf(c, block, a.W, span.Axis(1))
		for row := range tile.Persistent(k, a.X.Dim(0), c.each(tile.Step(c.rows()))...) {
			x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), span))
			z := tile.Cast[tile.F32](tile.Load(block, a.Z.Row(row), span))
			y, rstd := normalise(block, x, w, a.X.Dim(1), a.Eps)
			tile.Store(block, a.Y.Row(row), tile.Cast[T](c.gated(block, y, z)))
			tile.Store(block, a.Rstd.At(row), rstd)
		}
	}
	opts := c.options("Gated RMSNorm forward: y = x * rstd * w * " + c.Act.String() + "(z), rstd = 1/sqrt(mean(x^2) + eps).")
	if c.Act == Sigmoid {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardSigmoidArgs[T, W]) { body(k, gatedForwardArgs[T, W](a)) }, opts...)
	}
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardSiluArgs[T, W]) { body(k, gatedForwardArgs[T, W](a)) }, opts...)
}

// gatedBackwardRows stores dx and dz of the block's rows and gives its share of dw.
func gatedBackwardRows[T, W tile.Float](k *tile.Builder, c Config, a gatedBackwardArgs[T, W]) tile.Reg[tile.F32] {
	block, n := k.Block(), a.X.Dim(1)
	span := c.span(block)
	weight := weightOf(c, block, a.W, span.Axis(1))
	dw := tile.NewVar(block, tile.Full(block, span.Clip(nil, n), tile.F32(0)))
	for row := range tile.Persistent(k, a.X.Dim(0), tile.Step(c.rows()), tile.Blocks(a.Part.Dim(0))) {
		x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), span))
		z := tile.Cast[tile.F32](tile.Load(block, a.Z.Row(row), span))
		dy := tile.Cast[tile.F32](tile.Load(block, a.DY.Row(row), span))
		rstd := tile.Load(block, a.Rstd.At(row), span.Axis(0))
		r, w := tile.Expand(rstd, x.Span(), 1), tile.Expand(weight(), x.Span(), 0)
		act, slope := c.slope(block, z)
		g := dy.Mul(act)
		wg := g.Mul(w)
		sum := x.Mul(wg).Sum(1)
		dw.Set(dw.Get().Add(g.Mul(x.Mul(r)).Fill(tile.F32(0), 0)))
		// Before dx, which waits for the sum: neither the gate nor dy is held until then.
		tile.Store(block, a.DZ.Row(row), tile.Cast[T](dy.Mul(x.Mul(r)).Mul(w).Mul(slope)), tile.Streaming)
		mean := sum.Mul(rstd).Mul(rstd).Div(tile.Full(block, sum.Span(), n.Float()))
		dx := wg.Sub(x.Mul(tile.Expand(mean, x.Span(), 1))).Mul(r)
		tile.Store(block, a.DX.Row(row), tile.Cast[T](dx), tile.Streaming)
	}
	return dw.Get().Sum(0)
}

func gatedBackward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	body := func(k *tile.Builder, a gatedBackwardArgs[T, W]) {
		defer c.overlap(k)()
		switch {
		case c.Ring:
			ringGradient(k, c, rowOf[T]{x: a.X, dy: a.DY, dx: a.DX, z: &a.Z, dz: &a.DZ}, a.W, a.Rstd, a.Part)
			return
		case c.Shared > 0:
			stagedGatedBackward(k, c, a)
			return
		}
		tile.Store(k, a.Part.Row(k.BlockID()), gatedBackwardRows(k, c, a))
	}
	opts := c.options("Gated RMSNorm backward, " + c.Act.String() + ": dx, dz, and each block's share of dw in f32.")
	if c.Act == Sigmoid {
		return tile.Define(c.KernelName(), func(k *tile.Builder, a backwardSigmoidArgs[T, W]) { body(k, gatedBackwardArgs[T, W](a)) }, opts...)
	}
	return tile.Define(c.KernelName(), func(k *tile.Builder, a backwardSiluArgs[T, W]) { body(k, gatedBackwardArgs[T, W](a)) }, opts...)
}
