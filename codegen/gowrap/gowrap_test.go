package gowrap

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile/tiletest"
)

// builder makes thread IR by hand: what gowrap reads, without a planner. Generated code of real kernels is compiled
// and run in cmd/gotile/command/internal/axpy.
type builder struct {
	rows, n *ir.Symbol
	x, eps  *ir.Arg
	k       *thr.Kernel
}

func newKernel(name, argsType string, dt dtype.Type, most int) *builder {
	b := &builder{rows: &ir.Symbol{Name: "rows"}, n: &ir.Symbol{Name: "n", Max: most}}
	b.x = &ir.Arg{Field: "X", Name: "x", DT: dt, Dims: []ir.DimSpec{{Symbol: b.rows}, {Symbol: b.n}}, Read: true, Written: true}
	b.eps = &ir.Arg{Field: "Eps", Name: "eps", DT: dtype.F32}
	b.k = &thr.Kernel{
		Name: name, Threads: 128, MinBlocks: 2, SharedBytes: 64, ArgBytes: 32,
		IR: &ir.Kernel{Name: name, ArgsType: argsType, Args: []*ir.Arg{b.x, b.eps}, Symbols: []*ir.Symbol{b.rows, b.n}},
		Args: []*thr.Arg{
			{Name: "x", Kind: thr.ArgPointer, Arg: b.x},
			{Name: "x_stride0", Kind: thr.ArgStride, Offset: 8, Arg: b.x},
			{Name: "eps", Kind: thr.ArgScalar, Offset: 16, Arg: b.eps},
			{Name: "rows", Kind: thr.ArgDim, Offset: 20, Symbol: b.rows},
			{Name: "n", Kind: thr.ArgDim, Offset: 24, Symbol: b.n},
		},
		Grid: thr.Grid{N: dim(b.rows), Step: 1},
	}
	return b
}

func dim(s *ir.Symbol) *ir.Value { return &ir.Value{Op: ir.Dim, Attr: s} }
func num(n int32) *ir.Value      { return &ir.Value{Op: ir.Const, Attr: ir.Bits(uint32(n))} }
func op(o ir.Op, args ...*ir.Value) *ir.Value {
	return &ir.Value{Op: o, Args: args}
}

func family(bs ...*builder) Family {
	f := Family{Package: "p"}
	for _, b := range bs {
		f.Variants = append(f.Variants, Variant{File: b.k.Name + ".cu", Targets: []string{"sm_80", "sm_90a"}, Kernel: b.k})
	}
	return f
}

func TestGolden(t *testing.T) {
	small, large := newKernel("norm_f32_c64", "normArgs", dtype.F32, 64), newKernel("norm_bf16_c512", "normArgs", dtype.BF16, 512)
	large.k.Grid.N = op(ir.Div, op(ir.Add, dim(large.rows), num(3)), num(4)) // another rule: work has a switch
	exact := newKernel("norm_f32_c1024", "normArgs", dtype.F32, 1024)
	exact.k.Grid = thr.Grid{Blocks: exact.rows}
	text, err := Generate(family(small, large, exact))
	if err != nil {
		t.Fatal(err)
	}
	tiletest.Golden(t, "znorm.golden", string(text))
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ args, file, launch, params, grid string }{
		{"fwdArgs", "zfwd.go", "launchFwd", "fwdParams", "gridFwd"},
		{"fwdArgs[github.com/x/y.T]", "zfwd.go", "launchFwd", "fwdParams", "gridFwd"},
		{"FwdArgs", "zfwd.go", "LaunchFwd", "FwdParams", "GridFwd"},
		{"bwdDX", "zbwddx.go", "launchBwdDX", "bwdDXParams", "gridBwdDX"},
		{"args", "zkernel.go", "launch", "params", "grid"},
		{"Args", "zkernel.go", "Launch", "Params", "Grid"},
		{"my_testArgs", "zmytest.go", "launchMy_test", "my_testParams", "gridMy_test"},
	} {
		f := family(newKernel("k", c.args, dtype.F32, 64))
		text, err := Generate(f)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "z.go", text, parser.ParseComments)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		have := map[string]bool{}
		for name := range file.Scope.Objects {
			have[name] = true
		}
		if f.File() != c.file || !have[c.launch] || !have[c.params] || !have[c.grid] {
			t.Errorf("%s: file %s declares %v; want %+v", c.args, f.File(), have, c)
		}
		for _, fn := range file.Decls {
			if fn, ok := fn.(*ast.FuncDecl); ok && fn.Doc == nil {
				t.Errorf("%s: %s has no comment", c.args, fn.Name)
			}
		}
	}
}

func TestGridExpressions(t *testing.T) {
	b := newKernel("k", "kArgs", dtype.F32, 64)
	count := &ir.Arg{Field: "Count", DT: dtype.I32}
	rows, n := dim(b.rows), dim(b.n)
	for _, c := range []struct {
		v    *ir.Value
		want string
	}{
		{rows, "rows"},
		{num(7), "7"},
		{op(ir.Mul, num(1<<20), num(1<<20)), "0"}, // folded with wrap-around: Go would refuse it
		{op(ir.Sub, op(ir.Mul, rows, n), num(-1)), "((rows * n) - -1)"},
		{op(ir.Div, rows, num(64)), "(rows / 64)"},
		{op(ir.Div, rows, n), "bind.Quo(rows, n)"},
		{op(ir.Rem, rows, num(0)), "bind.Rem(rows, 0)"},
		{op(ir.Max, op(ir.Min, rows, num(3)), op(ir.Neg, n)), "max(min(rows, 3), (-n))"},
		{&ir.Value{Op: ir.Param, Attr: count}, "int64(p.Count)"},
	} {
		b.k.Grid.N = c.v
		got, _, err := workExpr(b.k)
		if err != nil || got != c.want {
			t.Errorf("got %s, %v; want %s", got, err, c.want)
		}
	}
	for _, v := range []*ir.Value{op(ir.Load), {Op: ir.Param, Attr: b.eps}, op(ir.Add, rows, op(ir.BlockID))} {
		b.k.Grid.N = v
		if _, err := Generate(family(b)); err == nil || !strings.Contains(err.Error(), "which the launch cannot compute") {
			t.Errorf("%s: %v", v.Op, err)
		}
	}
}

func TestReservedSymbols(t *testing.T) {
	b := newKernel("k", "kArgs", dtype.F32, 64)
	for _, name := range []string{"p", "dims", "config", "min", "func", "type", "int"} {
		b.rows.Name = name
		text, err := Generate(family(b))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(string(text), "\t"+name+" := dims") {
			t.Errorf("%s is a variable", name)
		}
	}
}

func TestInconsistentFamily(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*builder)
		want  string
	}{
		{"scalar", func(b *builder) { b.eps.DT = dtype.I32 }, "scalar Eps is f32 in kernel a and i32 in b"},
		{"symbols", func(b *builder) { b.n.Name = "m" }, "have dimensions [rows n] and [rows m]"},
		{"args", func(b *builder) { b.k.IR.ArgsType = "otherArgs" }, "Args types kArgs and otherArgs; join families with tile.Sets"},
	} {
		a, b := newKernel("a", "kArgs", dtype.F32, 64), newKernel("b", "kArgs", dtype.F32, 64)
		c.spoil(b)
		if _, err := Generate(family(a, b)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// Kernels with other argument structs, such as those without tensor maps, have a struct and a launch of their own.
func TestLayouts(t *testing.T) {
	a, b, c := newKernel("a", "kArgs", dtype.F32, 64), newKernel("b", "kArgs", dtype.F32, 128), newKernel("c", "kArgs", dtype.F32, 256)
	b.k.Args[4].Offset = 28
	text, err := Generate(family(a, b, c))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"type kLayout struct {", "_ [24]struct{} = [unsafe.Offsetof(kLayout{}.n)]struct{}{}",
		"type kLayout2 struct {", "_ [28]struct{} = [unsafe.Offsetof(kLayout2{}.n)]struct{}{}",
		"\tswitch config {\n\tcase 1:\n\t\ta := kLayout2{", "\n\ta := kLayout{",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A family with clusters says so: the kernel's field, what its grids count, and the rule of the launch.
func TestClusters(t *testing.T) {
	alone, four := newKernel("a", "kArgs", dtype.F32, 64), newKernel("b", "kArgs", dtype.F32, 512)
	four.k.Cluster = 4
	for _, c := range []struct {
		f    Family
		want []string
	}{
		{family(four), []string{"Cluster:   4,", "// kWork is the number of clusters that find work.", "is the number of clusters that a launch with p uses", "needs at least one cluster."}},
		{family(alone, four), []string{"Cluster:   4,", "the number of blocks, or clusters where the kernel has them, that find work", "needs at least one block."}},
		{family(alone), []string{"// kWork is the number of blocks that find work."}},
	} {
		text, err := Generate(c.f)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	text, err := LaunchText(four.k)
	if err != nil || !strings.Contains(text, "\ncluster 4\ngrid 4 * min(ceil(rows/1), resident)\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// What a kernel for whole vectors asks of a launch: of tensors by field, scalars not counted, and of every symbol.
func TestWholeVectors(t *testing.T) {
	b := newKernel("k", "kArgs", dtype.F32, 64)
	z := &ir.Arg{Field: "Z", Name: "z", DT: dtype.F32, Dims: []ir.DimSpec{{Symbol: b.n}}, Read: true}
	b.k.IR.Args = append(b.k.IR.Args, z) // behind the scalar
	b.k.Whole = &thr.Whole{Aligned: []*ir.Arg{z}, Multiple: map[*ir.Symbol]int{b.n: 4}}
	text, err := Generate(family(b))
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{"Aligned: []int{1},", "Multiple: []int{1, 4},"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	launch, err := LaunchText(b.k)
	if want := "\nwhole z on 16 bytes; n a multiple of 4\n"; err != nil || !strings.HasSuffix(launch, want) {
		t.Errorf("%v: no %q at the end of\n%s", err, want, launch)
	}
	b.k.Whole = nil
	if text, err := Generate(family(b)); err != nil || strings.Contains(string(text), "Multiple") {
		t.Errorf("%v: demands of a kernel that has none:\n%s", err, text)
	}
}

// Each fact of a launch changes its text, and nothing else does.
func TestLaunchText(t *testing.T) {
	text := func(change func(*builder)) string {
		b := newKernel("k", "kArgs", dtype.F32, 64)
		change(b)
		s, err := LaunchText(b.k)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := text(func(*builder) {})
	want := "kernel k\nthreads 128\nmin_blocks 2\nshared 64\ncluster 1\ngrid min(ceil(rows/1), resident)\n" +
		"args 0:x pointer, 8:x_stride0 stride, 16:eps f32, 20:rows dim, 24:n dim, 28:pad4; 32 bytes\n"
	if base != want {
		t.Errorf("got\n%swant\n%s", base, want)
	}
	for name, change := range map[string]func(*builder){
		"threads": func(b *builder) { b.k.Threads = 64 },
		"shared":  func(b *builder) { b.k.SharedBytes = 0 },
		"cluster": func(b *builder) { b.k.Cluster = 4 },
		"step":    func(b *builder) { b.k.Grid.Step = 2 },
		"bound":   func(b *builder) { b.k.Grid.N = dim(b.n) },
		"exact":   func(b *builder) { b.k.Grid.Blocks = b.rows },
		"one":     func(b *builder) { b.k.Grid.N = nil },
		"offset":  func(b *builder) { b.k.Args[2].Offset = 20; b.k.Args[3].Offset = 16 },
		"size":    func(b *builder) { b.k.ArgBytes = 40 },
		"aligned": func(b *builder) { b.k.Whole = &thr.Whole{Aligned: []*ir.Arg{b.x}} },
		"whole":   func(b *builder) { b.k.Whole = &thr.Whole{Multiple: map[*ir.Symbol]int{b.n: 4}} },
	} {
		if text(change) == base {
			t.Errorf("%s does not show", name)
		}
	}
	if text(func(b *builder) { b.k.Target, b.k.IR.Doc = "sm_80", "other" }) != base {
		t.Error("target or documentation shows")
	}
}
