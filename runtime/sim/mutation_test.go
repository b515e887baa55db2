//go:build !gotilegen

package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile/tiletest"
)

// exec runs a case on a fresh simulator. What is swapped or mutated may make an endless loop, which ends after so many
// instructions; right cases need fewer, which launched sees to.
func exec(t *testing.T, c tiletest.Case) tiletest.Result {
	t.Helper()
	d, err := device.Open("sim", device.WithSim(device.SimConfig{StepLimit: 1 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return c.Exec(t.Context(), d, 1)
}

// red is the failure of a case.
func red(t *testing.T, c tiletest.Case) error {
	t.Helper()
	return exec(t, c).Err
}

// caseOf is the case of an op on operands of type t.
func caseOf(t *testing.T, op ir.Op, operand dtype.Type) tiletest.Case {
	for _, c := range optest.OpCases(op) {
		if strings.HasSuffix(c.Name, "/"+operand.String()) || strings.HasSuffix(c.Name, "/all") {
			return c
		}
	}
	t.Fatalf("no case of %s on %s", op, operand)
	return tiletest.Case{}
}

// The function of another op in an op's row turns the op's case red: every op, every type, every other op that fits.
// Short mode takes one pair in 16, other ones for each op and type, since a swap runs a whole case.
func TestSwappedOpTurnsItsCaseRed(t *testing.T) {
	const sampled = 16
	fitting, swaps := 0, 0
	for op := ir.Op(1); op < ir.NumOps; op++ {
		if ir.Table[op].Class != ir.Elementwise || op == ir.Asm {
			continue
		}
		for _, m := range sim.Meanings(op) {
			if op == ir.Cast && (m[0] == m[1] || m[1] == dtype.Bool) || op == ir.Bitcast && m[0] == m[1] {
				continue // the typed layer makes none
			}
			c := caseOf(t, op, m[0])
			launched(t, c)
			for other := ir.Op(1); other < ir.NumOps; other++ {
				if sameMeaning(op, other, m) {
					continue
				}
				restore, ok := sim.ReplaceOp(op, other, m[0], m[1])
				if !ok {
					continue
				}
				if fitting++; testing.Short() && fitting%sampled != 0 {
					restore()
					continue
				}
				err := red(t, c)
				restore()
				swaps++
				if err == nil {
					t.Errorf("%s passes when %s of %s to %s computes %s", c.Name, op, m[0], m[1], other)
				}
			}
		}
	}
	t.Logf("%d swaps of %d", swaps, fitting)
	if fitting < 1000 || swaps < fitting/sampled {
		t.Errorf("only %d swaps of %d tried", swaps, fitting)
	}
}

// sameMeaning lists the pairs that are one function here: approximate forms and their precise ones (the printer tells
// them apart), and conversions that move bits.
func sameMeaning(op, other ir.Op, m [2]dtype.Type) bool {
	moves := func(o ir.Op) bool {
		return o == ir.Bitcast || o == ir.Abs && m[0] == dtype.U32 || o == ir.Cast && m[0].IsInt() && m[1].IsInt() && m[0].Size() == m[1].Size()
	}
	return sim.Precise(op) == other || sim.Precise(other) == op || moves(op) && moves(other) && m[0].IsInt()
}

// stronger are built-ins that are no less here: a simulated warp is not suspended, and waiting for a group to be over is
// waiting for it to have read.
var stronger = map[thr.Fn][]thr.Fn{
	thr.MBarTest: {thr.MBarTry}, thr.MBarTry: {thr.MBarTest}, thr.MBarTestToken: {thr.MBarTryToken}, thr.MBarTryToken: {thr.MBarTestToken},
	thr.BulkWaitRead:  {thr.BulkWait},
	thr.MBarRelaxedAt: {thr.MBarArriveAt}, thr.FenceCluster: {thr.ClusterSync, thr.FenceShared},
	thr.FenceShared: {thr.FenceCluster, thr.ClusterSync},
}

// also are second cases: memory that nobody wrote is less than all that is stored of i32, and more of u32.
var also = map[thr.Fn]string{thr.TensorStore: "op/store_tensor/rank5/u32"}

func caseNamed(name string) tiletest.Case {
	all := optest.Cases()
	i := slices.IndexFunc(all, func(c tiletest.Case) bool { return c.Name == name })
	if i < 0 {
		return tiletest.Case{}
	}
	return all[i]
}

// The slots of a pipeline that cp.async is to fill are filled by it: its case fails where it copies nothing.
func TestPipesAreFilledByThreads(t *testing.T) {
	for _, name := range []string{"op/copy_async/pipe_threads/f32", "op/copy_async/pipe_threads/bf16"} {
		c := caseNamed(name)
		if launched(t, c); c.Run == nil {
			t.Fatalf("no case %s", name)
		}
		restore := sim.DropFn(thr.CpAsync)
		err := red(t, c)
		restore()
		if err == nil {
			t.Errorf("%s passes without cp.async", name)
		}
	}
}

// The same for the built-ins of thread IR.
func TestSwappedFnTurnsItsCaseRed(t *testing.T) {
	swaps := map[thr.Fn]int{}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		if f == thr.FenceLoads {
			continue // simulated loads are over at once
		}
		c := optest.FnCase(f)
		launched(t, c)
		for other := thr.Fn(1); other < thr.NumFns; other++ {
			restore, ok := sim.ReplaceFn(f, other)
			if !ok {
				continue
			}
			if f == thr.RegsInc && (other == thr.CpWait || other == thr.BulkWait || other == thr.BulkWaitRead || other == thr.WGMMAWait) { // a kernel sees neither
				restore()
				continue
			}
			if slices.Contains(stronger[f], other) || f == thr.GridLaunch || f == thr.TensorPrefetch { // the printer tells them apart; a kernel cannot see what the last two do
				restore()
				continue
			}
			err := red(t, c)
			if second := caseNamed(also[f]); err == nil && second.Name != "" {
				err = red(t, second)
			}
			restore()
			swaps[f]++
			if err == nil {
				t.Errorf("%s passes when %s computes %s", c.Name, f, other)
			}
		}
	}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		if swaps[f] == 0 && f != thr.FenceLoads && f != thr.TensorPrefetch && f != thr.Swizzle && f != thr.Aligned && f != thr.Opaque && f != thr.AtomicCAS && f != thr.CpWait && f != thr.BulkLoad && f != thr.GridLaunch && f != thr.Elect && f != thr.MovMatrix && f != thr.WGMMADesc && f != thr.WGMMA { // no other of their type
			t.Errorf("%s was never swapped", f)
		}
	}
}
