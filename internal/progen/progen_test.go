package progen

import (
	"context"
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
