package sim

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// What follows writes thread IR by hand, briefly.

const (
	tF = dtype.F32
	tI = dtype.I32
	tU = dtype.U32
	tQ = dtype.I64
	tB = dtype.Bool
)

// at is the position of the caller's line.
func at() thr.At { return thr.At{Pos: ir.Here(1)} }

func i32(n int) thr.Expr       { return thr.Const{DT: tI, Bits: uint64(uint32(int32(n)))} }
func u32(n uint32) thr.Expr    { return thr.Const{DT: tU, Bits: uint64(n)} }
func i64(n int64) thr.Expr     { return thr.Const{DT: tQ, Bits: uint64(n)} }
func cf32(x float32) thr.Expr  { return thr.Const{DT: tF, Bits: uint64(math.Float32bits(x))} }
func ref(l *thr.Local) thr.Ref { return thr.Ref{Local: l} }

func elem(l *thr.Local, i thr.Expr) thr.Ref { return thr.Ref{Local: l, Index: i} }

func local(name string, t dtype.Type) *thr.Local { return &thr.Local{Name: name, Type: thr.Val(t)} }
func array(name string, t dtype.Type, n int) *thr.Local {
	return &thr.Local{Name: name, Type: thr.Val(t), Len: n}
}

func call(f thr.Fn, args ...thr.Expr) thr.Expr {
	r := thr.Fns[f].Result
	if r == dtype.Invalid {
		r = args[0].ExprType().DT
	}
	return thr.Call{Fn: f, R: r, Args: args}
}

// op applies an op whose result has the type of its last operand.
func op(o ir.Op, args ...thr.Expr) thr.Expr {
	t := args[len(args)-1].ExprType().DT
	r := t
	if ir.Table[o].Result == ir.ToBool {
		r = tB
	}
	return thr.Apply{Op: o, T: t, R: r, Args: args}
}

func cast(x thr.Expr, r dtype.Type) thr.Expr {
	return thr.Apply{Op: ir.Cast, T: x.ExprType().DT, R: r, Args: []thr.Expr{x}}
}

var (
	tid    = call(thr.TID)
	lane   = call(thr.Lane)
	warpID = call(thr.Warp)
	bid    = call(thr.BlockX)
)

// index moves a pointer by an i32 number of elements.
func index(p thr.Expr, i thr.Expr) thr.Expr { return thr.PtrAdd{Base: p, Index: cast(i, tQ)} }

// sharedAt is the byte offset of an i32 number of elements.
func sharedAt(i thr.Expr, size int) thr.Expr { return cast(op(ir.Mul, i, i32(size)), tU) }

// kernel makes a kernel of pointer arguments of 8 bytes each.
func kernel(threads, shared int, args []*thr.Arg, body ...thr.Stmt) *thr.Kernel {
	for i, a := range args {
		a.Offset = 8 * i
	}
	return &thr.Kernel{Name: "k", Threads: threads, SharedBytes: shared, Args: args, ArgBytes: 8 * len(args), Body: body}
}

func pointer(name string, t dtype.Type) *thr.Arg {
	return &thr.Arg{Name: name, Kind: thr.ArgPointer, Type: thr.Type{DT: t, Ptr: true}}
}

func scalar(name string, t dtype.Type) *thr.Arg {
	return &thr.Arg{Name: name, Kind: thr.ArgScalar, Type: thr.Val(t)}
}

func arg(a *thr.Arg) thr.Expr { return thr.ArgRef{Arg: a} }

func storeGlobal(a thr.At, p *thr.Arg, i, v thr.Expr) thr.Stmt {
	return thr.Store{At: a, Space: thr.Global, Value: v, Bytes: p.Type.DT.Size(), Addr: index(arg(p), i)}
}

func storeShared(a thr.At, i, v thr.Expr) thr.Stmt {
	n := v.ExprType().DT.Size()
	return thr.Store{At: a, Space: thr.Shared, Value: v, Bytes: n, Addr: sharedAt(i, n)}
}

func loadShared(a thr.At, d *thr.Local, i thr.Expr) thr.Stmt {
	n := d.Type.DT.Size()
	return thr.Load{At: a, Space: thr.Shared, Dst: d, Bytes: n, Addr: sharedAt(i, n)}
}

func loadGlobal(a thr.At, d *thr.Local, p *thr.Arg, i thr.Expr) thr.Stmt {
	return thr.Load{At: a, Space: thr.Global, Dst: d, Bytes: p.Type.DT.Size(), Addr: index(arg(p), i)}
}

func barrier(a thr.At) thr.Stmt  { return thr.Do{At: a, Fn: thr.BlockSync} }
func warpSync(a thr.At) thr.Stmt { return thr.Do{At: a, Fn: thr.WarpSync} }

func declare(l *thr.Local, init thr.Expr) thr.Stmt { return thr.Decl{Local: l, Init: init} }

// words is the argument struct of 8-byte values.
func words(xs ...uint64) []byte {
	var b []byte
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// run compiles and runs; it fails the test on errors other than reports.
func run(t testing.TB, k *thr.Kernel, m *Memory, grid int, args []byte, o Options) (Stats, *Errors) {
	t.Helper()
	p, err := Compile(k)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Run(context.Background(), m, grid, args, o)
	var found *Errors
	if err != nil && !errors.As(err, &found) {
		t.Fatal(err)
	}
	return s, found
}

// output allocates n bytes.
func output(t testing.TB, m *Memory, n int) (uint64, []byte) {
	t.Helper()
	addr, err := m.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bytes(addr, n)
	if err != nil {
		t.Fatal(err)
	}
	return addr, b
}

func u32s(b []byte) []uint32 {
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// line is the line of a statement.
func line(s thr.Stmt) int { return s.Source().Frame().Line }

// want demands exactly one report, of a kind, with the given lines (other 0: no other side).
func want(t *testing.T, e *Errors, kind Kind, pos, other int) *Report {
	t.Helper()
	if e == nil {
		t.Fatalf("no report; want %s at line %d", kind, pos)
	}
	if len(e.Reports) != 1 || e.More != 0 {
		t.Fatalf("want one report of %s, got:\n%s", kind, e)
	}
	r := e.Reports[0]
	if r.Kind != kind || r.Pos.Frame().Line != pos || r.Other.Frame().Line != other {
		t.Fatalf("got %s\nwant %s at line %d and %d", r, kind, pos, other)
	}
	return r
}

func silent(t *testing.T, e *Errors) {
	t.Helper()
	if e != nil {
		t.Fatalf("reports of a right program:\n%s", e)
	}
}
