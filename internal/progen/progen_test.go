package progen

import (
	"context"
	"slices"
	"testing"

	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
	"pgregory.net/rapid"
)

func init() { plan.Verify = true }

// check records a program, and compares the simulator with the oracle.
func check(t rapid.TB, p Program, d *device.Device) {
	t.Helper()
	k, err := p.Kernel()
	if err != nil {
		t.Fatalf("Define: %+v\n%v", err, p)
	}
	want, err := p.Mean(k)
	if err != nil {
		t.Fatalf("%v\n%v\n%v", err, p, k)
	}
	got := p.Launch(k)
	if err := p.Run(context.Background(), d, k, got); err != nil {
		t.Fatalf("%v\n%v\n%v\n%s", err, p, k, lowered(k))
	}
	if where := Differ(got, want, true); where != "" {
		t.Fatalf("%s\n%v\n%v\n%s", where, p, k, lowered(k))
	}
}

func lowered(k *tile.Kernel) string {
	low, err := k.Lower("sm_90a")
	if err != nil {
		return err.Error()
	}
	return thr.Print(low)
}

func open(t testing.TB, seed uint64) *device.Device {
	t.Helper()
	d, err := device.Open("sim", device.WithSim(device.SimConfig{Seed: seed, TrackUninitialised: true}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestPrograms: what the simulator executes is what the program means. -rapid.checks asks for more programs.
func TestPrograms(t *testing.T) {
	d := open(t, 1)
	rapid.Check(t, func(r *rapid.T) {
		check(r, Programs.Draw(r, "program"), d)
	})
}

// TestVariety: the fixed programs have all that programs can have, many times.
func TestVariety(t *testing.T) {
	seen := map[string]int{}
	var walk func(steps []Step)
	walk = func(steps []Step) {
		for _, s := range steps {
			seen["step "+s.Do]++
			seen["kind "+s.Kind.String()]++
			walk(s.Body)
			walk(s.Else)
		}
	}
	for i := range Count {
		p := Fixed(i)
		for _, what := range []string{"scope " + p.Scope, "loop " + p.Loop, "ends " + p.Ends, "first " + p.T.String(), "second " + p.U.String()} {
			seen[what]++
		}
		if p.Pad > 0 {
			seen["padded"]++
		}
		if p.Shift > 0 {
			seen["shifted"]++
		}
		walk(p.Steps)
	}
	want := []string{"padded", "shifted"}
	for what, names := range map[string][]string{
		"scope ": {Warp, Block, Cluster}, "loop ": {Once, Persistent, EachBlock}, "ends ": {Whole, Clipped, Short, Half},
		"first ": {"f32", "bf16", "f16", "i32", "u32", "i64"}, "second ": {"f32", "bf16", "f16", "i32", "u32", "i64"},
		"kind ": {"matrix", "other", "rows", "cols", "vector", "single"},
		"step ": {"load", "gather", "unary", "binary", "ternary", "const", "select", "reduce", "expand", "full", "coord", "cast", "exact", "fill", "var",
			"get", "set", "store", "bounce", "atomic", "share", "copy", "fold", "peer", "range", "while", "if"},
	} {
		for _, n := range names {
			want = append(want, what+n)
		}
	}
	for _, what := range want {
		if seen[what] < 10 {
			t.Errorf("%s: %d times among %d programs", what, seen[what], Count)
		}
	}
}

// TestFixed: program i is the same whenever it is asked for, and the programs differ.
func TestFixed(t *testing.T) {
	seen := map[string]int{}
	for i := range Count {
		a, b := Fixed(i).String(), Fixed(i).String()
		if a != b {
			t.Fatalf("program %d is not the same twice", i)
		}
		if j, ok := seen[a]; ok {
			t.Errorf("programs %d and %d are one", j, i)
		}
		seen[a] = i
	}
}

// TestSensitive: outputs depend on most of a program, so that what is wrong with one op mostly shows. The rest of the
// steps is dead: values that nothing reads, loops without iterations.
func TestSensitive(t *testing.T) {
	d, steps, shown := open(t, 1), 0, 0
	for i := range 30 {
		p := Fixed(i)
		k, err := p.Kernel()
		if err != nil {
			t.Fatal(err)
		}
		got := p.Launch(k)
		if err := p.Run(context.Background(), d, k, got); err != nil {
			t.Fatal(err)
		}
		for j := range p.Steps {
			q := p
			q.Steps = slices.Delete(slices.Clone(p.Steps), j, j+1)
			other, err := q.Kernel()
			if err != nil {
				t.Fatal(err)
			}
			want, err := q.Mean(other)
			if err != nil {
				t.Fatal(err)
			}
			if steps++; Differ(got, want, true) != "" {
				shown++
			}
		}
	}
	t.Logf("of %d steps %d show when they are dropped", steps, shown)
	if 2*shown < steps {
		t.Errorf("of %d steps only %d show when they are dropped", steps, shown)
	}
}
