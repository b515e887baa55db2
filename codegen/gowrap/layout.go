package gowrap

import (
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// field is a member of the C-layout struct: one argument, or padding where arg is nil.
type field struct {
	arg    *thr.Arg
	offset int
	bytes  int
}

// fields lists the struct's members with the gaps between them made explicit.
func fields(k *thr.Kernel) []field {
	var out []field
	at := 0
	pad := func(to int) {
		if to > at {
			out = append(out, field{offset: at, bytes: to - at})
		}
	}
	for _, a := range k.Args {
		pad(a.Offset)
		at = a.Offset + a.Bytes()
		out = append(out, field{a, a.Offset, a.Bytes()})
	}
	pad(k.ArgBytes)
	return out
}

// layoutText is the argument struct in one line, as errors and launch hashes show it.
func layoutText(k *thr.Kernel) string {
	var s []string
	for _, f := range fields(k) {
		if f.arg == nil {
			s = append(s, fmt.Sprintf("%d:pad%d", f.offset, f.bytes))
			continue
		}
		kind := [...]string{"pointer", "stride", "scalar", "dim", "map"}[f.arg.Kind]
		if f.arg.Kind == thr.ArgScalar {
			kind = f.arg.Arg.DT.String()
		}
		s = append(s, fmt.Sprintf("%d:%s %s", f.offset, f.arg.Name, kind))
	}
	return fmt.Sprintf("%s; %d bytes", strings.Join(s, ", "), k.ArgBytes)
}

// member is the Go name of a field: its C name, escaped where Go has a keyword.
func member(name string) string {
	if token.IsKeyword(name) || name == "_" {
		return name + "_"
	}
	return name
}

// layout is an argument struct, with the configs whose kernels have it. Those of one family differ where tensor maps do: a
// kernel has none on a target without tensor copies.
type layout struct {
	name    string
	kernel  *thr.Kernel // one that has it
	configs []int
}

// layouts lists the argument structs of the family, in the order of preference: fwdLayout, then fwdLayout2 and so on.
func (f *Family) layouts() []*layout {
	var out []*layout
	for i, v := range f.Variants {
		text := layoutText(v.Kernel)
		j := slices.IndexFunc(out, func(l *layout) bool { return layoutText(l.kernel) == text })
		if j < 0 {
			j = len(out)
			name := f.private("layout")
			if j > 0 {
				name += strconv.Itoa(j + 1)
			}
			out = append(out, &layout{name: name, kernel: v.Kernel})
		}
		out[j].configs = append(out[j].configs, i)
	}
	return out
}

// print prints the argument struct and its guards.
func (l *layout) print(file *jen.File) {
	k, name := l.kernel, l.name
	members := []jen.Code{jen.Id("_").Qual("structs", "HostLayout")}
	var guards []jen.Code
	for _, m := range fields(k) {
		if m.arg == nil {
			members = append(members, jen.Id("_").Index(jen.Lit(m.bytes)).Byte())
			continue
		}
		id := member(m.arg.Name)
		members = append(members, jen.Id(id).Add(layoutType(m.arg)))
		guards = append(guards, guard(m.offset, jen.Qual("unsafe", "Offsetof").Call(jen.Id(name).Values().Dot(id))))
	}
	guards = append(guards, guard(k.ArgBytes, jen.Qual("unsafe", "Sizeof").Call(jen.Id(name).Values())))

	file.Commentf("%s is the kernels' one parameter as C lays it out.", name)
	file.Type().Id(name).Struct(members...)
	file.Comment("The offsets and the size that the CUDA C asserts; a difference does not compile.")
	file.Var().Defs(guards...)
}

// guard declares an array of want elements that is assigned one of got elements.
func guard(want int, got jen.Code) jen.Code {
	return jen.Id("_").Index(jen.Lit(want)).Struct().Op("=").Index(got).Struct().Values()
}

func layoutType(a *thr.Arg) jen.Code {
	switch a.Kind {
	case thr.ArgMap:
		return jen.Index(jen.Lit(thr.MapBytes / 8)).Uint64()
	case thr.ArgPointer:
		return jen.Uint64()
	case thr.ArgStride:
		return jen.Int64()
	case thr.ArgScalar:
		if a.Arg.DT.Is16() {
			return jen.Uint32()
		}
		return scalarType(a.Arg.DT)
	}
	return jen.Int32()
}

// scalarType is the Go type of a scalar parameter.
func scalarType(t dtype.Type) jen.Code {
	switch t {
	case dtype.F32:
		return jen.Float32()
	case dtype.BF16:
		return jen.Qual(dtypePath, "BFloat16")
	case dtype.F16:
		return jen.Qual(dtypePath, "Float16")
	case dtype.U32:
		return jen.Uint32()
	case dtype.I64:
		return jen.Int64()
	}
	return jen.Int32()
}

// block is a composite literal with one element a line.
var block = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}
