//go:build !gotilegen

package worker

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gotile/gotile/tile"
)

// broken is a package whose kernel has a mistake and then panics, in a helper.
func broken(t *testing.T) Package {
	p := fixture(t)
	p.Kernels = func() tile.Set {
		return tile.Configs(func(n named) (*tile.Kernel, error) {
			return tile.Define(string(n), func(k *tile.Builder, a doubleArgs) {
				tile.Load(k.Block(), a.X, k.Block().Striped(0, 4))
				nothing(nil)
			})
		}, named("broken"))
	}
	return p
}

func nothing(p *int) int { return *p } // after broken: mistakes are sorted by line

// Positions are relative to where the user stands; the stack of a panic shows the user's frames alone.
func TestErrorsPointAtTheUsersFiles(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for from, place := range map[string]string{
		here:                                "detail_test.go",
		filepath.Dir(here):                  filepath.Join("worker", "detail_test.go"),
		filepath.Join(here, "a", "kernels"): filepath.Join("..", "..", "detail_test.go"),
		"":                                  "detail_test.go",
	} {
		p := broken(t)
		p.From = from
		code, _, errs := call(t, p, "gen")
		at := regexp.QuoteMeta(place) + `:\d+`
		want := `(?s)^gotile: gen: example\.com/axpy: kernel broken: ` + at + `: a span of 0 elements[^\n]*\n` +
			at + `: panic: [^\n]*nil pointer dereference[^\n]*\n` +
			`\t` + at + ` \S+worker\.nothing\n\t` + at + ` \S+worker\.broken\S*\n$`
		if code != 1 || !regexp.MustCompile(want).MatchString(errs) {
			t.Errorf("from %q: exit code %d, want %s\n%s", from, code, want, errs)
		}
		if strings.Contains(errs, "goroutine") || strings.Contains(errs, "builder.go") {
			t.Errorf("the library's frames are shown:\n%s", errs)
		}
	}
}
