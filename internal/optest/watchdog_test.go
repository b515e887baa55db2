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

// watched are kernels with every sort of wait.
var watched = []string{"op_poll_i32", "op_relay_f32", "op_exchange_bf16", "op_ring_bf16", "op_ping_pong_f32", "op_pipe_bf16_v", "op_cluster_order",
	"op_cluster_share", "op_mail", "op_hand_over_f32", "op_while", "op_vector_f32_96"}

// The printing with a watchdog compiles for every target that a kernel has, and watches every wait.
func TestWatchdogCompiles(t *testing.T) {
	lib, err := nvrtc.Open("")
	if err != nil && (os.Getenv("CI") != "" || !errors.Is(err, nvrtc.ErrNotFound)) {
		t.Fatal(err)
	} else if err != nil {
		t.Skipf("not compiled: %v", err)
	}
	names := watched
	if os.Getenv("ALL") != "" {
		names = Kernels().Names()
	}
	seen := map[thr.Fn]bool{}
	for _, name := range names {
		k, err := Kernels().Build(name)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]bool{} // with its architecture
		for _, n := range target.Names() {
			tgt, err := target.Lookup(n)
			if err != nil {
				t.Fatal(err)
			}
			if claims := k.IR().Targets; tgt.Proxy != "" || len(claims) > 0 && !slices.Contains(claims, n) {
				continue
			}
			low, err := k.Lower(n)
			if err != nil {
				continue // a kernel with clusters that claims all targets
			}
			text, sites, err := cuda.PrintWatched(low, cuda.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sites {
				seen[s.Fn] = true
			}
			if texts[text+tgt.Arch] {
				continue
			}
			texts[text+tgt.Arch] = true
			r, err := lib.Compile(text, name+".cu", nvrtc.Options{Arch: tgt.Arch})
			if err != nil {
				t.Fatalf("%+v\n%s", err, text)
			}
			if f := nvrtc.Fatal(r.Log); f != nil || strings.Contains(r.Log, "warning") || r.Spill > 0 {
				t.Errorf("%s for %s: spill %d, %v\n%s", name, n, r.Spill, f, r.Log)
			}
		}
	}
	for _, f := range []thr.Fn{thr.InvalidFn, thr.BlockSync, thr.NamedSync, thr.ClusterSync, thr.ClusterWait, thr.RegsInc,
		thr.MBarWait, thr.MBarWaitToken, thr.MBarTest, thr.MBarTestToken, thr.MBarTry, thr.MBarTryToken} {
		if !seen[f] {
			t.Errorf("no kernel has a site of %s", f)
		}
	}
}
