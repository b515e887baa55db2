package cuda

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// operands loads three values of a type from global memory, so that nothing is known about them.
func operands(a tensors, t dtype.Type) (ss []thr.Stmt, ls []*thr.Local) {
	for i, n := range []string{"u", "v", "w"} {
		l := local(n, t)
		ls = append(ls, l)
		if t == dtype.Bool {
			ss = append(ss, decl(l, op(ir.Gt, get(a.n), i32(int32(i)))))
			continue
		}
		ss = append(ss, decl(l, nil), thr.Load{Dst: l, Bytes: t.Size(), Addr: ptr(get(a.z), i64c(int64(i)))})
	}
	return ss, ls
}

// elementwiseKernel applies the ops of a range to operands of one type.
func elementwiseKernel(name string, t dtype.Type, first, last ir.Op) *thr.Kernel {
	a := newTensors()
	ss, ls := operands(a, t)
	for o := first; o <= last; o++ {
		if !ir.Table[o].Domain.Has(t) {
			continue
		}
		var args []thr.Expr
		for i := range ir.Table[o].Arity {
			args = append(args, ref(ls[i]))
		}
		if o == ir.Select {
			args[0] = op(ir.Lt, ref(ls[1]), ref(ls[2]))
		}
		ss = append(ss, thr.Comment{Text: ir.Table[o].Doc}, store(a.z, int64(o), op(o, args...)))
	}
	if t == dtype.Bool {
		ss = append(ss, store(a.z, 0, op(ir.Select, ref(ls[0]), ref(ls[1]), ref(ls[2]))))
	}
	return a.kernel(name, ss...)
}

func castKernel() *thr.Kernel {
	a := newTensors()
	var ss []thr.Stmt
	types := []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64, dtype.Bool}
	n := int64(0)
	for _, from := range types {
		l := local("from_"+from.String(), from)
		if from == dtype.Bool {
			ss = append(ss, decl(l, op(ir.Gt, get(a.n), i32(3))))
		} else {
			ss = append(ss, decl(l, nil), thr.Load{Dst: l, Bytes: from.Size(), Addr: ptr(get(a.z), i64c(n))})
		}
		for _, to := range types {
			ss = append(ss, store(a.z, n, castTo(to, ref(l))))
			n++
			if from != dtype.Bool && to != dtype.Bool && from.Size() == to.Size() {
				ss = append(ss, store(a.z, n, thr.Apply{Op: ir.Bitcast, T: from, R: to, Args: []thr.Expr{ref(l)}}))
				n++
			}
		}
	}
	return a.kernel("casts", ss...)
}

func pairsKernel() *thr.Kernel {
	a := newTensors()
	p, f := local("pair", dtype.U32), local("f", dtype.F32)
	ss := []thr.Stmt{
		decl(p, nil), thr.Load{Dst: p, Bytes: 4, Addr: get(a.x)},
		decl(f, callFn(thr.BF16Lo, ref(p))),
		set(f, op(ir.Add, ref(f), callFn(thr.BF16Hi, ref(p)))),
		set(f, op(ir.Add, ref(f), callFn(thr.F16Lo, ref(p)))),
		set(f, op(ir.Add, ref(f), callFn(thr.F16Hi, ref(p)))),
		set(f, op(ir.Mul, callFn(thr.RoundBF16, ref(f)), callFn(thr.RoundF16, ref(f)))),
		set(p, op(ir.Xor, callFn(thr.BF16Pair, ref(f), get(a.eps)), callFn(thr.F16Pair, ref(f), f32(2)))),
		store(a.y, 0, ref(p)),
	}
	return a.kernel("pairs", ss...)
}

func controlKernel() *thr.Kernel {
	a := newTensors()
	i, j, hi, acc, r := local("i", dtype.I32), local("j", dtype.I32), local("hi", dtype.I32), local("acc", dtype.F32), array("r", dtype.F32, 8)
	less := func(x thr.Expr, n int32) thr.Expr { return op(ir.Lt, x, i32(n)) }
	ss := []thr.Stmt{
		decl(hi, get(a.n)), decl(acc, f32(0)), decl(r, nil),
		thr.Comment{Text: "an unrolled loop over registers\nin two lines \\"},
		thr.For{Var: i, Lo: i32(0), Hi: i32(8), Step: i32(1), Unroll: true, Body: []thr.Stmt{
			thr.Assign{Dst: elem(r, ref(i)), Src: castTo(dtype.F32, op(ir.Mul, ref(i), i32(3)))},
		}},
		thr.Comment{Text: "the body changes the bound: it is read once"},
		thr.For{Var: i, Lo: callFn(thr.BlockX), Hi: ref(hi), Step: callFn(thr.GridX), Body: []thr.Stmt{
			set(hi, op(ir.Sub, ref(hi), i32(1))),
			thr.For{Var: j, Lo: i32(0), Hi: i32(8), Step: i32(2), Unroll: true, Body: []thr.Stmt{
				set(acc, op(ir.Add, ref(acc), elem(r, op(ir.Add, ref(j), i32(1))))),
			}},
		}},
		thr.If{Cond: less(ref(hi), 4), Then: []thr.Stmt{set(acc, op(ir.Mul, ref(acc), f32(2)))},
			Else: []thr.Stmt{thr.If{Cond: less(ref(hi), 8), Then: []thr.Stmt{set(acc, op(ir.Sub, ref(acc), f32(0.5)))}, Else: []thr.Stmt{set(acc, f32(-1))}}}},
		thr.While{Cond: less(ref(hi), 100), Body: []thr.Stmt{set(hi, op(ir.Shl, ref(hi), i32(33)))}},
		thr.While{Head: []thr.Stmt{set(hi, op(ir.Sub, ref(hi), i32(3)))}, Cond: op(ir.Gt, ref(hi), i32(0)), Body: []thr.Stmt{set(acc, op(ir.Div, ref(acc), f32(3)))}},
		thr.Assign{Dst: ref(acc), Src: op(ir.Neg, ref(acc)), Pred: op(ir.And, less(callFn(thr.Lane), 4), op(ir.Not, less(ref(hi), 0)))},
		store(a.y, 0, ref(acc)),
	}
	return a.kernel("control", ss...)
}

// memoryKernel has every size, hint and predicate of global accesses.
func memoryKernel() *thr.Kernel {
	a := newTensors()
	on := local("on", dtype.Bool)
	ss := []thr.Stmt{decl(on, op(ir.Lt, callFn(thr.TID), get(a.n)))}
	n := 0
	for _, t := range []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64} {
		for _, bytes := range []int{1, 2, 4, 8, 16} {
			if bytes < t.Size() && (bytes >= 4 || t == dtype.F32 || t == dtype.I64) {
				continue
			}
			for _, c := range []ir.Cache{ir.CacheDefault, ir.CacheStreaming, ir.CacheReadOnly, ir.CacheGlobal, ir.CacheEvictFirst, ir.CacheEvictLast} {
				for _, pred := range []thr.Expr{nil, ref(on)} {
					n++
					l := array(fmt.Sprintf("r%d", n), t, 4)
					w := c
					if w == ir.CacheReadOnly {
						w = ir.CacheDefault
					}
					at := ptr(get(a.z), i64c(int64(n*2)))
					ss = append(ss, decl(l, nil), thr.Load{Dst: l, Index: i32(0), Bytes: bytes, Addr: at, Cache: c, Pred: pred},
						thr.Store{Src: l, Index: i32(0), Bytes: bytes, Addr: at, Cache: w, Pred: pred})
				}
			}
		}
	}
	s := local("s", dtype.U32)
	ss = append(ss, decl(s, nil), thr.Load{Dst: s, Bytes: 2, Addr: ptr(get(a.x), castTo(dtype.I64, callFn(thr.TID))), Cache: ir.CacheReadOnly, Pred: ref(on)},
		thr.Store{Value: ref(s), Bytes: 2, Addr: get(a.y), Pred: callFn(thr.Aligned, get(a.y), i32(16))})
	return a.kernel("memory", ss...)
}

func sharedKernel() *thr.Kernel {
	a := newTensors()
	f, v, off := local("f", dtype.F32), array("v", dtype.U32, 4), local("off", dtype.U32)
	partial := &thr.SharedBuf{Name: "partial", Offset: 4096, Bytes: 4128, DT: dtype.F32}
	ss := []thr.Stmt{
		decl(off, op(ir.Mul, castTo(dtype.U32, callFn(thr.TID)), u32c(16))),
		decl(v, nil),
		thr.Load{Space: thr.Global, Dst: v, Index: i32(0), Bytes: 16, Addr: get(a.z)},
		thr.Store{Space: thr.Shared, Src: v, Index: i32(0), Bytes: 16, Addr: ref(off)},
		thr.Store{Space: thr.Shared, Value: elem(v, i32(1)), Bytes: 2, Addr: op(ir.Add, ref(off), u32c(4096)), Pred: op(ir.Eq, callFn(thr.Lane), i32(0))},
		thr.Do{Fn: thr.BlockSync},
		thr.Load{Space: thr.Shared, Dst: v, Index: i32(0), Bytes: 16, Addr: op(ir.Xor, ref(off), u32c(64)), Pred: op(ir.Lt, callFn(thr.TID), i32(100))},
		decl(f, nil), thr.Load{Space: thr.Shared, Dst: f, Bytes: 4, Addr: u32c(0)},
		thr.Store{Space: thr.Shared, Value: ref(f), Bytes: 4, Addr: thr.SharedAddr{Buf: partial}},
		thr.Store{Space: thr.Shared, Value: ref(f), Bytes: 4, Addr: op(ir.Add, thr.SharedAddr{Buf: partial}, ref(off))},
		store(a.y, 0, op(ir.Add, ref(f), castTo(dtype.F32, elem(v, i32(3))))),
	}
	k := a.kernel("shared", ss...)
	k.SharedBytes, k.MinBlocks = 4128+4096, 2
	k.Shared = []*thr.SharedBuf{partial, {Name: "tile", Offset: 0, Bytes: 4096, DT: dtype.U32, Note: "a row of X"}}
	return k
}

// clusterKernel reads and writes the shared memory of other blocks in every width.
func clusterKernel() *thr.Kernel {
	a := newTensors()
	f, v, w := local("f", dtype.F32), array("v", dtype.U32, 4), array("w", dtype.I64, 2)
	rank, on := callFn(thr.ClusterRank), op(ir.Lt, callFn(thr.TID), i32(100))
	at := castTo(dtype.U32, op(ir.Mul, callFn(thr.TID), i32(16)))
	next := op(ir.And, op(ir.Add, rank, i32(1)), i32(3))
	k := a.kernel("clusters",
		decl(f, castTo(dtype.F32, callFn(thr.ClusterX))), decl(v, nil), decl(w, nil),
		thr.Load{Space: thr.Global, Dst: v, Index: i32(0), Bytes: 16, Addr: get(a.z)},
		thr.Do{Fn: thr.ClusterSync},
		thr.Store{Space: thr.Shared, Src: v, Index: i32(0), Bytes: 16, Addr: at, Rank: next, Pred: on},
		thr.Store{Space: thr.Shared, Value: elem(v, i32(1)), Bytes: 2, Addr: u32c(2048), Rank: i32(0), Pred: on},
		thr.Store{Space: thr.Shared, Value: ref(f), Bytes: 4, Addr: u32c(2052), Rank: next},
		thr.Do{Fn: thr.ClusterSync},
		thr.Load{Space: thr.Shared, Dst: w, Index: i32(0), Bytes: 16, Addr: at, Rank: rank},
		thr.Load{Space: thr.Shared, Dst: f, Bytes: 4, Addr: u32c(2052), Rank: next, Pred: on},
		thr.Do{Fn: thr.ClusterArrive},
		thr.Do{Fn: thr.ClusterWait},
		store(a.z, 0, elem(w, i32(1))), store(a.y, 0, op(ir.Mul, ref(f), castTo(dtype.F32, callFn(thr.ClustersX)))))
	k.SharedBytes, k.Cluster, k.IR.Targets = 2064, 4, []string{"sm_90a", "sm_120a"}
	return k
}

func warpKernel() *thr.Kernel {
	a := newTensors()
	var ss []thr.Stmt
	for i, t := range []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64, dtype.Bool} {
		l := local("x_"+t.String(), t)
		ss = append(ss, decl(l, castTo(t, callFn(thr.TID))), set(l, thr.Call{Fn: thr.ShflXor, R: t, Args: []thr.Expr{ref(l), i32(16)}}),
			set(l, thr.Call{Fn: thr.ShflIdx, R: t, Args: []thr.Expr{ref(l), callFn(thr.Warp)}}), store(a.z, int64(i), ref(l)))
	}
	return a.kernel("warp", append(ss, thr.Do{Fn: thr.WarpSync})...)
}

func atomicKernel() *thr.Kernel {
	k := newTensors().kernel("atomics")
	k.Args, k.ArgBytes = nil, 32
	for i, t := range []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64} {
		arg := &thr.Arg{Name: "out_" + t.String(), Kind: thr.ArgPointer, Type: thr.Type{DT: t, Ptr: true}, Offset: 8 * i}
		k.Args = append(k.Args, arg)
		old, v := local("old_"+t.String(), t), castTo(t, callFn(thr.TID))
		dst := ref(old)
		k.Body = append(k.Body, decl(old, v))
		for _, f := range []thr.Fn{thr.AtomicAdd, thr.AtomicMax, thr.AtomicMin, thr.AtomicExch, thr.AtomicCAS} {
			if t == dtype.F32 && f != thr.AtomicAdd && f != thr.AtomicExch {
				continue // CUDA has no others on floats
			}
			args := []thr.Expr{ptr(get(arg), i64c(1)), v}
			if f == thr.AtomicCAS {
				args = append(args, ref(old))
			}
			k.Body = append(k.Body, thr.Do{Fn: f, DT: t, Args: args, Pred: op(ir.Eq, callFn(thr.Lane), i32(0))},
				thr.Do{Fn: f, DT: t, Dst: &dst, Args: args})
		}
		k.Body = append(k.Body, store(arg, 0, ref(old)))
	}
	return k
}

func asmKernel() *thr.Kernel {
	a := newTensors()
	f, b, w, n := local("f", dtype.F32), local("b", dtype.Bool), local("w", dtype.I64), local("m", dtype.U32)
	return a.kernel("inline_ptx",
		decl(f, get(a.eps)), decl(b, boolean(true)), decl(w, i64c(5)), decl(n, u32c(0xdeadbeef)),
		thr.Asm{Info: &ir.AsmInfo{Template: "fma.rn.f32 %0, %1, %2, %1;"}, Dst: ref(f), Args: []thr.Expr{ref(f), op(ir.Mul, ref(f), f32(2))}},
		thr.Asm{Info: &ir.AsmInfo{Template: "mov.u32 %0, %%clock;", Volatile: true}, Dst: ref(n)},
		thr.Asm{Info: &ir.AsmInfo{Template: "add.s64 %0, %1, 1;"}, Dst: ref(w), Args: []thr.Expr{ref(w)}},
		thr.Asm{Info: &ir.AsmInfo{Template: "xor.b32 %0, %1, 1;"}, Dst: ref(b), Args: []thr.Expr{ref(b)}},
		store(a.z, 0, ref(w)), store(a.y, 0, op(ir.Select, ref(b), ref(f), castTo(dtype.F32, ref(n)))))
}

// rowKernel is the shape of a real one: rows of bf16, scaled, with 16-byte accesses at a ragged edge.
func rowKernel() *thr.Kernel {
	a := newTensors()
	tid, row, x, v, i, col := local("tid", dtype.I32), local("row", dtype.I32), &thr.Local{Name: "x_row", Type: a.x.Type}, array("x", dtype.U32, 16), local("i", dtype.I32), local("col", dtype.I32)
	at := op(ir.Mul, castTo(dtype.I64, ref(row)), get(a.stride))
	loop := func(body ...thr.Stmt) thr.Stmt {
		return thr.For{Var: i, Lo: i32(0), Hi: i32(4), Step: i32(1), Unroll: true, Body: append([]thr.Stmt{
			decl(col, op(ir.Add, op(ir.Mul, ref(tid), i32(8)), op(ir.Mul, ref(i), i32(2048))))}, body...)}
	}
	four := op(ir.Mul, i32(4), ref(i))
	in := op(ir.Lt, ref(col), get(a.n))
	lo := elem(v, four)
	out := &thr.Local{Name: "y_row", Type: a.y.Type}
	return a.kernel("row",
		decl(tid, callFn(thr.TID)),
		thr.For{Var: row, Lo: op(ir.Add, op(ir.Mul, callFn(thr.BlockX), i32(8)), callFn(thr.Warp)), Hi: get(a.n), Step: op(ir.Mul, callFn(thr.GridX), i32(8)), Body: []thr.Stmt{
			decl(x, ptr(get(a.x), at)), decl(v, nil),
			loop(thr.Load{Dst: v, Index: four, Bytes: 16, Addr: ptr(ref(x), castTo(dtype.I64, ref(col))), Pred: in, Cache: ir.CacheStreaming}),
			decl(out, ptr(ptr(get(a.y), at), i64c(0))),
			loop(thr.Assign{Dst: lo, Src: callFn(thr.BF16Pair, op(ir.Mul, callFn(thr.BF16Lo, lo), get(a.eps)), op(ir.Fma, callFn(thr.BF16Hi, lo), get(a.eps), f32(1e-6)))},
				thr.Store{Src: v, Index: four, Bytes: 16, Addr: ptr(ref(out), op(ir.Add, castTo(dtype.I64, ref(col)), i64c(1))), Pred: in}),
		}})
}
