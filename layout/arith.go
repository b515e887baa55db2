package layout

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// The kinds of error that this package returns; errors.Is tells them apart. The message of each error gives the
// operands, the rule and the numbers that break it.
var (
	// ErrSyntax is text that is not a layout, a tuple or a swizzle.
	ErrSyntax = errors.New("layout: syntax")
	// ErrInvalid is an argument that is no layout, tiler, swizzle or permutation: a size below 1, profiles that differ.
	ErrInvalid = errors.New("layout: invalid")
	// ErrRange is an index or a coordinate outside of a layout's shape.
	ErrRange = errors.New("layout: out of range")
	// ErrUndefined is an operation whose result does not exist for these operands, such as a composition whose result
	// is no layout.
	ErrUndefined = errors.New("layout: not defined")
	// ErrLimit is a result beyond this package's limits: an int, MaxModes, MaxDepth.
	ErrLimit = errors.New("layout: beyond the limits")
)

// kindError is a message of one of the kinds above.
type kindError struct {
	kind error
	msg  string
}

func (e *kindError) Error() string { return "layout: " + e.msg }
func (e *kindError) Unwrap() error { return e.kind }

func fail(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Sprintf(format, args...)}
}

// within is an error of a step as an error of the operation that it is a step of.
func within(err error, format string, args ...any) error {
	var k *kindError
	if !errors.As(err, &k) {
		return err
	}
	return fail(k.kind, "%s: %s", fmt.Sprintf(format, args...), k.msg)
}

// mul is a*b for a, b >= 0, and whether it fits.
func mul(a, b int) (int, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int(lo), hi == 0 && lo <= math.MaxInt
}

// add is a+b for a, b >= 0, and whether it fits.
func add(a, b int) (int, bool) {
	if a > math.MaxInt-b {
		return 0, false
	}
	return a + b, true
}

// mulAdd is a*b+c for a, b, c >= 0, and whether it fits.
func mulAdd(a, b, c int) (int, bool) {
	p, ok := mul(a, b)
	if !ok {
		return 0, false
	}
	return add(p, c)
}

// clip shortens text for a message.
func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return s[:77] + "..."
}
