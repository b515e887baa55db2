//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Changes of thread IR, as a lowering that is wrong would make it.

// statements changes the statements of type S that an op was lowered to; Invalid: of any op. change returns ok false where
// it does not fit.
func statements[S thr.Stmt](op ir.Op, change func(s S) (out []thr.Stmt, ok bool)) func(k *ir.Kernel, low *thr.Kernel) bool {
	return func(k *ir.Kernel, low *thr.Kernel) (changed bool) {
		of := map[int]bool{}
		eachOp(k, func(v *ir.Value) { of[v.ID] = v.Op == op })
		low.Body = rewrite(low.Body, func(s thr.Stmt) []thr.Stmt {
			if t, is := s.(S); is && (op == ir.Invalid || of[source(s)]) {
				if out, ok := change(t); ok {
					changed = true
					return out
				}
			}
			return []thr.Stmt{s}
		})
		return changed
	}
}

// source is the tile op of a statement; -1 for those that no mutant changes.
func source(s thr.Stmt) int {
	switch s := s.(type) {
	case thr.For:
		return s.Op
	case thr.While:
		return s.Op
	case thr.If:
		return s.Op
	case thr.Load:
		return s.Op
	case thr.Store:
		return s.Op
	case thr.Assign:
		return s.Op
	case thr.Decl:
		return s.Op
	}
	return -1
}

// rewrite replaces every statement by f of it, innermost first.
func rewrite(body []thr.Stmt, f func(thr.Stmt) []thr.Stmt) []thr.Stmt {
	var out []thr.Stmt
	for _, s := range body {
		switch t := s.(type) {
		case thr.For:
			t.Body = rewrite(t.Body, f)
			s = t
		case thr.While:
			t.Head, t.Body = rewrite(t.Head, f), rewrite(t.Body, f)
			s = t
		case thr.If:
			t.Then, t.Else = rewrite(t.Then, f), rewrite(t.Else, f)
			s = t
		}
		out = append(out, f(s)...)
	}
	return out
}

// loop changes the loops of an op, but for the unrolled ones over registers.
func loop(op ir.Op, change func(s *thr.For)) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(op, func(s thr.For) ([]thr.Stmt, bool) {
		if s.Unroll {
			return nil, false
		}
		change(&s)
		return []thr.Stmt{s}, true
	})
}

func load(change func(s *thr.Load) bool) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(ir.Load, func(s thr.Load) ([]thr.Stmt, bool) {
		ok := change(&s)
		return []thr.Stmt{s}, ok
	})
}

func store(change func(s *thr.Store) bool) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(ir.Store, func(s thr.Store) ([]thr.Stmt, bool) {
		ok := change(&s)
		return []thr.Stmt{s}, ok
	})
}

// next is the address just past an access, so that it stays aligned.
func next(space thr.Space, addr thr.Expr, bytes int) thr.Expr {
	if space == thr.Shared {
		return binary(ir.Add, addr, thr.Const{DT: dtype.U32, Bits: uint64(bytes)})
	}
	return thr.PtrAdd{Base: addr, Index: thr.Const{DT: dtype.I64, Bits: uint64(bytes / addr.ExprType().DT.Size())}}
}

func binary(op ir.Op, a, b thr.Expr) thr.Expr {
	t := a.ExprType().DT
	return thr.Apply{Op: op, T: t, R: t, Args: []thr.Expr{a, b}}
}

func i32(n int) thr.Expr { return thr.Const{DT: dtype.I32, Bits: uint64(uint32(int32(n)))} }

// truth is a condition that is always or never true.
func truth(on bool) thr.Expr {
	if on {
		return thr.Const{DT: dtype.Bool, Bits: 1}
	}
	return thr.Const{DT: dtype.Bool}
}

func not(e thr.Expr) thr.Expr {
	return thr.Apply{Op: ir.Not, T: dtype.Bool, R: dtype.Bool, Args: []thr.Expr{e}}
}

// onceMore makes a loop run its body once after its condition has become false.
func onceMore(s thr.While) ([]thr.Stmt, bool) {
	more := &thr.Local{Name: fmt.Sprint("more", s.Op), Type: thr.Val(dtype.Bool)}
	on := &thr.Local{Name: fmt.Sprint("on", s.Op), Type: thr.Val(dtype.Bool)}
	s.Head = append(s.Head[:len(s.Head):len(s.Head)],
		thr.Decl{Local: on, Init: binary(ir.Or, s.Cond, thr.Ref{Local: more})},
		thr.Assign{Dst: thr.Ref{Local: more}, Src: binary(ir.And, thr.Ref{Local: more}, s.Cond)})
	s.Cond = thr.Ref{Local: on}
	return []thr.Stmt{thr.If{Cond: truth(true), Scope: s.Scope, Then: []thr.Stmt{thr.Decl{Local: more, Init: truth(true)}, s}}}, true
}

// sourceIndex changes which element of a vector a broadcast repeats. A broadcast is an assignment of a register array
// to another at an index that is not the loop's own; element gives the new index from the loop's variable, its number
// of iterations n and the number of elements.
func sourceIndex(element func(old, i thr.Expr, n, elements int) thr.Expr) func(k *ir.Kernel, low *thr.Kernel) bool {
	return func(k *ir.Kernel, low *thr.Kernel) (changed bool) {
		trips := map[*thr.Local]int{}
		rewrite(low.Body, func(s thr.Stmt) []thr.Stmt {
			if f, ok := s.(thr.For); ok && f.Unroll {
				if hi, ok := f.Hi.(thr.Const); ok {
					trips[f.Var] = int(hi.Bits)
				}
			}
			return nil
		})
		low.Body = rewrite(low.Body, func(s thr.Stmt) []thr.Stmt {
			if a, ok := s.(thr.Assign); ok {
				a.Src = rewriteExpr(a.Src, func(r thr.Ref) thr.Expr {
					index, computed := r.Index.(thr.Apply)
					if r.Local == a.Dst.Local || !computed {
						return r
					}
					i := variable0(index)
					if i == nil || trips[i.Local] == 0 {
						return r
					}
					changed = true
					r.Index = element(index, *i, trips[i.Local], r.Local.Len)
					return r
				})
				s = a
			}
			return []thr.Stmt{s}
		})
		return changed
	}
}

// variable0 is the first local that an expression reads.
func variable0(e thr.Expr) *thr.Ref {
	switch e := e.(type) {
	case thr.Ref:
		return &e
	case thr.Apply:
		for _, a := range e.Args {
			if r := variable0(a); r != nil {
				return r
			}
		}
	}
	return nil
}

// rewriteExpr replaces the references to locals in an expression.
func rewriteExpr(e thr.Expr, f func(thr.Ref) thr.Expr) thr.Expr {
	all := func(es []thr.Expr) []thr.Expr {
		out := make([]thr.Expr, len(es))
		for i, e := range es {
			out[i] = rewriteExpr(e, f)
		}
		return out
	}
	switch x := e.(type) {
	case thr.Ref:
		return f(x)
	case thr.Apply:
		x.Args = all(x.Args)
		return x
	case thr.Call:
		x.Args = all(x.Args)
		return x
	}
	return e
}
