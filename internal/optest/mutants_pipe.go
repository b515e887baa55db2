//go:build !gotilegen

package optest

import (
	"strings"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// pipeMutants are the mutants of pipelines and roles.
var pipeMutants = map[ir.Op][]Mutant{
	ir.PipeInit: {
		{What: "is dropped", lower: builtin(thr.MBarInit, dropped)},
		{What: "takes an arrival more", lower: builtin(thr.MBarInit, more(1, 1))},
		{What: "is not fenced", lower: builtin(thr.MBarFence, dropped)},
	},
	ir.SlotAcquire: {
		{What: "does not wait", lower: onBar("_empty", dropStmt(thr.MBarWait))},
		{What: "waits for the other phase", lower: onBar("_empty", otherPhase)},
		{What: "expects 16 bytes more", lower: builtin(thr.MBarArriveTx, more(1, 16))},
	},
	ir.SlotWait: {
		{What: "does not wait", lower: onBar("_full", dropStmt(thr.MBarWait))},
		{What: "waits for the other phase", lower: onBar("_full", otherPhase)},
	},
	ir.SlotRelease: {
		{What: "is dropped", lower: onBar("_empty", dropStmt(thr.MBarArrive))},
		{What: "counts twice", lower: onBar("_empty", func(s thr.Do) ([]thr.Stmt, bool) {
			return []thr.Stmt{s, s}, s.Fn == thr.MBarArrive
		})},
		{What: "does not wait for stores of the slot", lower: builtin(thr.BulkWaitRead, dropped)},
		{What: "does not end the group of its stores", lower: builtin(thr.BulkCommit, dropped)},
	},
	ir.Roles: {
		{What: "gives the first role's warps the other's work", lower: statements(ir.Roles, func(s thr.If) ([]thr.Stmt, bool) {
			s.Then, s.Else = s.Else, s.Then
			return []thr.Stmt{s}, len(s.Then) > 0
		})},
		{What: "drops a role", lower: statements(ir.Roles, func(s thr.If) ([]thr.Stmt, bool) {
			ok := len(s.Else) > 0
			s.Else = nil
			return []thr.Stmt{s}, ok
		})},
	},
	ir.GroupID: {{What: "is the warp's number", record: becomes(ir.GroupID, ir.WarpID)}},
	ir.SetMaxRegs: {
		{What: "gives none back", lower: builtin(thr.RegsDec, dropped)},
		{What: "takes more than there are", lower: builtin(thr.RegsInc, more(0, 16))},
	},
	ir.Elect: {
		{What: "is true in all lanes", lower: elected(true)},
		{What: "is true in none", lower: elected(false)},
	},
}

// onBar changes statements about an mbarrier of a pipeline.
func onBar(suffix string, change func(s thr.Do) ([]thr.Stmt, bool)) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(ir.Invalid, func(s thr.Do) ([]thr.Stmt, bool) {
		if s.Bar == nil || !strings.HasSuffix(s.Bar.Name, suffix) {
			return nil, false
		}
		return change(s)
	})
}

// dropStmt drops the statements of a built-in.
func dropStmt(f thr.Fn) func(s thr.Do) ([]thr.Stmt, bool) {
	return func(s thr.Do) ([]thr.Stmt, bool) { return nil, s.Fn == f }
}

// otherPhase waits for the other parity.
func otherPhase(s thr.Do) ([]thr.Stmt, bool) {
	if s.Fn != thr.MBarWait {
		return nil, false
	}
	s.Args = []thr.Expr{s.Args[0], binary(ir.Sub, i32(1), s.Args[1])}
	return []thr.Stmt{s}, true
}

// elected makes every election one of all lanes, or of none.
func elected(all bool) func(k *ir.Kernel, low *thr.Kernel) bool {
	return statements(ir.Invalid, func(s thr.Assign) ([]thr.Stmt, bool) {
		changed := false
		s.Src = rewriteCall(s.Src, func(c thr.Call) thr.Expr {
			if c.Fn != thr.Elect {
				return c
			}
			changed = true
			return truth(all)
		})
		return []thr.Stmt{s}, changed
	})
}

// rewriteCall replaces the calls of built-ins in an expression.
func rewriteCall(e thr.Expr, f func(thr.Call) thr.Expr) thr.Expr {
	switch x := e.(type) {
	case thr.Call:
		return f(x)
	case thr.Apply:
		args := make([]thr.Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = rewriteCall(a, f)
		}
		x.Args = args
		return x
	}
	return e
}
