package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/tile"
)

// TestCommittedKernels lowers every committed kernel for every target that it claims, with the thread IR verified
// after each pass (execute_test.go sets plan.Verify).
func TestCommittedKernels(t *testing.T) {
	if !plan.Verify {
		t.Fatal("plan.Verify is off")
	}
	for family, set := range map[string]tile.Set{"rmsnorm": rmsnorm.Kernels(), "optest": optest.Kernels()} {
		names := set.Names()
		if len(names) == 0 {
			t.Errorf("%s has no kernels", family)
		}
		for _, name := range names {
			k, err := set.Build(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, tn := range target.Names() {
				tg, err := target.Lookup(tn)
				if err != nil {
					t.Fatal(err)
				}
				claims := k.IR().Targets
				if len(claims) > 0 && !slices.Contains(claims, tn) && !slices.Contains(claims, tg.Proxy) || k.IR().Cluster > 0 && !tg.Has(target.Cluster) {
					if _, err := k.Lower(tn); err == nil {
						t.Errorf("%s claims %v and has clusters of %d, and is lowered for %s", name, claims, k.IR().Cluster, tn)
					}
					continue
				}
				low, err := k.Lower(tn)
				if err != nil {
					t.Errorf("%v", err)
					continue
				}
				if err := thr.Verify(low); err != nil {
					t.Errorf("%s for %s: %v", name, tn, err)
				}
				if len(low.Body) == 0 || low.Target != tn {
					t.Errorf("%s for %s: %d statements for target %q", name, tn, len(low.Body), low.Target)
				}
			}
		}
	}
}

// TestMissingFeature: a kernel that asks for what its target lacks is refused at the op's line, with op, feature and
// target named.
func TestMissingFeature(t *testing.T) {
	real, err := target.Lookup("sm_80")
	if err != nil {
		t.Fatal(err)
	}
	bare := *real
	bare.Name, bare.Features = "sm_bare", maps.Clone(real.Features)
	delete(bare.Features, target.Atomics)
	for op, body := range map[string]func(k *tile.Builder, a intArgs){
		"AtomicAdd":  func(k *tile.Builder, a intArgs) { tile.AtomicAdd(k, a.Y, tile.I32(1)) },
		"AtomicMax":  func(k *tile.Builder, a intArgs) { tile.AtomicMax(k, a.Y, tile.I32(1)) },
		"AtomicMin":  func(k *tile.Builder, a intArgs) { tile.AtomicMin(k, a.Y, tile.I32(1)) },
		"AtomicExch": func(k *tile.Builder, a intArgs) { tile.AtomicExch(k, a.Y, tile.I32(1)) },
		"AtomicCAS": func(k *tile.Builder, a intArgs) {
			for range tile.Range(k, 0, 2, 1) { // ops in regions are seen too
				tile.AtomicCAS(k, a.Y, tile.I32(0), tile.I32(1))
			}
		},
	} {
		k := define(t, "k", body)
		if _, err := plan.Lower(k.IR(), real); err != nil {
			t.Errorf("%s on a target that has it: %v", op, err)
		}
		_, err := plan.Lower(k.IR(), &bare)
		if err == nil {
			t.Errorf("%s: a target without atomics takes it", op)
			continue
		}
		for _, want := range []string{"verify_committed_test.go:", op, "needs atomics", "sm_bare"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", op, err, want)
			}
		}
	}
	k := define(t, "k", func(k *tile.Builder, a intArgs) { tile.Store(k, a.Y, tile.I32(1)) })
	if _, err := plan.Lower(k.IR(), &bare); err != nil {
		t.Errorf("a kernel without atomics: %v", err)
	}
}
