package tile_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
)

var update = flag.Bool("update", false, "rewrite testdata")

// goldens are kernels whose IR is kept in testdata.
var goldens = []struct {
	name  string
	build func(name string) (*tile.Kernel, error)
}{
	{"rmsnorm_bf16", func(n string) (*tile.Kernel, error) { return forward[tile.BF16](n, 8192, 8) }},
	{"rmsnorm_f32", func(n string) (*tile.Kernel, error) { return forward[tile.F32](n, 4096, 4) }},
	{"rmsnorm_rows", func(n string) (*tile.Kernel, error) { return forward2[tile.BF16](n, 32, 128, 4, 32) }},
	{"every_op", everyOp},
	{"control", controlFlow},
	{"memory", memoryOps},
	{"clipping", clipping},
	{"async", asyncOps},
	{"mbarriers", barrierOps},
	{"tensors", tensorOps},
	{"remote", remoteOps},
	{"clusters", clusters},
	{"pipelines", pipelineOps},
	{"matrices", matrixOps},
	{"algebra", algebraOps},
}

func TestGoldenIR(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			k, err := g.build(g.name)
			if err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(k.IR()); err != nil {
				t.Fatal(err)
			}
			got := k.String()
			file := filepath.Join("testdata", g.name+".ir")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("IR of %s (-want +got); -update rewrites it:\n%s", g.name, d)
			}
			again, err := g.build(g.name)
			if err != nil {
				t.Fatal(err)
			}
			if again.String() != got {
				t.Error("a second build prints otherwise")
			}
		})
	}
}

// TestEveryOp checks that the goldens hold each op of the table, so that no op goes without a recording test.
func TestEveryOp(t *testing.T) {
	seen := map[ir.Op]bool{}
	var walk func(r *ir.Region)
	see := func(v *ir.Value) {
		if v != nil {
			seen[v.Op] = true
		}
	}
	walk = func(r *ir.Region) {
		if r == nil {
			return
		}
		for _, v := range r.Ops {
			see(v)
			for _, a := range v.Args {
				see(a)
			}
			for _, r := range v.Regions {
				walk(r)
			}
		}
	}
	for _, g := range goldens {
		k, err := g.build(g.name)
		if err != nil {
			t.Fatal(err)
		}
		walk(k.IR().Body)
	}
	for op := ir.Invalid + 1; op < ir.NumOps; op++ {
		if !seen[op] {
			t.Errorf("no golden records %v", op)
		}
	}
}
