package cuda_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/tile"
)

type rowArgs struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n"`
}

func rows(k *tile.Builder, a rowArgs) {
	span := k.Block().Striped(1024, 4)
	for r := range tile.Persistent(k, a.X.Dim(0)) { // LINE: loop
		x := tile.Load(k, a.X.Row(r), span) // LINE: load
		s := x.Mul(x).Sum()                 // LINE: sum
		tile.Store(k, a.Y.Row(r), x.Mul(s)) // LINE: store
	}
}

// compiled is the PTX of the printing with lines or the clean one.
func compiled(t *testing.T, lines bool) string {
	t.Helper()
	lib, err := nvrtc.Open("")
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("NVRTC is not here: %v", err)
	}
	k, err2 := tile.Define("rows", rows)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	text, err := cuda.Print(low, cuda.Options{Lines: lines})
	if err != nil {
		t.Fatal(err)
	}
	r, err := lib.Compile(text, "rows.cu", nvrtc.Options{Arch: "sm_90a", Lines: lines})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return r.PTX
}

var (
	fileEntry = regexp.MustCompile(`(?m)^\s*\.file\s+(\d+) "(.*)"`)
	locEntry  = regexp.MustCompile(`^\s*\.loc\s+(\d+) (\d+) \d+(?:, function_name \S+, inlined_at (\d+) (\d+) \d+)?`)
)

// TestLineTable: in the compiled kernel every access of memory belongs to the Go line that asks for it; functions of the
// prelude are inlined there.
func TestLineTable(t *testing.T) {
	ptx := compiled(t, true)
	files := map[string]string{}
	for _, m := range fileEntry.FindAllStringSubmatch(ptx, -1) {
		files[m[1]] = filepath.Base(m[2])
	}
	source, err := os.ReadFile("lines_test.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // position -> name
	for i, line := range strings.Split(string(source), "\n") {
		if _, name, ok := strings.Cut(line, "// LINE: "); ok {
			want[fmt.Sprintf("lines_test.go:%d", i+1)] = name
		}
	}
	at, seen := "", map[string]bool{}
	for line := range strings.Lines(ptx) {
		if m := locEntry.FindStringSubmatch(line); m != nil {
			if at = files[m[1]] + ":" + m[2]; m[3] != "" {
				at = files[m[3]] + ":" + m[4]
			}
			if n, _ := strconv.Atoi(m[2]); n == 0 { // the compiler's own
				at = ""
			}
			continue
		}
		for _, op := range []string{"ld.global", "st.global", "shfl.sync", "st.shared", "ld.shared", "bar.sync"} {
			if !strings.Contains(line, op) {
				continue
			}
			if expect := map[string]string{"ld.global": "load", "st.global": "store"}[op]; expect == "" && want[at] != "sum" || expect != "" && want[at] != expect {
				t.Errorf("%q is at %q, the line of %q", strings.TrimSpace(line), at, want[at])
			}
			seen[want[at]] = true
		}
	}
	if !seen["load"] || !seen["sum"] || !seen["store"] {
		t.Errorf("saw %v in\n%s", seen, ptx)
	}
}

// TestLinesChangeNoCode: what is diagnosed is what runs otherwise.
func TestLinesChangeNoCode(t *testing.T) {
	code := func(ptx string) string {
		var out []string
		for line := range strings.Lines(ptx) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, ".section") { // of debugging
				break
			}
			if line != "" && !strings.HasPrefix(line, ".loc") && !strings.HasPrefix(line, ".file") && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "$L__tmp") && !strings.HasPrefix(line, ".target") {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	}
	if lined, clean := code(compiled(t, true)), code(compiled(t, false)); lined != clean {
		t.Errorf("with lines it is\n%s\nwithout\n%s", lined, clean)
	}
}
