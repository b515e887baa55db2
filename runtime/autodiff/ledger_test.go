package autodiff_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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

func cubeOf(tp *autodiff.Tape, x autodiff.Tensor) unaryIn {
	return unaryIn{cube.Apply(tp, none{}, unaryIn{x}).Y}
}
