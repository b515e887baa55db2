package autodiff

import (
	"errors"
)

// Update runs body, which changes memory in place: an optimizer's step. It is counted under name. Parameters that the
// body changes are read through Exec.View and changed through Exec.Mutate; the body asks for them by Exec.Param.
func (t *Tape) Update(name string, body func(x *Exec) error) error {
	if !t.enter(name) {
		return t.Err()
	}
	defer t.leave()
	if body == nil {
		t.fail(&Error{Op: name, At: here().String(), Err: ErrUnset, Text: "there is no function to run"})
		return t.err
	}
	at := here()
	x := t.exec(name, nil, false, &at)
	n, err := t.phased("optimizer", func() error { return x.guarded(body) })
	t.book.update(t.phase, name, n)
	if err = x.cause(err); err != nil {
		x.end(false)
		t.fail(err)
		return err
	}
	x.end(true)
	for _, v := range x.made {
		t.release(v.store)
		v.store = nil
	}
	return nil
}

// cause is the error of a transaction: the first mistake in it, or what its body returned.
func (x *Exec) cause(err error) error {
	if x.err != nil {
		return x.err
	}
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Op: x.name, At: x.at.String(), Err: err}
}

// phased runs body with the stream in a phase, and counts the launches.
func (t *Tape) phased(name string, body func() error) (launches int, err error) {
	old, before, inner := t.s.Phase(), t.s.Launches(), t.nested
	t.s.SetPhase(name)
	defer t.s.SetPhase(old)
	err = body()
	all := t.s.Launches() - before
	launches = all - (t.nested - inner)
	t.nested = inner + all
	return launches, err
}
