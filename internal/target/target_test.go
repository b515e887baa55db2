package target

import (
	"slices"
	"strings"
	"testing"
)

// TestChips holds the numbers of each target: shared memory in KB a block can have, threads of an SM, blocks of a
// cluster.
func TestChips(t *testing.T) {
	want := []struct {
		name, arch, proxy            string
		cc, shared, threads, cluster int
	}{
		{"sm_80", "sm_80", "", 80, 163, 2048, 1},
		{"sm_86", "sm_86", "", 86, 99, 1536, 1},
		{"sm_89", "sm_89", "", 89, 99, 1536, 1},
		{"sm_90a", "sm_90a", "", 90, 227, 2048, 8},
		{"sm_100a", "sm_100a", "", 100, 227, 2048, 8},
		{"sm_103a", "sm_103a", "", 103, 227, 2048, 8},
		{"sm_120a", "sm_120a", "", 120, 99, 1536, 8},
		{"sm_121a", "sm_121a", "", 121, 99, 1536, 8},
		{"sm_90a-as-120", "sm_90a", "sm_120a", 90, 99, 1536, 8},
	}
	names := Names()
	if len(names) != len(want) {
		t.Fatalf("%d targets %v, want %d", len(names), names, len(want))
	}
	for i, w := range want {
		if names[i] != w.name {
			t.Errorf("target %d is %s, want %s", i, names[i], w.name)
		}
		c, err := Lookup(w.name)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name != w.name || c.Arch != w.arch || c.Proxy != w.proxy || c.CC != w.cc || c.Shared != w.shared<<10 || c.Threads != w.threads || c.Cluster != w.cluster {
			t.Errorf("%+v, want %+v", *c, w)
		}
	}
}

// TestSelect: in the order of Names, and no proxy, which is named by the target that it stands for.
func TestSelect(t *testing.T) {
	little := Select(func(t *Target) bool { return t.Cluster > 1 && t.Shared < 128<<10 })
	if want := []string{"sm_120a", "sm_121a"}; !slices.Equal(little, want) {
		t.Errorf("clusters with little shared memory: %v, want %v", little, want)
	}
	if none := Select(func(*Target) bool { return false }); none != nil {
		t.Errorf("got %v of no targets", none)
	}
}

func TestUnknown(t *testing.T) {
	_, err := Lookup("sm_90")
	if err == nil || !strings.Contains(err.Error(), `"sm_90"`) || !strings.Contains(err.Error(), "sm_90a, ") {
		t.Errorf("got %v, want the name and those there are", err)
	}
}

// TestHardware holds which chip has what that kernels may use; internal/caps asks ptxas for the same.
func TestHardware(t *testing.T) {
	hopper := "sm_90a sm_100a sm_103a"
	since90 := hopper + " sm_120a sm_121a sm_90a-as-120"
	all := "sm_80 sm_86 sm_89 " + since90
	for f, names := range map[Feature]string{
		Base: all, Atomics: all, CpAsync: all, MMASync: all, LdMatrix: all,
		Cluster: since90, TMA: since90, TMACTA: since90, StMatrix: since90, SetMaxNReg: since90, Elect: since90,
		MBarrier: all, MBarrierTx: since90, Bulk: since90, GridDep: since90,
		Multicast: hopper, WGMMA: "sm_90a", TCGen05: "sm_100a sm_103a",
	} {
		for _, n := range Names() {
			want := false
			for _, w := range strings.Fields(names) {
				want = want || w == n
			}
			if table[n].Has(f) != want {
				t.Errorf("%s has %s: %v, want %v", n, f, !want, want)
			}
		}
	}
}

// TestColumns: nothing is lowered that the hardware has not or that is avoided, and every feature is explained.
func TestColumns(t *testing.T) {
	for _, n := range Names() {
		for f, s := range table[n].Features {
			if want := slices.Contains(lowered, f) && s.Avoided == ""; s.Lowered != want {
				t.Errorf("%s, %s: lowered %v, want %v", n, f, s.Lowered, want)
			}
			if !s.Hardware || s.Lowered && s.Avoided != "" {
				t.Errorf("%s, %s: %+v", n, f, s)
			}
			if f.Doc() == "" || !slices.Contains(Features(), f) {
				t.Errorf("%s is not in the list of features", f)
			}
		}
	}
	for _, n := range []string{"sm_120a", "sm_121a", "sm_90a-as-120"} {
		if table[n].Features[Multicast].Avoided == "" {
			t.Errorf("%s: multicast is slow there", n)
		}
	}
	if Feature("nothing").Doc() != "" {
		t.Error("an unknown feature has a text")
	}
}

// TestFor: a chip runs its own code, without an a also that of older ones of its kind.
func TestFor(t *testing.T) {
	for cc, want := range map[int]string{80: "sm_80", 86: "sm_86", 87: "sm_86", 89: "sm_89", 90: "sm_90a", 100: "sm_100a", 120: "sm_120a", 121: "sm_121a", 75: "", 101: "", 70: "", 130: ""} {
		got := ""
		if c := For(cc/10, cc%10); c != nil {
			got = c.Name
		}
		if got != want {
			t.Errorf("compute capability %d: %q, want %q", cc, got, want)
		}
	}
}
