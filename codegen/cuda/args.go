package cuda

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/internal/thr"
)

// argStruct prints the kernel's one parameter as a C struct without implicit padding, with its layout asserted: the
// host writes the same bytes (Go's structs.HostLayout twin).
func (p *printer) argStruct() string {
	name, end, pads := p.k.Name+"_args", 0, 0
	var fields, asserts []string
	pad := func(to int) {
		words := ""
		if to-end > 4 {
			words = fmt.Sprintf("[%d]", (to-end)/4)
		}
		if end < to {
			fields = append(fields, fmt.Sprintf("%s padding%d%s;", p.use("u32"), pads, words))
			pads++
		}
		end = max(end, to)
	}
	for _, a := range p.k.Args {
		size := a.Bytes()
		if a.Offset < end || a.Offset%a.Align() != 0 || a.Offset+size > p.k.ArgBytes || !validName.MatchString(a.Name) {
			p.fail("argument %q of %d bytes cannot stand at offset %d of %d", a.Name, size, a.Offset, p.k.ArgBytes)
			return ""
		}
		pad(a.Offset)
		ctype := "tensor_map"
		if a.Kind != thr.ArgMap {
			ctype = p.ctype(a.Type)
		} else {
			p.use(ctype)
		}
		f := fmt.Sprintf("%s %s;", ctype, field(a.Name))
		if note := argNote(a); note != "" {
			f += " // " + note
		}
		fields = append(fields, f)
		asserts = append(asserts, fmt.Sprintf("static_assert(%s(%s, %s) == %d, \"%s\");", p.use("field_offset"), name, field(a.Name), a.Offset, a.Name))
		end = a.Offset + size
	}
	if p.k.ArgBytes%8 != 0 || p.k.ArgBytes == 0 {
		p.fail("an argument struct of %d bytes; it must be a positive multiple of 8", p.k.ArgBytes)
		return ""
	}
	pad(p.k.ArgBytes)
	return fmt.Sprintf("struct %s {\n  %s\n};\nstatic_assert(sizeof(%s) == %d, \"size\");\n%s\n", name, strings.Join(fields, "\n  "),
		name, p.k.ArgBytes, strings.Join(asserts, "\n"))
}

// argNote says what a field is in the terms of the Args struct.
func argNote(a *thr.Arg) string {
	switch {
	case a.Kind == thr.ArgDim && a.Symbol != nil && a.Symbol.Max > 0:
		return fmt.Sprintf("at most %d", a.Symbol.Max)
	case a.Arg == nil:
		return ""
	case a.Kind == thr.ArgMap:
		return fmt.Sprintf("%s: %s", a.Arg.Field, a.Map)
	case a.Kind == thr.ArgPointer:
		var dims []string
		for _, d := range a.Arg.Dims {
			if d.Symbol != nil {
				dims = append(dims, d.Symbol.Name)
			} else {
				dims = append(dims, fmt.Sprint(d.Size))
			}
		}
		return fmt.Sprintf("%s: %v[%s]", a.Arg.Field, a.Arg.DT, strings.Join(dims, ", "))
	case a.Kind == thr.ArgStride:
		return fmt.Sprintf("%s: elements from one index of dimension %d to the next", a.Arg.Field, a.Axis)
	case a.Kind == thr.ArgScalar && a.Arg.DT.Is16():
		return fmt.Sprintf("%s: the bits of a %v", a.Arg.Field, a.Arg.DT)
	case a.Kind == thr.ArgScalar:
		return a.Arg.Field
	}
	return ""
}
