package cuda

import "github.com/gotile/gotile/internal/thr"

// assigned adds the locals that statements change after their declaration.
func assigned(ss []thr.Stmt, to map[*thr.Local]bool) {
	thr.Each(ss, func(s thr.Stmt) {
		switch s := s.(type) {
		case thr.Assign:
			to[s.Dst.Local] = true
		case thr.Load:
			to[s.Dst] = true
		case thr.Do:
			if s.Dst != nil {
				to[s.Dst.Local] = true
			}
			for i, f := range s.Frags {
				if s.Fn.Whole() || s.Fn.Frags()[i].Writes {
					to[f.Local] = true
				}
			}
		case thr.Asm:
			to[s.Dst.Local] = true
		}
	})
}

// reads reports whether an expression reads one of the locals.
func reads(e thr.Expr, of map[*thr.Local]bool) bool {
	switch e := e.(type) {
	case thr.Ref:
		return of[e.Local] || e.Index != nil && reads(e.Index, of)
	case thr.Apply:
		return anyReads(e.Args, of)
	case thr.Call:
		return anyReads(e.Args, of)
	case thr.PtrAdd:
		return reads(e.Base, of) || reads(e.Index, of)
	}
	return false
}

func anyReads(es []thr.Expr, of map[*thr.Local]bool) bool {
	for _, e := range es {
		if reads(e, of) {
			return true
		}
	}
	return false
}

// localNames adds the names of all locals that statements declare.
func localNames(ss []thr.Stmt, to map[string]bool) {
	thr.Each(ss, func(s thr.Stmt) {
		switch s := s.(type) {
		case thr.Decl:
			to[s.Local.Name] = true
		case thr.For:
			to[s.Var.Name] = true
		}
	})
}
