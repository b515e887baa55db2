//go:build !gotilegen

package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/target"
)

func needNVRTC(t *testing.T) {
	t.Helper()
	if _, err := nvrtc.Open(""); errors.Is(err, nvrtc.ErrNotFound) {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("compiles with NVRTC: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	needNVRTC(t)
	p := fixture(t)
	out := mustRun(t, p, "check", "-target", "sm_90a,sm_90a-as-120")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 11 || !strings.HasPrefix(lines[0], "kernel") {
		t.Errorf("want a heading and 5 kernels on 2 targets:\n%s", out)
	}
	for _, l := range lines[1:] {
		if f := strings.Fields(l); len(f) != 10 || f[3] == "0" || f[6] == "0%" || f[9] != "ok" {
			t.Errorf("row %q", l)
		}
	}
}

func TestCheckFails(t *testing.T) {
	needNVRTC(t)
	p := fixture(t)
	cu := filepath.Join(p.Dir, "cuda", "sum_f32_c512.cu")
	text := read(t, cu)

	write(t, text+"this is not C\n", cu)
	mustFail(t, 1, "1 of 5 compilations failed", p, "check", "-target", "sm_80")
	mustFail(t, 1, "sum_f32_c512.cu", p, "check", "-target", "sm_80") // the log's position

	write(t, `extern "C" __global__ void sum_f32_c512() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }`, cu)
	mustFail(t, 1, "C7508", p, "check", "-target", "sm_90a")

	os.Remove(cu)
	mustFail(t, 1, "run: gotile gen", p, "check", "-target", "sm_80")
}

// A kernel that spills is not ok, and fails nothing. (The file is stale, which does.)
func TestCheckSpills(t *testing.T) {
	needNVRTC(t)
	p := fixture(t)
	var loads, stores strings.Builder
	for i := range 64 {
		fmt.Fprintf(&loads, "float x%d = p[1024 * %d + threadIdx.x];\n", i, i)
		fmt.Fprintf(&stores, "p[1024 * %d + (threadIdx.x ^ 1)] = x%d;\n", i, i)
	}
	write(t, `extern "C" __global__ void __launch_bounds__(1024, 2) sum_f32_c512(float *p) {`+loads.String()+"__syncthreads();\n"+stores.String()+"}", filepath.Join(p.Dir, "cuda", "sum_f32_c512.cu"))
	_, out, _ := call(t, p, "check", "-target", "sm_80")
	if strings.Count(out, " ok\n") != 4 || strings.Count(out, " spills\n") != 1 || !strings.Contains(out, "1 of 5 compilations spill registers\n") {
		t.Errorf("want 4 rows that are ok and one that spills:\n%s", out)
	}
}

// A file that compiles, but is not what the kernel prints: its row is ok, the command fails.
func TestCheckFailsOnStaleFiles(t *testing.T) {
	needNVRTC(t)
	p := fixture(t)
	cu := filepath.Join(p.Dir, "cuda", "sum_f32_c512.cu")
	write(t, read(t, cu)+"// edited\n", cu)
	code, out, _ := call(t, p, "check", "-target", "sm_80")
	if want := "STALE sum_f32_c512.cu is not what the kernel prints now; run gotile gen\n"; code != 1 || !strings.HasSuffix(out, want) ||
		strings.Count(out, "STALE") != 1 || strings.Contains(out, "FAIL") {
		t.Errorf("exit code %d, want 1 and the one line %q at the end:\n%s", code, want, out)
	}
}

// On another machine there are no files: what the kernels print is compiled, and the sums tell what is stale.
func TestCheckTravels(t *testing.T) {
	needNVRTC(t)
	p := fixture(t)
	cu := filepath.Join(p.Dir, "cuda", "sum_f32_c512.cu")
	write(t, read(t, cu)+"this is not C\n", cu)
	p = hashed(t, p)
	p.Dir, p.Travels = filepath.Join(p.Dir, "away"), true
	code, out, _ := call(t, p, "check", "-target", "sm_80")
	if want := "STALE sum_f32_c512.cu is not what the kernel prints now; run gotile gen\n"; code != 1 || !strings.HasSuffix(out, want) ||
		strings.Count(out, " ok\n") != 5 || strings.Count(out, "STALE") != 1 {
		t.Errorf("exit code %d, want 1, 5 rows that are ok and the line %q at the end:\n%s", code, want, out)
	}
	delete(p.Sources, "sum_f32_c512.cu")
	mustFail(t, 1, "STALE sum_f32_c512.cu is not generated", p, "check", "-target", "sm_80")
}

// The help of a program on another machine is the program's own: it takes no packages, and no gotile is there to call.
func TestHelpTravels(t *testing.T) {
	p := fixture(t)
	p.Travels = true
	for _, c := range Commands {
		if c.Stays {
			continue
		}
		out := mustRun(t, p, c.Name, "-h")
		program := filepath.Base(os.Args[0])
		if !strings.HasPrefix(out, "usage: "+program+" [flags]\n\nThis program is gotile "+c.Name+" for example.com/axpy alone.\n") ||
			strings.Contains(out, "Example") || strings.Contains(out, PackagesHelp) || !strings.Contains(out, "\nFlags:\n  -") {
			t.Errorf("%s -h says:\n%s", c.Name, out)
		}
		mustFail(t, 2, program+": flag provided but not defined: -nonsense; run "+program+" -h\n", p, c.Name, "-nonsense")
	}
}

func TestCheckRefusesTargets(t *testing.T) {
	p := fixture(t)
	mustFail(t, 1, `unknown target "sm_42"; have sm_80`, p, "check", "-target", "sm_80,sm_42")
}

func TestCheckWithoutNVRTC(t *testing.T) {
	t.Setenv("GOTILE_NVRTC", filepath.Join(t.TempDir(), "none.so"))
	mustFail(t, 1, "none.so", fixture(t), "check")
}

// What check says of machine code.
func TestCountText(t *testing.T) {
	for text, want := range map[string]string{
		"        /*0000*/                   HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], !UPT ;\n        /*0010*/              @!P0 HGMMA.64x64x16 R24 ;\n": "HGMMA 2",
		"        /*0a20*/                   UTMALDG.2D [UR8], [UR4] ;\n        /*0a30*/              @P1 HMMA.16816.F32 R4, R8 ;\n":                     "HMMA 1, UTMALDG 1",
		"        /*0000*/                   MOV R1, c[0x0][0x28] ;  // HMMA\n":                                                                          "-",
	} {
		if got := countText(text); got != want {
			t.Errorf("%q of %q, want %q", got, text, want)
		}
	}
}

// Occupancies by threads, by registers, by shared memory and by blocks, worked out by hand.
func TestOccupancy(t *testing.T) {
	for _, c := range []struct {
		target                     string
		threads, registers, shared int
		want                       int
	}{
		{"sm_90a", 128, 32, 0, 100}, {"sm_90a", 256, 64, 0, 50}, {"sm_90a", 384, 168, 196672, 18}, {"sm_90a", 128, 255, 0, 12},
		{"sm_90a", 1024, 32, 114 << 10, 50}, {"sm_120a", 256, 40, 0, 100}, {"sm_120a", 128, 32, 99 << 10, 8},
	} {
		chip, err := target.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		if got := occupancy(chip, c.threads, c.registers, c.shared); got != c.want {
			t.Errorf("%+v: %d%%", c, got)
		}
	}
}
