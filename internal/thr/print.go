package thr

import (
	"fmt"
	"math"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// Print is a kernel's thread IR as text, for dumps and golden files: deterministic, without positions.
func Print(k *Kernel) string {
	p := &printer{}
	cluster := ""
	if k.Cluster > 0 {
		cluster = fmt.Sprintf(" cluster %d", k.Cluster)
	}
	p.line("kernel %s target %s threads %d%s shared %d args %d", k.Name, k.Target, k.Threads, cluster, k.SharedBytes, k.ArgBytes)
	for _, a := range k.Args {
		if a.Kind == ArgMap {
			p.line("arg %s map of %s at %d: %s", a.Name, a.Arg.Name, a.Offset, a.Map)
			continue
		}
		p.line("arg %s %s at %d", a.Name, a.Type, a.Offset)
	}
	for _, b := range k.Shared {
		at := "?" // until the last pass
		if k.SharedBytes > 0 {
			at = fmt.Sprint(b.Offset)
		}
		p.line("shared %s %d bytes at %s: %s", b.Name, b.Bytes, at, b.Note)
	}
	p.stmts(k.Body)
	return p.b.String()
}

// String is "a box of 64x64, swizzle 128".
func (m *TensorMap) String() string {
	var sides []string
	for _, n := range m.Box {
		sides = append(sides, fmt.Sprint(n))
	}
	s := "a box of " + strings.Join(sides, "x")
	if m.Swizzle > 0 {
		s += fmt.Sprintf(", swizzle %d", m.Swizzle)
	}
	if m.Optional {
		s += ", where the tensor allows one"
	}
	return s
}

// String is C-like: "i32", "const bf16*".
func (t Type) String() string {
	s := t.DT.String()
	if t.Ptr {
		s += "*"
		if t.Const {
			s = "const " + s
		}
	}
	return s
}

type printer struct {
	b      strings.Builder
	indent int
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", p.indent))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

func (p *printer) nest(body []Stmt) {
	p.indent++
	p.stmts(body)
	p.indent--
}

func when(pred Expr) string {
	if pred == nil {
		return ""
	}
	return " when " + Text(pred)
}

func element(l *Local, i Expr) string {
	if i == nil {
		return l.Name
	}
	return l.Name + "[" + Text(i) + "]"
}

func (p *printer) stmts(body []Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case Comment:
			p.line("; %s", s.Text)
		case Decl:
			switch {
			case s.Local.Len > 0:
				p.line("%s %s[%d]", s.Local.Type, s.Local.Name, s.Local.Len)
			case s.Init != nil:
				p.line("%s %s = %s", s.Local.Type, s.Local.Name, Text(s.Init))
			default:
				p.line("%s %s", s.Local.Type, s.Local.Name)
			}
		case Assign:
			p.line("%s = %s%s", Text(s.Dst), Text(s.Src), when(s.Pred))
		case For:
			word := "for"
			if s.Unroll {
				word = "unroll"
			}
			p.line("%s %s = %s to %s step %s", word, s.Var.Name, Text(s.Lo), Text(s.Hi), Text(s.Step))
			p.nest(s.Body)
		case While:
			p.line("loop")
			p.nest(s.Head)
			p.line("while %s", Text(s.Cond))
			p.nest(s.Body)
		case If:
			p.line("if %s", Text(s.Cond))
			p.nest(s.Then)
			if len(s.Else) > 0 {
				p.line("else")
				p.nest(s.Else)
			}
		case Load:
			p.line("%s = load.%s%s %d at %s%s%s", element(s.Dst, s.Index), s.Space, dot(s.Cache.String())+ordered(s.Order), s.Bytes, Text(s.Addr), of(s.Rank), when(s.Pred))
		case Store:
			v := ""
			if s.Src != nil {
				v = element(s.Src, s.Index)
			} else {
				v = Text(s.Value)
			}
			p.line("store.%s%s %d at %s%s: %s%s", s.Space, dot(s.Cache.String())+ordered(s.Order), s.Bytes, Text(s.Addr), of(s.Rank), v, when(s.Pred))
		case Do:
			dst := ""
			if s.Dst != nil {
				dst = Text(*s.Dst) + " = "
			}
			of := ""
			if s.Map != nil {
				of = " of " + s.Map.Name
			}
			for _, f := range s.Frags {
				of += " " + fragment(f)
			}
			if s.Fn == WGMMAWait && s.Buf != nil {
				of += " slots of " + s.Buf.Name
			}
			p.line("%s%s%s(%s)%s%s", dst, s.Fn, ordered(s.Order), texts(s.Args), of, when(s.Pred))
		case Asm:
			p.line("%s = asm %q (%s)", Text(s.Dst), s.Info.Template, texts(s.Args))
		}
	}
}

// fragment is registers as name[first+step*n].
func fragment(f Frag) string {
	if f.First == nil {
		return f.Local.Name
	}
	step := ""
	if f.Step > 1 {
		step = fmt.Sprintf(" step %d", f.Step)
	}
	return fmt.Sprintf("%s[%s: %d%s]", f.Local.Name, Text(f.First), f.N, step)
}

// ordered is an order as a suffix; a relaxed access has none.
func ordered(o ir.Order) string {
	if o == ir.Relaxed {
		return ""
	}
	return "." + o.String()
}

// of names the block whose shared memory is meant.
func of(rank Expr) string {
	if rank == nil {
		return ""
	}
	return " of block " + Text(rank)
}

func dot(s string) string {
	if s == "" {
		return ""
	}
	return "." + s
}

// String names the space.
func (s Space) String() string { return [...]string{"global", "shared"}[s] }

func texts(es []Expr) string {
	var out []string
	for _, e := range es {
		out = append(out, Text(e))
	}
	return strings.Join(out, ", ")
}

// Text is an expression in prefix form: add(x, 1).
func Text(e Expr) string {
	switch e := e.(type) {
	case Const:
		return literal(e)
	case ArgRef:
		return "$" + e.Arg.Name
	case Ref:
		return element(e.Local, e.Index)
	case Apply:
		name := e.Op.String() + "." + e.T.String()
		if e.R != e.T {
			name += "." + e.R.String()
		}
		return name + "(" + texts(e.Args) + ")"
	case Call:
		return e.Fn.String() + "(" + texts(e.Args) + ")"
	case SharedAddr:
		return "&" + e.Buf.Name
	case PtrAdd:
		return Text(e.Base) + "[" + Text(e.Index) + ":]"
	}
	return fmt.Sprintf("%T", e)
}

func literal(c Const) string {
	switch c.DT {
	case dtype.F32:
		return fmt.Sprint(math.Float32frombits(uint32(c.Bits)))
	case dtype.I32:
		return fmt.Sprint(int32(c.Bits))
	case dtype.I64:
		return fmt.Sprint(int64(c.Bits))
	case dtype.Bool:
		return fmt.Sprint(c.Bits != 0)
	}
	return fmt.Sprint(c.Bits)
}
