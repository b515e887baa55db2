package autodiff_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
)

func TestLedgers(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	var all autodiff.Ledger
	for _, phase := range []autodiff.Phase{autodiff.Eval, autodiff.Train} {
		tp := tape(t, s, autodiff.WithPhase(phase))
		l := total.Apply(tp, none{}, cubeOf(tp, tp.Param(p))).L
		if phase == autodiff.Train {
			if err := tp.Backward(l); err != nil {
				t.Fatal(err)
			}
			tp.Update("sgd", func(x *autodiff.Exec) error { x.Mutate(tp.Param(p)); return nil })
		}
		all.Add(closed(t, tp), 3)
	}
	if got, want := all.String(), "train cube=3/3 bwd=3 ref=0 total=3/3 bwd=3 | eval cube=3/3 total=3/3"; got != want {
		t.Errorf("the ledger is %q, want %q", got, want)
	}
	if u := all.Updates[autodiff.Train]["sgd"]; u == nil || u.Runs != 3 {
		t.Errorf("updates: %+v", all.Updates)
	}
	if err := all.Check(); err != nil {
		t.Error(err)
	}
	text, err := all.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var back autodiff.Ledger
	if err := json.Unmarshal(text, &back); err != nil || back.String() != all.String() {
		t.Errorf("through JSON: %q, %v", back.String(), err)
	}
	all.Ops[autodiff.Train]["cube"].Backward--
	if err := all.Check(); !errors.Is(err, autodiff.ErrBooks) || !strings.Contains(err.Error(), "cube: ") || !strings.Contains(err.Error(), "forward = backward + dropped is 3 = 2") {
		t.Errorf("books that do not balance: %v", err)
	}
	all.Reset()
	if all.String() != "" {
		t.Errorf("after Reset: %q", all.String())
	}
}

// Adding books times over is adding them as often: a graph's replays repeat all that its tape has counted.
func TestAddTimesOver(t *testing.T) {
	once := autodiff.Ledger{
		Ops: map[autodiff.Phase]map[string]*autodiff.Counts{autodiff.Train: {"op": {
			Asked: 15, Fused: 12, Declined: map[string]int{"long": 1, "killed": 2}, Ref: 3, Forward: 9, Backward: 7, Untracked: 3, Dropped: 2, Replays: 4,
			Launches: autodiff.LaunchCounts{Forward: 12, Backward: 14, Replay: 4}, Audit: &autodiff.AuditCounts{Runs: 2, Worst: 0.5, Port: "Y"}, HasRef: true,
		}}},
		Updates:  map[autodiff.Phase]map[string]*autodiff.UpdateCounts{autodiff.Train: {"adamw": {Runs: 1, Launches: 5}}},
		Detached: map[autodiff.Phase]map[string]int{autodiff.Train: {"a target": 2}},
	}
	if err := once.Check(); err != nil {
		t.Fatal(err)
	}
	var want, got autodiff.Ledger
	for range 3 {
		want.Add(&once, 1)
	}
	got.Add(&once, 3)
	if d := cmp.Diff(&want, &got); d != "" {
		t.Error(d)
	}
	if op := got.Of(autodiff.Train, "op"); op.Launches.Backward != 42 || op.Declined["killed"] != 6 || got.Detached[autodiff.Train]["a target"] != 6 ||
		got.Updates[autodiff.Train]["adamw"].Launches != 15 || op.Audit.Runs != 6 {
		t.Errorf("three times: %+v", op)
	}
}

func cubeOf(tp *autodiff.Tape, x autodiff.Tensor) unaryIn {
	return unaryIn{cube.Apply(tp, none{}, unaryIn{x}).Y}
}
