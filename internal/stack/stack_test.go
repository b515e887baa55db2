package stack

import (
	"runtime/debug"
	"strings"
	"testing"
)

type inner struct{}

func (*inner) fail(p *int) int { return *p }

func outer() int { return new(inner).fail(nil) }

// caught is where the library calls the user back.
func caught(f func()) (text string) {
	defer func() {
		recover()
		text = string(debug.Stack())
	}()
	f()
	return ""
}

func TestUser(t *testing.T) {
	frames := User(caught(func() { outer() }), "stack.caught")
	var names []string
	for _, f := range frames {
		names = append(names, f.Func[strings.LastIndexByte(f.Func, '/')+1:])
		if !strings.HasSuffix(f.File, "/stack_test.go") || f.Line < 10 {
			t.Errorf("%s is at %s:%d", f.Func, f.File, f.Line)
		}
	}
	if got, want := strings.Join(names, " "), "stack.(*inner).fail stack.outer stack.TestUser.func1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A stack as the tool meets it: the frames of tile between the user's are left out, and all beyond Builder.Run.
func TestUserLeavesTheLibraryOut(t *testing.T) {
	text := `goroutine 1 [running]:
runtime/debug.Stack()
	/go/src/runtime/debug/stack.go:26 +0x5e
github.com/gotile/gotile/internal/ir.(*Builder).Run.func1()
	/mod/internal/ir/builder.go:60 +0x1
panic({0x5, 0x6})
	/go/src/runtime/panic.go:783 +0x1
example.com/user.body-range1(...)
	/user/kernels.go:12
github.com/gotile/gotile/tile.Range[...].func1(0x1)
	/mod/tile/control.go:40 +0x1
example.com/user.build.func1(0x1, {0x2})
	/user/kernels.go:10 +0x1d
github.com/gotile/gotile/tile.Define[...].func1()
	/mod/tile/define.go:66 +0x1
github.com/gotile/gotile/internal/ir.(*Builder).Run(0x1)
	/mod/internal/ir/builder.go:63 +0x1
example.com/user.build()
	/user/kernels.go:9 +0x1
`
	got := Text(User(text, "internal/ir.(*Builder).Run"), func(f string) string { return strings.TrimPrefix(f, "/user/") })
	if want := "\tkernels.go:12 example.com/user.body-range1\n\tkernels.go:10 example.com/user.build.func1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
