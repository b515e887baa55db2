package gowrap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gotile/gotile/internal/ir"
)

// params prints the parameter struct with the shape contract of the tags.
func (f *Family) params(file *jen.File) {
	name, launch := f.suffixed("params"), f.identifier("launch")
	symbols := symbolNames(f.ir())
	file.Commentf("%s are the arguments of %s.", name, launch)
	switch len(symbols) {
	case 0:
	case 1:
		file.Commentf("Dimensions called %s are equal.", symbols[0])
	default:
		file.Commentf("Dimensions of one name (%s) are equal.", strings.Join(symbols, ", "))
	}
	if limits := f.limits(); limits != "" {
		file.Comment(limits)
	}
	var members []jen.Code
	for _, a := range f.ir().Args {
		if a.Scalar() {
			members = append(members, jen.Id(a.Field).Add(scalarType(a.DT)))
			continue
		}
		members = append(members, jen.Id(a.Field).Qual(devicePath, "Tensor").Comment(f.contract(a)))
	}
	file.Type().Id(name).Struct(members...)
}

// contract is a tensor field's comment: shape, types over all kernels, what happens to it.
func (f *Family) contract(a *ir.Arg) string {
	var dims, types []string
	for _, d := range a.Dims {
		dims = append(dims, dimText(d))
	}
	for _, v := range f.Variants {
		for _, b := range v.Kernel.IR.Args {
			if b.Field == a.Field && !slices.Contains(types, b.DT.String()) {
				types = append(types, b.DT.String())
			}
		}
	}
	s := fmt.Sprintf("[%s] %s", strings.Join(dims, ", "), strings.Join(types, " or "))
	switch u := f.use(a); {
	case u.read && u.written:
		s += ", read and written"
	case u.written:
		s += ", written"
	default:
		s += ", read"
	}
	if a.Strided {
		s += "; any strides"
	} else if len(a.Dims) > 1 {
		s += "; last stride 1"
	}
	return s
}

func dimText(d ir.DimSpec) string {
	if d.Symbol != nil {
		return d.Symbol.Name
	}
	return fmt.Sprint(d.Size)
}

// limits says up to what size the family's kernels take each bounded symbol.
func (f *Family) limits() string {
	var out []string
	for i, s := range f.ir().Symbols {
		most := 0
		for _, v := range f.Variants {
			m := v.Kernel.IR.Symbols[i].Max
			if m == 0 {
				most = 0
				break
			}
			most = max(most, m)
		}
		if most > 0 {
			out = append(out, fmt.Sprintf("%s <= %d", s.Name, most))
		}
	}
	if out == nil {
		return ""
	}
	return "Limits: " + strings.Join(out, ", ") + "."
}
