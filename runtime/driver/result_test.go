package driver

import (
	"errors"
	"fmt"
	"testing"
)

func TestResults(t *testing.T) {
	err := fmt.Errorf("allocating: %w", &Error{Call: "cuMemAlloc", Code: OutOfMemory})
	if !errors.Is(err, OutOfMemory) || errors.Is(err, NoDevice) {
		t.Errorf("errors.Is of %v", err)
	}
	if CodeOf(err) != OutOfMemory || CodeOf(errors.New("x")) != Success {
		t.Error("CodeOf")
	}
	if got, want := err.Error(), "allocating: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Result(4242).String(); got != "CUresult(4242)" {
		t.Errorf("unknown code: %s", got)
	}
	for code, sticky := range map[Result]bool{OutOfMemory: false, NotReady: false, InvalidValue: false, IllegalAddress: true, LaunchFailed: true} {
		if code.Sticky() != sticky {
			t.Errorf("%v: sticky %v", code, code.Sticky())
		}
	}
}
