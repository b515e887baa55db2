package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// lanesOf runs body in one warp with a pointer argument out of type t, and returns what it stored there.
func lanesOf(t *testing.T, dt dtype.Type, n int, body func(out *thr.Arg) []thr.Stmt) []uint32 {
	t.Helper()
	m := NewMemory(false)
	addr, b := output(t, m, n*dt.Size())
	out := pointer("out", dt)
	_, e := run(t, kernel(32, 0, []*thr.Arg{out}, body(out)...), m, 1, words(addr), Options{})
	silent(t, e)
	return u32s(b)
}

func expect(t *testing.T, got []uint32, want func(i int) uint32) {
	t.Helper()
	for i, g := range got {
		if w := want(i); g != w {
			t.Fatalf("element %d is %d (%#x), want %d", i, g, g, w)
		}
	}
}

func TestControlFlow(t *testing.T) {
	x, i, j := local("x", tI), local("i", tI), local("j", tI)
	add := func(d *thr.Local, v thr.Expr) thr.Stmt { return thr.Assign{Dst: ref(d), Src: op(ir.Add, ref(d), v)} }
	// Nested loops with bounds from the outer one, an if in each, an empty loop, a while.
	got := lanesOf(t, tI, 32, func(out *thr.Arg) []thr.Stmt {
		return []thr.Stmt{
			declare(x, lane),
			thr.For{Var: i, Lo: i32(1), Hi: i32(8), Step: i32(3), Body: []thr.Stmt{ // 1, 4, 7
				thr.For{Var: j, Lo: ref(i), Hi: i32(5), Step: i32(1), Body: []thr.Stmt{ // 1..4, 4, none
					thr.If{Cond: op(ir.Eq, ref(j), i32(4)), Then: []thr.Stmt{add(x, i32(100))}, Else: []thr.Stmt{add(x, i32(1))}},
				}},
			}},
			thr.For{Var: i, Lo: i32(0), Hi: i32(-5), Step: i32(1), Body: []thr.Stmt{add(x, i32(100000))}},
			thr.For{Var: i, Lo: i32(math.MaxInt32 - 1), Hi: i32(math.MaxInt32), Step: i32(2), Body: []thr.Stmt{add(x, i32(1000))}},
			declare(j, i32(3)),
			thr.While{Head: []thr.Stmt{declare(i, op(ir.Mul, ref(j), i32(2)))}, Cond: op(ir.Gt, ref(i), i32(0)), Body: []thr.Stmt{
				add(x, op(ir.Mul, ref(i), i32(10000))), add(j, i32(-1))}},
			storeGlobal(at(), out, lane, ref(x)),
		}
	})
	expect(t, got, func(l int) uint32 { return uint32(l + 3 + 200 + 1000 + 10000*(6+4+2)) })
}

func TestUnroll(t *testing.T) {
	x, i, j := array("x", tI, 6), local("i", tI), local("j", tI)
	got := lanesOf(t, tI, 32*6, func(out *thr.Arg) []thr.Stmt {
		at6 := op(ir.Add, op(ir.Mul, ref(i), i32(2)), ref(j))
		return []thr.Stmt{
			declare(x, nil),
			thr.For{Var: i, Lo: i32(0), Hi: i32(3), Step: i32(1), Unroll: true, Body: []thr.Stmt{
				thr.For{Var: j, Lo: i32(0), Hi: i32(2), Step: i32(1), Unroll: true, Body: []thr.Stmt{
					thr.Assign{Dst: elem(x, at6), Src: op(ir.Add, op(ir.Mul, lane, i32(6)), at6)},
					thr.If{Cond: op(ir.Eq, at6, i32(4)), Then: []thr.Stmt{thr.Assign{Dst: elem(x, at6), Src: i32(-1)}}},
				}}}},
			thr.For{Var: i, Lo: i32(0), Hi: i32(6), Step: i32(1), Unroll: true, Body: []thr.Stmt{
				storeGlobal(at(), out, op(ir.Add, op(ir.Mul, lane, i32(6)), ref(i)), elem(x, ref(i)))}},
		}
	})
	expect(t, got, func(i int) uint32 {
		if i%6 == 4 {
			return ^uint32(0)
		}
		return uint32(i)
	})
}

func TestPredicatedAssign(t *testing.T) {
	x, y, n := local("x", tI), local("y", tI), local("n", tI)
	got := lanesOf(t, tI, 32, func(out *thr.Arg) []thr.Stmt {
		return []thr.Stmt{
			declare(x, lane), declare(y, i32(5)), declare(n, i32(1)),
			thr.Assign{Dst: ref(x), Src: op(ir.Mul, ref(x), i32(10)), Pred: op(ir.Lt, ref(x), i32(8))},
			thr.Assign{Dst: ref(y), Src: i32(6), Pred: op(ir.Eq, bid, i32(1))}, // uniform, false
			thr.Assign{Dst: ref(y), Src: i32(7), Pred: op(ir.Eq, bid, i32(0))}, // uniform, true
			thr.Assign{Dst: ref(n), Src: op(ir.Add, ref(n), ref(y)), Pred: thr.Const{DT: tB, Bits: 1}},
			thr.Assign{Dst: ref(n), Src: i32(0), Pred: thr.Const{DT: tB, Bits: 0}},
			storeGlobal(at(), out, lane, op(ir.Add, ref(x), op(ir.Mul, ref(n), i32(1000)))),
		}
	})
	expect(t, got, func(l int) uint32 {
		if l < 8 {
			l *= 10
		}
		return uint32(l + 8000)
	})
}

func TestShuffles(t *testing.T) {
	x := local("x", tI)
	got := lanesOf(t, tI, 32, func(out *thr.Arg) []thr.Stmt {
		return []thr.Stmt{
			declare(x, lane),
			thr.Assign{Dst: ref(x), Src: call(thr.ShflXor, ref(x), i32(5))}, // in place
			thr.Assign{Dst: ref(x), Src: thr.Call{Fn: thr.ShflIdx, R: tI, Args: []thr.Expr{ref(x), op(ir.Div, ref(x), i32(2))}}},
			storeGlobal(at(), out, lane, ref(x)),
		}
	})
	expect(t, got, func(l int) uint32 { return uint32((l^5)/2) ^ 5 })
}

// Loads and stores of every width, of both spaces, with arrays, predicates and more than one allocation.
func TestAccessWidths(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8, 16} {
		for _, dt := range []dtype.Type{tU, tQ, tF} {
			if dt == tQ && width < 8 {
				continue
			}
			t.Run(fmt.Sprint(width, dt), func(t *testing.T) {
				in, out := pointer("in", dt), pointer("out", dt)
				x := array("x", dt, max(1, width/dt.Size())+1) // the access starts at 1
				if width < dt.Size() {
					x = array("x", dt, 2)
				}
				bytesAt := func(p *thr.Arg) thr.Expr { // pointer arithmetic in elements of dt
					return thr.PtrAdd{Base: arg(p), Index: cast(op(ir.Mul, lane, i32(max(1, width/dt.Size()))), tQ)}
				}
				stride := max(width, dt.Size())
				off := sharedAt(lane, stride)
				pred := op(ir.Lt, lane, i32(20))
				body := []thr.Stmt{declare(x, nil),
					thr.Load{At: at(), Space: thr.Global, Dst: x, Index: i32(1), Bytes: width, Addr: bytesAt(in)},
					thr.Store{At: at(), Space: thr.Shared, Src: x, Index: i32(1), Bytes: width, Addr: off},
					thr.Load{At: at(), Space: thr.Shared, Dst: x, Index: i32(1), Bytes: width, Addr: off},
					thr.Store{At: at(), Space: thr.Global, Src: x, Index: i32(1), Bytes: width, Addr: bytesAt(out)},
					// The lanes past the predicate get zeros and store nothing.
					thr.Load{At: at(), Space: thr.Global, Dst: x, Index: i32(1), Bytes: width, Addr: bytesAt(in), Pred: pred},
					thr.Store{At: at(), Space: thr.Shared, Src: x, Index: i32(1), Bytes: width, Addr: off, Pred: pred},
					thr.Load{At: at(), Space: thr.Shared, Dst: x, Index: i32(1), Bytes: width, Addr: off, Pred: pred},
					thr.Store{At: at(), Space: thr.Global, Src: x, Index: i32(1), Bytes: width, Addr: thr.PtrAdd{Base: bytesAt(out), Index: i64(int64(32 * stride / dt.Size()))}},
				}
				m := NewMemory(true)
				src, a := output(t, m, 32*stride)
				dst, b := output(t, m, 64*stride)
				for i := range a {
					a[i] = byte(i*7 + 1)
				}
				_, e := run(t, kernel(32, 32*stride, []*thr.Arg{in, out}, body...), m, 1, words(src, dst), Options{})
				silent(t, e)
				for l := range 32 {
					want := a[l*stride:][:width]
					if !bytes.Equal(b[l*stride:][:width], want) {
						t.Fatalf("lane %d: % x, want % x", l, b[l*stride:][:width], want)
					}
					if l >= 20 {
						want = make([]byte, width)
					}
					if got := b[(32+l)*stride:][:width]; !bytes.Equal(got, want) {
						t.Fatalf("lane %d with a predicate: % x, want % x", l, got, want)
					}
				}
			})
		}
	}
}

// The lanes of one load may hit several allocations.
func TestMixedAllocations(t *testing.T) {
	m := NewMemory(false)
	pa, pb := output(t, m, 128)
	qa, qb := output(t, m, 128)
	oa, ob := output(t, m, 128)
	for i := range 32 {
		binary.LittleEndian.PutUint32(pb[4*i:], uint32(i))
		binary.LittleEndian.PutUint32(qb[4*i:], uint32(1000+i))
	}
	p, out := pointer("p", tI), pointer("out", tI)
	x := local("x", tI)
	odd := cast(op(ir.And, lane, i32(1)), tQ)
	i := op(ir.Add, cast(lane, tQ), op(ir.Mul, odd, i64(int64(qa-pa)/4))) // odd lanes read q
	_, e := run(t, kernel(32, 0, []*thr.Arg{p, out}, declare(x, nil),
		thr.Load{At: at(), Space: thr.Global, Dst: x, Bytes: 4, Addr: thr.PtrAdd{Base: arg(p), Index: i}},
		storeGlobal(at(), out, lane, ref(x))), m, 1, words(pa, oa), Options{})
	silent(t, e)
	expect(t, u32s(ob), func(l int) uint32 { return uint32(l + l%2*1000) })
}

// Arguments come from the struct by offset, kind and type.
func TestArguments(t *testing.T) {
	out, stride := pointer("out", tI), &thr.Arg{Name: "out_stride0", Kind: thr.ArgStride, Type: thr.Val(tQ), Offset: 8}
	eps, n := scalar("eps", tF), &thr.Arg{Name: "n", Kind: thr.ArgDim, Type: thr.Val(tI)}
	k := kernel(32, 0, []*thr.Arg{out, stride, eps, n},
		thr.Store{At: at(), Space: thr.Global, Value: op(ir.Add, arg(eps), cast(arg(n), tF)), Bytes: 4,
			Addr: thr.PtrAdd{Base: arg(out), Index: op(ir.Mul, arg(stride), cast(lane, tQ))}})
	eps.Offset, n.Offset, k.ArgBytes = 16, 20, 24
	m := NewMemory(false)
	addr, b := output(t, m, 4*32*3)
	args := words(addr, 3)
	args = binary.LittleEndian.AppendUint32(args, math.Float32bits(2.5))
	args = binary.LittleEndian.AppendUint32(args, uint32(0xfffffff6)) // -10
	_, e := run(t, k, m, 1, args, Options{})
	silent(t, e)
	for i, x := range u32s(b) {
		want := ^uint32(0)
		if i%3 == 0 {
			want = math.Float32bits(-7.5)
		}
		if x != want {
			t.Fatalf("element %d: %#x", i, x)
		}
	}
}

func TestHalfPairs(t *testing.T) {
	for _, c := range []struct {
		lo, hi, pair, round thr.Fn
	}{{thr.BF16Lo, thr.BF16Hi, thr.BF16Pair, thr.RoundBF16}, {thr.F16Lo, thr.F16Hi, thr.F16Pair, thr.RoundF16}} {
		half := func(x uint16) float32 {
			if c.lo == thr.F16Lo {
				return dtype.F16FromBits(x).Float32()
			}
			return dtype.BF16FromBits(x).Float32()
		}
		for b := range 1 << 16 {
			x := uint64(b) | uint64(b^0x1234)<<16
			lo, hi := fns[c.lo].pure.scalar(x, 0, 0), fns[c.hi].pure.scalar(x, 0, 0)
			wl, wh := half(uint16(b)), half(uint16(b)^0x1234)
			if wl == wl && float(lo) != wl || wh == wh && float(hi) != wh {
				t.Fatalf("%#x is (%g, %g), want (%g, %g)", x, float(lo), float(hi), wl, wh)
			}
			if got := fns[c.pair].pure.scalar(lo, hi, 0); wl == wl && wh == wh && got != x {
				t.Fatalf("%#x went to %#x", x, got)
			}
			if wl == wl && fns[c.round].pure.scalar(lo, 0, 0) != lo {
				t.Fatalf("rounding %#x changed it", lo)
			}
		}
	}
	for _, c := range [][2]uint64{ // ties go away from zero, a carry into the exponent; what is infinite or NaN stays
		{0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f802000}, {0xbf803000, 0xbf804000}, {0x3ffff000, 0x40000000}, {0x00001000, 0x00002000},
		{0x7f7fffff, 0x7f800000}, {0x7f800000, 0x7f800000}, {0x7fc00001, 0x7fc00001}, {0x80000000, 0x80000000},
	} {
		if got := fns[thr.RoundTF32].pure.scalar(c[0], 0, 0); got != c[1] {
			t.Errorf("%#x as tf32: %#x, want %#x", c[0], got, c[1])
		}
	}
	if got := fns[thr.RoundBF16].pure.scalar(0x3f808000, 0, 0); got != 0x3f800000 { // a tie goes to even
		t.Fatalf("%#x", got)
	}
}

func TestAsm(t *testing.T) {
	x := local("x", tU)
	info := &ir.AsmInfo{Template: "prmt", Sim: func(in []uint64) uint64 { return in[0]<<8 | in[1]<<40 | in[1] }}
	got := lanesOf(t, tU, 32, func(out *thr.Arg) []thr.Stmt {
		return []thr.Stmt{declare(x, u32(1)), thr.Asm{Info: info, Dst: ref(x), Args: []thr.Expr{cast(lane, tU), ref(x)}},
			storeGlobal(at(), out, lane, ref(x))}
	})
	expect(t, got, func(l int) uint32 { return uint32(l<<8 | 1) })
	if _, err := Compile(kernel(32, 0, nil, declare(x, nil), thr.Asm{Info: &ir.AsmInfo{}, Dst: ref(x)})); err == nil {
		t.Fatal("inline PTX without a function was accepted")
	}
}

// Wrong thread IR is refused with a position, not run.
func TestCompileErrors(t *testing.T) {
	x, a, i := local("x", tI), array("a", tI, 4), local("i", tI)
	for want, body := range map[string][]thr.Stmt{
		"x is not declared here":                   {thr.Assign{At: at(), Dst: ref(x), Src: i32(1)}},
		"a[4] of 4 registers":                      {declare(a, nil), thr.Assign{At: at(), Dst: elem(a, i32(4)), Src: i32(1)}},
		"a is indexed by a run-time value":         {declare(a, nil), thr.Assign{At: at(), Dst: elem(a, lane), Src: i32(1)}},
		"x is declared twice":                      {declare(x, nil), thr.Decl{At: at(), Local: x}},
		"h: no registers of bf16":                  {thr.Decl{At: at(), Local: local("h", dtype.BF16)}},
		"no rem of f32 to f32":                     {thr.Decl{At: at(), Local: x, Init: op(ir.Rem, cf32(1), cf32(2))}},
		"a bound is a run-time value":              {thr.For{At: at(), Var: i, Lo: i32(0), Hi: lane, Step: i32(1), Unroll: true}},
		"loop over i by 0":                         {thr.For{At: at(), Var: i, Lo: i32(0), Hi: i32(2), Step: i32(0), Unroll: true}},
		"an access of 3 bytes":                     {declare(x, nil), thr.Load{At: at(), Space: thr.Shared, Dst: x, Bytes: 3, Addr: u32(0)}},
		"8 bytes and 1 registers":                  {thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 8, Addr: u32(0)}},
		"the mask of shfl_xor is a constant":       {thr.Decl{At: at(), Local: x, Init: call(thr.ShflXor, lane, lane)}},
		"block_sync is a statement":                {thr.Decl{At: at(), Local: x, Init: thr.Call{Fn: thr.BlockSync, R: tI}}},
		"a barrier for some lanes":                 {thr.Do{At: at(), Fn: thr.BlockSync, Pred: op(ir.Eq, lane, i32(0))}},
		"an address of shared memory is a u32":     {thr.Store{At: at(), Space: thr.Shared, Value: tid, Bytes: 4, Addr: i64(0)}},
		"an address of global memory is a pointer": {thr.Store{At: at(), Space: thr.Global, Value: tid, Bytes: 4, Addr: i64(0)}},
		"no atomic_max of f32":                     {thr.Do{At: at(), Fn: thr.AtomicMax, DT: tF, Args: []thr.Expr{i64(0), cf32(1)}}},
	} {
		_, err := Compile(kernel(32, 64, nil, body...))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "exec_test.go:") {
			t.Errorf("%v; want %q at a line", err, want)
		}
	}
	in := pointer("in", tI)
	in.Type.Const = true
	if _, err := Compile(kernel(32, 0, []*thr.Arg{in}, storeGlobal(at(), in, lane, lane))); err == nil || !strings.Contains(err.Error(), "through a pointer to const") {
		t.Errorf("a store to const memory: %v", err)
	}
	for _, threads := range []int{0, 31, 48, 1056} {
		if _, err := Compile(kernel(threads, 0, nil)); err == nil {
			t.Errorf("%d threads were accepted", threads)
		}
	}
}

func TestLaunchErrors(t *testing.T) {
	p, err := Compile(kernel(32, 0, []*thr.Arg{pointer("p", tI)}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ grid, args int }{{-1, 8}, {1, 0}, {1, 16}} {
		if _, err := p.Run(context.Background(), NewMemory(false), c.grid, make([]byte, c.args), Options{}); !errors.Is(err, ErrLaunch) {
			t.Errorf("grid %d, %d bytes of arguments: %v", c.grid, c.args, err)
		}
	}
	if s, err := p.Run(context.Background(), NewMemory(false), 0, make([]byte, 8), Options{}); err != nil || s.Blocks != 0 {
		t.Fatal(s, err)
	}
}

func TestCancel(t *testing.T) {
	x := local("x", tI)
	p, err := Compile(kernel(64, 0, nil, declare(x, i32(0)),
		thr.While{Cond: op(ir.Eq, ref(x), i32(0)), Body: []thr.Stmt{thr.Assign{Dst: ref(x), Src: i32(0)}}}))
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	start := time.Now()
	if _, err = p.Run(ctx, NewMemory(false), 1000, nil, Options{StepLimit: math.MaxInt64}); !errors.Is(err, cause) {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Fatalf("stopping took %s", d)
	}
	if _, err = p.Run(ctx, NewMemory(false), 1, nil, Options{}); !errors.Is(err, cause) {
		t.Fatal(err)
	}
}
