//go:build !gotilegen

package worker

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/tile"
)

// filesOf are the contents of a package's files, named from its directory.
func filesOf(t *testing.T, p Package) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(p.Dir, path)
		out[name] = read(t, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An interrupt while kernels are recorded: exit code 130, and nothing is written. Package command interrupts processes.
func TestInterruptedWhileRecording(t *testing.T) {
	for _, args := range [][]string{{"gen"}, {"check"}, {"verify"}, {"verify", "-check"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			p := fixture(t)
			os.Remove(filepath.Join(p.Dir, "cuda", "sum_f32_c512.cu")) // what gen is to write
			before := filesOf(t, p)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			recorded, kernels := 0, p.Kernels
			p.Kernels = func() tile.Set {
				return tile.Configs(func(n named) (*tile.Kernel, error) {
					if recorded++; recorded == 3 {
						cancel()
					}
					return kernels().Build(string(n))
				}, configsOf(kernels())...)
			}
			p.Command = args[0]
			var out, errs strings.Builder
			want := "gotile: " + args[0] + ": example.com/axpy: interrupted\n"
			if code := Run(ctx, p, args[1:], &out, &errs); code != ExitInterrupted || !strings.HasSuffix(errs.String(), want) || recorded != 3 {
				t.Errorf("exit code %d after %d kernels: %s%s", code, recorded, out.String(), errs.String())
			}
			if d := cmp.Diff(before, filesOf(t, p)); d != "" {
				t.Errorf("files differ: %s", d)
			}
		})
	}
}

// configsOf are a set's kernels as configs.
func configsOf(s tile.Set) []named {
	var out []named
	for _, n := range s.Names() {
		out = append(out, named(n))
	}
	return out
}

// width is the config of a kernel for as many elements.
type width int

func (w width) KernelName() string { return fmt.Sprintf("double_c%d", int(w)) }

func wide(w width) (*tile.Kernel, error) {
	return tile.Define(w.KernelName(), func(k *tile.Builder, a doubleArgs) {
		x := tile.Load(k.Block(), a.X, k.Block().Striped(int(w), 4))
		tile.Store(k.Block(), a.Y, x.Add(x))
	})
}

// An interrupt while NVRTC compiles ends check before the other kernels are compiled.
func TestCheckInterrupted(t *testing.T) {
	needNVRTC(t)
	var many []width
	for i := range 40 {
		many = append(many, width(256*(i+1)))
	}
	p := Package{Path: "example.com/many", Name: "many", Dir: t.TempDir(), Kernels: func() tile.Set { return tile.Configs(wide, many...) }}
	mustRun(t, p, "gen")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.Command = "check"
	var out strings.Builder
	errs := &onText{text: "compiling: ", do: cancel} // the progress after two seconds
	if code := Run(ctx, p, nil, &out, errs); code != ExitInterrupted || out.Len() > 0 || !strings.HasSuffix(errs.String(), "gotile: check: example.com/many: interrupted\n") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
}
