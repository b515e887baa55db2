package cuda

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// ReplaceOp makes op print as other does on operands of type t, until restore is called. ok is false where one of them
// has no form on t, or where they take other numbers of operands.
func ReplaceOp(op, other ir.Op, t dtype.Type) (restore func(), ok bool) {
	mine, theirs := ops[op][t], ops[other][t]
	if op == other || mine.print == nil || theirs.print == nil || ir.Table[op].Arity != ir.Table[other].Arity {
		return nil, false
	}
	ops[op][t] = theirs
	return func() { ops[op][t] = mine }, true
}

// ReplaceFn is ReplaceOp for built-ins of thread IR.
func ReplaceFn(f, other thr.Fn) (restore func(), ok bool) {
	mine, theirs := fns[f], fns[other]
	if f == other || (mine.expr == nil) != (theirs.expr == nil) || thr.Fns[f].Arity != thr.Fns[other].Arity {
		return nil, false
	}
	fns[f] = theirs
	return func() { fns[f] = mine }, true
}
