//go:build !gotilegen

package optest

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// asyncMutants are the mutants of mbarriers and bulk copies.
var asyncMutants = map[ir.Op][]Mutant{
	ir.MBarInit: {
		{What: "is dropped", lower: builtin(thr.MBarInit, dropped)},
		{What: "takes an arrival more", lower: builtin(thr.MBarInit, more(1, 1))},
	},
	ir.MBarArrive: {
		{What: "is dropped", lower: builtin(thr.MBarArrive, dropped)},
		{What: "arrives once more", lower: builtin(thr.MBarArrive, more(1, 1))},
	},
	ir.MBarArriveTx: {
		{What: "is dropped", lower: builtin(thr.MBarArriveTx, dropped)},
		{What: "expects 16 bytes more", lower: builtin(thr.MBarArriveTx, more(1, 16))},
	},
	ir.MBarExpectTx: {
		{What: "is dropped", lower: builtin(thr.MBarExpectTx, dropped)},
		{What: "expects 16 bytes more", lower: builtin(thr.MBarExpectTx, more(1, 16))},
	},
	ir.MBarTest: {{What: "is always true", lower: statements(ir.Invalid, answered(thr.MBarTest, thr.MBarTestToken))}},
	ir.MBarTry:  {{What: "is always true", lower: statements(ir.Invalid, answered(thr.MBarTry, thr.MBarTryToken))}},
	ir.MBarWait: {
		{What: "is dropped", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			return nil, s.Fn == thr.MBarWait || s.Fn == thr.MBarWaitToken
		})},
		{What: "waits for the other phase", lower: builtin(thr.MBarWait, func(s *thr.Do) bool {
			s.Args = []thr.Expr{s.Args[0], binary(ir.Sub, i32(1), s.Args[1])}
			return true
		})},
	},
	ir.MBarTrack: {{What: "is dropped", lower: builtin(thr.MBarTrack, dropped)}},
	ir.MBarInval: {{What: "comes first", record: first(ir.MBarInval, ir.MBarInit)}},

	ir.CopyBulk: {
		{What: "is dropped", lower: builtin(thr.BulkLoad, dropped)},
		{What: "takes 16 bytes less", lower: builtin(thr.BulkLoad, more(2, -16))},
		{What: "starts 16 bytes later", lower: builtin(thr.BulkLoad, func(s *thr.Do) bool {
			s.Args = append([]thr.Expr{next(thr.Global, s.Args[0], 16)}, s.Args[1:]...)
			return true
		})},
	},
	ir.StoreBulk: {
		{What: "is dropped", lower: builtin(thr.BulkStore, dropped)},
		{What: "takes 16 bytes less", lower: builtin(thr.BulkStore, more(2, -16))},
	},
	ir.CopyTensor: {
		{What: "is dropped", lower: builtin(thr.TensorLoad, dropped)},
		{What: "starts a column later", lower: builtin(thr.TensorLoad, more(2, 1))},
	},
	ir.MulticastTensor: {
		{What: "is dropped", lower: builtin(thr.TensorMulticast, dropped)},
		{What: "leaves a block out", lower: builtin(thr.TensorMulticast, more(2, -1))},
		{What: "starts a row later", lower: builtin(thr.TensorMulticast, more(4, 1))},
	},
	ir.StoreTensor: {
		{What: "is dropped", lower: builtin(thr.TensorStore, dropped)},
		{What: "starts a column later", lower: builtin(thr.TensorStore, more(1, 1))},
	},
	ir.ReduceTensor: {
		{What: "is dropped", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) { return nil, reduces(s.Fn) })},
		{What: "overwrites", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			if !reduces(s.Fn) {
				return nil, false
			}
			s.Fn = thr.TensorStore
			return []thr.Stmt{s}, true
		})},
	},
	ir.PrefetchTensor: {{What: "is dropped", Hint: true, lower: builtin(thr.TensorPrefetch, dropped)}},

	ir.CommitBulk: {{What: "is dropped", lower: builtin(thr.BulkCommit, dropped)}},
	ir.WaitBulk: {
		{What: "is dropped", lower: builtin(thr.BulkWait, dropped)},
		// Where nothing is stored a second time, nor read, that is enough.
		{What: "waits for the reads alone", lower: builtin(thr.BulkWait, becomesFn(thr.BulkWaitRead)), inert: []string{"op/wait_bulk/ring/f32", "op/wait_bulk/ring/bf16"}},
	},
	ir.WaitBulkRead: {
		{What: "is dropped", lower: builtin(thr.BulkWaitRead, dropped)},
		{What: "leaves a group more in flight", lower: builtin(thr.BulkWaitRead, more(0, 1))},
	},
	ir.FenceAsync: {{What: "is dropped", lower: builtin(thr.FenceAsync, dropped)}},

	ir.MBarArriveAt: {
		{What: "is dropped", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			return nil, s.Fn == thr.MBarArriveAt || s.Fn == thr.MBarRelaxedAt
		})},
		{What: "is at the block itself", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			if s.Fn != thr.MBarArriveAt && s.Fn != thr.MBarRelaxedAt {
				return nil, false
			}
			s.Args = []thr.Expr{s.Args[0], thr.Call{Fn: thr.ClusterRank, R: dtype.I32}}
			return []thr.Stmt{s}, true
		})},
	},
	ir.StoreAsync: {
		{What: "is dropped", lower: builtin(thr.StAsync, dropped)},
		{What: "goes to the block after", lower: builtin(thr.StAsync, func(s *thr.Do) bool {
			s.Args = slices.Clone(s.Args)
			s.Args[2] = binary(ir.Rem, binary(ir.Add, s.Args[2], i32(1)), i32(passSize))
			return true
		})},
	},
	ir.BroadcastAsync: {
		{What: "is dropped", lower: builtin(thr.StAsync, dropped)},
		{What: "goes to the block after", lower: builtin(thr.StAsync, func(s *thr.Do) bool {
			s.Args = slices.Clone(s.Args)
			s.Args[0] = binary(ir.Add, s.Args[0], thr.Const{DT: dtype.U32, Bits: 4})
			return true
		})},
	},
	ir.MBarArriveAll: {
		{What: "is dropped", lower: builtin(thr.MBarRelaxedAt, dropped)},
		{What: "orders nothing", lower: builtin(thr.FenceShared, dropped)},
	},
	ir.FenceAsyncGlobal:  {{What: "is dropped", lower: builtin(thr.FenceAsyncGlobal, dropped)}},
	ir.FenceCluster:      {{What: "is dropped", lower: builtin(thr.FenceCluster, dropped)}},
	ir.LaunchDependents:  {{What: "comes before the wait", record: sooner(ir.LaunchDependents, ir.WaitPrerequisites)}},
	ir.WaitPrerequisites: {{What: "is dropped", lower: builtin(thr.GridWait, dropped)}},

	ir.NamedSync: {
		{What: "is dropped", lower: builtin(thr.NamedSync, dropped)},
		{What: "does not wait", lower: builtin(thr.NamedSync, becomesFn(thr.NamedArrive))},
		{What: "is for a warp less", lower: builtin(thr.NamedSync, more(1, -32))},
	},
	ir.NamedArrive: {
		{What: "is dropped", lower: builtin(thr.NamedArrive, dropped)},
		{What: "waits", lower: builtin(thr.NamedArrive, becomesFn(thr.NamedSync))},
		{What: "comes to the other barrier", lower: builtin(thr.NamedArrive, func(s *thr.Do) bool {
			s.Args = []thr.Expr{binary(ir.Sub, i32(3), s.Args[0]), s.Args[1]}
			return true
		})},
	},
}

func reduces(f thr.Fn) bool { return f >= thr.TensorAdd && f <= thr.TensorMax }

func dropped(*thr.Do) bool { return false }

// becomesFn makes a built-in another one of the same operands.
func becomesFn(f thr.Fn) func(s *thr.Do) bool {
	return func(s *thr.Do) bool {
		s.Fn = f
		return true
	}
}

// more adds to operand i of a built-in.
func more(i, by int) func(s *thr.Do) bool {
	return func(s *thr.Do) bool {
		s.Args = slices.Clone(s.Args)
		if c, ok := s.Args[i].(thr.Const); ok {
			s.Args[i] = i32(int(c.Bits) + by)
		} else {
			s.Args[i] = binary(ir.Add, s.Args[i], i32(by))
		}
		return true
	}
}

// answered makes built-ins that ask say yes.
func answered(fns ...thr.Fn) func(s thr.Do) ([]thr.Stmt, bool) {
	return func(s thr.Do) ([]thr.Stmt, bool) {
		if !slices.Contains(fns, s.Fn) {
			return nil, false
		}
		return []thr.Stmt{thr.Assign{At: s.At, Dst: *s.Dst, Src: thr.Const{DT: dtype.Bool, Bits: 1}}}, true
	}
}

// sooner moves the op of one kind ahead of that of another, at the top level.
func sooner(op, ahead ir.Op) func(k *ir.Kernel) undo {
	return func(k *ir.Kernel) undo {
		ops := slices.Clone(k.Body.Ops)
		i := slices.IndexFunc(ops, func(v *ir.Value) bool { return v.Op == op })
		j := slices.IndexFunc(ops, func(v *ir.Value) bool { return v.Op == ahead })
		if i < 0 || j < 0 || i < j {
			return nil
		}
		moved := ops[i]
		return set(&k.Body.Ops, slices.Insert(slices.Delete(ops, i, i+1), j, moved))
	}
}

// first moves the ops of one kind behind the last one of another, at the top level.
func first(op, behind ir.Op) func(k *ir.Kernel) undo {
	return func(k *ir.Kernel) undo {
		var front, moved, rest []*ir.Value
		last := -1
		for i, v := range k.Body.Ops {
			if v.Op == behind {
				last = i
			}
		}
		for i, v := range k.Body.Ops {
			switch {
			case i <= last:
				front = append(front, v)
			case v.Op == op:
				moved = append(moved, v)
			default:
				rest = append(rest, v)
			}
		}
		if moved == nil {
			return nil
		}
		return set(&k.Body.Ops, slices.Concat(front, moved, rest))
	}
}
