package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/cname"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// here is a statement's position and its line.
func here() (thr.At, int) {
	_, _, line, _ := runtime.Caller(1)
	return thr.At{Pos: ir.Here(1)}, line
}

func TestDeterministic(t *testing.T) {
	for _, k := range goldenKernels() {
		first := mustPrint(t, k, Options{})
		for range 20 {
			if mustPrint(t, k, Options{}) != first {
				t.Fatalf("%s: two printings differ", k.Name)
			}
		}
	}
}

// positioned has statements with positions, the last one wrong PTX when bad.
func positioned(bad string) (k *thr.Kernel, lines []int, file string) {
	x, n := local("x", dtype.F32), local("n", dtype.I32)
	at1, l1 := here()
	at2, l2 := here()
	at3, l3 := here()
	k = newTensors().kernel("lined", thr.Decl{At: at1, Local: x, Init: f32(1)}, decl(n, i32(2)),
		thr.If{At: at2, Cond: op(ir.Lt, ref(n), i32(3)), Then: []thr.Stmt{
			thr.Asm{At: at3, Info: &ir.AsmInfo{Template: "mov.f32 %0, 0f3F800000;"}, Dst: ref(x)}}})
	if bad != "" {
		k.Body = append(k.Body, thr.Comment{At: at3, Text: "next is wrong"}, thr.Assign{At: at3, Dst: ref(x), Src: thr.ArgRef{Arg: &thr.Arg{Name: bad}}})
	}
	k.Body = append(k.Body, store(newTensors().y, 0, ref(x))) // without a position
	_, file, _, _ = runtime.Caller(0)
	return k, []int{l1, l2, l3}, file
}

// goLines is the Go line, "file.go:12", that a compiler takes each line of a text with markers for; empty before the first
// marker. The markers themselves are left out.
func goLines(t *testing.T, text string) (lines, at []string) {
	t.Helper()
	marker := regexp.MustCompile(`^#line (\d+) "(.*)"$`)
	file, next := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := marker.FindStringSubmatch(line); m != nil {
			file = m[2]
			next, _ = strconv.Atoi(m[1])
			continue
		}
		where := ""
		if file != "" {
			where = fmt.Sprintf("%s:%d", file, next)
			next++
		}
		lines, at = append(lines, line), append(at, where)
	}
	return lines, at
}

// TestLines: each line of the body is taken for the line of Go of its statement, or of the one around or before it; the
// clean text has no trace of that.
func TestLines(t *testing.T) {
	k, at, file := positioned("")
	clean := mustPrint(t, k, Options{})
	for name, path := range map[string]func(string) string{
		filepath.Base(file): nil, file: func(f string) string { return f }, "kernels/x.go": func(string) string { return "kernels/x.go" },
	} {
		text := mustPrint(t, k, Options{Lines: true, Path: path})
		lines, got := goLines(t, text)
		if have := strings.Join(lines, "\n") + "\n"; have != clean {
			t.Errorf("without its markers the text is\n%s\nnot\n%s", have, clean)
		}
		found := 0
		for i, line := range lines {
			for start, want := range map[string]int{"  float x =": at[0], "  int n =": at[0], "  if (n < 3) {": at[1], "    asm": at[2], "  }": at[1], "  store_": at[1]} {
				if strings.HasPrefix(line, start) && got[i] != "" {
					if found++; got[i] != fmt.Sprintf("%s:%d", name, want) {
						t.Errorf("%q is at %s, want line %d", line, got[i], want)
					}
				}
			}
		}
		if found != 6 {
			t.Errorf("%d of 6 lines in\n%s", found, text)
		}
		compileAll(t, k.Name, text)
	}
	if strings.Contains(clean, ".go") || strings.Contains(clean, "#line") || strings.Contains(clean, filepath.Dir(file)) {
		t.Errorf("the clean text has positions:\n%s", clean)
	}
}

// TestErrorAtGoLine: a compiler's message about lined text names the Go line.
func TestErrorAtGoLine(t *testing.T) {
	l := needNVRTC(t)
	k, lines, file := positioned("no_such_field")
	_, err := l.Compile(mustPrint(t, k, Options{Lines: true}), "lined.cu", nvrtc.Options{Arch: "sm_90a"})
	var ce *nvrtc.CompileError
	if !errors.As(err, &ce) {
		t.Fatalf("%v", err)
	}
	if ce.File != filepath.Base(file) || ce.Line != lines[2] || !strings.Contains(ce.Error(), "no_such_field") {
		t.Errorf("%s:%d: %v, want line %d of %s", ce.File, ce.Line, err, lines[2], file)
	}
}

// TestNames: locals that C or the prelude has other uses for are renamed, apart from one another.
func TestNames(t *testing.T) {
	var ss []thr.Stmt
	for _, n := range []string{"a", "a_", "smem", "int", "min", "sigmoid", "load_f32", "store_shared_u16x2_if", "load_rows", "__x", "threadIdx", "linux", "u32", "i_end"} {
		ss = append(ss, decl(local(n, dtype.F32), op(ir.Sigmoid, get(newTensors().eps))))
	}
	hi, i := local("hi", dtype.I32), local("i", dtype.I32)
	ss = append(ss, decl(hi, i32(9)), thr.For{Var: i, Lo: i32(0), Hi: ref(hi), Step: i32(1), Body: []thr.Stmt{set(hi, op(ir.Min, ref(hi), i32(3)))}})
	text := mustPrint(t, newTensors().kernel("k", ss...), Options{})
	for _, want := range []string{"float a__ =", "float a_ =", "float smem_ =", "float int_ =", "float min_ =", "float sigmoid_ =", "float u32_ =", "float load_f32_ =", "float store_shared_u16x2_if_ =", "float load_rows =", "float v__x =", "i_end_ = hi; i < i_end_"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if l, err := library(); err == nil {
		if _, err := l.Compile(text, "k.cu", sm80); err != nil {
			t.Errorf("%+v", err)
		}
	}
	for _, bad := range []string{"", "two words", "while", "sigmoid"} {
		k := newTensors().kernel(bad)
		if _, err := Print(k, Options{}); err == nil {
			t.Errorf("kernel name %q is accepted", bad)
		}
	}
	if _, err := Print(newTensors().kernel("k", decl(local("x y", dtype.F32), nil)), Options{}); err == nil {
		t.Error("a local named with a space is accepted")
	}
}

// TestAccessNamesReserved: no local can hide a load or a store.
func TestAccessNamesReserved(t *testing.T) {
	p := &printer{k: &thr.Kernel{}, accesses: map[string]access{}}
	for _, typ := range []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64} {
		for _, bytes := range []int{1, 2, 4, 8, 16} {
			for c := ir.CacheDefault; c <= ir.CacheGlobal; c++ {
				for kind := range 16 {
					p.err = nil
					space, rank := thr.Space(kind>>1&1), thr.Expr(nil)
					if space == thr.Shared && kind&8 != 0 {
						rank = i32(0)
					}
					p.newAccess(kind&1 != 0, space, rank, typ, bytes, c, ir.Relaxed, kind&4 != 0)
				}
			}
		}
	}
	if len(p.accesses) < 100 {
		t.Errorf("only %d accesses", len(p.accesses))
	}
	for n := range p.accesses {
		if !cname.Reserved(n) {
			t.Errorf("%s is not reserved", n)
		}
	}
}

// TestHeading: what the comment says of targets, launch and grid, and that a text cannot leave its comment.
func TestHeading(t *testing.T) {
	k := newTensors().kernel("k")
	k.IR.Doc, k.IR.Targets, k.Lowering = "first line\\\nint injected;", []string{"sm_80", "sm_90a"}, "base"
	k.Grid = thr.Grid{N: &ir.Value{Op: ir.Dim, Name: "rows"}, Step: 4}
	text := mustPrint(t, k, Options{})
	for _, want := range []string{"// k: first line\n// int injected;\n", "// Targets: sm_80 sm_90a (lowering base)\n", "at most rows/4 rounded up\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text = mustPrint(t, k, Options{Targets: []string{"sm_86"}}); !strings.Contains(text, "// Targets: sm_86 (") {
		t.Errorf("the option's targets are not in\n%s", text)
	}
	k.Grid = thr.Grid{Blocks: &ir.Symbol{Name: "parts"}}
	if text = mustPrint(t, k, Options{}); !strings.Contains(text, "a grid of parts blocks") {
		t.Errorf("no fixed grid in\n%s", text)
	}
	if strings.Contains(text, "whole vectors") {
		t.Errorf("a kernel with all forms claims whole vectors:\n%s", text)
	}
	n := &ir.Symbol{Name: "n"}
	k.IR.Symbols = append(k.IR.Symbols, n)
	k.Whole = &thr.Whole{Multiple: map[*ir.Symbol]int{n: 8}}
	if text = mustPrint(t, k, Options{}); !strings.Contains(text, "\n// The launch sees to whole vectors: n a multiple of 8\n") {
		t.Errorf("no demand of whole vectors in\n%s", text)
	}
}

// TestNVCC: the text is ordinary CUDA too.
func TestNVCC(t *testing.T) {
	nvcc, err := exec.LookPath("nvcc")
	if err != nil {
		t.Skip("nvcc is not installed; NVRTC compiles the same texts in TestGolden")
	}
	for _, k := range []*thr.Kernel{rowKernel(), memoryKernel(), sharedKernel(), castKernel(), asmKernel()} {
		src := filepath.Join(t.TempDir(), k.Name+".cu")
		if err := os.WriteFile(src, []byte(mustPrint(t, k, Options{})), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(nvcc, "-cubin", "-arch=sm_90a", "-fmad=false", "-o", src+".cubin", src).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", k.Name, err, out)
		}
	}
}
