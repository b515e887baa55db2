package tile

import "github.com/gotile/gotile/internal/ir"

// Error is one mistake in a kernel: the position in the author's code (Pos.Frame() has file and line), the op, the
// rule it breaks (errors.Is sees it) and a message with the numbers and one way out.
type Error = ir.Error

// Errors are all mistakes of a kernel, in the order of their positions. Error prints ten, %+v all.
type Errors = ir.Errors

// The rules, for errors.Is.
var (
	ErrShape   = ir.ErrShape   // ranks, sizes, extents, axes
	ErrLayout  = ir.ErrLayout  // distributions, vector widths
	ErrScope   = ir.ErrScope   // a value or an op outside the threads, the region or the kernel it belongs to
	ErrDType   = ir.ErrDType   // an op that its element type does not have
	ErrControl = ir.ErrControl // recorded loops and conditionals
	ErrTarget  = ir.ErrTarget  // what the target lacks
	ErrLimit   = ir.ErrLimit   // too much of something
	ErrPort    = ir.ErrPort    // the Args struct and its tags
	ErrPanic   = ir.ErrPanic   // the author's function panicked
)
