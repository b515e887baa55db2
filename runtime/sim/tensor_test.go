//go:build !gotilegen

package sim_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile/tiletest"
)

// twoLines matches a report of two lines of the kernel, and a wait in the table of a deadlock with a line beside it.
var twoLines = regexp.MustCompile(`tensor(_more)?\.go:\d+: [a-z -]+ with tensor(_more)?\.go:\d+:|waits at tensor(_more)?\.go:\d+ [^\n]*(\n +[^\n]*){1,3}tensor(_more)?\.go:\d+`)

// oneLine matches reports of defects with one side.
var oneLine = regexp.MustCompile(`tensor(_more)?\.go:\d+: (copy not awaited|misuse of an mbarrier):`)

// Kernels of tensor copies, of reductions and of copies to several blocks are silent whenever their copies arrive; without a
// fence, a wait, an expect, a group or the cluster's barrier, or with another number of bytes or another phase, they are
// reported each time: with both lines where one access is too early for another, and where nobody can go on with the lines
// that wait, arrive, expect and copy.
func TestTensorHazards(t *testing.T) {
	for _, k := range []struct {
		name string
		ops  []ir.Op
	}{
		{"op/store_tensor/rank2/bf16", []ir.Op{ir.MBarInit, ir.MBarArriveTx, ir.MBarWait, ir.FenceAsync, ir.CommitBulk, ir.WaitBulkRead}}, // with a swizzle
		{"op/reduce_tensor/add/f32", []ir.Op{ir.MBarInit, ir.MBarArriveTx, ir.MBarWait, ir.CopyTensor, ir.CommitBulk, ir.WaitBulkRead}},
		{"op/reduce_tensor/max/f16", []ir.Op{ir.MBarArriveTx, ir.MBarWait, ir.CommitBulk, ir.WaitBulkRead}},
		{"op/multicast_tensor/cluster/f32", []ir.Op{ir.MBarInit, ir.MBarArriveTx, ir.MBarWait, ir.MulticastTensor, ir.ClusterBarrier}},
		{"op/multicast_tensor/cluster/bf16", []ir.Op{ir.MBarArriveTx, ir.MBarWait, ir.ClusterBarrier}},
	} {
		c := caseNamed(k.name)
		names := launched(t, c)
		for _, mode := range []sim.Completion{sim.Early, sim.Late, sim.AtRandom} {
			if err := redIn(t, c, mode); err != nil {
				t.Errorf("%s, copies %v: %v", c.Name, mode, err)
			}
		}
		for _, op := range k.ops {
			for _, m := range optest.Mutants(op) {
				if strings.Contains(m.What, "a column later") || strings.Contains(m.What, "a row later") { // wrong, and no hazard
					continue
				}
				restore, changed, err := m.Install(names...)
				if err != nil {
					t.Fatal(err)
				}
				if !changed {
					t.Errorf("%s is no other where %s", c.Name, m)
				}
				for _, mode := range []sim.Completion{sim.Early, sim.Late, sim.AtRandom} {
					switch err := redIn(t, c, mode); {
					case err == nil:
						t.Errorf("%s, copies %v, passes though %s", c.Name, mode, m)
					case !twoLines.MatchString(err.Error()) && !oneLine.MatchString(err.Error()):
						t.Errorf("%s, copies %v: not both lines where %s: %v", c.Name, mode, m, err)
					}
				}
				restore()
			}
		}
	}
}

// redIn is red where copies complete in one way.
func redIn(t *testing.T, c tiletest.Case, mode sim.Completion) error {
	t.Helper()
	d, err := device.Open("sim", device.WithSim(device.SimConfig{StepLimit: 1 << 20, Copies: mode}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return c.Exec(t.Context(), d, 1).Err
}
