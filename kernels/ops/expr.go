// Package ops has the primitive ops that a model is glued with, and that the Ref of a fused op is composed of. Each is a
// DSL kernel forward and backward, computed in f32 and rounded once:
//
//	Add, Sub, Mul, Div   of two tensors of one shape
//	MulRows              x[rows,n] * w[n]
//	DivCols              x[rows,n] / d[rows]
//	Pow                  x^p, in f32
//	Neg, AddScalar       -x, x + c
//	Exp, Log, Sqrt       e^x, ln x, sqrt(x)
//	Tanh, Softplus       tanh(x), log(1 + e^x)
//	Sigmoid, Silu        1/(1 + e^-x), x/(1 + e^-x)
//	Mean                 over the columns: [rows,n] to [rows]
//	Softmax, LogSoftmax  over the columns: [rows,n] to [rows,n]
//
// All kernels are one description with another expression and another way of walking over the tensors.
package ops

import (
	"github.com/gotile/gotile/internal/elementwise"
	"github.com/gotile/gotile/tile"
)

type f32 = elementwise.F32

// expr is what a kernel computes of each element of its inputs; p is a parameter of the call.
type expr struct {
	name string
	text string // the formula, for the generated file
	of   func(x []f32, p f32) f32
}

// pow is x^p for x above 0, and square where p is 2, for any x.
func pow(x f32, p f32) f32 {
	general := x.Log2().Mul(p).Exp2()
	return tile.Select[tile.F32](p.Eq(tile.F32(2)), x.Mul(x), general)
}

// powSlope is the derivative of pow.
func powSlope(x f32, p f32) f32 {
	general := x.Log2().Mul(p.Sub(tile.F32(1))).Exp2().Mul(p)
	return tile.Select[tile.F32](p.Eq(tile.F32(2)), x.Add(x), general)
}

// silu' = s*(1 + x*(1-s)), s the sigmoid.
func siluSlope(x f32) f32 {
	s := x.Sigmoid()
	return s.Mul(x.Mul(s.Neg().Add(tile.F32(1))).Add(tile.F32(1)))
}

// Of tensors of one shape; in the backward passes a is dy.
var (
	powExpr       = expr{"pow", "x^p, for x above 0; where p is 2, for any x", func(x []f32, p f32) f32 { return pow(x[0], p) }}
	negExpr       = expr{"neg", "-x", func(x []f32, _ f32) f32 { return x[0].Neg() }}
	expExpr       = expr{"exp", "e^x", func(x []f32, _ f32) f32 { return x[0].Exp() }}
	logExpr       = expr{"log", "The natural logarithm of x", func(x []f32, _ f32) f32 { return x[0].Log() }}
	tanhExpr      = expr{"tanh", "tanh x", func(x []f32, _ f32) f32 { return x[0].Tanh() }}
	softplusExpr  = expr{"softplus", "log(1 + e^x)", func(x []f32, _ f32) f32 { return x[0].Softplus() }}
	sqrtExpr      = expr{"sqrt", "The square root of x", func(x []f32, _ f32) f32 { return x[0].Sqrt() }}
	addScalarExpr = expr{"add_scalar", "x + p", func(x []f32, p f32) f32 { return x[0].Add(p) }}
	sigmoidExpr   = expr{"sigmoid", "1/(1 + e^-x)", func(x []f32, _ f32) f32 { return x[0].Sigmoid() }}
	siluExpr      = expr{"silu", "x/(1 + e^-x)", func(x []f32, _ f32) f32 { return x[0].Silu() }}

	addExpr    = expr{"add", "a + b", func(x []f32, _ f32) f32 { return x[0].Add(x[1]) }}
	subExpr    = expr{"sub", "a - b", func(x []f32, _ f32) f32 { return x[0].Sub(x[1]) }}
	mulExpr    = expr{"mul", "a * b", func(x []f32, _ f32) f32 { return x[0].Mul(x[1]) }}
	divExpr    = expr{"div", "a / b", func(x []f32, _ f32) f32 { return x[0].Div(x[1]) }}
	divBwdExpr = expr{"div_bwd", "-(a/b) / b, the gradient of the divisor b for a product a of dy and the dividend", func(x []f32, _ f32) f32 {
		return x[0].Neg().Div(x[1]).Div(x[1])
	}}
	powBwdExpr  = expr{"pow_bwd", "a * p*b^(p-1), the gradient of b^p", func(x []f32, p f32) f32 { return x[0].Mul(powSlope(x[1], p)) }}
	sqrtBwdExpr = expr{"sqrt_bwd", "a / 2b, the gradient where b is the square root", func(x []f32, _ f32) f32 {
		return x[0].Div(x[1].Add(x[1]))
	}}
	sigmoidBwdExpr = expr{"sigmoid_bwd", "a * b(1-b), the gradient where b is the sigmoid", func(x []f32, _ f32) f32 {
		return x[0].Mul(x[1].Mul(x[1].Neg().Add(tile.F32(1))))
	}}
	tanhBwdExpr = expr{"tanh_bwd", "a times the slope of tanh at b", func(x []f32, _ f32) f32 { // without the cancellation of 1 - tanh^2
		twice := x[1].Add(x[1])
		return x[0].Mul(twice.Sigmoid().Mul(twice.Neg().Sigmoid()).Mul(tile.F32(4)))
	}}
	softplusBwdExpr = expr{"softplus_bwd", "a times the slope of softplus at b", func(x []f32, _ f32) f32 { return x[0].Mul(x[1].Sigmoid()) }}
	siluBwdExpr     = expr{"silu_bwd", "a times the slope of silu at b", func(x []f32, _ f32) f32 { return x[0].Mul(siluSlope(x[1])) }}
)

// divGradExpr has an f32 between the product and the quotients, which in 16 bits would overflow.
var divGradExpr = expr{"div_grad", "-(dy*a/b) / b, the gradient of the divisor", func(x []f32, _ f32) f32 {
	return x[0].Mul(x[1]).Neg().Div(x[2]).Div(x[2])
}}

// Of rows and columns.
var (
	mulRowsExpr = expr{"mul_rows", "a[i,j] * b[j]", func(x []f32, _ f32) f32 { return x[0].Mul(x[1]) }}
	divColsExpr = expr{"div_cols", "a[i,j] / b[i]", func(x []f32, _ f32) f32 { return x[0].Div(x[1]) }}
	dotRowsExpr = expr{"dot_rows", "The sum over i of a[i,j] * b[i,j]", func(x []f32, _ f32) f32 { return x[0].Mul(x[1]) }}
	dotColsExpr = expr{"dot_cols", "The sum over j of a[i,j] * b[i,j]", func(x []f32, _ f32) f32 { return x[0].Mul(x[1]) }}
	sumColsExpr = expr{"sum_cols", "The sum over j of a[i,j], times a scale", func(x []f32, p f32) f32 { return x[0] }}
	expandExpr  = expr{"expand", "b[i] times a scale in each column", func(x []f32, p f32) f32 { return x[0].Mul(p) }}
)
