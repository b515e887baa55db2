package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every example of the help works as it stands there; the one of a kernel is TestVizKernel's.
func TestVizExamples(t *testing.T) {
	n := 0
	for line := range strings.Lines(vizCommand.long) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "gotile viz ")
		if !ok || strings.HasPrefix(args, "kernel") {
			continue
		}
		n++
		t.Chdir(t.TempDir())
		fields := append([]string{"viz"}, strings.Fields(strings.ReplaceAll(args, "'", ""))...)
		out := mustRun(t, fields...)
		if strings.Contains(args, "-o ") {
			text, err := os.ReadFile("swizzle.svg")
			if err != nil || out != "wrote swizzle.svg\n" || !strings.HasPrefix(string(text), "<svg ") {
				t.Errorf("%s: %q, %v", args, out, err)
			}
		} else if strings.Count(out, "\n") < 8 {
			t.Errorf("%s draws\n%s", args, out)
		}
	}
	if n < 6 {
		t.Errorf("%d examples", n)
	}
}

func TestViz(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"layout (2,3):(3,1) -elem 2", "(2,3):(3,1)\n6 elements in 6 places of 2 bytes"},
		{"-elem 2 layout (2,3):(3,1)", "\n   0 1 2\n0  0 1 2\n1  3 4 5\n"},
		{"layout (8,64):(64,1) -elem 2 -swizzle 128 -columns 300", "\n1   72  73  74"},
		{"fragment mma.m16n8k16.C", "\n 8   T0:v2  T0:v3"},
		{"swizzle Sw<1,4,3>", "\n  0  r0:c0 r0:c1"},
		{"banks ldmatrix.x4.source (16,64):(64,1)", "32 wavefronts where 4 would do"},
		{"banks ldmatrix.x4.source (16,64):(64,1) -swizzle 128", "4 wavefronts where 4 would do"},
		{"banks mma.m16n8k16.C (16,8):(8,1)", "2 accesses of 8 bytes a lane: 4 wavefronts"},
		{"banks mma.m16n8k16.C (16,8):(8,1) -width 4", "4 accesses of 4 bytes a lane: 8 wavefronts where 4 would do"},
		{"banks mma.m16n8k16.A (16,16):(16,1)", "2-byte elements\n4 accesses of 4 bytes a lane"},
		{"banks (8,4):(128,16) -width 16", "32 wavefronts where 4 would do"},
		{"banks (8,4):(128,16) -width 16 -swizzle 128", "4 wavefronts where 4 would do"},
		{"layout 4:1 -o -", "</svg>\n"},
	} {
		if out := mustRun(t, append([]string{"viz"}, strings.Fields(c.args)...)...); !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q in\n%s", c.args, c.want, out)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"", "want layout LAYOUT"},
		{"layout", "want layout LAYOUT"},
		{"layout 8:1 4:1", "want layout LAYOUT"},
		{"tensor 8:1", "run gotile viz -h"},
		{"layout (8,4):4", "a layout is shape:stride"},
		{"layout (8,4", "a layout is shape:stride"},
		{"layout (800,400):(400,1)", "draw a part"},
		{"layout 8:1 -swizzle 48", "a swizzle is 32, 64, 128"},
		{"swizzle Sw<3,4,1>", "a swizzle is 32, 64, 128"},
		{"fragment wgmma.D", "wgmma.m64nN.D"},
		{"banks 64:4", "a warp has 32"},
		{"banks 32:4 -width 8", "align it, or access less at once"},
		{"banks 32:4 -width 3", "1, 2, 4, 8 or 16"},
		{"banks mma.m16n8k16.A (16,8):(8,1)", "take a layout of at least"},
		{"banks mma.m16n8k16.A (16,16):(1,16) -elem 2", "use a narrower access"},
		{"banks mma.m16n8k64.A (16,64):(64,1)", "elements of 4 bits"},
		{"kernel", "want kernel PACKAGE"},
		{"layout 8:1 -bank 4", "run gotile viz -h"},
	} {
		mustFail(t, exitUsage, c.want, append([]string{"viz"}, strings.Fields(c.args)...)...)
	}
	mustFail(t, exitFailure, "no such file", "viz", "swizzle", "128", "-o", filepath.Join(t.TempDir(), "nowhere", "a.svg"))
}

// The shared memory of a kernel of the user's own package.
func TestVizKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	m := newModule(t, "kernels/axpy")
	m.write(t, "kernels/scale/k.go", `package scale

import "github.com/gotile/gotile/tile"

type args struct {
	X tile.Global[tile.F32] `+"`tile:\"rows,n\"`"+`
	Y tile.Global[tile.F32] `+"`tile:\"rows,n\"`"+`
}

type config string

func (c config) KernelName() string { return string(c) }

func build(c config) (*tile.Kernel, error) {
	return tile.Define(string(c), func(k *tile.Builder, a args) {
		block := k.Block()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			x := tile.Load(block, a.X.Row(row), block.Striped(512, 4).Clip(a.X.Dim(1)))
			tile.Store(block, a.Y.Row(row), x.Div(x.Sum()))
		}
	}, tile.Threads(128))
}

func Kernels() tile.Set { return tile.Configs(build, config("scale_rows")) }
`)
	t.Chdir(m.root)
	// The one kernel of a package need not be named.
	out := mustRun(t, "viz", "kernel", "./kernels/scale")
	for _, want := range []string{"shared memory of scale_rows for sm_80", "16 of 166912 bytes a block", "lines of k.go", "for row", " 19 ", "partial results of "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out = mustRun(t, "viz", "kernel", "./kernels/scale", "scale_rows", "-target", "sm_90a", "-o", "rows.svg")
	if !strings.HasPrefix(out, "wrote ") {
		t.Errorf("viz -o says %q", out)
	}
	if text := m.readFrom(t, m.root, "rows.svg"); !strings.Contains(text, "shared memory of scale_rows for sm_90a") {
		t.Errorf("rows.svg is\n%s", text)
	}
	if out := mustRun(t, "viz", "kernel", "./kernels/axpy", "axpy_f32_c64"); !strings.Contains(out, "uses no shared memory") {
		t.Errorf("viz of a kernel without shared memory says\n%s", out)
	}
	mustFail(t, exitFailure, "which kernel? Name one after the package:\n\t", "viz", "kernel", "./kernels/axpy")
	mustFail(t, exitFailure, "\n\tsum_f32_c512\n", "viz", "kernel", "./kernels/axpy", "sum")
	mustFail(t, exitFailure, `no kernel has "gemm" in its name`, "viz", "kernel", "./kernels/axpy", "gemm")
	mustFail(t, exitUsage, "sm_1", "viz", "kernel", "./kernels/scale", "scale_rows", "-target", "sm_1")
	mustFail(t, exitFailure, "nowhere", "viz", "kernel", "./nowhere", "sum_f32_c512")
}
