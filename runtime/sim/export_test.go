package sim

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Meanings lists the pairs of operand and result type of an op.
func Meanings(op ir.Op) (out [][2]dtype.Type) {
	for _, s := range sigs(op) {
		out = append(out, [2]dtype.Type{s.T, s.R})
	}
	return out
}

// ReplaceOp makes op compute what other does on operands of type t with a result of type r, until restore is called.
// ok is false where other has no such form, or another number of operands.
func ReplaceOp(op, other ir.Op, t, r dtype.Type) (restore func(), ok bool) {
	s := sig{t, r}
	mine, theirs := ops[op].by[s], ops[other].by[s]
	if op == other || theirs.scalar == nil || mine.arity != theirs.arity {
		return nil, false
	}
	ops[op].by[s] = theirs
	return func() { ops[op].by[s] = mine }, true
}

// ReplaceFn is ReplaceOp for built-ins of thread IR; both are of one kind.
func ReplaceFn(f, other thr.Fn) (restore func(), ok bool) {
	mine, theirs := fns[f], fns[other]
	same := (mine.pure.scalar != nil) == (theirs.pure.scalar != nil) && (mine.call != nil) == (theirs.call != nil) && (mine.do != nil) == (theirs.do != nil)
	if f == other || !same || thr.Fns[f].Arity != thr.Fns[other].Arity || thr.Fns[f].Result != thr.Fns[other].Result {
		return nil, false
	}
	fns[f] = theirs
	return func() { fns[f] = mine }, true
}

// DropFn makes a built-in with effects do nothing until restore is called.
func DropFn(f thr.Fn) (restore func()) {
	was := fns[f]
	fns[f].do = func(*compiler, thr.Do) {}
	return func() { fns[f] = was }
}

// Precise gives the op that an approximate op computes exactly here.
func Precise(op ir.Op) ir.Op { return precise[op] }

// Conformance are the names of the public tests that TestConformance mirrors.
func Conformance() map[string]bool {
	out := map[string]bool{}
	for name := range conformance {
		out[name] = true
	}
	return out
}
