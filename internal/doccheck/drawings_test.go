//go:build !gotilegen

package doccheck

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/cmd/gotile/command"
	"github.com/gotile/gotile/examples/softmax"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/viz"
)

// drawings are the pictures of docs/layouts.md, by the arguments of the gotile viz that the page gives for them.
var drawings = []struct{ file, args string }{
	{"viz-layout.svg", "layout '(8,(2,4)):(4,(1,32))'"},
	{"viz-swizzle.svg", "swizzle 128"},
	{"viz-fragment.svg", "fragment mma.m16n8k16.A"},
	{"viz-banks.svg", "banks ldmatrix.x4.source '(16,64):(64,1)'"},
	{"viz-banks-swizzled.svg", "banks ldmatrix.x4.source '(16,64):(64,1)' -swizzle 128"},
	{"viz-kernel.svg", "kernel ./examples/softmax softmax_bf16_c4096 -target sm_90a"},
}

func TestDrawings(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "layouts.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drawings {
		for _, want := range []string{"](" + d.file + ")", "gotile viz " + d.args} {
			if !strings.Contains(string(page), want) {
				t.Errorf("layouts.md has no %s", want)
			}
		}
		want := draw(t, d.args)
		path := filepath.Join(root, "docs", d.file)
		if *write {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != want {
			t.Errorf("docs/%s is stale; run go test ./internal/doccheck -write (%v)", d.file, err)
		}
	}
}

// words are the words of a command line.
func words(args string) []string { return strings.Fields(strings.ReplaceAll(args, "'", "")) }

// visualised is what gotile viz prints.
func visualised(t *testing.T, args string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := command.Run(t.Context(), append([]string{"viz"}, words(args)...), &out, &errs); code != 0 {
		t.Fatalf("gotile viz %s: %s", args, errs.String())
	}
	return out.String()
}

// draw is the SVG of gotile viz. The one of a kernel is made here, where the kernel is at hand: the command would build
// a program for it.
func draw(t *testing.T, args string) string {
	t.Helper()
	fields := words(args)
	if fields[0] != "kernel" {
		return visualised(t, "-o - "+args)
	}
	name, chip := fields[2], fields[4]
	k, err := softmax.Kernels().Build(name)
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower(chip)
	if err != nil {
		t.Fatal(err)
	}
	c, err := target.Lookup(chip)
	if err != nil {
		t.Fatal(err)
	}
	p, err := viz.DrawPlan(viz.PlanOf(low, c.Shared))
	if err != nil {
		t.Fatal(err)
	}
	return p.SVG()
}
