package ir_test

import (
	"runtime"
	"testing"

	"github.com/gotile/gotile/internal/ir"
)

func here() ir.Pos { return ir.Here(0) }

func deep(n int) ir.Pos {
	if n == 0 {
		return here()
	}
	return deep(n - 1)
}

func line() int {
	_, _, l, _ := runtime.Caller(1)
	return l
}

// TestPosition checks that the first user frame and a helper's caller are found at any depth.
func TestPosition(t *testing.T) {
	for _, n := range []int{0, 1, 100, 5000} {
		fs := deep(n).Frames()
		if len(fs) != 2 || fs[0].Func != "github.com/gotile/gotile/internal/ir_test.here" || fs[1].Func != "github.com/gotile/gotile/internal/ir_test.deep" {
			t.Errorf("depth %d: %v", n, fs)
		}
	}
}

// TestPositionOfLiterals checks that function literals and loop bodies are not taken for helpers.
func TestPositionOfLiterals(t *testing.T) {
	seq := func(yield func(int) bool) { yield(0) }
	var p ir.Pos
	b := ir.NewBuilder("k")
	want := 0
	b.Run(func() {
		for range seq {
			func() {
				p, want = ir.Here(0), line()
			}()
		}
	})
	fs := p.Frames()
	if len(fs) != 1 || fs[0].Line != want {
		t.Errorf("got %+v, want line %d alone", fs, want)
	}
	if p.String() != fs[0].String() || !p.Known() || (ir.Pos{}).Known() || (ir.Pos{}).String() != "?" {
		t.Error("String or Known is wrong")
	}
}
