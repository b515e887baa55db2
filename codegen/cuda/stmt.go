package cuda

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// stmts prints a list of statements.
func (p *printer) stmts(ss []thr.Stmt) {
	for i := 0; i < len(ss); i++ {
		p.mark(ss[i].Source())
		if d, l, ok := loadInto(ss[i:]); ok {
			p.line("%s = %s;", p.declaration(d.Local), p.loadValue(l))
			i++
			continue
		}
		if _, ok := ss[i].(thr.Comment); ok && i > 0 {
			if _, again := ss[i-1].(thr.Comment); !again {
				p.blank()
			}
		}
		p.stmt(ss[i])
	}
}

// loadInto finds the declaration of a scalar with the load that sets it; they print as one line.
func loadInto(ss []thr.Stmt) (d thr.Decl, l thr.Load, ok bool) {
	if len(ss) < 2 {
		return d, l, false
	}
	d, isDecl := ss[0].(thr.Decl)
	l, isLoad := ss[1].(thr.Load)
	return d, l, isDecl && isLoad && d.Init == nil && d.Local == l.Dst && d.Local.Len == 0
}

func (p *printer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.marker(text)
	p.b.WriteString(p.indent)
	p.b.WriteString(text)
	p.b.WriteByte('\n')
}

// block prints statements between braces, after head.
func (p *printer) block(head string, ss []thr.Stmt) {
	p.line("%s {", head)
	p.nested(ss)
	p.line("}")
}

func (p *printer) nested(ss []thr.Stmt) {
	indent, at := p.indent, p.lines.at
	p.indent += "  "
	p.stmts(ss)
	p.indent, p.lines.at = indent, at
}

func (p *printer) stmt(s thr.Stmt) {
	switch s := s.(type) {
	case thr.Comment:
		p.line("%s", comment(s.Text, p.indent))
	case thr.Decl:
		p.decl(s)
	case thr.Assign:
		p.line("%s%s;", p.guard(s.Pred), p.assignment(s))
	case thr.For:
		p.forLoop(s)
	case thr.While:
		p.whileLoop(s)
	case thr.If:
		p.ifElse("if", s)
	case thr.Load:
		p.load(s)
	case thr.Store:
		p.store(s)
	case thr.Do:
		p.do(s)
	case thr.Asm:
		p.asm(s)
	default:
		p.fail("unknown statement %T", s)
	}
}

// comment prints text as line comments, the first without indentation. A backslash at a line's end would continue it.
func comment(text, indent string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, strings.TrimRight("// "+strings.TrimRight(line, "\\ \t\r\n"), " "))
	}
	if len(out) == 0 {
		return "//"
	}
	return strings.Join(out, "\n"+indent)
}

// guard selects the lanes of one statement.
func (p *printer) guard(pred thr.Expr) string {
	if pred == nil {
		return ""
	}
	return "if (" + p.expr(pred).text + ") "
}

// ctype is the C type of a local or a field.
func (p *printer) ctype(t thr.Type) string {
	name := ""
	switch {
	case t.DT.Is16() && t.Ptr, t.DT.Is8():
		name = p.use(t.DT.String())
	case t.DT.Is16():
		name = p.use("u32")
	default:
		name = cNames[t.DT]
		if _, own := preludeIndex[name]; own {
			p.use(name)
		}
	}
	if t.Ptr {
		name += "*"
		if t.Const {
			name = "const " + name
		}
	}
	return name
}

var cNames = map[dtype.Type]string{dtype.F32: "float", dtype.I32: "int", dtype.U32: "u32", dtype.I64: "i64", dtype.Bool: "bool"}

func (p *printer) declaration(l *thr.Local) string {
	s := p.ctype(l.Type) + " " + p.name(l)
	if l.Len > 0 {
		s += fmt.Sprintf("[%d]", l.Len)
	}
	return s
}

func (p *printer) decl(s thr.Decl) {
	if s.Init == nil {
		p.line("%s;", p.declaration(s.Local))
		return
	}
	if s.Local.Len > 0 {
		p.fail("register array %s has an initialiser", s.Local.Name)
	}
	p.ranges.declare(s.Local, s.Init)
	p.line("%s = %s;", p.declaration(s.Local), p.expr(s.Init).text)
}

// assignment prints x = e, or x op= y where e is x op y.
func (p *printer) assignment(s thr.Assign) string {
	dst := p.ref(s.Dst).text
	if e, ok := s.Src.(thr.Apply); ok && e.T == e.R && e.T != dtype.Bool && len(e.Args) == 2 && int(e.T) < len(forms{}) {
		f := ops[e.Op][e.T]
		if f.op != "" && (f.plain == nil || f.plain(p, e)) && p.expr(e.Args[0]).text == dst {
			_, right := p.pair(e.Args[0], e.Args[1])
			if e.Op == ir.Shl || e.Op == ir.Shr {
				right = p.count(e)
			}
			return dst + " " + f.op + "= " + right.text
		}
	}
	return dst + " = " + p.expr(s.Src).text
}

// do prints a built-in with effects.
func (p *printer) do(s thr.Do) {
	if s.Fn >= thr.NumFns || fns[s.Fn].stmt == nil {
		p.fail("built-in %d is no statement", s.Fn)
		return
	}
	if n := s.Operands(); n != len(s.Args) {
		p.fail("%v takes %d operands, not %d", s.Fn, n, len(s.Args))
		return
	}
	c := fns[s.Fn].stmt(p, s)
	if p.watched(s, c) {
		return
	}
	if s.Dst != nil {
		c.text = p.ref(*s.Dst).text + " = " + c.text
	}
	p.line("%s%s;", p.guard(s.Pred), c.text)
}

// asm prints inline PTX on scalars. Predicates go in and out as 0 or 1 of a u32.
func (p *printer) asm(s thr.Asm) {
	word := "asm"
	if s.Info.Volatile {
		word = "asm volatile"
	}
	var in []string
	for _, e := range s.Args {
		c := p.expr(e)
		t := e.ExprType().DT
		if t == dtype.Bool {
			c, t = prefix("("+p.use("u32")+")", c), dtype.U32
		}
		if t.Is16() {
			t = dtype.U32
		}
		in = append(in, fmt.Sprintf("%q(%s)", elements[t].constraint, c.text))
	}
	text := strconv.Quote(s.Info.Template)
	dst, t := p.ref(s.Dst).text, s.Dst.Local.Type.DT
	if t == dtype.Bool {
		out := p.fresh("flag")
		p.line("{")
		p.line("  %s %s;", p.use("u32"), out)
		p.line("  %s(%s : \"=r\"(%s) : %s);", word, text, out, strings.Join(in, ", "))
		p.line("  %s = %s != 0;", dst, out)
		p.line("}")
		return
	}
	if t.Is16() {
		t = dtype.U32
	}
	p.line("%s(%s : \"=%s\"(%s) : %s);", word, text, elements[t].constraint, dst, strings.Join(in, ", "))
}
