package cuda

import "github.com/gotile/gotile/internal/thr"

// expr prints an expression.
func (p *printer) expr(e thr.Expr) code {
	switch e := e.(type) {
	case thr.Const:
		return literal(e)
	case thr.ArgRef:
		return primary("a." + field(e.Arg.Name))
	case thr.Ref:
		return p.ref(e)
	case thr.Apply:
		return p.apply(e)
	case thr.Call:
		return p.builtin(e)
	case thr.SharedAddr:
		return literal(sharedOffset(e))
	case thr.PtrAdd:
		return p.pointer(p.expr(e.Base), e.Index)
	}
	return p.fail("unknown expression %T", e)
}

func (p *printer) ref(e thr.Ref) code {
	name := p.name(e.Local)
	if (e.Index != nil) != (e.Local.Len > 0) {
		return p.fail("%s: an index is for register arrays, and for each use of one", e.Local.Name)
	}
	if e.Index == nil {
		return primary(name)
	}
	return primary(name + "[" + p.expr(e.Index).text + "]")
}

// pointer prints base + index. A sum of 64-bit terms goes on without parentheses: pointer + (i + j) is the same
// address as pointer + i + j.
func (p *printer) pointer(base code, index thr.Expr) code {
	i := p.expr(index)
	if s, ok := short(index); ok {
		i = s
	}
	if i.text == "0" {
		return base
	}
	if i.prec == precAdd {
		return code{base.at(precAdd) + " + " + i.text, precAdd}
	}
	return infix("+", precAdd, base, i)
}

// call prints a call of CUDA's own function or of one of the prelude, which is then printed too.
func (p *printer) call(name string, args ...thr.Expr) code {
	var cs []code
	for _, a := range args {
		cs = append(cs, p.expr(a))
	}
	if _, ok := preludeIndex[name]; ok {
		p.use(name)
	}
	return call(name, cs...)
}

// use marks a snippet of the prelude and gives its name.
func (p *printer) use(name string) string {
	p.used[name] = true
	return name
}
