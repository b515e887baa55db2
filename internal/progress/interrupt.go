package progress

import "context"

// ErrInterrupted ends what its context has ended, for the user: it is context.Canceled, in better words.
var ErrInterrupted error = interrupted{}

type interrupted struct{}

func (interrupted) Error() string        { return "interrupted" }
func (interrupted) Is(target error) bool { return target == context.Canceled }
