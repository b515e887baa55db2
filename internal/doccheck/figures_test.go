//go:build !gotilegen

package doccheck

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFigures: the documents have no figures but generated ones and those that their sources have.
func TestFigures(t *testing.T) {
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := Figures(string(text), func(name string) (string, bool, error) { return source(t, name) })
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, w := range wrong {
			t.Errorf("%s:%s", path, w)
		}
	}
}

// TestFiguresDrift: a figure that was changed is reported, and so is one that nobody vouches for.
func TestFiguresDrift(t *testing.T) {
	src := func(name string) (string, bool, error) {
		if name != "probes.txt" {
			return "", false, os.ErrNotExist
		}
		return "copy 133.98 us [133.72 138.15] 4.007 TB/s\nregs 64, 249. cap = 16384", false, nil
	}
	const mark = figures + "probes.txt" + stop + "\n"
	for text, want := range map[string][]string{
		mark + "133.98 µs or 134 µs, 4.01 TB/s, 249 µs, 64 registers\n" + end: nil,
		mark + "134.1 µs; 250 to 249 µs; 63 registers\n" + end:                {"2: no source has 134.1", "2: no source has 250", "2: no source has 63"},
		mark + "n up to 16,384\n" + end:                                       nil,
		mark + "n up to 16,385\n" + end:                                       {"2: no source has 16,385"},
		mark + "32768x4096 in 128 threads, up to 5 %\n" + end:                 nil, // sizes, predictions
		"It takes 134 µs":                          {"1: 134 is typed: generate it, mark where it is from (figures:), or drop it"},
		"3 to 5 % slower, 0.97 of copy, 2.1e-7":    {"1: 3 is typed: generate it, mark where it is from (figures:), or drop it", "1: 0.97 is typed: generate it, mark where it is from (figures:), or drop it", "1: 2.1e-7 is typed: generate it, mark where it is from (figures:), or drop it"},
		"Go 1.26, `134 µs`, sm_90, 16 bytes, 2^30": nil,
		"```\n134 µs\n```\n" + begin + "x" + stop + "\n134 µs\n" + end + "\n134 µs": {"7: 134 is typed: generate it, mark where it is from (figures:), or drop it"},
	} {
		got, err := Figures(text, src)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
	if got, err := Figures(figures+"other.txt"+stop+"\n", src); err == nil {
		t.Errorf("no error for a source that is missing: %q", got)
	}
}

// TestVersions: the README asks for the version of Go that go.mod does.
func TestVersions(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	said := regexp.MustCompile(`\bGo[ (]+(\d+\.\d+)`).FindAllSubmatch(readme, -1)
	if wanted == nil || len(said) < 2 {
		t.Fatalf("go.mod has %q, the README %q", wanted, said)
	}
	for _, v := range said {
		if string(v[1]) != string(wanted[1]) {
			t.Errorf("the README says Go %s, go.mod go %s", v[1], wanted[1])
		}
	}
}
