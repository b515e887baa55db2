package tile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gotile/gotile/tile"
)

// wrongArgs are the arguments of most wrong programs.
type wrongArgs struct {
	X, Y tile.Global[tile.F32]  `tile:"rows,n"`
	H    tile.Global[tile.BF16] `tile:"rows,n"`
	V    tile.Global[tile.F32]  `tile:"n"`
	S    tile.Global[tile.F32]  `tile:"128"`
	I    tile.Global[tile.I32]  `tile:"rows"`
	Eps  tile.Scalar[tile.F32]
}

// wrong is a program that does not build. The lines at fault end in a comment `// ERR message`; @-3 in a message
// stands for the position three lines up.
type wrong struct {
	name string
	rule error
	f    func(k *tile.Builder, a wrongArgs)
	opts []tile.Option
	def  func() error // instead of f
}

func (w wrong) run() error {
	if w.def != nil {
		return w.def()
	}
	_, err := tile.Define("wrong", w.f, w.opts...)
	return err
}

var relative = regexp.MustCompile(`@([+-]\d+)`)

// markers reads the expected errors of the wrong_*_test.go files: "file.go:12: message".
func markers(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("wrong_*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no wrong_*_test.go files", err)
	}
	out := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, msg := range strings.Split(line, "// ERR ")[1:] {
				msg = relative.ReplaceAllStringFunc(strings.TrimSpace(msg), func(s string) string {
					n, _ := strconv.Atoi(s[1:])
					return fmt.Sprintf("%s:%d", f, i+1+n)
				})
				out[fmt.Sprintf("%s:%d: %s", f, i+1, msg)] = true
			}
		}
	}
	return out
}

func TestWrongPrograms(t *testing.T) {
	want, hit := markers(t), map[string]bool{}
	var n int
	for family, cases := range map[string][]wrong{
		"shape": wrongShapes, "layout": wrongLayouts, "scope": wrongScopes, "dtype": wrongDTypes,
		"control": wrongControl, "limit": wrongLimits, "port": wrongPorts, "memory": wrongMemory, "order": wrongOrders, "define": wrongDefines,
	} {
		for _, c := range cases {
			n++
			t.Run(family+"/"+c.name, func(t *testing.T) {
				err := c.run()
				var es tile.Errors
				if !errors.As(err, &es) {
					t.Fatalf("got %v (%T), want tile.Errors", err, err)
				}
				for _, e := range es {
					if !want[e.Error()] {
						t.Errorf("unexpected error:\n%v", e)
					}
					if !errors.Is(e, c.rule) {
						t.Errorf("%v\nis of rule %v, want %v", e, e.Rule, c.rule)
					}
					hit[e.Error()] = true
				}
			})
		}
	}
	for m := range want {
		if !hit[m] {
			t.Errorf("no program gives\n%s", m)
		}
	}
	if n < 25 {
		t.Errorf("%d wrong programs, want 25", n)
	}
}
