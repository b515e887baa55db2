package gowrap

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// with adds a tensor Z of the shape of X to a kernel, read and written as said.
func (b *builder) with(read, written bool) *builder {
	z := &ir.Arg{Field: "Z", Name: "z", DT: dtype.F32, Dims: b.x.Dims, Read: read, Written: written}
	b.k.IR.Args = append(b.k.IR.Args, z)
	b.k.Args = append(b.k.Args, &thr.Arg{Name: "z", Kind: thr.ArgPointer, Offset: 32, Arg: z})
	b.k.ArgBytes = 40
	return b
}

// A field is what the kernels of the family together do with it, whichever stands first.
func TestUseOfFields(t *testing.T) {
	type use struct{ read, written bool }
	for _, c := range []struct {
		small, large use
		comment      string // "" is refused
		written      bool
	}{
		{use{true, false}, use{true, false}, "// [rows, n] f32, read; last stride 1", false},
		{use{false, true}, use{true, false}, "// [rows, n] f32, read and written; last stride 1", true},
		{use{true, false}, use{true, true}, "// [rows, n] f32, read and written; last stride 1", true},
		{use{false, false}, use{false, true}, "// [rows, n] f32, written; last stride 1", true},
		{use{false, false}, use{false, false}, "", false},
	} {
		small := newKernel("k_c64", "kArgs", dtype.F32, 64).with(c.small.read, c.small.written)
		large := newKernel("k_c512", "kArgs", dtype.F32, 512).with(c.large.read, c.large.written)
		text, err := Generate(family(small, large))
		if c.comment == "" {
			if want := "gowrap: kernel k_c64: field Z is neither loaded nor stored; use it or remove it"; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		contract, check := "", ""
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "Z   device.Tensor") {
				contract = line
			}
			if strings.Contains(line, `{Name: "Z"`) {
				check = line
			}
		}
		if !strings.Contains(contract, c.comment) || check == "" || strings.Contains(check, "Written: true") != c.written {
			t.Errorf("%+v:\n%s%s", c, contract, check)
		}
	}
}

// Aliasing is spoken of where there are two tensors of which one is written.
func TestAliasingDoc(t *testing.T) {
	const want = "//\n// Two fields may be the same tensor where the kernel reads each element before the same thread writes it. Otherwise\n" +
		"// no tensor that is written may overlap another. The launch checks neither.\nfunc launchK("
	readOnly := newKernel("k", "kArgs", dtype.F32, 64).with(true, false)
	readOnly.x.Written = false
	for _, c := range []struct {
		name string
		b    *builder
		want bool
	}{
		{"one tensor", newKernel("k", "kArgs", dtype.F32, 64), false},
		{"inputs only", readOnly, false},
		{"input and output", newKernel("k", "kArgs", dtype.F32, 64).with(true, false), true},
	} {
		text, err := Generate(family(c.b))
		if err != nil || strings.Contains(string(text), want) != c.want {
			t.Errorf("%s: %v\n%s", c.name, err, text)
		}
	}
}

// A config behind one that takes all it takes is a mistake; names and targets tell the two apart.
func TestConfigThatIsNeverChosen(t *testing.T) {
	type config struct {
		name    string
		dt      dtype.Type
		most    int // of n; 0: no limit
		targets string
	}
	for _, c := range []struct {
		name    string
		configs []config
		never   string // the kernel, and the one that stands before it
		by      string
	}{
		{"ascending", []config{{"a", dtype.F32, 64, "sm_80"}, {"b", dtype.F32, 512, "sm_80"}, {"c", dtype.F32, 0, "sm_80"}}, "", ""},
		{"descending", []config{{"a", dtype.F32, 512, "sm_80"}, {"b", dtype.F32, 64, "sm_80"}}, "b", "a"},
		{"equal", []config{{"a", dtype.F32, 64, "sm_80"}, {"b", dtype.F32, 64, "sm_80"}}, "b", "a"},
		{"no limit first", []config{{"a", dtype.F32, 0, "sm_80"}, {"b", dtype.F32, 64, "sm_80"}}, "b", "a"},
		{"no limits", []config{{"a", dtype.F32, 0, "sm_80"}, {"b", dtype.F32, 0, "sm_80"}}, "b", "a"},
		{"not the neighbour", []config{{"a", dtype.F32, 64, "sm_80"}, {"x", dtype.BF16, 64, "sm_80"}, {"b", dtype.F32, 32, "sm_80"}}, "b", "a"},
		{"other types", []config{{"a", dtype.F32, 64, "sm_80"}, {"b", dtype.BF16, 64, "sm_80"}}, "", ""},
		{"other targets", []config{{"a", dtype.F32, 64, "sm_80"}, {"b", dtype.F32, 64, "sm_90a"}}, "", ""},
		{"one target left", []config{{"a", dtype.F32, 64, "sm_80"}, {"b", dtype.F32, 64, "sm_80 sm_90a"}}, "", ""},
		{"two before it", []config{{"a", dtype.F32, 64, "sm_80"}, {"x", dtype.F32, 64, "sm_90a"}, {"b", dtype.F32, 64, "sm_80 sm_90a"}}, "b", "a"},
		{"variants of one", []config{{"a", dtype.F32, 64, "sm_80"}, {"a", dtype.F32, 64, "sm_90a"}}, "", ""},
		{"a variant left", []config{{"a", dtype.F32, 64, "sm_80"}, {"b", dtype.F32, 64, "sm_80"}, {"b", dtype.F32, 64, "sm_90a"}}, "", ""},
	} {
		f := Family{Package: "p"}
		for _, x := range c.configs {
			f.Variants = append(f.Variants, Variant{File: x.name + ".cu", Targets: strings.Fields(x.targets), Kernel: newKernel(x.name, "kArgs", x.dt, x.most).k})
		}
		_, err := Generate(f)
		if c.never == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		want := "gowrap: kernel " + c.never + " can never be chosen: " + c.by +
			", which stands before it, takes the same types and at least its sizes on its targets; remove one, or list the smaller first"
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, want)
		}
	}
}

// A config for whole vectors leaves others to those behind it, but not those with its own demands.
func TestWholeVectorsBeforeOthers(t *testing.T) {
	config := func(name string, multiple int) Variant {
		b := newKernel(name, "kArgs", dtype.F32, 64)
		if multiple > 1 {
			b.k.Whole = &thr.Whole{Aligned: []*ir.Arg{b.x}, Multiple: map[*ir.Symbol]int{b.n: multiple}}
		}
		return Variant{File: name + ".cu", Targets: []string{"sm_80"}, Kernel: b.k}
	}
	for _, c := range []struct {
		name          string
		first, second int
		ok            bool
	}{
		{"whole, then any", 4, 1, true},
		{"the longer vectors, then the shorter", 8, 4, true},
		{"any, then whole", 1, 4, false},
		{"whole twice", 4, 4, false},
	} {
		_, err := Generate(Family{Package: "p", Variants: []Variant{config("a", c.first), config("b", c.second)}})
		if never := err != nil && strings.Contains(err.Error(), "kernel b can never be chosen: a, which stands before it"); never == c.ok || (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
