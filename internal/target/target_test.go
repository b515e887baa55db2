package target

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
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

// TestHardware holds which chip has what.
func TestHardware(t *testing.T) {
	hopper := "sm_90a sm_100a sm_103a"
	since90 := hopper + " sm_120a sm_121a sm_90a-as-120"
	all := "sm_80 sm_86 sm_89 " + since90
	for f, names := range map[Feature]string{
		Atomics: all, CpAsync: all, MMASync: all, LdMatrix: all,
		Cluster: since90, TMA: since90, StMatrix: since90, SetMaxNReg: since90, Elect: since90,
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

// TestColumns: only atomics, clusters and cp.async are lowered, nothing is lowered or verified that the hardware has
// not, and a proxy's verification is not its target's.
func TestColumns(t *testing.T) {
	for _, n := range Names() {
		for f, s := range table[n].Features {
			if s.Lowered != (f == Atomics || f == Cluster || f == CpAsync) {
				t.Errorf("%s, %s: lowered %v", n, f, s.Lowered)
			}
			if !s.Hardware || s.Verified != "" && !s.Lowered {
				t.Errorf("%s, %s: %+v", n, f, s)
			}
		}
	}
	for f, ran := range map[Feature]string{Atomics: "internal/optest op/atomic_*", CpAsync: "internal/optest op/copy_async/*", Cluster: "internal/optest op/cluster_*"} {
		for n, want := range map[string]string{
			"sm_90a": ran + " on H200", "sm_90a-as-120": ran + " on H200", "sm_120a": ran + " by proxy: sm_90a-as-120 on H200",
			"sm_80": "", "sm_86": "", "sm_89": "", "sm_100a": "", "sm_103a": "", "sm_121a": "",
		} {
			if got := table[n].Features[f].Verified; got != want {
				t.Errorf("%s: %s verified %q, want %q", n, f, got, want)
			}
		}
	}
}

// casesRun lists the cases that the H200's receipts of internal/optest hold, by target.
func casesRun(t *testing.T) map[string]map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "optest", "receipts", "h200.json"))
	if err != nil {
		t.Fatal(err)
	}
	var receipts struct {
		Kernels []struct {
			Target string
			Ran    []string
		}
	}
	if err := json.Unmarshal(text, &receipts); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	for _, k := range receipts.Kernels {
		for _, c := range k.Ran {
			if out[k.Target] == nil {
				out[k.Target] = map[string]bool{}
			}
			out[k.Target][c] = true
		}
	}
	return out
}

// TestVerifiedByReceipts: the H200's receipts of internal/optest hold the cases of each feature, of every kind, for
// exactly the targets that the table says ran there.
func TestVerifiedByReceipts(t *testing.T) {
	cases := casesRun(t)
	for f, kinds := range map[Feature][]string{
		Atomics: {"op/atomic_add/", "op/atomic_max/", "op/atomic_min/", "op/atomic_exch/", "op/atomic_cas/"},
		CpAsync: {"op/copy_async/ring/", "op/copy_async/ping_pong/", "op/copy_async/box/"},
		Cluster: {"op/cluster_rank/", "op/cluster_id/", "op/cluster_barrier/global", "op/cluster_barrier/peer/"},
	} {
		_, pattern, _ := strings.Cut(table["sm_90a"].Features[f].Verified, " ")
		pattern = strings.TrimSuffix(pattern, " on H200")
		for _, n := range Names() {
			holds := func(prefix string) bool {
				return slices.ContainsFunc(slices.Collect(maps.Keys(cases[n])), func(c string) bool { return strings.HasPrefix(c, prefix) })
			}
			claimed := strings.HasSuffix(table[n].Features[f].Verified, pattern+" on H200")
			if held := holds(strings.TrimSuffix(pattern, "*")); claimed != held {
				t.Errorf("%s: %s verified on H200 %v, receipts hold cases %v", n, f, claimed, held)
			}
			for _, kind := range kinds {
				if claimed && !holds(kind) {
					t.Errorf("%s: no receipt of %s", n, kind)
				}
			}
		}
	}
}
