//go:build !gotilegen

package sim_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/sim"
)

// The cases of pipelines that GPUs run hold in f32 and bf16 whenever the copies arrive: slots that bulk copies, tensor copies
// and cp.async fill, those of rows that go through registers since they are not aligned, and those that stores fill.
func TestPipelineCasesInAllModes(t *testing.T) {
	want := regexp.MustCompile(`^op/(slot_acquire|slot_release|copy_async)/(pipe|pipe_threads|pipe_tensor|lcsf|segments|leave|held)/(f32|bf16)$`)
	variants := map[string]bool{}
	for _, mode := range []sim.Completion{sim.Early, sim.Late, sim.AtRandom} {
		d, err := device.Open("sim", device.WithSim(device.SimConfig{Copies: mode, Seed: uint64(mode), GlobalRaces: true}))
		if err != nil {
			t.Fatal(err)
		}
		ran := map[string]bool{}
		for _, c := range optest.Cases() {
			m := want.FindStringSubmatch(c.Name)
			if m == nil || ran[m[2]+m[3]] { // the ops of a variant are in one kernel
				continue
			}
			ran[m[2]+m[3]], variants[m[2]] = true, true
			if r := c.Exec(t.Context(), d, uint64(mode)); r.Err != nil {
				t.Errorf("%s, copies %v: %v", c.Name, mode, r.Err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(variants) != 7 {
		t.Errorf("cases of %s", fmt.Sprint(variants))
	}
}
