package thr

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// TestPrint holds the text of every statement.
func TestPrint(t *testing.T) {
	want := strings.TrimPrefix(`
kernel sample target sm_90a threads 64 shared 0 args 16
arg x const f32* at 0
arg n i32 at 8
shared s 256 bytes at ?: a row
; head
i32 i = tid()
f32 w[4]
unroll e = 0 to 4 step 1
  w[e] = 0
w[0] = load.global.nc 16 at $x[cast.i32.i64(i):]
f32 sum
sum = add.f32(w[0], w[add.i32(1, 2)]) when lt.i32.bool(i, $n)
store.shared 4 at add.u32(&s, bitcast.i32.u32(i)): sum when lt.i32.bool(i, $n)
block_sync()
for j = 0 to $n step 1
  u32 packed = bf16_pair(sum, shfl_xor(sum, 16))
  store.global.cs 16 at $x[0:]: w[0]
loop
  bool more = lt.i32.bool(i, 8)
while more
  warp_sync()
if ne.f32.bool(sum, 0)
  sum = asm "neg.f32 %0, %1;" (sum)
else
  i = atomic_add($x[0:], sum) when true
`, "\n")
	if d := cmp.Diff(want, Print(sample())); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	k := sample()
	k.SharedBytes, k.Cluster = 256, 4
	edit(k.Body, sampleStore, func(s *Store) { s.Rank = number(3) })
	edit(k.Body, sampleLoad, func(l *Load) {
		l.Space, l.Cache, l.Addr, l.Rank = Shared, ir.CacheDefault, Const{DT: dtype.U32}, Call{Fn: ClusterRank, R: dtype.I32}
	})
	for _, want := range []string{"threads 64 cluster 4 shared 256", "= load.shared 16 at 0 of block cluster_rank()\n", "of block 3: sum when"} {
		if got := Print(k); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := Print(k); !strings.Contains(got, "shared s 256 bytes at 0: a row") {
		t.Errorf("offsets are not printed once they are known:\n%s", got)
	}
}

// TestText holds the text of literals and of an if without else.
func TestText(t *testing.T) {
	for want, e := range map[string]Expr{
		"1.5":        Const{dtype.F32, uint64(math.Float32bits(1.5))},
		"-1":         Const{dtype.I32, 0xffffffff},
		"4294967295": Const{dtype.U32, 0xffffffff},
		"-2":         Const{dtype.I64, math.MaxUint64 - 1},
		"true":       Const{dtype.Bool, 1},
		"false":      Const{dtype.Bool, 0},
		"block_x()":  Call{Fn: BlockX, R: dtype.I32},
	} {
		if got := Text(e); got != want {
			t.Errorf("%#v prints %s, want %s", e, got, want)
		}
	}
	k := &Kernel{Name: "k", Body: []Stmt{If{Cond: Const{dtype.Bool, 1}, Then: []Stmt{Comment{Text: "then"}}}}}
	if got := Print(k); strings.Contains(got, "else") {
		t.Errorf("an else that is not there is printed:\n%s", got)
	}
}

// TestFns: each built-in has a row, names are unique, and results are fixed where no expression says them.
func TestFns(t *testing.T) {
	seen := map[string]Fn{}
	for f := InvalidFn + 1; f < NumFns; f++ {
		info := Fns[f]
		if info.Name == "" || info.Doc == "" || f.String() != info.Name {
			t.Errorf("built-in %d: %+v", f, info)
		}
		if o, ok := seen[info.Name]; ok {
			t.Errorf("built-ins %d and %d are named %s", o, f, info.Name)
		}
		seen[info.Name] = f
		asks := f >= MBarTest && f <= MBarTryToken // a statement with an answer
		if !info.Pure && ((info.Result != dtype.Invalid) != asks || info.Uniform) {
			t.Errorf("statement %s has the result type %v, or is uniform", info.Name, info.Result)
		}
	}
}

func local(name string, t dtype.Type, n int) *Local { return &Local{Name: name, Type: Val(t), Len: n} }

func number(n int) Expr { return Const{dtype.I32, uint64(uint32(n))} }

func apply(op ir.Op, t, r dtype.Type, args ...Expr) Expr { return Apply{op, t, r, args} }

// sample is a right kernel with every statement and every kind of expression.
func sample() *Kernel {
	x := &Arg{Name: "x", Type: Type{DT: dtype.F32, Ptr: true, Const: true}}
	n := &Arg{Name: "n", Kind: ArgDim, Type: Val(dtype.I32), Offset: 8}
	s := &SharedBuf{Name: "s", Bytes: 256, DT: dtype.F32, Note: "a row"}
	i, w, sum, e := local("i", dtype.I32, 0), local("w", dtype.F32, 4), local("sum", dtype.F32, 0), local("e", dtype.I32, 0)
	j, packed, more := local("j", dtype.I32, 0), local("packed", dtype.U32, 0), local("more", dtype.Bool, 0)
	inside := apply(ir.Lt, dtype.I32, dtype.Bool, Ref{Local: i}, ArgRef{n})
	first := PtrAdd{ArgRef{x}, Const{dtype.I64, 0}}
	dst := Ref{Local: i}
	return &Kernel{Name: "sample", Target: "sm_90a", Threads: 64, Args: []*Arg{x, n}, ArgBytes: 16, Shared: []*SharedBuf{s}, Body: []Stmt{
		Comment{Text: "head"},
		Decl{Local: i, Init: Call{Fn: TID, R: dtype.I32}},
		Decl{Local: w},
		For{Var: e, Lo: number(0), Hi: number(4), Step: number(1), Unroll: true, Body: []Stmt{
			Assign{Dst: Ref{w, Ref{Local: e}}, Src: Const{DT: dtype.F32}},
		}},
		Load{Dst: w, Index: number(0), Bytes: 16, Addr: PtrAdd{ArgRef{x}, apply(ir.Cast, dtype.I32, dtype.I64, Ref{Local: i})}, Cache: ir.CacheReadOnly},
		Decl{Local: sum},
		Assign{Dst: Ref{Local: sum}, Src: apply(ir.Add, dtype.F32, dtype.F32, Ref{w, number(0)}, Ref{w, apply(ir.Add, dtype.I32, dtype.I32, number(1), number(2))}), Pred: inside},
		Store{Space: Shared, Value: Ref{Local: sum}, Bytes: 4, Addr: apply(ir.Add, dtype.U32, dtype.U32, SharedAddr{s}, apply(ir.Bitcast, dtype.I32, dtype.U32, Ref{Local: i})), Pred: inside, Buf: s},
		Do{Fn: BlockSync},
		For{Var: j, Lo: number(0), Hi: ArgRef{n}, Step: number(1), Body: []Stmt{
			Decl{Local: packed, Init: Call{BF16Pair, dtype.U32, []Expr{Ref{Local: sum}, Call{ShflXor, dtype.F32, []Expr{Ref{Local: sum}, number(16)}}}}},
			Store{Src: w, Index: number(0), Bytes: 16, Addr: first, Cache: ir.CacheStreaming},
		}},
		While{Head: []Stmt{Decl{Local: more, Init: apply(ir.Lt, dtype.I32, dtype.Bool, Ref{Local: i}, number(8))}}, Cond: Ref{Local: more}, Body: []Stmt{Do{Fn: WarpSync}}},
		If{Cond: apply(ir.Ne, dtype.F32, dtype.Bool, Ref{Local: sum}, Const{DT: dtype.F32}), Then: []Stmt{
			Asm{Info: &ir.AsmInfo{Template: "neg.f32 %0, %1;"}, Dst: Ref{Local: sum}, Args: []Expr{Ref{Local: sum}}},
		}, Else: []Stmt{
			Do{Fn: AtomicAdd, Dst: &dst, Args: []Expr{first, Ref{Local: sum}}, Pred: Const{dtype.Bool, 1}},
		}},
	}}
}
