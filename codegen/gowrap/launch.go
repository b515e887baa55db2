package gowrap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// sources prints the embedded CUDA C, and compiled code.
func (f *Family) sources(file *jen.File) {
	for _, v := range f.Variants {
		for _, name := range append([]string{v.File}, v.Images...) {
			file.Comment("//go:embed " + Folder + "/" + name)
			file.Var().Id(sourceName(name)).String()
		}
	}
}

// sourceName is the variable of an embedded file: cu_axpy of axpy.cu, cubin_axpy_sm_90a of axpy.sm_90a.cubin.
func sourceName(file string) string {
	ext := path.Ext(file)
	s := strings.TrimSuffix(path.Base(file), ext)
	return ext[1:] + "_" + strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// table prints the family: what to check of each field, and the kernels in the order of preference.
func (f *Family) table(file *jen.File) {
	k := f.ir()
	symbol := map[string]int{}
	var symbols, tensors []jen.Code
	for i, s := range k.Symbols {
		symbol[s.Name] = i
		symbols = append(symbols, jen.Lit(s.Name))
	}
	for _, a := range k.Args {
		if a.Scalar() {
			continue
		}
		var dims []jen.Code
		for _, d := range a.Dims {
			if d.Symbol != nil {
				dims = append(dims, jen.Values(jen.Id("Symbol").Op(":").Lit(symbol[d.Symbol.Name])))
			} else {
				dims = append(dims, jen.Values(jen.Id("Symbol").Op(":").Lit(-1), jen.Id("Size").Op(":").Lit(d.Size)))
			}
		}
		members := []jen.Code{key("Name", jen.Lit(a.Field)), key("Dims", jen.Index().Qual(bindPath, "Dim").Values(dims...))}
		if a.Strided {
			members = append(members, key("Strided", jen.True()))
		}
		if f.use(a).written {
			members = append(members, key("Written", jen.True()))
		}
		tensors = append(tensors, jen.Values(members...))
	}
	var variants []jen.Code
	for _, v := range f.Variants {
		variants = append(variants, f.variant(v))
	}
	name := f.private("family")
	file.Commentf("%s drives the checks and the choice of the kernel.", name)
	file.Var().Id(name).Op("=").Qual(bindPath, "Family").Custom(block,
		key("Name", jen.Lit(f.identifier("launch"))),
		key("Symbols", jen.Index().String().Values(symbols...)),
		key("Fields", jen.Index().Qual(bindPath, "Field").Custom(block, tensors...)),
		key("Configs", jen.Index().Qual(bindPath, "Config").Custom(block, variants...)),
	)
}

func key(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }

func (f *Family) variant(v Variant) jen.Code {
	k := v.Kernel
	var types, most, targets []jen.Code
	for _, a := range k.IR.Args {
		if !a.Scalar() {
			types = append(types, jen.Qual(dtypePath, typeName(a.DT)))
		}
	}
	for _, s := range k.IR.Symbols {
		most = append(most, jen.Lit(s.Max))
	}
	for _, t := range v.Targets {
		targets = append(targets, jen.Lit(t))
	}
	build := jen.Func().Params().Params(jen.Qual(devicePath, "Program"), jen.Error()).
		Block(jen.Return(jen.Id("Kernels").Call().Dot("Build").Call(jen.Lit(k.Name))))
	kernel := []jen.Code{
		key("Name", jen.Lit(k.Name)),
		key("Source", jen.Id(sourceName(v.File))),
		key("Targets", jen.Index().String().Values(targets...)),
		key("Threads", jen.Lit(k.Threads)),
	}
	if len(v.Images) > 0 {
		var images []jen.Code
		for _, name := range v.Images {
			images = append(images, jen.Id(sourceName(name)))
		}
		kernel = append(kernel, key("Embedded", jen.Index().String().Values(images...)))
	}
	if k.Cluster > 0 {
		kernel = append(kernel, key("Cluster", jen.Lit(k.Cluster)))
	}
	if k.Waits {
		kernel = append(kernel, key("Waits", jen.True()))
	}
	if k.Triggers {
		kernel = append(kernel, key("Triggers", jen.True()))
	}
	if k.MinBlocks > 0 {
		kernel = append(kernel, key("MinBlocks", jen.Lit(k.MinBlocks)))
	}
	if k.SharedBytes > 0 {
		kernel = append(kernel, key("Shared", jen.Lit(k.SharedBytes)))
	}
	if maps := tensorMaps(k); maps != nil {
		kernel = append(kernel, key("Maps", jen.Index().Qual(devicePath, "TensorMap").Custom(block, maps...)))
	}
	kernel = append(kernel, key("ArgBytes", jen.Lit(k.ArgBytes)), key("Build", build))
	members := []jen.Code{
		key("Kernel", jen.Op("&").Qual(devicePath, "Kernel").Custom(block, kernel...)),
		key("DTypes", jen.Index().Qual(dtypePath, "Type").Values(types...)),
		key("Max", jen.Index().Int().Values(most...)),
	}
	if k.Whole != nil {
		members = append(members, wholeMembers(k)...)
	}
	if b := k.Grid.Blocks; b != nil {
		members = append(members, key("Exact", jen.True()), key("Blocks", jen.Lit(symbolIndex(k, b))), key("Step", jen.Lit(max(1, k.Grid.Step))))
	}
	if k.Grid.Each {
		members = append(members, key("Each", jen.True()))
	}
	if needs := workSymbols(k); len(needs) > 0 {
		var list []jen.Code
		for _, s := range needs {
			list = append(list, jen.Lit(symbolIndex(k, s)))
		}
		members = append(members, key("Work", jen.Index().Int().Values(list...)))
	}
	return jen.Custom(block, members...)
}

// tensorMaps describes a kernel's tensor maps, in the order of its argument struct.
func tensorMaps(k *thr.Kernel) []jen.Code {
	var out []jen.Code
	for _, a := range k.Args {
		if a.Kind != thr.ArgMap {
			continue
		}
		var box []jen.Code
		for _, n := range a.Map.Box {
			box = append(box, jen.Lit(n))
		}
		members := []jen.Code{key("Tensor", jen.Lit(tensorIndex(k, a.Arg))), key("Box", jen.Index().Int().Values(box...))}
		if a.Map.Swizzle > 0 {
			members = append(members, key("Swizzle", jen.Lit(a.Map.Swizzle)))
		}
		if n := a.Map.Promotion(a.Arg.DT); n > 0 {
			members = append(members, key("Promotion", jen.Lit(n)))
		}
		if a.Map.Optional {
			members = append(members, key("Optional", jen.True()))
		}
		out = append(out, jen.Values(members...))
	}
	return out
}

// tensorIndex is the number of an argument among those that are tensors.
func tensorIndex(k *thr.Kernel, a *ir.Arg) int {
	n := 0
	for _, b := range k.IR.Args {
		if b == a {
			break
		}
		if !b.Scalar() {
			n++
		}
	}
	return n
}

// wholeMembers are the demands of a kernel for whole vectors: fields by number, and a multiple for each symbol.
func wholeMembers(k *thr.Kernel) []jen.Code {
	var fields, multiples []jen.Code
	n := 0
	for _, a := range k.IR.Args {
		if a.Scalar() {
			continue
		}
		if k.Whole.Needs(a) {
			fields = append(fields, jen.Lit(n))
		}
		n++
	}
	for _, s := range k.IR.Symbols {
		multiples = append(multiples, jen.Lit(k.Whole.Elems(s)))
	}
	return []jen.Code{key("Aligned", jen.Index().Int().Values(fields...)), key("Multiple", jen.Index().Int().Values(multiples...))}
}

func symbolIndex(k *thr.Kernel, s *ir.Symbol) int { return slices.Index(k.IR.Symbols, s) }

func workSymbols(k *thr.Kernel) []*ir.Symbol {
	if k.Grid.N == nil {
		return nil
	}
	_, symbols, _ := workExpr(k)
	return symbols
}

func typeName(t dtype.Type) string { return strings.ToUpper(t.String()) }

// unit is what grids count: blocks, or clusters where kernels have them.
func (f *Family) unit() string {
	alone := func(v Variant) bool { return v.Kernel.Cluster == 0 }
	switch {
	case !slices.ContainsFunc(f.Variants, func(v Variant) bool { return !alone(v) }):
		return "blocks"
	case !slices.ContainsFunc(f.Variants, alone):
		return "clusters"
	}
	return "blocks, or clusters where the kernel has them,"
}

// work prints the function that computes how many blocks would find work. Variants with one rule share a case.
func (f *Family) work(file *jen.File) error {
	type rule struct {
		configs []jen.Code
		text    string
		body    []jen.Code
	}
	var rules []*rule
	for i, v := range f.Variants {
		body, err := workBody(v.Kernel)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%#v", jen.Block(body...))
		j := slices.IndexFunc(rules, func(r *rule) bool { return r.text == text })
		if j < 0 {
			rules = append(rules, &rule{text: text, body: body})
			j = len(rules) - 1
		}
		rules[j].configs = append(rules[j].configs, jen.Lit(i))
	}
	name := f.private("work")
	file.Commentf("%s is the number of %s that find work.", name, f.unit())
	fn := file.Func().Id(name).Params(jen.Id("config").Int(), jen.Id("p").Op("*").Id(f.suffixed("params")), jen.Id("dims").Index().Int32()).Int()
	if len(rules) == 1 {
		fn.Block(rules[0].body...)
		return nil
	}
	var cases []jen.Code
	for _, r := range rules[:len(rules)-1] {
		cases = append(cases, jen.Case(r.configs...).Block(r.body...))
	}
	last := rules[len(rules)-1].body
	fn.Block(append([]jen.Code{jen.Switch(jen.Id("config")).Block(cases...)}, last...)...)
	return nil
}

func workBody(k *thr.Kernel) ([]jen.Code, error) {
	if k.Grid.N == nil {
		return []jen.Code{jen.Return(jen.Lit(1))}, nil
	}
	text, symbols, err := workExpr(k)
	if err != nil {
		return nil, err
	}
	var body []jen.Code
	for _, s := range symbols {
		body = append(body, jen.Id(local(s)).Op(":=").Int64().Call(jen.Id("dims").Index(jen.Lit(symbolIndex(k, s)))))
	}
	if inner, ok := strings.CutPrefix(text, "("); ok { // an expression that starts with a parenthesis stands in a pair
		text = strings.TrimSuffix(inner, ")")
	}
	return append(body, jen.Return(jen.Qual(bindPath, "Work").Call(jen.Op(text), jen.Lit(max(1, k.Grid.Step))))), nil
}
