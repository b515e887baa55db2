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

// families are the wrong programs by what they are about.
var families = []struct {
	name     string
	programs []wrong
}{
	{"shape", wrongShapes},
	{"layout", wrongLayouts},
	{"fragment", wrongFragments},
	{"product", wrongProducts},
	{"tf32", wrongTF32},
	{"8-bit types", wrongBytes},
	{"warpgroup", wrongWarpgroups},
	{"scope", wrongScopes},
	{"dtype", wrongDTypes},
	{"control flow", wrongControl},
	{"target", wrongTargets},
	{"limit", wrongLimits},
	{"port", wrongPorts},
	// What is about one part of the language, under the same rules.
	{"definition", wrongDefines},
	{"memory", wrongMemory},
	{"order", wrongOrders},
	{"asynchronous copy", wrongCopies},
	{"mbarriers and bulk copies", wrongBarriers},
	{"phases of mbarriers", wrongPhases},
	{"pipelines and roles", wrongPipelines},
	{"roles, schedules and boxes", wrongRoles},
	{"slots of tensor cores", wrongSlots},
	{"tensor copies and swizzles", wrongTensors},
	{"other blocks and kernels", wrongRemotes},
	{"cluster", wrongClusters},
	{"shared memory", wrongShared},
	{"register tiles as wholes", wrongAlgebra},
}

// mistakes are the errors of a program, of Define or of Lower.
func mistakes(t *testing.T, err error) tile.Errors {
	t.Helper()
	var es tile.Errors
	var e *tile.Error
	switch {
	case errors.As(err, &es):
		return es
	case errors.As(err, &e):
		return tile.Errors{e}
	}
	t.Fatalf("got %v (%T), want tile.Errors", err, err)
	return nil
}

// wayOut is how messages end: with a request.
var wayOut = regexp.MustCompile(`[;:,] (and )?(tile\.Expand adds|hand|merge|Select makes|Load and Store copy|use|give|drop|cast|bitcast|load|store|reduce|take|declare|make|clip|name|define|move|put|count|join|export|rename|add|compare|release|acquire|call|split|stream|leave|raise|repeat|let|have|without|assign|nest|wait|arrive|expect|Cast|copy) ?.*$`)

// TestWrongPrograms: each program gives the errors that its lines say, each once and no others, all of its rule: Go line,
// rule, numbers and a way out.
func TestWrongPrograms(t *testing.T) {
	want, hit := markers(t), map[string]bool{}
	total := 0
	for _, family := range families {
		if len(family.programs) < 5 {
			t.Errorf("%d wrong programs of %s, want 5", len(family.programs), family.name)
		}
		for _, c := range family.programs {
			total++
			t.Run(family.name+"/"+c.name, func(t *testing.T) {
				seen := map[string]bool{}
				for _, e := range mistakes(t, c.run()) {
					switch text := e.Error(); {
					case seen[text]:
						t.Errorf("reported twice:\n%v", e)
					case !want[text]:
						t.Errorf("unexpected error:\n%v", e)
					case c.rule != tile.ErrPanic && !wayOut.MatchString(e.Msg):
						t.Errorf("no way out in\n%v", e)
					default:
						seen[text], hit[text] = true, true
					}
					if !errors.Is(e, c.rule) {
						t.Errorf("%v\nis of rule %v, want %v", e, e.Rule, c.rule)
					}
				}
			})
		}
	}
	for m := range want {
		if !hit[m] {
			t.Errorf("no program gives\n%s", m)
		}
	}
	if total < 60 {
		t.Errorf("%d wrong programs, want 60", total)
	}
}
