package tiletest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

func TestSkip(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		name    string
		run     func(*Run) error
		skipped string
		failed  string // part of the error; empty: none
	}{
		{"skipped", func(r *Run) error { return r.Skip("too large") }, "too large", ""},
		{"wrapped", func(r *Run) error { return fmt.Errorf("part 2: %w", r.Skip("too large")) }, "too large", ""},
		{"runs", func(*Run) error { return nil }, "", ""},
		{"made and not returned", func(r *Run) error { r.Skip("no"); return nil }, "", ""},
		{"fails before", func(r *Run) error { r.Errorf("wrong"); return r.Skip("too large") }, "", "wrong"},
		{"leaves an output unwritten", func(r *Run) error { r.Out(dtype.F32, 2); return r.Skip("too large") }, "", "not written"},
	} {
		res := Case{Name: c.name, Run: c.run}.Exec(t.Context(), d, 1)
		if res.Skipped != c.skipped || (res.Err == nil) != (c.failed == "") || res.Err != nil && !strings.Contains(res.Err.Error(), c.failed) {
			t.Errorf("%s: skipped %q, error %v; want %q, %q", c.name, res.Skipped, res.Err, c.skipped, c.failed)
		}
	}
}
