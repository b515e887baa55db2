package caps

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gotile/gotile/internal/optest"
	"github.com/gotile/gotile/internal/optest/receipts"
	"github.com/gotile/gotile/internal/target"
)

// What is verified follows from the receipts: on the GPU that ran it, by proxy for the target whose lowering ran, and
// nowhere else; where nothing ran, or the hardware lacks it, nothing is claimed.
func TestEvidence(t *testing.T) {
	runs, err := read(fstest.MapFS{
		"h200.json": {Data: []byte(`{"device": "NVIDIA H200", "kernels": [
			{"name": "a", "target": "sm_90a", "ran": ["op/add/f32", "op/atomic_add/i32"]},
			{"name": "b", "target": "sm_90a", "ran": ["op/atomic_add/i32", "op/atomic_max/i32"]},
			{"name": "a", "target": "sm_90a-as-120", "ran": ["op/add/f32"]}]}`)},
		"rtx5090.json": {Data: []byte(`{"device": "NVIDIA GeForce RTX 5090", "kernels": [{"name": "a", "target": "sm_120a", "ran": ["op/add/f32"]}]}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target  string
		feature target.Feature
		cell    string
		want    []string
	}{
		{"sm_90a", target.Base, "verified", []string{"3 cases of internal/optest op/* on NVIDIA H200"}},
		{"sm_90a", target.Atomics, "verified", []string{"2 cases of internal/optest op/atomic_* on NVIDIA H200"}},
		{"sm_90a", target.Cluster, "lowered", nil},
		{"sm_90a", target.WGMMA, "lowered", nil},
		{"sm_90a", target.TCGen05, "-", nil},
		{"sm_120a", target.Base, "verified", []string{
			"1 cases of internal/optest op/* on NVIDIA GeForce RTX 5090",
			"by proxy, as sm_90a-as-120: 1 cases of internal/optest op/* on NVIDIA H200"}},
		{"sm_120a", target.Atomics, "lowered", nil},
		{"sm_120a", target.Multicast, "avoided", nil},
		{"sm_90a-as-120", target.Base, "verified", []string{"1 cases of internal/optest op/* on NVIDIA H200"}},
		{"sm_80", target.Base, "lowered", nil},
		{"sm_80", target.Cluster, "-", nil},
	} {
		chip, err := target.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		all := rows(chip, runs)
		r := all[slices.IndexFunc(all, func(r Row) bool { return r.Feature == c.feature })]
		var got []string
		for _, e := range r.Verified {
			got = append(got, e.String())
		}
		if r.Cell() != c.cell || !slices.Equal(got, c.want) {
			t.Errorf("%s on %s: %s, %q; want %s, %q", c.feature, c.target, r.Cell(), got, c.cell, c.want)
		}
	}
	if _, err := read(fstest.MapFS{"h200.json": {Data: []byte("{")}}); err == nil || !strings.Contains(err.Error(), "internal/optest/receipts/h200.json") {
		t.Errorf("a receipt that is cut off: %v", err)
	}
}

// open reports whether some kernel with a feature is listed as one that is yet to run on a GPU.
func open(t *testing.T, f target.Feature) bool {
	list, err := os.ReadFile(filepath.Join("..", "..", ".ci", "open-receipts"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(list)) {
		texts, err := filepath.Glob(filepath.Join("..", "optest", "cuda", name+"*.cu")) // one a lowering
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range texts {
			text, err := os.ReadFile(path)
			if err == nil && slices.ContainsFunc(spelling[f], func(w string) bool { return strings.Contains(string(text), w) }) {
				return true
			}
		}
	}
	return false
}

// The committed receipts: every feature that gotile lowers has cases that ran on the H200, of each kind.
func TestCommitted(t *testing.T) {
	all, err := Of("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if (cases[r.Feature] != "") != r.Lowered {
			t.Errorf("%s: lowered %v, but cases %q", r.Feature, r.Lowered, cases[r.Feature])
		}
		if r.Lowered && r.Cell() != "verified" && !open(t, r.Feature) {
			t.Errorf("%s: %s on sm_90a", r.Feature, r.Cell())
		}
	}
	// What sm_120a lowers has run on the H200 as its proxy.
	consumer, err := Of("sm_120a")
	if err != nil {
		t.Fatal(err)
	}
	proxies := 0
	for _, r := range consumer {
		by := slices.ContainsFunc(r.Verified, func(e Evidence) bool { return e.Proxy && e.Cases > 0 })
		if r.Lowered && !by && !open(t, r.Feature) {
			t.Errorf("%s of sm_120a: no case ran by proxy: %+v", r.Feature, r.Verified)
		}
		if by {
			proxies++
		}
	}
	if proxies == 0 {
		t.Error("sm_120a has no proxy")
	}
	if _, err := Of("sm_90"); err == nil {
		t.Error("an unknown target has rows")
	}
}

// The cases that the third column names exist: those that each feature is counted by, and each of the receipts.
func TestNamedCasesExist(t *testing.T) {
	exist := map[string]bool{}
	for _, c := range optest.Cases() {
		exist[c.Recorded()] = true
	}
	for f, prefix := range cases {
		found := false
		for name := range exist {
			found = found || strings.HasPrefix(name, prefix)
		}
		if !found {
			t.Errorf("%s is counted by %s*, and no case is named so", f, prefix)
		}
	}
	runs, err := read(receipts.Files)
	if err != nil || len(runs) == 0 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	for _, r := range runs {
		for name := range r.cases {
			if !exist[name] {
				t.Errorf("%s as %s ran %s, which is no case of %s", r.gpu, r.target, name, suite)
			}
		}
	}
}

// A feature's cases run kernels that have it: on the H200 some case passed that launched a text with the feature, so that
// none is counted for its cases' names alone.
func TestNamedCasesRunTheFeature(t *testing.T) {
	text, err := receipts.Files.ReadFile("h200.json")
	if err != nil {
		t.Fatal(err)
	}
	var receipt struct {
		Kernels []struct {
			Name, Target string
			Ran          []string
		}
	}
	if err := json.Unmarshal(text, &receipt); err != nil {
		t.Fatal(err)
	}
	for f, prefix := range cases {
		ran := false
		for _, k := range receipt.Kernels {
			named := slices.ContainsFunc(k.Ran, func(c string) bool { return strings.HasPrefix(c, prefix) })
			ran = ran || named && k.Target == "sm_90a" && says(t, k.Name, k.Target, f)
		}
		if !ran && !open(t, f) {
			t.Errorf("no case of %s* ran a kernel with %s on sm_90a", prefix, f)
		}
	}
}

// says reports whether the text of a kernel for a target has a feature.
func says(t *testing.T, kernel, chip string, f target.Feature) bool {
	paths, err := filepath.Glob(filepath.Join("..", "optest", "cuda", kernel+"*.cu")) // one a lowering, and kernels with longer names
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(text); strings.Contains(s, " "+kernel+"(") && slices.Contains(claimed(s), chip) &&
			slices.ContainsFunc(spelling[f], func(w string) bool { return strings.Contains(s, w) }) {
			return true
		}
	}
	return false
}

// spelling is how the committed CUDA says a feature.
var spelling = map[target.Feature][]string{
	target.Base: {"extern \"C\" __global__"}, target.Atomics: {"atomicAdd(", "atom."}, target.CpAsync: {"cp.async.cg."},
	target.Cluster: {"barrier.cluster."}, target.TMA: {"cp.async.bulk.tensor"}, target.TMACTA: {"bulk.tensor.1d.shared::cta", "bulk.tensor.2d.shared::cta"},
	target.Multicast: {".multicast::cluster"}, target.WGMMA: {"wgmma."}, target.MMASync: {"mma.sync"}, target.MMAFloat8: {".e4m3.e4m3.", ".e5m2.e5m2."}, target.LdMatrix: {"ldmatrix."},
	target.StMatrix: {"stmatrix."}, target.SetMaxNReg: {"setmaxnreg."}, target.Elect: {"elect.sync"}, target.TCGen05: {"tcgen05."},
	target.MBarrier: {"mbarrier.init"}, target.MBarrierTx: {"expect_tx"}, target.Bulk: {"cp.async.bulk.shared", "cp.async.bulk.global"},
	target.GridDep: {"griddepcontrol."},
}

// The second column against the committed CUDA: what is lowered is in the text of some kernel of each target that has
// it, what is not is in none.
func TestLoweredIsEmitted(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "optest", "cuda", "*.cu"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	emitted := map[string]map[target.Feature]bool{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range claimed(string(text)) {
			if emitted[name] == nil {
				emitted[name] = map[target.Feature]bool{}
			}
			for f, words := range spelling {
				if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(string(text), w) }) {
					emitted[name][f] = true
				}
			}
		}
	}
	for _, name := range target.Names() {
		chip, err := target.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if chip.Proxy != "" {
			continue // its target's texts
		}
		for _, f := range target.Features() {
			if got, want := emitted[name][f], chip.Features[f].Lowered; got != want {
				t.Errorf("%s on %s: in the text of a kernel %v, lowered %v", f, name, got, want)
			}
		}
	}
}

// claimed are the targets that a .cu file lists at its head.
func claimed(text string) []string {
	for line := range strings.Lines(text) {
		if list, ok := strings.CutPrefix(line, "// Targets: "); ok {
			names, _, _ := strings.Cut(list, " (")
			return strings.Fields(names)
		}
	}
	return nil
}
