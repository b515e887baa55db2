//go:build !gotilegen

package rmsnorm

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/bench"
)

// missed are the goals that the committed results do not reach, and what they do not fall behind: a part of the copy's
// bandwidth, a part of the time of the fastest peer. All other goals are reached, but for half a per cent.
// docs/performance.md says why.
var missed = map[string]bench.Goal{
	"add_fwd/32768x1024/bf16":  {Peers: 1.01},
	"bwd/32768x2048/bf16":      {Copy: 0.93},
	"add_bwd/32768x2048/bf16":  {Copy: 0.94},
	"bwd/32768x4096/bf16":      {Copy: 0.93},
	"add_fwd/32768x4096/bf16":  {Peers: 1.01},
	"add_bwd/32768x4096/bf16":  {Copy: 0.94},
	"fwd/16384x8192/bf16":      {Peers: 1.01},
	"bwd/16384x8192/bf16":      {Copy: 0.93},
	"add_bwd/16384x8192/bf16":  {Copy: 0.94},
	"bwd/8192x16384/bf16":      {Copy: 0.95},
	"add_bwd/8192x16384/bf16":  {Copy: 0.94},
	"bwd/4096x32768/bf16":      {Copy: 0.93},
	"add_fwd/4096x32768/bf16":  {Copy: 0.95, Peers: 1.03},
	"add_bwd/4096x32768/bf16":  {Copy: 0.94},
	"fwd/4096x65536/bf16":      {Copy: 0.95, Peers: 1.02},
	"bwd/4096x65536/bf16":      {Copy: 0.94},
	"add_fwd/4096x65536/bf16":  {Copy: 0.94, Peers: 1.03},
	"add_bwd/4096x65536/bf16":  {Copy: 0.96},
	"fwd/2048x131072/bf16":     {Copy: 0.92, Peers: 1.06},
	"bwd/2048x131072/bf16":     {Copy: 0.93},
	"add_fwd/2048x131072/bf16": {Copy: 0.89, Peers: 1.10},
	"add_bwd/2048x131072/bf16": {Copy: 0.95},
	"fwd/4096x512/f32":         {Peers: 1.02},
	"fwd/32768x2048/f32":       {Peers: 1.01},
	"bwd/32768x2048/f32":       {Copy: 0.95},
	"add_fwd/32768x2048/f32":   {Peers: 1.02},
	"add_bwd/32768x2048/f32":   {Copy: 0.95},
	"bwd/32768x4096/f32":       {Copy: 0.96},
	"fwd/16384x8192/f32":       {Peers: 1.02},
	"bwd/16384x8192/f32":       {Copy: 0.95, Peers: 1.01},
	"add_fwd/16384x8192/f32":   {Peers: 1.01},
	"add_bwd/16384x8192/f32":   {Copy: 0.95},
	"add_fwd/8192x16384/f32":   {Peers: 1.02},
	"add_bwd/8192x16384/f32":   {Copy: 0.95, Peers: 1.01},
	"fwd/4096x32768/f32":       {Copy: 0.96, Peers: 1.03},
	"add_fwd/4096x32768/f32":   {Copy: 0.95},
	"add_bwd/4096x32768/f32":   {Copy: 0.96},
	"fwd/4096x65536/f32":       {Copy: 0.95, Peers: 1.02},
	"bwd/4096x65536/f32":       {Copy: 0.96},
	"add_fwd/4096x65536/f32":   {Copy: 0.91},
	"add_bwd/4096x65536/f32":   {Copy: 0.96},
	"fwd/2048x131072/f32":      {Copy: 0.88, Peers: 1.08},
	"bwd/2048x131072/f32":      {Copy: 0.96},
	"add_fwd/2048x131072/f32":  {Copy: 0.87},
	"add_bwd/2048x131072/f32":  {Copy: 0.89},
}

// earlier are runs that had peers where the present results have none, the latest first. Theirs are the same kernels.
var earlier = []string{
	"../results/h200/earlier/abb350a/rmsnorm.json", "../results/h200/earlier/fa47c56/rmsnorm.json", "../results/h200/earlier/20405c2/rmsnorm.json",
}

// TestGoals holds the committed results against what was asked of them: a part of a copy's bandwidth, and to be faster
// than every peer. A case that misses a goal that was reached fails, and so does one that falls further behind, an arm
// of ours without a time, a case that the results do not have any more, and a goal that there is nothing to compare with.
func TestGoals(t *testing.T) {
	cases := read(t, "../results/h200/rmsnorm.json")
	var before []map[string]bench.Case
	for _, path := range earlier {
		before = append(before, read(t, path))
	}
	all, err := benchmarks(bench.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		name := strings.TrimPrefix(b.Name, "rmsnorm/")
		c, ok := cases[name]
		if !ok {
			t.Errorf("%s is not measured any more", name)
			continue
		}
		if a := c.Arms["gotile"]; a.Error != "" || a.Median <= 0 {
			t.Errorf("%s: %+v", name, a)
		}
		if b.Goal != nil {
			judge(t, name, ratios(name, c, before), c, *b.Goal)
		}
	}
}

// read gives the cases of a file by name.
func read(t *testing.T, path string) map[string]bench.Case {
	t.Helper()
	r, err := bench.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bench.Case{}
	for _, c := range r.Cases {
		cases[strings.TrimPrefix(c.Name, "rmsnorm/")] = c
	}
	return cases
}

func isCopy(arm string) bool { return strings.HasPrefix(arm, "copy") }

// ratios are our part of the times of peers and copies: of a case's own run, or, where that has no peers, of those of the
// latest earlier run that has some.
func ratios(name string, c bench.Case, before []map[string]bench.Case) map[string]float64 {
	out := maps.Clone(c.Ratio)
	for _, run := range before {
		if slices.ContainsFunc(slices.Collect(maps.Keys(out)), func(arm string) bool { return !isCopy(arm) }) {
			break
		}
		for arm, a := range run[name].Arms {
			if !isCopy(arm) && arm != run[name].Base && a.Median > 0 {
				out[arm] = c.Arms["gotile"].Median / a.Median
			}
		}
	}
	return out
}

// judge holds a case against its goal, or against what it may not fall behind.
func judge(t *testing.T, name string, ratios map[string]float64, c bench.Case, goal bench.Goal) {
	t.Helper()
	least := goal
	if m := missed[name]; m.Copy > 0 {
		least.Copy = m.Copy
	}
	if m := missed[name]; m.Peers > 0 {
		least.Peers = m.Peers
	}
	const slack = 0.005 // of a run to the next
	copies, peers := 0, 0
	for arm, ratio := range ratios {
		if !isCopy(arm) {
			peers++
			if ratio > least.Peers+slack {
				t.Errorf("%s falls behind: %.3f of the time of %s, it had reached %.2f", name, ratio, arm, least.Peers)
			} else if ratio > goal.Peers {
				t.Logf("missed: %s: %.3f of the time of %s", name, ratio, arm)
			}
			continue
		}
		copies++
		if part := float64(c.Bytes) / float64(c.Arms[arm].Bytes) / ratio; part < least.Copy-slack {
			t.Errorf("%s falls behind: %.3f of %s, it had reached %.2f", name, part, arm, least.Copy)
		} else if part < goal.Copy {
			t.Logf("missed: %s: %.3f of %s, asked for %.2f", name, part, arm, goal.Copy)
		}
	}
	if copies == 0 || goal.Peers > 0 && peers == 0 {
		t.Errorf("%s is compared with %d copies and %d peers", name, copies, peers)
	}
}

// What is asked is asked of both types, and of the residual passes by the copy that moves as many tensors.
func TestAsked(t *testing.T) {
	all, err := benchmarks(bench.Selection{Shapes: append(shapes, "8x16")})
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bench.Goal{}
	for _, b := range all {
		if b.Goal != nil {
			asked[b.Name] = *b.Goal
		}
	}
	if want := 4 * len(shapes) * len(dtypes); len(asked) != want {
		t.Errorf("%d goals, want %d", len(asked), want)
	}
	for name, want := range map[string]bench.Goal{
		"fwd/4096x512/bf16": {Copy: 0.97, Peers: 1}, "bwd/4096x512/f32": {Peers: 1}, "fwd/32768x1024/f32": {Copy: 0.95, Peers: 1},
		"bwd/32768x1024/bf16": {Copy: 0.9, Peers: 1}, "bwd/2048x131072/bf16": {Copy: 0.97, Peers: 1},
		"add_fwd/32768x1024/bf16": {Copy: 0.95, Peers: 1}, "add_bwd/32768x1024/f32": {Copy: 0.9, Peers: 1}, "add_bwd/4096x512/bf16": {Peers: 1},
	} {
		if got := asked["rmsnorm/"+name]; !cmp.Equal(got, want) {
			t.Errorf("%s: asked %+v, want %+v", name, got, want)
		}
	}
}
