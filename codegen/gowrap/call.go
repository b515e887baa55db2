package gowrap

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gotile/gotile/internal/thr"
)

// launch prints the typed launch.
func (f *Family) launch(file *jen.File) {
	name := f.identifier("launch")
	file.Commentf("%s checks p and runs, on s, the first kernel of the family that takes its types and sizes. It returns", name)
	file.Comment("once the launch is queued; where there is nothing to do it launches nothing.")
	f.aliasing(file)
	body := f.bind("Bind", jen.Return(jen.Err()))
	body = append(body,
		jen.List(jen.Id("fn"), jen.Id("grid"), jen.Err()).Op(":=").Id(f.private("family")).Dot("Grid").Call(
			jen.Id("s"), jen.Id("config"), jen.Id("dims").Index(jen.Op(":")), f.workCall()),
		jen.If(jen.Err().Op("!=").Nil().Op("||").Id("grid").Op("==").Lit(0)).Block(jen.Return(jen.Err())),
	)
	layouts := f.layouts()
	if len(layouts) > 1 {
		var cases []jen.Code
		for _, l := range layouts[1:] {
			var configs []jen.Code
			for _, c := range l.configs {
				configs = append(configs, jen.Lit(c))
			}
			cases = append(cases, jen.Case(configs...).Block(f.send(l)...))
		}
		body = append(body, jen.Switch(jen.Id("config")).Block(cases...))
	}
	body = append(body, f.send(layouts[0])...)
	file.Func().Id(name).Params(f.parameters()...).Error().Block(body...)
}

// send prints the statements that launch a kernel with an argument struct.
func (f *Family) send(l *layout) []jen.Code {
	body := []jen.Code{jen.Id("a").Op(":=").Id(l.name).Custom(block, l.values()...)}
	if maps := l.maps(); maps != nil {
		args := append([]jen.Code{jen.Id("fn"), jen.Id("tensors").Index(jen.Op(":"))}, maps...)
		body = append(body, jen.If(jen.Err().Op(":=").Id(f.private("family")).Dot("TensorMaps").Call(args...), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())))
	}
	return append(body,
		jen.Err().Op("=").Id("s").Dot("Launch").Call(jen.Id("fn"), jen.Id("grid"), jen.Qual("unsafe", "Pointer").Call(jen.Op("&").Id("a"))),
		jen.Qual("runtime", "KeepAlive").Call(jen.Id("p")).Comment("the buffers, until their addresses are queued"),
		jen.Return(jen.Err()),
	)
}

// aliasing says which tensors may share memory, where there are two of which one is written.
func (f *Family) aliasing(file *jen.File) {
	tensors, written := 0, false
	for _, a := range f.ir().Args {
		if !a.Scalar() {
			tensors++
			written = written || f.use(a).written
		}
	}
	if tensors < 2 || !written {
		return
	}
	file.Comment("")
	file.Comment("Two fields may be the same tensor where the kernel reads each element before the same thread writes it. Otherwise")
	file.Comment("no tensor that is written may overlap another. The launch checks neither.")
}

// grid prints the helper that sizes outputs with one row a block.
func (f *Family) grid(file *jen.File) {
	name := f.identifier("grid")
	one := strings.TrimSuffix(f.unit(), "s")
	if strings.Contains(one, ",") {
		one = "block"
	}
	file.Commentf("%s is the number of %s that a launch with p uses when the grid is free: as many as the device of s", name, f.unit())
	file.Comment("holds at once, at most one an iteration, and 0 where there is no work: an output that must be written even then")
	file.Comment("needs at least one " + one + ". Outputs that are sized by it may still be unset; what else p holds is checked.")
	body := f.bind("BindKnown", jen.Return(jen.Lit(0), jen.Err()))
	body = append(body, jen.Return(jen.Id(f.private("family")).Dot("Resident").Call(jen.Id("s"), jen.Id("config"), jen.Id("dims").Index(jen.Op(":")), f.workCall())))
	file.Func().Id(name).Params(f.parameters()...).Params(jen.Int(), jen.Error()).Block(body...)
}

func (f *Family) parameters() []jen.Code {
	return []jen.Code{jen.Id("s").Op("*").Qual(devicePath, "Stream"), jen.Id("p").Id(f.suffixed("params"))}
}

// bind prints the statements that check the tensors, read the dimensions off them and choose the config.
func (f *Family) bind(method string, fail jen.Code) []jen.Code {
	var tensors []jen.Code
	for _, a := range f.ir().Args {
		if !a.Scalar() {
			tensors = append(tensors, jen.Id("p").Dot(a.Field))
		}
	}
	return []jen.Code{
		jen.Id("tensors").Op(":=").Index(jen.Op("...")).Qual(devicePath, "Tensor").Values(tensors...),
		jen.Var().Id("dims").Index(jen.Lit(len(f.ir().Symbols))).Int32(),
		jen.List(jen.Id("config"), jen.Err()).Op(":=").Id(f.private("family")).Dot(method).Call(
			jen.Id("s"), jen.Id("tensors").Index(jen.Op(":")), jen.Id("dims").Index(jen.Op(":"))),
		jen.If(jen.Err().Op("!=").Nil()).Block(fail),
	}
}

func (f *Family) workCall() jen.Code {
	return jen.Id(f.private("work")).Call(jen.Id("config"), jen.Op("&").Id("p"), jen.Id("dims").Index(jen.Op(":")))
}

// maps are the places of the tensor maps, which depend on the kernel.
func (l *layout) maps() []jen.Code {
	var out []jen.Code
	for _, a := range l.kernel.Args {
		if a.Kind == thr.ArgMap {
			out = append(out, jen.Op("&").Id("a").Dot(member(a.Name)))
		}
	}
	return out
}

// values prints the members of the argument struct but for its tensor maps.
func (l *layout) values() []jen.Code {
	k := l.kernel
	var out []jen.Code
	for _, a := range k.Args {
		var v jen.Code
		switch a.Kind {
		case thr.ArgMap:
			continue
		case thr.ArgPointer:
			v = jen.Id("p").Dot(a.Arg.Field).Dot("Addr").Call()
		case thr.ArgStride:
			v = jen.Int64().Call(jen.Id("p").Dot(a.Arg.Field).Dot("Stride").Call(jen.Lit(a.Axis)))
		case thr.ArgDim:
			v = jen.Id("dims").Index(jen.Lit(symbolIndex(k, a.Symbol)))
		case thr.ArgScalar:
			v = jen.Id("p").Dot(a.Arg.Field)
			if a.Arg.DT.Is16() {
				v = jen.Uint32().Call(jen.Id("p").Dot(a.Arg.Field).Dot("Bits").Call())
			}
		}
		out = append(out, key(member(a.Name), v))
	}
	return out
}
