package ir_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/ir"
)

// mistakes records n mistakes, each on its own line of a chain of helpers.
func mistakes(n int) error {
	b := ir.NewBuilder("k")
	b.Run(func() {
		for i := range n {
			b.Errorf(ir.Add, ir.ErrShape, "mistake %d", i)
		}
	})
	_, err := b.Finish()
	return err
}

func TestErrorsPrintTen(t *testing.T) {
	err := mistakes(12)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 11 || lines[10] != "and 2 more" {
		t.Errorf("Error() = %q", lines)
	}
	if lines := strings.Split(fmt.Sprintf("%+v", err), "\n"); len(lines) != 12 {
		t.Errorf("%%+v = %q", lines)
	}
	if got, want := fmt.Sprintf("%v", err), err.Error(); got != want {
		t.Errorf("%%v = %q, want %q", got, want)
	}
	if !errors.Is(err, ir.ErrShape) || errors.Is(err, ir.ErrScope) {
		t.Error("errors.Is does not see the rule, or sees another")
	}
	var e *ir.Error
	if !errors.As(err, &e) || e.Op != ir.Add {
		t.Errorf("errors.As gives %v", e)
	}
}

func TestMistakesStop(t *testing.T) {
	err := mistakes(1_000_000)
	var es ir.Errors
	if !errors.As(err, &es) || len(es) > 1000 {
		t.Errorf("%d mistakes", len(es))
	}
}

func TestSameMistakeOnce(t *testing.T) {
	b := ir.NewBuilder("k")
	b.Run(func() {
		for range 5 {
			b.Errorf(ir.Add, ir.ErrShape, "again")
		}
	})
	_, err := b.Finish()
	if got := err.Error(); strings.Count(got, "\n") != 0 {
		t.Errorf("got %q", got)
	}
}

func TestErrorsSorted(t *testing.T) {
	b := ir.NewBuilder("k")
	early := func() { b.Errorf(ir.Add, ir.ErrShape, "earlier in the file") }
	b.Run(func() {
		b.Errorf(ir.Add, ir.ErrShape, "later in the file")
		early()
	})
	_, err := b.Finish()
	var es ir.Errors
	if !errors.As(err, &es) {
		t.Fatal(err)
	}
	if len(es) != 2 || es[0].Msg != "earlier in the file" {
		t.Errorf("got\n%v", es)
	}
}

func TestPanicIsAnError(t *testing.T) {
	b := ir.NewBuilder("k")
	b.Run(func() { panic(io.ErrUnexpectedEOF) })
	_, err := b.Finish()
	if !errors.Is(err, ir.ErrPanic) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if s := fmt.Sprintf("%+v", err); !strings.Contains(s, "goroutine") || !strings.HasPrefix(s, "errors_test.go:") {
		t.Errorf("%%+v has no stack or no position: %q", s)
	}
	if strings.Contains(err.Error(), "goroutine") {
		t.Error("Error() prints the stack")
	}
}
