//go:build !gotilegen

package worker

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/image"
)

// cubins are the files of code of the package in a directory, named from it.
func cubins(t *testing.T, dir string) (out []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "cuda", "*.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		out = append(out, path.Join("cuda", filepath.Base(p)))
	}
	return out
}

func needsNVRTC(t *testing.T) {
	t.Helper()
	if _, err := nvrtc.Open(""); errors.Is(err, nvrtc.ErrNotFound) || errors.Is(err, errors.ErrUnsupported) {
		t.Skip("needs NVRTC: ", err)
	}
}

// gen -cubin writes code for each kernel and target, which the z-files embed; later runs keep the targets, compile only
// what is stale, and -check names it without a compiler.
func TestGenEmbeds(t *testing.T) {
	needsNVRTC(t)
	p := fixture(t)
	without := read(t, p.Dir, "zaxpy.go")
	out := mustRun(t, p, "gen", "-cubin", "sm_120a,sm_90a")
	all := cubins(t, p.Dir)
	if cus, _ := filepath.Glob(filepath.Join(p.Dir, "cuda", "*.cu")); len(all) != 2*len(cus) {
		t.Fatalf("%d files of code for %d kernels and 2 targets", len(all), len(cus))
	}
	for _, name := range all {
		i, err := image.Parse(read(t, p.Dir, name))
		if err != nil || !strings.HasPrefix(string(i.Code), "\x7fELF") || !strings.HasSuffix(name, "."+i.Arch+".cubin") || !strings.Contains(out, "wrote "+name+"\n") {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(string(i.Code), p.Dir) {
			t.Errorf("%s has a path of this machine", name)
		}
	}
	z := read(t, p.Dir, "zsum.go")
	for _, words := range []string{
		"//go:embed cuda/sum_f32_c512.sm_90a.cubin\nvar cubin_sum_f32_c512_sm_90a string\n",
		"[]string{cubin_sum_f32_c512_sm_90a, cubin_sum_f32_c512_sm_120a}",
	} {
		if !strings.Contains(z, words) {
			t.Errorf("zsum.go lacks %q:\n%s", words, z)
		}
	}

	// What is fresh needs no compiler. A text that changes, or a file that is damaged, is named, and made again.
	lib := os.Getenv(env.NVRTC)
	none := filepath.Join(t.TempDir(), "none.so")
	t.Setenv(env.NVRTC, none)
	if out := mustRun(t, p, "gen"); !strings.HasSuffix(out, " files are up to date\n") || strings.Contains(out, "wrote") {
		t.Errorf("a second run says %q", out)
	}
	mustRun(t, p, "gen", "-check")
	stale := string(image.Seal(image.Origin{Source: "another", Options: nvrtc.Options{}.Text(), Arch: "sm_120a"}, "13.0", []byte("code")))
	for why, text := range map[string]string{"it was compiled from another text of the kernel: stale": stale, "checksum": read(t, p.Dir, all[0]) + " "} {
		write(t, text, p.Dir, all[0])
		mustFail(t, 1, all[0]+": it ", p, "gen", "-check")
		mustFail(t, 1, why, p, "gen", "-check")
		mustFail(t, 1, "gotile gen -cubin none does without", p, "gen")
		if read(t, p.Dir, all[0]) != text {
			t.Error("gen without a compiler changed a file")
		}
		t.Setenv(env.NVRTC, lib)
		if out := mustRun(t, p, "gen"); out != "wrote "+all[0]+"\n" {
			t.Errorf("gen says %q", out)
		}
		t.Setenv(env.NVRTC, none)
	}
	if err := os.Remove(filepath.Join(p.Dir, all[1])); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, all[1]+": it is missing", p, "gen", "-check")
	t.Setenv(env.NVRTC, lib)
	mustRun(t, p, "gen")

	// Fewer targets, then none: what is left is what was before.
	if out := mustRun(t, p, "gen", "-cubin", "sm_90a"); !strings.Contains(out, "removed cuda/sum_f32_c512.sm_120a.cubin") {
		t.Errorf("gen says %q", out)
	}
	write(t, "a cubin of the user's", p.Dir, "cuda", "mine.sm_90a.cubin")
	mustRun(t, p, "gen", "-cubin", "none")
	if left := cubins(t, p.Dir); !slices.Equal(left, []string{"cuda/mine.sm_90a.cubin"}) || read(t, p.Dir, "zaxpy.go") != without {
		t.Errorf("left: %v", left)
	}
	mustRun(t, p, "gen", "-check")
}

func TestCubinTargets(t *testing.T) {
	p := fixture(t)
	mustFail(t, 1, `unknown target "sm_90"; have`, p, "gen", "-cubin", "sm_90")
	mustFail(t, 1, "that target is for tests on another chip; name sm_120a", p, "gen", "-cubin", "sm_90a-as-120")
}
