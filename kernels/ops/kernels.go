package ops

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/elementwise"
	"github.com/gotile/gotile/tile"
)

const (
	threads = elementwise.Threads
	chunk   = elementwise.Chunk
)

// config is one compiled kernel: an expression and the element types, t of what is [rows,n] or [n], v of the other
// operand where that may differ.
type config struct {
	expr expr
	t, v dtype.Type
}

// KernelName says all that configs differ in.
func (c config) KernelName() string {
	if c.v == dtype.Invalid {
		return fmt.Sprintf("%s_%v", c.expr.name, c.t)
	}
	return fmt.Sprintf("%s_%v_%v", c.expr.name, c.t, c.v)
}

func (c config) doc() tile.Option { return tile.Doc(c.expr.text + ", in f32, rounded once.") }

// Elem is the type that the builder is chosen by.
func (c config) Elem() dtype.Type { return c.t }

// The arguments of the ways of walking over tensors. Each op has a type of its own with these fields, since a type of
// arguments is what a launch function is generated for.
type (
	unaryArgs[T tile.Float] struct {
		X, Y tile.Global[T] `tile:"n"`
		P    tile.Scalar[tile.F32]
	}
	negArgs[T tile.Float]       unaryArgs[T]
	expArgs[T tile.Float]       unaryArgs[T]
	logArgs[T tile.Float]       unaryArgs[T]
	tanhArgs[T tile.Float]      unaryArgs[T]
	softplusArgs[T tile.Float]  unaryArgs[T]
	sqrtArgs[T tile.Float]      unaryArgs[T]
	addScalarArgs[T tile.Float] unaryArgs[T]
	sigmoidArgs[T tile.Float]   unaryArgs[T]
	siluArgs[T tile.Float]      unaryArgs[T]

	binaryArgs[T tile.Float] struct {
		A, B, Y tile.Global[T] `tile:"n"`
		P       tile.Scalar[tile.F32]
	}
	addArgs[T tile.Float]         binaryArgs[T]
	subArgs[T tile.Float]         binaryArgs[T]
	tanhBwdArgs[T tile.Float]     binaryArgs[T]
	softplusBwdArgs[T tile.Float] binaryArgs[T]
	mulArgs[T tile.Float]         binaryArgs[T]
	divArgs[T tile.Float]         binaryArgs[T]
	divBwdArgs[T tile.Float]      binaryArgs[T]
	sqrtBwdArgs[T tile.Float]     binaryArgs[T]
	sigmoidBwdArgs[T tile.Float]  binaryArgs[T]
	siluBwdArgs[T tile.Float]     binaryArgs[T]

	// Of powers the result is f32, whatever x is.
	powArgs[T tile.Float] struct {
		X tile.Global[T]        `tile:"n"`
		Y tile.Global[tile.F32] `tile:"n"`
		P tile.Scalar[tile.F32]
	}
	powBwdArgs[T tile.Float] struct {
		DY    tile.Global[tile.F32] `tile:"n"`
		X, DX tile.Global[T]        `tile:"n"`
		P     tile.Scalar[tile.F32]
	}
	divGradArgs[T tile.Float] struct {
		DY, A, B, Y tile.Global[T] `tile:"n"`
	}
	mulRowsArgs[T, V tile.Float] struct {
		A tile.Global[T] `tile:"rows,n"`
		B tile.Global[V] `tile:"n"`
		Y tile.Global[T] `tile:"rows,n"`
	}
	divColsArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"rows,n"`
		B tile.Global[tile.F32] `tile:"rows"`
		Y tile.Global[T]        `tile:"rows,n"`
	}
	expandArgs[T tile.Float] struct {
		B     tile.Global[tile.F32] `tile:"rows"`
		Y     tile.Global[T]        `tile:"rows,n"`
		Scale tile.Scalar[tile.F32]
	}
	sumColsArgs[T tile.Float] struct {
		A     tile.Global[T]        `tile:"rows,n"`
		Y     tile.Global[tile.F32] `tile:"rows"`
		Scale tile.Scalar[tile.F32]
	}
	dotColsArgs[T tile.Float] struct {
		A, B tile.Global[T]        `tile:"rows,n"`
		Y    tile.Global[tile.F32] `tile:"rows"`
	}
	dotRowsArgs[T, V tile.Float] struct {
		A, B tile.Global[T] `tile:"rows,n"`
		Y    tile.Global[V] `tile:"n"`
	}
)

// like are the types with the fields of another.
type (
	unaryLike[T tile.Float] interface {
		~struct {
			X, Y tile.Global[T] `tile:"n"`
			P    tile.Scalar[tile.F32]
		}
	}
	binaryLike[T tile.Float] interface {
		~struct {
			A, B, Y tile.Global[T] `tile:"n"`
			P       tile.Scalar[tile.F32]
		}
	}
)

func buildUnary[T tile.Float, A unaryLike[T]](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, args A) {
		a := unaryArgs[T](args)
		block := k.Block()
		span := block.Striped(chunk, elementwise.Vec(c.t))
		for i := range tile.Persistent(k, a.Y.Dim(0), tile.Step(chunk), tile.OneBlockEach()) {
			y := c.expr.of([]f32{elementwise.Load(block, a.X.At(i), span)}, a.P.Reg())
			tile.Store(block, a.Y.At(i), tile.Cast[T](y))
		}
	}, tile.Threads(threads), c.doc())
}

func buildBinary[T tile.Float, A binaryLike[T]](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, args A) {
		a := binaryArgs[T](args)
		block := k.Block()
		span := block.Striped(chunk, elementwise.Vec(c.t))
		for i := range tile.Persistent(k, a.Y.Dim(0), tile.Step(chunk), tile.OneBlockEach()) {
			y := c.expr.of([]f32{elementwise.Load(block, a.A.At(i), span), elementwise.Load(block, a.B.At(i), span)}, a.P.Reg())
			tile.Store(block, a.Y.At(i), tile.Cast[T](y))
		}
	}, tile.Threads(threads), c.doc())
}

func buildPow[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a powArgs[T]) {
		block := k.Block()
		span := block.Striped(chunk, elementwise.Vec(c.t))
		for i := range tile.Persistent(k, a.Y.Dim(0), tile.Step(chunk), tile.OneBlockEach()) {
			tile.Store(block, a.Y.At(i), c.expr.of([]f32{elementwise.Load(block, a.X.At(i), span)}, a.P.Reg()))
		}
	}, tile.Threads(threads), c.doc())
}

func buildPowBwd[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a powBwdArgs[T]) {
		block := k.Block()
		span := block.Striped(chunk, elementwise.Vec(c.t))
		for i := range tile.Persistent(k, a.DX.Dim(0), tile.Step(chunk), tile.OneBlockEach()) {
			dx := c.expr.of([]f32{tile.Load(block, a.DY.At(i), span), elementwise.Load(block, a.X.At(i), span)}, a.P.Reg())
			tile.Store(block, a.DX.At(i), tile.Cast[T](dx))
		}
	}, tile.Threads(threads), c.doc())
}

func buildDivGrad[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a divGradArgs[T]) {
		block := k.Block()
		span := block.Striped(chunk, elementwise.Vec(c.t))
		for i := range tile.Persistent(k, a.Y.Dim(0), tile.Step(chunk), tile.OneBlockEach()) {
			y := c.expr.of([]f32{elementwise.Load(block, a.DY.At(i), span), elementwise.Load(block, a.A.At(i), span), elementwise.Load(block, a.B.At(i), span)}, f32{})
			tile.Store(block, a.Y.At(i), tile.Cast[T](y))
		}
	}, tile.Threads(threads), c.doc())
}

// columns loops over a row in chunks: body gets the offset and what of a chunk lies within the row.
func columns(k *tile.Builder, n tile.Index, t dtype.Type, body func(col tile.Index, span tile.Span)) {
	block := k.Block()
	span := block.Striped(chunk, elementwise.Vec(t))
	for col := range tile.Range(block, 0, n, chunk) {
		body(col, span.Clip(n.Sub(col)))
	}
}

func buildMulRows[T, V tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a mulRowsArgs[T, V]) {
		block := k.Block()
		for row := range tile.Persistent(k, a.A.Dim(0)) {
			columns(k, a.A.Dim(1), c.t, func(col tile.Index, span tile.Span) {
				y := c.expr.of([]f32{elementwise.Load(block, a.A.At(row, col), span), elementwise.Load(block, a.B.At(col), span)}, f32{})
				tile.Store(block, a.Y.At(row, col), tile.Cast[T](y))
			})
		}
	}, tile.Threads(threads), c.doc())
}

func buildDivCols[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a divColsArgs[T]) {
		block := k.Block()
		for row := range tile.Persistent(k, a.A.Dim(0)) {
			b := tile.LoadScalar(block, a.B.At(row))
			columns(k, a.A.Dim(1), c.t, func(col tile.Index, span tile.Span) {
				y := c.expr.of([]f32{elementwise.Load(block, a.A.At(row, col), span), b}, f32{})
				tile.Store(block, a.Y.At(row, col), tile.Cast[T](y))
			})
		}
	}, tile.Threads(threads), c.doc())
}

func buildExpand[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a expandArgs[T]) {
		block := k.Block()
		for row := range tile.Persistent(k, a.Y.Dim(0)) {
			b := c.expr.of([]f32{tile.LoadScalar(block, a.B.At(row))}, a.Scale.Reg())
			columns(k, a.Y.Dim(1), c.t, func(col tile.Index, span tile.Span) {
				tile.Store(block, a.Y.At(row, col), tile.Cast[T](tile.Full[tile.F32](block, span, b)))
			})
		}
	}, tile.Threads(threads), c.doc())
}

// rowSum is the sum of what term makes of the chunks of a row: each thread adds up its own elements, and the block what
// its threads have.
func rowSum(k *tile.Builder, n tile.Index, t dtype.Type, term func(col tile.Index, span tile.Span) f32) f32 {
	block := k.Block()
	acc := tile.NewVar(block, tile.Full(block, block.Striped(chunk, elementwise.Vec(t)), tile.F32(0)))
	columns(k, n, t, func(col tile.Index, span tile.Span) {
		acc.Set(acc.Get().Add(term(col, span).Fill(tile.F32(0), 0)))
	})
	return acc.Get().Sum()
}

func buildSumCols[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a sumColsArgs[T]) {
		block := k.Block()
		for row := range tile.Persistent(k, a.A.Dim(0)) {
			sum := rowSum(k, a.A.Dim(1), c.t, func(col tile.Index, span tile.Span) f32 {
				return c.expr.of([]f32{elementwise.Load(block, a.A.At(row, col), span)}, f32{})
			})
			tile.Store(block, a.Y.At(row), sum.Mul(a.Scale))
		}
	}, tile.Threads(threads), c.doc())
}

func buildDotCols[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a dotColsArgs[T]) {
		block := k.Block()
		for row := range tile.Persistent(k, a.A.Dim(0)) {
			sum := rowSum(k, a.A.Dim(1), c.t, func(col tile.Index, span tile.Span) f32 {
				return c.expr.of([]f32{elementwise.Load(block, a.A.At(row, col), span), elementwise.Load(block, a.B.At(row, col), span)}, f32{})
			})
			tile.Store(block, a.Y.At(row), sum)
		}
	}, tile.Threads(threads), c.doc())
}

// The shape of a block of dot_rows: 64 columns, 128 bytes of 16-bit types, and rows until the threads have a vector each.
const rowsCols = 64

func buildDotRows[T, V tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a dotRowsArgs[T, V]) {
		block := k.Block()
		v := elementwise.Vec(c.t)
		across := rowsCols / v
		rows := threads / across
		span := block.Striped2(rows, rowsCols, v, across)
		for col := range tile.Persistent(k, a.Y.Dim(0), tile.Step(rowsCols)) {
			acc := tile.NewVar(block, tile.Full(block, span.Clip(nil, a.Y.Dim(0).Sub(col)), tile.F32(0)))
			for row := range tile.Range(block, 0, a.A.Dim(0), rows) {
				x := c.expr.of([]f32{elementwise.Load(block, a.A.At(row, col), span), elementwise.Load(block, a.B.At(row, col), span)}, f32{})
				acc.Set(acc.Get().Add(x.Fill(tile.F32(0), 0)))
			}
			tile.Store(block, a.Y.At(col), tile.Cast[V](acc.Get().Sum(0)))
		}
	}, tile.Threads(threads), c.doc())
}

type build = func(config) (*tile.Kernel, error)

// byV is elementwise.ByType for two types: v is t or f32.
func byV(bf16, f16, f32, bf16f32, f16f32 build) build {
	same, mixed := elementwise.ByType(bf16, f16, f32), elementwise.ByType(bf16f32, f16f32, f32)
	return func(c config) (*tile.Kernel, error) {
		if c.v == c.t {
			return same(c)
		}
		return mixed(c)
	}
}

// each lists the configs of expressions, of one type.
func each(exprs ...expr) (out []config) {
	for _, e := range exprs {
		for _, t := range elementwise.Types() {
			out = append(out, config{e, t, dtype.Invalid})
		}
	}
	return out
}

// pairs lists the configs of an expression with another operand of type v.
func pairs(e expr) (out []config) {
	for _, t := range elementwise.Types() {
		out = append(out, config{e, t, t})
		if t != dtype.F32 {
			out = append(out, config{e, t, dtype.F32})
		}
	}
	return out
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	type (
		b = tile.BF16
		h = tile.F16
		f = tile.F32
	)
	return tile.Sets(
		tile.Configs(elementwise.ByType(buildPow[b], buildPow[h], buildPow[f]), each(powExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, negArgs[b]], buildUnary[h, negArgs[h]], buildUnary[f, negArgs[f]]), each(negExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, expArgs[b]], buildUnary[h, expArgs[h]], buildUnary[f, expArgs[f]]), each(expExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, logArgs[b]], buildUnary[h, logArgs[h]], buildUnary[f, logArgs[f]]), each(logExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, tanhArgs[b]], buildUnary[h, tanhArgs[h]], buildUnary[f, tanhArgs[f]]), each(tanhExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, softplusArgs[b]], buildUnary[h, softplusArgs[h]], buildUnary[f, softplusArgs[f]]), each(softplusExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, sqrtArgs[b]], buildUnary[h, sqrtArgs[h]], buildUnary[f, sqrtArgs[f]]), each(sqrtExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, addScalarArgs[b]], buildUnary[h, addScalarArgs[h]], buildUnary[f, addScalarArgs[f]]), each(addScalarExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, sigmoidArgs[b]], buildUnary[h, sigmoidArgs[h]], buildUnary[f, sigmoidArgs[f]]), each(sigmoidExpr)...),
		tile.Configs(elementwise.ByType(buildUnary[b, siluArgs[b]], buildUnary[h, siluArgs[h]], buildUnary[f, siluArgs[f]]), each(siluExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, addArgs[b]], buildBinary[h, addArgs[h]], buildBinary[f, addArgs[f]]), each(addExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, subArgs[b]], buildBinary[h, subArgs[h]], buildBinary[f, subArgs[f]]), each(subExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, tanhBwdArgs[b]], buildBinary[h, tanhBwdArgs[h]], buildBinary[f, tanhBwdArgs[f]]), each(tanhBwdExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, softplusBwdArgs[b]], buildBinary[h, softplusBwdArgs[h]], buildBinary[f, softplusBwdArgs[f]]), each(softplusBwdExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, mulArgs[b]], buildBinary[h, mulArgs[h]], buildBinary[f, mulArgs[f]]), each(mulExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, divArgs[b]], buildBinary[h, divArgs[h]], buildBinary[f, divArgs[f]]), each(divExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, divBwdArgs[b]], buildBinary[h, divBwdArgs[h]], buildBinary[f, divBwdArgs[f]]), config{divBwdExpr, dtype.F32, dtype.Invalid}),
		tile.Configs(elementwise.ByType(buildPowBwd[b], buildPowBwd[h], buildPowBwd[f]), each(powBwdExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, sqrtBwdArgs[b]], buildBinary[h, sqrtBwdArgs[h]], buildBinary[f, sqrtBwdArgs[f]]), each(sqrtBwdExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, sigmoidBwdArgs[b]], buildBinary[h, sigmoidBwdArgs[h]], buildBinary[f, sigmoidBwdArgs[f]]), each(sigmoidBwdExpr)...),
		tile.Configs(elementwise.ByType(buildBinary[b, siluBwdArgs[b]], buildBinary[h, siluBwdArgs[h]], buildBinary[f, siluBwdArgs[f]]), each(siluBwdExpr)...),
		tile.Configs(elementwise.ByType(buildDivGrad[b], buildDivGrad[h], buildDivGrad[f]), each(divGradExpr)...),
		tile.Configs(byV(buildMulRows[b, b], buildMulRows[h, h], buildMulRows[f, f], buildMulRows[b, f], buildMulRows[h, f]), pairs(mulRowsExpr)...),
		tile.Configs(byV(buildDotRows[b, b], buildDotRows[h, h], buildDotRows[f, f], buildDotRows[b, f], buildDotRows[h, f]), pairs(dotRowsExpr)...),
		tile.Configs(elementwise.ByType(buildDivCols[b], buildDivCols[h], buildDivCols[f]), each(divColsExpr)...),
		tile.Configs(elementwise.ByType(buildDotCols[b], buildDotCols[h], buildDotCols[f]), each(dotColsExpr)...),
		tile.Configs(elementwise.ByType(buildSumCols[b], buildSumCols[h], buildSumCols[f]), each(sumColsExpr)...),
		tile.Configs(elementwise.ByType(buildRow[b, softmaxArgs[b]], buildRow[h, softmaxArgs[h]], buildRow[f, softmaxArgs[f]]), each(softmaxExpr)...),
		tile.Configs(elementwise.ByType(buildRow[b, logSoftmaxArgs[b]], buildRow[h, logSoftmaxArgs[h]], buildRow[f, logSoftmaxArgs[f]]), each(logSoftmaxExpr)...),
		tile.Configs(elementwise.ByType(buildRowBwd[b, softmaxBwdArgs[b]](productTerm), buildRowBwd[h, softmaxBwdArgs[h]](productTerm), buildRowBwd[f, softmaxBwdArgs[f]](productTerm)), each(softmaxBwdExpr)...),
		tile.Configs(elementwise.ByType(buildRowBwd[b, logSoftmaxBwdArgs[b]](gradientTerm), buildRowBwd[h, logSoftmaxBwdArgs[h]](gradientTerm), buildRowBwd[f, logSoftmaxBwdArgs[f]](gradientTerm)), each(logSoftmaxBwdExpr)...),
		tile.Configs(elementwise.ByType(buildExpand[b], buildExpand[h], buildExpand[f]), each(expandExpr)...),
	)
}
