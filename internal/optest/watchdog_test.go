//go:build !gotilegen

package optest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// watched are kernels with every sort of wait but for a loop that polls memory, which package device has.
var watched = []string{"op_poll_i32", "op_relay_f32", "op_exchange_bf16", "op_pipe_bf16_v", "op_cluster_order", "op_cluster_peer_f32", "op_mail", "op_hand_over_f32"}

// The printing with a watchdog compiles for every target that a kernel has, and watches every wait.
func TestWatchdogCompiles(t *testing.T) {
	lib, err := nvrtc.Open("")
	if err != nil && (os.Getenv("CI") != "" || !errors.Is(err, nvrtc.ErrNotFound)) {
		t.Fatal(err)
	} else if err != nil {
		t.Skipf("not compiled: %v", err)
	}
	seen := map[thr.Fn]bool{}
	for _, name := range watched {
		k, err := Kernels().Build(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"sm_80", "sm_90a", "sm_100a", "sm_120a"} {
			tgt, err := target.Lookup(n)
			if err != nil {
				t.Fatal(err)
			}
			if claims := k.IR().Targets; len(claims) > 0 && !slices.Contains(claims, n) {
				continue
			}
			low, err := k.Lower(n)
			if err != nil {
				t.Fatal(err)
			}
			text, sites, err := cuda.PrintWatched(low, cuda.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sites {
				seen[s.Fn] = true
			}
			r, err := lib.Compile(text, name+".cu", nvrtc.Options{Arch: tgt.Arch})
			if err != nil {
				t.Fatalf("%+v\n%s", err, text)
			}
			if f := nvrtc.Fatal(r.Log); f != nil || strings.Contains(r.Log, "warning") || r.Spill > 0 {
				t.Errorf("%s for %s: spill %d, %v\n%s", name, n, r.Spill, f, r.Log)
			}
		}
	}
	for _, f := range []thr.Fn{thr.BlockSync, thr.NamedSync, thr.ClusterSync, thr.ClusterWait, thr.RegsInc,
		thr.MBarWait, thr.MBarWaitToken, thr.MBarTest, thr.MBarTestToken, thr.MBarTry, thr.MBarTryToken} {
		if !seen[f] {
			t.Errorf("no kernel has a site of %s", f)
		}
	}
}
