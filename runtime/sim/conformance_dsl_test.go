//go:build !gotilegen

package sim_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

type scheduleArgs struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n"`
}

// refused is a public test of what a language refuses, as a program that this one refuses.
type refused struct {
	rule    error
	message string
	f       func(k *tile.Builder, a scheduleArgs)
	opts    []tile.Option
}

type scheduleSlot struct {
	tile.Slot
	X tile.Shared[tile.F32]
}

func noWarp(tile.Warp)       {}
func noGroup(tile.Warpgroup) {}

var tooManyRoles = refused{tile.ErrScope, "a second Roles in one kernel: a warp has one role; join the two", func(k *tile.Builder, a scheduleArgs) {
	k.Roles(tile.ConsumerWarps(2, 0, noWarp))
	k.Roles(tile.ConsumerWarps(2, 0, noWarp))
}, []tile.Option{tile.Threads(64)}}

var refusals = map[string]refused{
	"test_cant_warp_specialize_twice": tooManyRoles,
	"test_cant_mpmd_map_twice":        tooManyRoles,
	"test_register_over_budget_and_warn_only": {tile.ErrLimit, "the roles ask for 92160 registers (producer 128*240, consumers 256*240) and a block of 384 threads begins with 64512", func(k *tile.Builder, a scheduleArgs) {
		k.Roles(tile.Producer(240, noWarp), tile.Consumers(2, 240, noGroup))
	}, []tile.Option{tile.Threads(384)}},
	"test_task_register_budget_matches_setmaxnreg_operand_rules": {tile.ErrLimit, "producer with 44 registers a thread: setmaxnreg takes multiples of 8 from 24 to 256, and 0 leaves them as they are; use 40", func(k *tile.Builder, a scheduleArgs) {
		k.Roles(tile.Producer(44, noWarp), tile.Consumers(1, 0, noGroup))
	}, []tile.Option{tile.Threads(256)}},
	// Stages are one behind the other, at places where a tile's swizzle begins.
	"test_pipeline_config_interleave_validation_and_offsets": {tile.ErrLayout, "each begins at a multiple of 1024 bytes; make its rows a multiple of 8, or drop the swizzle", func(k *tile.Builder, a scheduleArgs) {
		tile.NewPipeline(k, 2, scheduleSlot{X: tile.NewShared[tile.F32](k, 12, 32).Swizzle(layout.Swizzle128)})
	}, nil},
	"test_tmem_layout_and_duplicate_alias_rejected": {tile.ErrShape, "which belongs to the pipeline of", func(k *tile.Builder, a scheduleArgs) {
		x := tile.NewShared[tile.F32](k, 64)
		tile.NewPipeline(k, 2, scheduleSlot{X: x})
		tile.NewPipeline(k, 2, scheduleSlot{X: x})
	}, nil},
	"test_not_indexing_multiple_barriers_raises": {tile.ErrShape, "use an index from 0 to 1", func(k *tile.Builder, a scheduleArgs) {
		tile.NewMBarriers(k, 2, 1).At(2).Arrive(k) // an array itself has no Arrive
	}, nil},
	"test_smem_alignment_alias_phases_and_capacity": {tile.ErrTarget, "use 7 stages, with which it takes 229504", func(k *tile.Builder, a scheduleArgs) {
		pipe := tile.NewPipeline(k, 8, scheduleSlot{X: tile.NewShared[tile.F32](k, 64, 128)})
		s := pipe.Acquire(k)
		tile.CopyAsync(s, s.X, a.X)
		pipe.Wait(k).Release(k)
	}, nil},
}

// What other languages refuse of roles, registers, stages, barriers and shared memory is refused here, by a line.
func TestRefusals(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			k, err := tile.Define("refused", c.f, c.opts...)
			if err == nil {
				_, err = k.Lower("sm_90a")
			}
			if !errors.Is(err, c.rule) || !strings.Contains(err.Error(), c.message) || !strings.Contains(err.Error(), "conformance_dsl_test.go:") {
				t.Errorf("%v\nwant %v: %s", err, c.rule, c.message)
			}
		})
	}
}

// Arrays of mbarriers have places and names of their own.
func TestBarriersLieApart(t *testing.T) {
	k := compiled(t, "sm_90a", func(k *tile.Builder, a pipeArgs) {
		one, other := tile.NewMBarriers(k, 3, 1), tile.NewMBarriers(k, 2, 1)
		pipe := tile.NewPipeline(k, 2, rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)})
		next := tile.NewPipeline(k, 2, rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)})
		one.At(2).ArriveOnce(k)
		other.At(1).ArriveOnce(k)
		for _, p := range []tile.Pipeline[rowSlot]{pipe, next} {
			s := p.Acquire(k)
			tile.CopyAsync(s, s.A, a.X)
			p.Wait(k).Release(k)
		}
	}, tile.Threads(64))
	names := map[string]bool{}
	for i, b := range k.low.Shared {
		if names[b.Name] {
			t.Errorf("two buffers %s", b.Name)
		}
		names[b.Name] = true
		if strings.Contains(b.Note, "mbarrier") && b.Offset%8 != 0 {
			t.Errorf("%s at byte %d", b.Name, b.Offset)
		}
		if i := slices.IndexFunc(k.low.Shared[:i], b.Overlaps); i >= 0 {
			t.Errorf("%s lies in %s", b.Name, k.low.Shared[i].Name)
		}
	}
	if len(names) != 8 { // two arrays; two rings of slots, full and empty
		t.Errorf("%d buffers", len(names))
	}
}

// A tile of a loop's body is another in each iteration.
func TestScopedTile(t *testing.T) {
	program := func(fill bool) launchable {
		return compiled(t, "sm_90a", func(k *tile.Builder, a pipeArgs) {
			block := k.Block()
			for row := range tile.Range(k, 0, a.X.Dim(0), 1) {
				s := tile.NewShared[tile.I32](k, pipeCols)
				write := func() { tile.Store(block, s, tile.Load(block, a.X.At(row), block.Striped(pipeCols, 1))) }
				if fill {
					write()
				} else {
					tile.If(k, row.EqInt(1), write)
				}
				x := tile.Load(block, s, block.Striped(pipeCols, 2))
				tile.Store(block, a.Y.At(row), x.Add(x))
			}
		}, tile.Threads(64))
	}
	runPipe(t, program(true), 4, pipeCols, sim.Options{})
	_, err := program(false).run(t, 1, map[string]int{"rows": 4, "n": pipeCols}, map[string][]int32{"x": counting(4 * pipeCols)}, sim.Options{})
	if e := new(sim.Errors); !errors.As(err, &e) || !e.Has(sim.Uninitialised) {
		t.Errorf("a tile that an iteration does not fill: %v", err)
	}
}

// byTest are public tests that a test here is, and byCase those that cases of ops are, with the same right and wrong forms.
var (
	byTest = map[string]func(t *testing.T){
		"test_run_scoped": TestScopedTile, "test_barrier_layout_is_padded_and_names_are_unique": TestBarriersLieApart,
	}
	byCase = map[string]string{
		"test_hopper_matmul": "op/mma/group_ab/bf16", "test_matmul_example": "op/mma/ab/f16", "test_matmul0": "op/mma/ab/bf16", "test_matmul1": "op/mma/abt/bf16", "test_matmul2": "op/mma/chain/f16",
		"test_tiling_and_swizzle_transforms": "op/copy_tensor/rank2/bf16", "test_tiling_and_swizzle_transforms_with_pallas_call": "op/store_tensor/rank2/i32",
	}
)

// notSaid are public tests of what cannot be said in this language, and why.
var notSaid = map[string]string{
	"test_skip_floating_point_ops":                                  "an option of that interpreter",
	"test_run_scoped_with_unknown_collective_axis":                  "a cluster has one dimension, without a name",
	"test_async_copy_tmem_with_mma":                                 tensorMemory,
	"test_async_store_load_tmem":                                    tensorMemory,
	"test_pipeline_group_merge_and_device_pipeline_boundary":        "what fills a slot and what reads it follows from the kernel; nobody names kinds of pipelines",
	"test_generic_pipeline_rejects_unmaterialized_metadata_options": "a pipeline has stages and tiles, and no further options",
	"test_work_decorators_reject_removed_named_returns":             "what a role is given is typed: Go's compiler refuses other parameters",
	"test_work_methods_reject_classmethod_descriptors":              "a role is a function of Go",
	"test_device_pipeline_binding_supports_two_cta_nvfp4_pipelines": tensorMemory,
}

const tensorMemory = "tensor memory is of sm_100, which is not lowered"

// Every public test is mirrored by name: in thread IR, in the language, by the case of an op or, of clusters, in package
// plan; or there is a reason why not.
func TestConformanceIsComplete(t *testing.T) {
	dir := env.Get(env.Conformance)
	if dir == "" {
		t.Skip("GOTILE_CONFORMANCE is not set: the list of public tests is not here")
	}
	text, err := os.ReadFile(filepath.Join(dir, "concurrency_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Cases []struct{ File, Test string } }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	clusters, err := os.ReadFile("../../internal/plan/conformance_test.go")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{}
	for _, c := range optest.Cases() {
		cases[c.Name] = true
	}
	listed, reasons := map[string]bool{}, 0
	for _, c := range list.Cases {
		listed[c.Test] = true
		_, refuses := refusals[c.Test]
		switch {
		case sim.Conformance()[c.Test] || refuses || byTest[c.Test] != nil || cases[byCase[c.Test]]:
		case strings.Contains(string(clusters), `"`+c.Test+`"`):
		case notSaid[c.Test] != "" || strings.Contains(c.File, "tcgen05"):
			reasons++
		default:
			t.Errorf("%s is not mirrored", c.Test)
		}
	}
	for name := range sim.Conformance() {
		if !strings.HasPrefix(name, "test_mpmd_") && !listed[name] {
			t.Errorf("the list has no %s", name)
		}
	}
	for name := range refusals {
		if !listed[name] {
			t.Errorf("the list has no %s", name)
		}
	}
	t.Logf("%d public tests, %d of which cannot be said", len(list.Cases), reasons)
}
