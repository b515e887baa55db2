package plan

import "github.com/gotile/gotile/internal/thr"

// rewrite replaces every expression of the statements by f of it, innermost first.
func rewrite(body []thr.Stmt, f func(thr.Expr) thr.Expr) []thr.Stmt {
	out := make([]thr.Stmt, len(body))
	x := func(e thr.Expr) thr.Expr { return rewriteExpr(e, f) }
	place := func(r thr.Ref) thr.Ref { r.Index = x(r.Index); return r }
	for i, s := range body {
		switch s := s.(type) {
		case thr.Decl:
			s.Init = x(s.Init)
			out[i] = s
		case thr.Assign:
			s.Dst, s.Src, s.Pred = place(s.Dst), x(s.Src), x(s.Pred)
			out[i] = s
		case thr.For:
			s.Lo, s.Hi, s.Step, s.Body = x(s.Lo), x(s.Hi), x(s.Step), rewrite(s.Body, f)
			out[i] = s
		case thr.While:
			s.Head, s.Cond, s.Body = rewrite(s.Head, f), x(s.Cond), rewrite(s.Body, f)
			out[i] = s
		case thr.If:
			s.Cond, s.Then, s.Else = x(s.Cond), rewrite(s.Then, f), rewrite(s.Else, f)
			out[i] = s
		case thr.Load:
			s.Index, s.Addr, s.Rank, s.Pred = x(s.Index), x(s.Addr), x(s.Rank), x(s.Pred)
			out[i] = s
		case thr.Store:
			s.Index, s.Value, s.Addr, s.Rank, s.Pred = x(s.Index), x(s.Value), x(s.Addr), x(s.Rank), x(s.Pred)
			out[i] = s
		case thr.Do:
			s.Args, s.Pred = rewriteAll(s.Args, f), x(s.Pred)
			if s.Dst != nil {
				d := place(*s.Dst)
				s.Dst = &d
			}
			if s.Frags != nil {
				frags := make([]thr.Frag, len(s.Frags))
				for j, f := range s.Frags {
					f.First = x(f.First)
					frags[j] = f
				}
				s.Frags = frags
			}
			out[i] = s
		case thr.Asm:
			s.Args, s.Dst = rewriteAll(s.Args, f), place(s.Dst)
			out[i] = s
		default:
			out[i] = s
		}
	}
	return out
}

func rewriteAll(es []thr.Expr, f func(thr.Expr) thr.Expr) []thr.Expr {
	out := make([]thr.Expr, len(es))
	for i, e := range es {
		out[i] = rewriteExpr(e, f)
	}
	return out
}

func rewriteExpr(e thr.Expr, f func(thr.Expr) thr.Expr) thr.Expr {
	switch x := e.(type) {
	case nil:
		return nil
	case thr.Ref:
		x.Index = rewriteExpr(x.Index, f)
		return f(x)
	case thr.Apply:
		x.Args = rewriteAll(x.Args, f)
		return f(x)
	case thr.Call:
		x.Args = rewriteAll(x.Args, f)
		return f(x)
	case thr.PtrAdd:
		x.Base, x.Index = rewriteExpr(x.Base, f), rewriteExpr(x.Index, f)
		return f(x)
	}
	return f(e)
}
