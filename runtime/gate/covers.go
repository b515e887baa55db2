package gate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gotile/gotile/runtime/autodiff"
)

// ErrUngated is what a parameter of a model is without a gate that has looked at its gradient.
var ErrUngated = errors.New("no gate")

// Covers demands that the gates have looked at the gradient of every parameter of a model. t is an open tape on which the
// model's loss stands; reports are those of Check, of the ops that the model is made of. A parameter has its gate if each
// port that it was given to is one whose gradient a report without a failure has compared. It needs one, too, if it is on
// the tape and not among params, and if it is among them and no op takes it: both are mistakes in a model. The error names
// all, and is ErrUngated.
func Covers(t *autodiff.Tape, params []*autodiff.Param, reports ...*Report) error {
	var errs []error
	missing := func(p *autodiff.Param, format string, args ...any) {
		errs = append(errs, fmt.Errorf("gate: parameter %s: %s: %w", p.Name(), fmt.Sprintf(format, args...), ErrUngated))
	}
	for _, p := range params {
		uses := t.Uses(p)
		if len(uses) == 0 {
			missing(p, "no op on the tape takes it")
		}
		for _, u := range uses {
			if !slices.ContainsFunc(reports, func(r *Report) bool { return r.looksAt(u) }) {
				missing(p, "it goes into %s of %s, whose gradient no report has compared without a failure; give Check a case of the op", u.Port, u.Op)
			}
		}
	}
	for _, p := range t.Params() {
		if !slices.Contains(params, p) {
			missing(p, "it is on the tape, and not in the list of the model's parameters")
		}
	}
	return errors.Join(append(errs, t.Err())...)
}

// looksAt reports whether the gradient of a port was compared, and no gate failed.
func (r *Report) looksAt(u autodiff.Use) bool {
	return r != nil && r.Op == u.Op && r.Err() == nil && slices.ContainsFunc(r.Verdicts, func(v Verdict) bool {
		return v.Port == "d"+u.Port && (v.Gate == "gradient" || v.Gate == "difference")
	})
}
