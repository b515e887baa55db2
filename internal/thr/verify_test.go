package thr

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// unknown is a statement and an expression that no table lists.
type unknown struct{ At }

func (unknown) ExprType() Type { return Val(dtype.I32) }

// The statements of sample by position.
const (
	sampleI = iota + 1
	sampleW
	sampleUnroll
	sampleLoad
	sampleSum
	sampleAssign
	sampleStore
	sampleSync
	sampleFor
	sampleWhile
	sampleIf
)

// edit changes the statement at a position of a list.
func edit[S Stmt](body []Stmt, at int, f func(s *S)) {
	s := body[at].(S)
	f(&s)
	body[at] = s
}

// drop removes the statement at a position.
func drop(k *Kernel, at int) { k.Body = append(k.Body[:at:at], k.Body[at+1:]...) }

func push(k *Kernel, s ...Stmt) { k.Body = append(k.Body, s...) }

// TestVerify breaks a right kernel in one way at a time; every message of the verifier is wanted by a row.
func TestVerify(t *testing.T) {
	if err := Verify(sample()); err != nil {
		t.Fatalf("a right kernel: %v", err)
	}
	f32, i32, b := dtype.F32, dtype.I32, dtype.Bool
	yes := Const{b, 1}
	for _, c := range []struct {
		name  string
		spoil func(k *Kernel)
		want  string
	}{
		// Arguments.
		{"pointer at 4 bytes", func(k *Kernel) { k.Args[0].Offset = 4 }, "argument 0 (x) is misaligned at offset 4"},
		{"number at 2 bytes", func(k *Kernel) { k.Args[1].Offset = 10 }, "argument 1 (n) is misaligned at offset 10"},
		{"stride at 4 bytes", func(k *Kernel) { k.Args[1].Type = Val(dtype.I64); k.Args[1].Offset = 12 }, "argument 1 (n) is misaligned at offset 12"},

		// Declarations.
		{"undeclared local", func(k *Kernel) { drop(k, sampleSum) }, "sum is used outside its declaration"},
		{"undeclared array", func(k *Kernel) { drop(k, sampleW) }, "w is used outside its declaration"},
		{"used before its declaration", func(k *Kernel) {
			k.Body[sampleSum], k.Body[sampleAssign] = k.Body[sampleAssign], k.Body[sampleSum]
		}, "sum is used outside its declaration"},
		{"used by its own initialiser", func(k *Kernel) {
			x := local("x", i32, 0)
			push(k, Decl{Local: x, Init: Ref{Local: x}})
		}, "x is used outside its declaration"},
		{"used after its block", func(k *Kernel) {
			l := k.Body[sampleFor].(For).Body[0].(Decl).Local
			push(k, Assign{Dst: Ref{Local: l}, Src: Const{DT: dtype.U32}})
		}, "packed is used outside its declaration"},
		{"used in the other branch", func(k *Kernel) {
			x := local("x", i32, 0)
			push(k, If{Cond: yes, Then: []Stmt{Decl{Local: x}}, Else: []Stmt{Assign{Dst: Ref{Local: x}, Src: number(0)}}})
		}, "x is used outside its declaration"},
		{"a loop's variable after it", func(k *Kernel) {
			push(k, Assign{Dst: Ref{Local: k.Body[sampleFor].(For).Var}, Src: number(0)})
		}, "j is used outside its declaration"},
		{"declared twice", func(k *Kernel) { push(k, k.Body[sampleSum]) }, "sum is declared twice"},
		{"two locals of one name", func(k *Kernel) { push(k, Decl{Local: local("sum", f32, 0)}) }, "two locals are named sum"},
		{"two locals of one name in two blocks", func(k *Kernel) {
			push(k, If{Cond: yes, Then: []Stmt{Decl{Local: local("y", f32, 0)}}, Else: []Stmt{Decl{Local: local("y", f32, 0)}}})
		}, "two locals are named y"},
		{"initialiser of another type", func(k *Kernel) {
			edit(k.Body, sampleI, func(d *Decl) { d.Init = Const{DT: f32} })
		}, "initialiser of i: f32 where i32 is wanted"},
		{"array with an initialiser", func(k *Kernel) { edit(k.Body, sampleW, func(d *Decl) { d.Init = Const{DT: f32} }) }, "array w has an initialiser"},

		// Assignments and types.
		{"assignment of another type", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) { a.Src = number(1) })
		}, "assignment to sum: i32 where f32 is wanted"},
		{"assignment of a pointer", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) { a.Src = ArgRef{k.Args[0]} })
		}, "assignment to sum: const f32* where f32 is wanted"},
		{"predicate of an assignment", func(k *Kernel) { edit(k.Body, sampleAssign, func(a *Assign) { a.Pred = number(1) }) }, "predicate: i32 where bool is wanted"},
		{"operand of another type", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) { a.Src = apply(ir.Add, f32, f32, Const{DT: f32}, number(1)) })
		}, "add: i32 where f32 is wanted"},
		{"condition of a selection", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) {
				a.Src = apply(ir.Select, f32, f32, Const{DT: f32}, Const{DT: f32}, Const{DT: f32})
			})
		}, "select: f32 where bool is wanted"},
		{"operands of an op", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) { a.Src = apply(ir.Add, f32, f32, Const{DT: f32}) })
		}, "add applied to 1 operands"},
		{"an op that is not elementwise", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) { a.Src = apply(ir.Sum, f32, f32, Const{DT: f32}) })
		}, "sum applied to 1 operands"},
		{"operands of a built-in", func(k *Kernel) {
			edit(k.Body, sampleI, func(d *Decl) { d.Init = Call{TID, i32, []Expr{number(1)}} })
		}, "tid is not an expression of 1 operands"},
		{"a statement as an expression", func(k *Kernel) { edit(k.Body, sampleI, func(d *Decl) { d.Init = Call{Fn: BlockSync, R: i32} }) }, "block_sync is not an expression of 0 operands"},
		{"a built-in out of the table", func(k *Kernel) { edit(k.Body, sampleI, func(d *Decl) { d.Init = Call{Fn: InvalidFn, R: i32} }) }, "is not an expression of 0 operands"},
		{"an expression in a call", func(k *Kernel) {
			edit(k.Body, sampleI, func(d *Decl) { d.Init = Call{Opaque, i32, []Expr{Ref{Local: local("ghost", i32, 0)}}} })
		}, "ghost is used outside its declaration"},
		{"unknown expression", func(k *Kernel) { edit(k.Body, sampleI, func(d *Decl) { d.Init = unknown{} }) }, "unknown expression thr.unknown"},
		{"unknown statement", func(k *Kernel) { push(k, unknown{}) }, "unknown statement thr.unknown"},

		// Register arrays.
		{"array without an index", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) { a.Src = Ref{Local: k.Body[sampleW].(Decl).Local} })
		}, "w has 4 registers: an index is wanted exactly for arrays"},
		{"scalar with an index", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) { a.Dst.Index = number(0) })
		}, "sum has 0 registers: an index is wanted exactly for arrays"},
		{"index by a local", func(k *Kernel) {
			edit(k.Body, sampleAssign, func(a *Assign) {
				a.Src = Ref{k.Body[sampleW].(Decl).Local, Ref{Local: k.Body[sampleI].(Decl).Local}}
			})
		}, "i indexes registers but is not the variable of an unrolled loop"},
		{"index by the variable of a loop that is not unrolled", func(k *Kernel) {
			edit(k.Body, sampleUnroll, func(f *For) { f.Unroll = false })
		}, "e indexes registers but is not the variable of an unrolled loop"},
		{"index by an argument", func(k *Kernel) {
			edit(k.Body, sampleLoad, func(l *Load) { l.Index = ArgRef{k.Args[1]} })
		}, "$n indexes registers but is not known while compiling"},
		{"index computed of a thread's number", func(k *Kernel) {
			edit(k.Body, sampleLoad, func(l *Load) { l.Index = apply(ir.Add, i32, i32, number(1), Call{Fn: TID, R: i32}) })
		}, "tid() indexes registers but is not known while compiling"},
		{"unrolled loop of unknown length", func(k *Kernel) {
			edit(k.Body, sampleUnroll, func(f *For) { f.Hi = ArgRef{k.Args[1]} })
		}, "$n indexes registers but is not known while compiling"},

		// Memory.
		{"global load at an offset", func(k *Kernel) { edit(k.Body, sampleLoad, func(l *Load) { l.Addr = Const{DT: dtype.U32} }) }, "a global address of type u32"},
		{"shared load at a pointer", func(k *Kernel) { edit(k.Body, sampleLoad, func(l *Load) { l.Space = Shared }) }, "a shared address of type const f32*"},
		{"global store at an offset", func(k *Kernel) { edit(k.Body, sampleStore, func(s *Store) { s.Space = Global }) }, "a global address of type u32"},
		{"shared store at a number", func(k *Kernel) { edit(k.Body, sampleStore, func(s *Store) { s.Addr = number(0) }) }, "a shared address of type i32"},
		{"predicate of a load", func(k *Kernel) { edit(k.Body, sampleLoad, func(l *Load) { l.Pred = number(1) }) }, "predicate: i32 where bool is wanted"},
		{"predicate of a store", func(k *Kernel) { edit(k.Body, sampleStore, func(s *Store) { s.Pred = number(1) }) }, "predicate: i32 where bool is wanted"},
		{"pointer index of 32 bits", func(k *Kernel) {
			edit(k.Body, sampleLoad, func(l *Load) { l.Addr = PtrAdd{ArgRef{k.Args[0]}, number(1)} })
		}, "pointer index: i32 where i64 is wanted"},
		{"pointer arithmetic on a number", func(k *Kernel) {
			edit(k.Body, sampleLoad, func(l *Load) { l.Addr = PtrAdd{ArgRef{k.Args[1]}, Const{DT: dtype.I64}} })
		}, "pointer arithmetic on i32"},
		{"12 bytes", func(k *Kernel) { edit(k.Body, sampleLoad, func(l *Load) { l.Bytes = 12 }) }, "an access of 12 bytes"},
		{"no bytes", func(k *Kernel) { edit(k.Body, sampleLoad, func(l *Load) { l.Bytes = 0 }) }, "an access of 0 bytes"},
		{"16 bytes into 2 registers", func(k *Kernel) {
			k.Body[sampleW].(Decl).Local.Len = 2
		}, "an access of 16 bytes does not fit w, 2 registers of f32"},
		{"8 bytes into a scalar", func(k *Kernel) {
			edit(k.Body, sampleFor, func(f *For) {
				f.Body = append(f.Body, Load{Dst: k.Body[sampleSum].(Decl).Local, Bytes: 8, Addr: ArgRef{k.Args[0]}})
			})
		}, "an access of 8 bytes does not fit sum, 1 registers of f32"},
		{"16 bytes of 2 registers stored", func(k *Kernel) {
			w := local("w2", f32, 2)
			push(k, Decl{Local: w}, Store{Src: w, Index: number(0), Bytes: 16, Addr: ArgRef{k.Args[0]}})
		}, "an access of 16 bytes does not fit w2, 2 registers of f32"},
		{"8 bytes of a 4-byte value", func(k *Kernel) { edit(k.Body, sampleStore, func(s *Store) { s.Bytes = 8 }) }, "a store of 8 bytes has a value of type f32"},
		{"4 bytes of an 8-byte value", func(k *Kernel) {
			edit(k.Body, sampleStore, func(s *Store) { s.Value = Const{DT: dtype.I64} })
		}, "a store of 4 bytes has a value of type i64"},

		// Clusters.
		{"peer without a cluster", func(k *Kernel) { edit(k.Body, sampleStore, func(s *Store) { s.Rank = number(0) }) }, "an access to shared memory of another block, in a cluster of 0"},
		{"peer's global memory", func(k *Kernel) {
			k.Cluster = 2
			edit(k.Body, sampleLoad, func(l *Load) { l.Rank = number(0) })
		}, "an access to global memory of another block, in a cluster of 2"},
		{"a block's number of 64 bits", func(k *Kernel) {
			k.Cluster = 2
			edit(k.Body, sampleStore, func(s *Store) { s.Rank = Const{DT: dtype.I64} })
		}, "a block's number: i64 where i32 is wanted"},
		{"barrier without a cluster", func(k *Kernel) { edit(k.Body, sampleSync, func(d *Do) { d.Fn = ClusterSync }) }, "cluster_sync in a kernel without clusters"},
		{"rank without a cluster", func(k *Kernel) {
			push(k, Decl{Local: local("r", i32, 0), Init: Call{Fn: ClusterRank, R: i32}})
		}, "cluster_rank in a kernel without clusters"},

		// Control flow.
		{"bound of a loop", func(k *Kernel) {
			edit(k.Body, sampleFor, func(f *For) { f.Hi = Const{DT: dtype.I64} })
		}, "bound of j: i64 where i32 is wanted"},
		{"step of a loop", func(k *Kernel) { edit(k.Body, sampleFor, func(f *For) { f.Step = yes }) }, "bound of j: bool where i32 is wanted"},
		{"condition of an if", func(k *Kernel) { edit(k.Body, sampleIf, func(s *If) { s.Cond = number(1) }) }, "condition: i32 where bool is wanted"},
		{"condition of a while", func(k *Kernel) { edit(k.Body, sampleWhile, func(w *While) { w.Cond = number(1) }) }, "condition: i32 where bool is wanted"},
		{"body of a while", func(k *Kernel) {
			edit(k.Body, sampleWhile, func(w *While) { w.Body = []Stmt{unknown{}} })
		}, "unknown statement"},
		{"then", func(k *Kernel) { edit(k.Body, sampleIf, func(s *If) { s.Then = []Stmt{unknown{}} }) }, "unknown statement"},
		{"else", func(k *Kernel) { edit(k.Body, sampleIf, func(s *If) { s.Else = []Stmt{unknown{}} }) }, "unknown statement"},

		// Built-ins with effects.
		{"an expression as a statement", func(k *Kernel) { edit(k.Body, sampleSync, func(d *Do) { d.Fn = TID }) }, "tid is not a statement of 0 operands"},
		{"operands of a statement", func(k *Kernel) {
			edit(k.Body, sampleSync, func(d *Do) { d.Fn = AtomicAdd })
		}, "atomic_add is not a statement of 0 operands"},
		{"a statement out of the table", func(k *Kernel) { edit(k.Body, sampleSync, func(d *Do) { d.Fn = InvalidFn }) }, "is not a statement of 0 operands"},
		{"result of a statement", func(k *Kernel) {
			edit(k.Body[sampleIf].(If).Else, 0, func(d *Do) { d.Dst = &Ref{Local: local("ghost", f32, 0)} })
		}, "ghost is used outside its declaration"},
		{"operand of a statement", func(k *Kernel) {
			k.Body[sampleIf].(If).Else[0].(Do).Args[1] = Ref{Local: local("ghost", f32, 0)}
		}, "ghost is used outside its declaration"},
		{"atomic at a number", func(k *Kernel) {
			k.Body[sampleIf].(If).Else[0].(Do).Args[0] = number(0)
		}, "operand 0 of atomic_add is of type i32"},
		{"atomic of a pointer", func(k *Kernel) {
			k.Body[sampleIf].(If).Else[0].(Do).Args[1] = ArgRef{k.Args[0]}
		}, "operand 1 of atomic_add is of type const f32*"},
		{"predicate of a statement", func(k *Kernel) {
			edit(k.Body[sampleIf].(If).Else, 0, func(d *Do) { d.Pred = number(1) })
		}, "predicate: i32 where bool is wanted"},
		{"operand of inline PTX", func(k *Kernel) {
			k.Body[sampleIf].(If).Then[0].(Asm).Args[0] = Ref{Local: local("ghost", f32, 0)}
		}, "ghost is used outside its declaration"},
		{"result of inline PTX", func(k *Kernel) {
			edit(k.Body[sampleIf].(If).Then, 0, func(a *Asm) { a.Dst = Ref{Local: local("ghost", f32, 0)} })
		}, "ghost is used outside its declaration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := sample()
			c.spoil(k)
			err := Verify(k)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
		})
	}
}

// TestVerifyStops: a broken kernel gives ten errors, not one a statement.
func TestVerifyStops(t *testing.T) {
	k := sample()
	for range 50 {
		push(k, unknown{})
	}
	if n := strings.Count(Verify(k).Error(), "unknown statement"); n != 10 {
		t.Errorf("%d errors, want 10", n)
	}
}
