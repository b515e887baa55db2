package matrix

import (
	"github.com/gotile/gotile/tile"
)

// Reductions leave their results in the first rows of the tile: a vector of rows or of columns is stored along a row.
var rowReductions = &family{
	name: "reduce_rows", doc: "sums, maxima, minima and products of rows.", ways: allWays,
	bodies: bodies{f32: rowReduce[tile.F32], bf16: rowReduce[tile.BF16], f16: rowReduce[tile.F16], i32: rowReduce[tile.I32]},
	want: func(p *problem) {
		for i := range p.m {
			reduced(p, i, p.row(i))
		}
	},
}

var colReductions = &family{
	name: "reduce_cols", doc: "sums, maxima, minima and products of columns.", ways: allWays,
	bodies: bodies{f32: colReduce[tile.F32], bf16: colReduce[tile.BF16], f16: colReduce[tile.F16], i32: colReduce[tile.I32]},
	want: func(p *problem) {
		for j := range p.n {
			reduced(p, j, p.col(j))
		}
	},
}

// reduced puts the results of a line into column at.
func reduced(p *problem, at int, line []float64) {
	product := 1.0
	for _, x := range line {
		if x > 0 {
			product = -product
		}
	}
	p.y[0][at], p.y[1][at], p.y[2][at], p.y[3][at] = sum(line), largest(line), least(line), product
}

func rowReduce[T tile.Number](e *env[T]) { reduce(e, 1) }
func colReduce[T tile.Number](e *env[T]) { reduce(e, 0) }

func reduce[T tile.Number](e *env[T], axis int) {
	x := e.load()
	signs := tile.Select(x.Gt(tile.Const[T](0)), tile.Const[T](-1), tile.Const[T](1))
	for i, v := range []tile.Reg[T]{x.Sum(axis), x.MaxOf(axis), x.MinOf(axis), signs.Prod(axis)} {
		e.store(v, i)
	}
}

// broadcasts repeat vectors of rows and of columns.
var broadcasts = &family{
	name: "broadcast", doc: "vectors of rows and of columns, repeated.", ways: allWays,
	bodies: bodies{f32: broadcast[tile.F32], bf16: broadcast[tile.BF16]},
	want: func(p *problem) {
		p.each(func(i, j int, x float64) float64 { return x + 2*largest(p.row(i)) - least(p.col(j)) })
	},
}

func broadcast[T tile.Number](e *env[T]) {
	x := e.load()
	rows := tile.Expand(x.MaxOf(1).Mul(tile.Const[T](2)), x.Span(), 1)
	e.store(x.Add(rows).Sub(tile.Expand(x.MinOf(0), x.Span(), 0)))
}

// Scans go forth and back, inclusive and exclusive, with sums, maxima and minima.
var rowScans = &family{
	name: "scan_rows", doc: "scans along rows.", ways: allWays,
	bodies: bodies{f32: rowScan[tile.F32], bf16: rowScan[tile.BF16], i32: rowScan[tile.I32]},
	want: func(p *problem) {
		for i := range p.m {
			for j, x := range scanned(p.body, p.row(i)) {
				p.y[i][j] = x
			}
		}
	},
}

var colScans = &family{
	name: "scan_cols", doc: "scans along columns.", ways: allWays,
	bodies: bodies{f32: colScan[tile.F32], bf16: colScan[tile.BF16], i32: colScan[tile.I32]},
	want: func(p *problem) {
		for j := range p.n {
			for i, x := range scanned(p.body, p.col(j)) {
				p.y[i][j] = x
			}
		}
	},
}

// scanWay is the scan of a body. An exclusive one begins with the identity, which is 0 of sums; those of maxima and
// minima, which differ from type to type, are left to the tests of the op.
func scanWay(b body) (op int, exclusive, reverse bool) {
	op, reverse = b.pick(3), b.rows/base%2 == 0
	return op, op == 0 && b.cols/base%2 == 0, reverse
}

func scanned(b body, xs []float64) []float64 {
	op, exclusive, reverse := scanWay(b)
	out := make([]float64, len(xs))
	for i := range xs {
		line := xs[:i+1]
		switch {
		case reverse && exclusive:
			line = xs[i+1:]
		case reverse:
			line = xs[i:]
		case exclusive:
			line = xs[:i]
		}
		out[i] = []func([]float64) float64{sum, largest, least}[op](line)
	}
	return out
}

func rowScan[T tile.Number](e *env[T]) { scan(e, 1) }
func colScan[T tile.Number](e *env[T]) { scan(e, 0) }

func scan[T tile.Number](e *env[T], axis int) {
	op, exclusive, reverse := scanWay(e.body)
	var way []tile.ScanOption
	if exclusive {
		way = append(way, tile.Exclusive)
	}
	if reverse {
		way = append(way, tile.Reverse)
	}
	x := e.load()
	switch op {
	case 0:
		e.store(x.CumSum(axis, way...))
	case 1:
		e.store(x.CumMax(axis, way...))
	default:
		e.store(x.CumMin(axis, way...))
	}
}

// scales multiply the rows and the columns of a variable by 1 or 2, in place, between additions.
var scales = &family{
	name: "scale", doc: "rows and columns of an accumulator, scaled in place.", ways: []way{warpwise, groupwise, stripes[2]},
	bodies: bodies{f32: scale[tile.F32], bf16: scale[tile.BF16]},
	want: func(p *problem) {
		factor := func(line []float64) float64 {
			if sum(line) > 0 {
				return 2
			}
			return 1
		}
		p.each(func(i, j int, x float64) float64 {
			by := factor(p.row(i)) * factor(p.col(j))
			return ((x+x)*by + x) * by
		})
	},
}

func scale[T tile.Number](e *env[T]) {
	x := e.load()
	factor := func(sums tile.Reg[T]) tile.Reg[T] {
		return tile.Select(sums.Gt(tile.Const[T](0)), tile.Const[T](2), tile.Const[T](1))
	}
	rows, cols := factor(x.Sum(1)), factor(x.Sum(0))
	acc := tile.NewVar(e.scope, tile.Operand[T](x))
	for range tile.Range(e.scope, 0, 2, 1) {
		acc.Set(acc.Get().Add(x))
		tile.ScaleRows(acc, rows)
		tile.ScaleCols(acc, cols)
	}
	e.store(acc.Get())
}
