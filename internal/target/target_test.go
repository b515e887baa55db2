package target

import (
	"encoding/json"
	"os"
	"path/filepath"
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

// TestColumns: only atomics, clusters and cp.async are lowered, nothing is lowered or verified that the hardware has not, and a proxy's
// verification is not its target's.
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
	for n, want := range map[string]string{
		"sm_90a": "internal/optest op/atomic_* on H200", "sm_90a-as-120": "internal/optest op/atomic_* on H200",
		"sm_120a": "internal/optest op/atomic_* by proxy: sm_90a-as-120 on H200",
		"sm_80":   "", "sm_86": "", "sm_89": "", "sm_100a": "", "sm_103a": "", "sm_121a": "",
	} {
		if got := table[n].Features[Atomics].Verified; got != want {
			t.Errorf("%s: atomics verified %q, want %q", n, got, want)
		}
	}
}

// TestVerifiedByReceipts: the H200's receipts of internal/optest hold each atomic for exactly the targets that the
// table says ran there.
func TestVerifiedByReceipts(t *testing.T) {
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
	ran := map[string]map[string]bool{}
	for _, k := range receipts.Kernels {
		for _, c := range k.Ran {
			if op, ok := strings.CutPrefix(c, "op/atomic_"); ok {
				if ran[k.Target] == nil {
					ran[k.Target] = map[string]bool{}
				}
				op, _, _ = strings.Cut(op, "/")
				ran[k.Target][op] = true
			}
		}
	}
	for _, n := range Names() {
		claimed := strings.HasSuffix(table[n].Features[Atomics].Verified, "op/atomic_* on H200")
		if claimed != (len(ran[n]) > 0) {
			t.Errorf("%s: verified on H200 %v, receipts hold %v", n, claimed, ran[n])
		}
		for _, op := range []string{"add", "max", "min", "exch", "cas"} {
			if claimed && !ran[n][op] {
				t.Errorf("%s: no receipt of op/atomic_%s", n, op)
			}
		}
	}
}
