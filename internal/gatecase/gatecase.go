// Package gatecase makes the gates of an op a case of a table, so that verify runs them on GPUs too.
package gatecase

import (
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/gate"
	"github.com/gotile/gotile/tile/tiletest"
)

// Of is the case that runs an op through its gates. The simulator computes the same each time, so there results are
// compared twice only.
func Of[P, In, Out, S any](op *autodiff.Op[P, In, Out, S], c gate.Case[P]) tiletest.Case {
	return tiletest.Case{Name: "gate/" + op.Name() + "/" + c.Name, Run: func(r *tiletest.Run) error {
		if r.Device.Kind() == device.Sim && c.Runs == 0 {
			c.Runs = 2
		}
		report, err := gate.Check(r.Stream, op, c)
		if err != nil {
			return err
		}
		for _, v := range report.Verdicts {
			if v.Result == gate.Fail {
				r.Errorf("%s", v)
			}
		}
		return nil
	}}
}
