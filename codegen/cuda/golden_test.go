package cuda

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// The flag may be that of package tiletest, which other tests of this directory import.
func init() {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "rewrite the golden files")
	}
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// library opens NVRTC once; a test without it is skipped, with the way to get it.
var library = sync.OnceValues(func() (*nvrtc.Library, error) { return nvrtc.Open("") })

func needNVRTC(t *testing.T) *nvrtc.Library {
	t.Helper()
	l, err := library()
	if errors.Is(err, nvrtc.ErrNotFound) && os.Getenv("CI") != "" {
		t.Fatal(err) // in CI a missing tool is a failure
	}
	if errors.Is(err, nvrtc.ErrNotFound) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("not compiled: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// compileAll compiles a text for every architecture of the target table that has what it needs; nothing may spill or warn.
func compileAll(t *testing.T, name, src string, needs ...target.Feature) {
	t.Helper()
	l := needNVRTC(t)
	for _, n := range target.Names() {
		tgt, err := target.Lookup(n)
		if err != nil {
			t.Fatal(err)
		}
		if tgt.Proxy != "" || slices.ContainsFunc(needs, func(f target.Feature) bool { return !tgt.Has(f) }) {
			continue // the same architecture as another, or one without
		}
		r, err := l.Compile(src, name+".cu", nvrtc.Options{Arch: tgt.Arch})
		if err != nil {
			t.Fatalf("%+v", err)
		}
		if f := nvrtc.Fatal(r.Log); f != nil || r.Spill > 0 || strings.Contains(r.Log, "warning") {
			t.Errorf("%s: %d bytes spilled, %q\n%s", n, r.Spill, f, r.Log)
		}
	}
}

// stripPrelude drops what stands between the heading and the argument struct: an edit of one snippet must not touch
// every golden file.
func stripPrelude(s string) string {
	heading, rest, _ := strings.Cut(s, "\n\ntypedef ")
	_, kernel, _ := strings.Cut(rest, "\n\nstruct ")
	return heading + "\n\nstruct " + kernel
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if updating() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s: -want +got; -update accepts\n%s", name, d)
	}
}

func TestGolden(t *testing.T) {
	for _, k := range goldenKernels() {
		t.Run(k.Name, func(t *testing.T) {
			text := mustPrint(t, k, Options{})
			golden(t, k.Name+".cu", stripPrelude(text))
			var needs []target.Feature
			if k.Cluster > 0 {
				needs = append(needs, target.Cluster)
			}
			compileAll(t, k.Name, text, needs...)
		})
	}
}

// store writes the value of an expression to element i of an argument.
func store(a *thr.Arg, i int64, e thr.Expr) thr.Stmt {
	return thr.Store{Value: e, Bytes: e.ExprType().DT.Size(), Addr: ptr(get(a), i64c(i))}
}

// goldenKernels has one kernel for each class of ops and statements.
func goldenKernels() []*thr.Kernel {
	return []*thr.Kernel{
		elementwiseKernel("functions", dtype.F32, ir.Exp, ir.Softplus), elementwiseKernel("approximations", dtype.F32, ir.ExpApprox, ir.DivApprox),
		elementwiseKernel("arithmetic_f32", dtype.F32, ir.Add, ir.MulHi), elementwiseKernel("arithmetic_i32", dtype.I32, ir.Add, ir.MulHi),
		elementwiseKernel("arithmetic_u32", dtype.U32, ir.Add, ir.MulHi), elementwiseKernel("arithmetic_i64", dtype.I64, ir.Add, ir.MulHi),
		elementwiseKernel("comparisons", dtype.F32, ir.Lt, ir.Select), elementwiseKernel("bits_i32", dtype.I32, ir.And, ir.Shr),
		elementwiseKernel("bits_u32", dtype.U32, ir.And, ir.Shr), elementwiseKernel("bits_i64", dtype.I64, ir.And, ir.Shr),
		elementwiseKernel("logic", dtype.Bool, ir.And, ir.Not), castKernel(), pairsKernel(), controlKernel(), memoryKernel(), sharedKernel(),
		warpKernel(), clusterKernel(), atomicKernel(), asmKernel(), rowKernel(),
	}
}
