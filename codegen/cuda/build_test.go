package cuda

import (
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Short constructors, so that kernels in tests read like the code they become.

func i32(v int32) thr.Const   { return thr.Const{DT: dtype.I32, Bits: uint64(uint32(v))} }
func u32c(v uint32) thr.Const { return thr.Const{DT: dtype.U32, Bits: uint64(v)} }
func i64c(v int64) thr.Const  { return thr.Const{DT: dtype.I64, Bits: uint64(v)} }
func f32(v float32) thr.Const {
	return thr.Const{DT: dtype.F32, Bits: uint64(math.Float32bits(v))}
}
func boolean(v bool) thr.Const {
	c := thr.Const{DT: dtype.Bool}
	if v {
		c.Bits = 1
	}
	return c
}

func local(name string, t dtype.Type) *thr.Local { return &thr.Local{Name: name, Type: thr.Val(t)} }
func array(name string, t dtype.Type, n int) *thr.Local {
	return &thr.Local{Name: name, Type: thr.Val(t), Len: n}
}
func ref(l *thr.Local) thr.Ref                { return thr.Ref{Local: l} }
func elem(l *thr.Local, i thr.Expr) thr.Ref   { return thr.Ref{Local: l, Index: i} }
func ptr(base, index thr.Expr) thr.Expr       { return thr.PtrAdd{Base: base, Index: index} }
func decl(l *thr.Local, e thr.Expr) thr.Stmt  { return thr.Decl{Local: l, Init: e} }
func set(l *thr.Local, e thr.Expr) thr.Stmt   { return thr.Assign{Dst: ref(l), Src: e} }
func get(a *thr.Arg) thr.Expr                 { return thr.ArgRef{Arg: a} }
func callFn(f thr.Fn, a ...thr.Expr) thr.Expr { return thr.Call{Fn: f, R: thr.Fns[f].Result, Args: a} }

// op applies an elementwise op; the result type follows the table's rule.
func op(o ir.Op, args ...thr.Expr) thr.Expr {
	t := args[len(args)-1].ExprType().DT
	r := t
	if ir.Table[o].Result == ir.ToBool {
		r = dtype.Bool
	}
	return thr.Apply{Op: o, T: t, R: r, Args: args}
}

func castTo(r dtype.Type, e thr.Expr) thr.Expr {
	return thr.Apply{Op: ir.Cast, T: e.ExprType().DT, R: r, Args: []thr.Expr{e}}
}

// tensors are arguments that most tests share.
type tensors struct {
	x, y, z, stride, eps, n *thr.Arg
}

func newTensors() tensors {
	d := []ir.DimSpec{{Symbol: &ir.Symbol{Name: "rows"}}, {Symbol: &ir.Symbol{Name: "n", Max: 8192}}}
	x := &ir.Arg{Field: "X", Name: "x", DT: dtype.BF16, Dims: d, Read: true}
	return tensors{
		x:      &thr.Arg{Name: "x", Kind: thr.ArgPointer, Type: thr.Type{DT: dtype.BF16, Ptr: true, Const: true}, Offset: 0, Arg: x},
		y:      &thr.Arg{Name: "y", Kind: thr.ArgPointer, Type: thr.Type{DT: dtype.F32, Ptr: true}, Offset: 8, Arg: &ir.Arg{Field: "Y", Name: "y", DT: dtype.F32, Dims: d[:1]}},
		z:      &thr.Arg{Name: "z", Kind: thr.ArgPointer, Type: thr.Type{DT: dtype.I64, Ptr: true}, Offset: 16, Arg: &ir.Arg{Field: "Z", Name: "z", DT: dtype.I64, Dims: []ir.DimSpec{{Size: 64}}}},
		stride: &thr.Arg{Name: "x_stride0", Kind: thr.ArgStride, Type: thr.Val(dtype.I64), Offset: 24, Arg: x},
		eps:    &thr.Arg{Name: "eps", Kind: thr.ArgScalar, Type: thr.Val(dtype.F32), Offset: 32, Arg: &ir.Arg{Field: "Eps", Name: "eps", DT: dtype.F32}},
		n:      &thr.Arg{Name: "n", Kind: thr.ArgDim, Type: thr.Val(dtype.I32), Offset: 36, Symbol: d[1].Symbol},
	}
}

// kernel wraps statements.
func (t tensors) kernel(name string, body ...thr.Stmt) *thr.Kernel {
	return &thr.Kernel{
		Name: name, Threads: 256, ArgBytes: 40, Body: body,
		IR:   &ir.Kernel{Name: name, Doc: "a kernel of the tests"},
		Args: []*thr.Arg{t.x, t.y, t.z, t.stride, t.eps, t.n},
	}
}

func mustPrint(t *testing.T, k *thr.Kernel, o Options) string {
	t.Helper()
	s, err := Print(k, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// printed gives the text of one expression, whose locals are named as they are.
func printed(t *testing.T, e thr.Expr, locals ...*thr.Local) string {
	t.Helper()
	p := &printer{k: &thr.Kernel{Name: "k", Threads: 256, SharedBytes: 64}, used: map[string]bool{}, accesses: map[string]access{}, made: map[string]string{}}
	p.ranges = newRanges(p.k)
	p.names = map[string]string{}
	for _, l := range locals {
		p.names[l.Name] = l.Name
	}
	c := p.expr(e)
	if p.err != nil {
		t.Fatalf("%v", p.err)
	}
	return c.text
}
