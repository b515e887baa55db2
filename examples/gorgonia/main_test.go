//go:build gorgonia && !gotilegen

package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/runtime/driver"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	err := run(&out)
	if errors.Is(err, nvrtc.ErrNotFound) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	want := "a tensor of gotile: [1.5 1.5 1.5 1.5]\n"
	if strings.HasPrefix(out.String(), "Loopback GPU") {
		// The stand-in for libcuda comes as far as the launch of a kernel that it does not have.
		if !errors.Is(err, driver.NotSupported) || !strings.Contains(err.Error(), "softmax_f32_c4096") {
			t.Errorf("on the stand-in: %v", err)
		}
	} else {
		want += "gotile's softmax of memory of gorgonia.org/cu: [0.2500 0.2500 0.2500 0.2500 0.0321 0.0871 0.2369 0.6439]\n"
		if err != nil {
			t.Error(err)
		}
	}
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("it printed\n%s", out.String())
	}
}
