//go:build !gotilegen

package optest

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Mutants are the mutants of an op: a row of the table for every op that has no function of its own in simulator and
// printer.
func Mutants(op ir.Op) []Mutant {
	out := append(slices.Clone(mutants[op]), asyncMutants[op]...)
	out = append(out, pipeMutants[op]...)
	out = append(append(out, algebraMutants[op]...), mmaMutants[op]...)
	for _, group := range alike {
		if !slices.Contains(group, op) {
			continue
		}
		for _, other := range group {
			if other != op {
				out = append(out, Mutant{What: "is " + other.String(), record: becomes(op, other)})
			}
		}
	}
	for i := range out {
		out[i].Op = op
	}
	return out
}

// alike are ops of which each can stand in the place of the others.
var alike = [][]ir.Op{
	{ir.Sum, ir.MaxOf, ir.MinOf, ir.Prod},
	{ir.CumSum, ir.CumMax, ir.CumMin, ir.CumProd},
	{ir.BlockID, ir.NumBlocks, ir.WarpID},
	{ir.AtomicAdd, ir.AtomicMax, ir.AtomicMin, ir.AtomicExch},
	{ir.ClusterID, ir.NumClusters, ir.ClusterRank},
}

// tensorPipes have cp.async for tensors that lie on whole vectors and have no tensor map, such as very long ones: none here.
var tensorPipes = []string{"op/copy_async/pipe_tensor/f32", "op/copy_async/pipe_tensor/bf16"}

var mutants = map[ir.Op][]Mutant{
	ir.Const: {
		{What: "has its lowest bit flipped", record: users(ir.Const, func(c *ir.Value) *ir.Value {
			return constant(c.Type.DT, c.Attr.(ir.Bits)^1)
		})},
	},
	ir.Param: {
		{What: "is 0", record: users(ir.Param, func(p *ir.Value) *ir.Value { return number(p.Type.DT, 0) })},
		{What: "is 1", record: users(ir.Param, func(p *ir.Value) *ir.Value { return number(p.Type.DT, 1) })},
	},
	ir.Dim: {
		{What: "is the next dimension", record: nextDim},
	},

	ir.Broadcast: {
		{What: "of one value repeats another", record: operand(ir.Broadcast, at(0), func(_, x *ir.Value) *ir.Value {
			if x.Type.Span != nil {
				return nil
			}
			return another(x)
		})},
		{What: "repeats the first element", lower: sourceIndex(func(thr.Expr, thr.Expr, int, int) thr.Expr { return i32(0) })},
		{What: "repeats along the other axis", lower: sourceIndex(otherAxis)},
	},
	ir.Coord: {
		{What: "counts along the other axis", record: every(ir.Coord, func(_ *ir.Kernel, v *ir.Value) undo {
			if v.Type.Span.Rank() != 2 {
				return nil
			}
			return set[any](&v.Attr, 1-v.Attr.(int))
		})},
	},
	ir.Fill: {
		{What: "leaves masked elements as they are", record: every(ir.Fill, func(_ *ir.Kernel, v *ir.Value) undo {
			return set[any](&v.Attr, []int{})
		})},
		{What: "takes another value", record: operand(ir.Fill, at(1), func(_, x *ir.Value) *ir.Value { return another(x) })},
	},

	ir.Fold: {
		{What: "is zero", lower: statements(ir.Fold, func(s thr.Assign) ([]thr.Stmt, bool) { return nil, true })},
		{What: "is the largest", lower: statements(ir.Fold, func(s thr.Assign) ([]thr.Stmt, bool) {
			sum, ok := s.Src.(thr.Apply)
			if ok = ok && sum.Op == ir.Add; ok {
				sum.Op = ir.Max
				s.Src = sum
			}
			return []thr.Stmt{s}, ok
		})},
	},

	ir.Var: {
		{What: "begins with another value", record: operand(ir.Var, at(0), func(v, x *ir.Value) *ir.Value {
			switch {
			case x.Type.Span == nil:
				return another(x)
			case ir.Table[x.Op].Class == ir.Elementwise && x.Args[0].Type == x.Type:
				return x.Args[0]
			}
			return nil
		})},
	},
	ir.Get: {
		{What: "reads the first value", record: every(ir.Get, func(k *ir.Kernel, v *ir.Value) undo {
			first := v.Args[0].Args[0]
			if first.Scope != v.Scope { // what reads it would be of another scope
				return nil
			}
			return replaced(k, v, first)
		})},
	},
	ir.Set: {
		{What: "is dropped", record: every(ir.Set, func(_ *ir.Kernel, v *ir.Value) undo {
			return set(&v.In.Ops, slices.DeleteFunc(slices.Clone(v.In.Ops), func(o *ir.Value) bool { return o == v }))
		})},
	},

	ir.Load: {
		{What: "reads the first row", record: operand(ir.Load, at(0), firstRow)},
		{What: "reads what lies behind", lower: load(func(s *thr.Load) bool {
			s.Addr = next(s.Space, s.Addr, s.Bytes)
			return true
		})},
		// The short rows of these two do not reach past the guard bands, and the stores skip what was read there.
		{What: "reads masked elements", inert: []string{"op/load/f16", "op/load/i32"}, lower: load(func(s *thr.Load) bool {
			was := s.Pred
			s.Pred = nil
			return was != nil
		})},
		{What: "reads unmasked elements only where they are masked", lower: load(func(s *thr.Load) bool {
			if s.Pred == nil {
				return false
			}
			s.Pred = not(s.Pred)
			return true
		})},
	},
	ir.Store: {
		{What: "writes the first row", record: operand(ir.Store, at(1), firstRow)},
		{What: "writes what lies behind", lower: store(func(s *thr.Store) bool {
			s.Addr = next(s.Space, s.Addr, s.Bytes)
			return true
		})},
		{What: "writes masked elements", lower: store(func(s *thr.Store) bool {
			was := s.Pred
			s.Pred = nil
			return was != nil
		})},
		{What: "is dropped", lower: statements(ir.Store, func(s thr.Store) ([]thr.Stmt, bool) { return nil, true })},
	},
	ir.AtomicCAS: {
		{What: "is atomic_exch", record: every(ir.AtomicCAS, func(_ *ir.Kernel, v *ir.Value) undo {
			return append(set(&v.Op, ir.AtomicExch), set(&v.Args, v.Args[1:])...)
		})},
		{What: "takes its operands in the other order", record: every(ir.AtomicCAS, func(_ *ir.Kernel, v *ir.Value) undo {
			args := slices.Clone(v.Args)
			args[0], args[1] = args[1], args[0]
			return set(&v.Args, args)
		})},
	},

	ir.CopyAsync: {
		{What: "is dropped", inert: tensorPipes, lower: builtin(thr.CpAsync, func(*thr.Do) bool { return false })},
		{What: "reads what lies behind", inert: tensorPipes, lower: builtin(thr.CpAsync, func(s *thr.Do) bool {
			s.Args = slices.Clone(s.Args)
			s.Args[0] = next(thr.Global, s.Args[0], 16)
			return true
		})},
		{What: "writes what lies behind", inert: tensorPipes, lower: builtin(thr.CpAsync, func(s *thr.Do) bool {
			s.Args = slices.Clone(s.Args)
			s.Args[1] = next(thr.Shared, s.Args[1], 16)
			return true
		})},
	},
	ir.Commit: {
		{What: "is dropped", lower: builtin(thr.CpCommit, func(*thr.Do) bool { return false })},
	},
	ir.WaitGroup: {
		{What: "is dropped", lower: builtin(thr.CpWait, func(*thr.Do) bool { return false })},
		{What: "leaves a group more in flight", lower: builtin(thr.CpWait, func(s *thr.Do) bool {
			s.Args = []thr.Expr{i32(int(s.Args[0].(thr.Const).Bits) + 1)}
			return true
		})},
	},

	ir.Asm: {
		{What: "computes the complement", record: every(ir.Asm, func(_ *ir.Kernel, v *ir.Value) undo {
			info := *v.Attr.(*ir.AsmInfo)
			sim, bits := info.Sim, 8*v.Type.DT.Size()
			info.Sim = func(in []uint64) uint64 { return ^sim(in) << (64 - bits) >> (64 - bits) }
			info.Template += map[int]string{32: " not.b32 %0, %0;", 64: " not.b64 %0, %0;"}[bits]
			return set[any](&v.Attr, &info)
		})},
		{What: "is another instruction", record: otherInstruction},
	},

	ir.Range: {
		{What: "has a larger step", lower: loop(ir.Range, func(s *thr.For) { s.Step = binary(ir.Add, s.Step, i32(1)) })},
		{What: "ends an iteration early", lower: loop(ir.Range, func(s *thr.For) { s.Hi = binary(ir.Sub, s.Hi, s.Step) })},
		// A chunk past the end of a row is masked: it loads zeros and stores nothing.
		{What: "ends an iteration late", inert: []string{"op/range/columns/f32", "op/range/columns/bf16", "op/range/columns/i64"}, lower: loop(ir.Range, func(s *thr.For) { s.Hi = binary(ir.Add, s.Hi, s.Step) })},
		{What: "begins an iteration late", lower: loop(ir.Range, func(s *thr.For) { s.Lo = binary(ir.Add, s.Lo, s.Step) })},
	},
	ir.Persistent: {
		{What: "takes every other share", lower: loop(ir.Persistent, func(s *thr.For) { s.Step = binary(ir.Add, s.Step, s.Step) })},
		{What: "does what others do too", lower: loop(ir.Persistent, func(s *thr.For) { s.Lo = i32(0) })},
		{What: "leaves out its first share", lower: loop(ir.Persistent, func(s *thr.For) { s.Lo = binary(ir.Add, s.Lo, s.Step) })},
	},
	ir.If: {
		{What: "has its branches exchanged", lower: statements(ir.If, func(s thr.If) ([]thr.Stmt, bool) {
			s.Then, s.Else = s.Else, s.Then
			return []thr.Stmt{s}, true
		})},
		{What: "has its condition negated", lower: branch(func(cond thr.Expr) thr.Expr { return not(cond) })},
		{What: "always takes the first branch", lower: branch(func(thr.Expr) thr.Expr { return truth(true) })},
		{What: "never takes the first branch", lower: branch(func(thr.Expr) thr.Expr { return truth(false) })},
	},
	ir.While: {
		{What: "runs its body once too often", lower: statements(ir.While, onceMore)},
		{What: "has its condition negated", Slow: true, lower: statements(ir.While, func(s thr.While) ([]thr.Stmt, bool) {
			s.Cond = not(s.Cond)
			return []thr.Stmt{s}, true
		})},
		{What: "never runs its body", lower: statements(ir.While, func(s thr.While) ([]thr.Stmt, bool) {
			s.Cond = truth(false)
			return []thr.Stmt{s}, true
		})},
	},
	ir.Barrier: {
		{What: "is dropped", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			return nil, s.Fn == thr.BlockSync || s.Fn == thr.WarpSync
		})},
		{What: "is one of the warp", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			is := s.Fn == thr.BlockSync
			s.Fn = thr.WarpSync
			return []thr.Stmt{s}, is
		})},
	},
	ir.ClusterBarrier: {
		{What: "is dropped", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) { return nil, s.Fn == thr.ClusterSync })},
		{What: "is one of the block", lower: statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
			is := s.Fn == thr.ClusterSync
			s.Fn = thr.BlockSync
			return []thr.Stmt{s}, is
		})},
	},
}

// firstRow is offset 0 in the place of any other.
func firstRow(_, old *ir.Value) *ir.Value {
	if old.Op == ir.Const && old.Attr.(ir.Bits) == 0 {
		return nil
	}
	return number(old.Type.DT, 0)
}

// nextDim renames every run-time dimension to another of the kernel.
func nextDim(k *ir.Kernel) (u undo) {
	seen := map[*ir.Value]bool{}
	visit := func(v *ir.Value) {
		if v == nil || v.Op != ir.Dim || seen[v] {
			return
		}
		seen[v] = true
		i := slices.Index(k.Symbols, v.Attr.(*ir.Symbol))
		if other := k.Symbols[(i+1)%len(k.Symbols)]; other != v.Attr {
			u = append(u, set[any](&v.Attr, other)...)
		}
	}
	eachOp(k, func(v *ir.Value) {
		for _, a := range v.Args {
			visit(a)
		}
		if v.Type.Span != nil {
			for _, e := range v.Type.Span.Extent {
				visit(e)
			}
		}
	})
	return u
}

// otherInstruction gives each inline instruction the text and the function of the next one of the same types.
func otherInstruction(k *ir.Kernel) (u undo) {
	var all []*ir.Value
	eachOp(k, func(v *ir.Value) {
		if v.Op == ir.Asm {
			all = append(all, v)
		}
	})
	infos := make([]any, len(all))
	for i, v := range all {
		infos[i] = v.Attr
	}
	for i, v := range all {
		for d := 1; d < len(all); d++ {
			j := (i + d) % len(all)
			if alikeAsm(v, all[j]) {
				u = append(u, set(&v.Attr, infos[j])...)
				break
			}
		}
	}
	return u
}

func alikeAsm(v, w *ir.Value) bool {
	return v.Type.DT == w.Type.DT && slices.EqualFunc(v.Args, w.Args, func(a, b *ir.Value) bool { return a.Type.DT == b.Type.DT })
}

// otherAxis is the element that a broadcast would repeat along the other axis of a thread's elements.
func otherAxis(old, i thr.Expr, n, elements int) thr.Expr {
	if a := old.(thr.Apply); a.Op == ir.Shr || a.Op == ir.Div {
		return binary(ir.Rem, i, i32(elements))
	}
	return binary(ir.Rem, binary(ir.Div, i, i32(max(1, n/elements))), i32(elements))
}

// builtin changes the statements of a built-in; where change returns false it drops them.
func builtin(fn thr.Fn, change func(s *thr.Do) bool) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
		if s.Fn != fn {
			return nil, false
		}
		if !change(&s) {
			return nil, true
		}
		return []thr.Stmt{s}, true
	})
}

func branch(change func(cond thr.Expr) thr.Expr) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(ir.If, func(s thr.If) ([]thr.Stmt, bool) {
		s.Cond = change(s.Cond)
		return []thr.Stmt{s}, true
	})
}
