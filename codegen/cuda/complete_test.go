package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// registerTypes are the types that thread IR computes in.
var registerTypes = []dtype.Type{dtype.F32, dtype.I32, dtype.U32, dtype.I64, dtype.Bool}

// results are the types an op may have on operands of type t.
func results(o ir.Op, t dtype.Type) []dtype.Type {
	switch {
	case o == ir.Cast:
		return registerTypes
	case o == ir.Bitcast:
		var out []dtype.Type
		for _, r := range registerTypes {
			if r != dtype.Bool && r.Size() == t.Size() {
				out = append(out, r)
			}
		}
		return out
	case ir.Table[o].Result == ir.ToBool:
		return []dtype.Type{dtype.Bool}
	}
	return []dtype.Type{t}
}

// operandsOf are locals for an op on operands of one type.
func operandsOf(o ir.Op, t dtype.Type) (ls []*thr.Local, args []thr.Expr) {
	for i, n := range []string{"p", "q", "s"}[:ir.Table[o].Arity] {
		l := local(n, t)
		if o == ir.Select && i == 0 {
			l = local("c", dtype.Bool)
		}
		ls, args = append(ls, l), append(args, ref(l))
	}
	return ls, args
}

// wanted reports whether an op must have a form on operands of a type.
func wanted(o ir.Op, t dtype.Type) bool {
	return ir.Table[o].Class == ir.Elementwise && o != ir.Asm && ir.Table[o].Domain.Has(t)
}

// formLines prints an op on operands of one type, a line for each result type.
func formLines(t *testing.T, o ir.Op, typ dtype.Type) (out []string) {
	ls, args := operandsOf(o, typ)
	for _, r := range results(o, typ) {
		out = append(out, fmt.Sprintf("%-14v %-4v %-4v  %s\n", o, typ, r, printed(t, thr.Apply{Op: o, T: typ, R: r, Args: args}, ls...)))
	}
	return out
}

// TestOpsComplete demands a form for every elementwise op on every type of its domain and no others, and compares all
// of them with a listing.
func TestOpsComplete(t *testing.T) {
	var list strings.Builder
	for o := ir.Op(1); o < ir.NumOps; o++ {
		for _, typ := range registerTypes {
			if has := ops[o][typ].print != nil; has != wanted(o, typ) {
				t.Errorf("%v on %v: has a form %t, want %t", o, typ, has, !has)
			} else if has {
				list.WriteString(strings.Join(formLines(t, o, typ), ""))
			}
		}
	}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		if (fns[f].expr != nil) != thr.Fns[f].Pure || (fns[f].stmt == nil) != thr.Fns[f].Pure {
			t.Errorf("%v: expression %t, statement %t; pure %t", f, fns[f].expr != nil, fns[f].stmt != nil, thr.Fns[f].Pure)
			continue
		}
		fmt.Fprintf(&list, "%-14v            %s\n", f, fnText(t, f))
	}
	golden(t, "forms.txt", list.String())
}

// TestExchangedOps exchanges the forms of each two ops of one arity on one type: the listing of TestOpsComplete must
// not stay as it is.
func TestExchangedOps(t *testing.T) {
	exchanged := 0
	for _, typ := range registerTypes {
		for a := ir.Op(1); a < ir.NumOps; a++ {
			for b := a + 1; b < ir.NumOps; b++ {
				// Across result rules the forms do not even print.
				if !wanted(a, typ) || !wanted(b, typ) || ir.Table[a].Arity != ir.Table[b].Arity || ir.Table[a].Result != ir.Table[b].Result {
					continue
				}
				if a == ir.Bitcast && b == ir.Cast && typ == dtype.I64 {
					continue // to i64 both are the identity; to other types the exchanged bitcast fails to print at all
				}
				before := formLines(t, a, typ)
				ops[a][typ], ops[b][typ] = ops[b][typ], ops[a][typ]
				after := formLines(t, a, typ)
				ops[a][typ], ops[b][typ] = ops[b][typ], ops[a][typ]
				exchanged++
				if slices.Equal(before, after) {
					t.Errorf("%v and %v on %v print alike: %q", a, b, typ, before)
				}
			}
		}
	}
	if exchanged < 400 { // the loops above must not run empty
		t.Errorf("only %d pairs were tried", exchanged)
	}
}

// TestDistinctFns: no two built-ins print alike.
func TestDistinctFns(t *testing.T) {
	seen := map[string]thr.Fn{}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		text := fnText(t, f)
		if other, ok := seen[text]; ok {
			t.Errorf("%v and %v both print %q", other, f, text)
		}
		seen[text] = f
	}
}

// fnText prints a built-in on u32 operands.
func fnText(t *testing.T, f thr.Fn) string {
	l, desc := local("x", dtype.U32), local("desc", dtype.I64)
	var args []thr.Expr
	for range thr.Fns[f].Arity {
		args = append(args, ref(l))
	}
	if f == thr.WGMMADesc {
		args = []thr.Expr{ref(l), i32(16), i32(1024), i32(128)}
	}
	if thr.Fns[f].Pure {
		return printed(t, thr.Call{Fn: f, R: dtype.F32, Args: args}, l)
	}
	var m *thr.Arg
	if f.Tensor() {
		args = append(args, i32(0))
		m = &thr.Arg{Name: "z_map", Kind: thr.ArgMap, Map: &thr.TensorMap{Box: []int{4}}}
	}
	if f == thr.CpWait || f == thr.BulkWait || f == thr.BulkWaitRead || f == thr.RegsDec || f == thr.RegsInc {
		args = []thr.Expr{u32c(1)}
	}
	regs, typ := array("r", dtype.U32, 8), dtype.U32
	if f == thr.MMASync || f.Warpgroup() {
		typ = dtype.F16
	}
	switch f { // descriptors, then constants
	case thr.WGMMA:
		args = []thr.Expr{ref(desc), ref(desc), i32(0), i32(1), i32(1)}
	case thr.WGMMARegs:
		args = []thr.Expr{ref(desc), i32(1), i32(0)}
	case thr.WGMMAWait:
		args = []thr.Expr{i32(1)}
	}
	var frags []thr.Frag
	for i, use := range f.Frags() {
		frags = append(frags, thr.Frag{Local: regs, First: i32(int32(i)), N: use.Counts[0], Step: 1})
	}
	k := newTensors().kernel("k", decl(regs, nil), decl(desc, nil), decl(l, u32c(1)), thr.Do{Fn: f, DT: typ, Args: args, Map: m, Frags: frags})
	if f.Matrix() || f.Tensor() || f.CopyBytes() > 0 || f.Barrier() >= 0 || f == thr.BulkStore {
		k.SharedBytes = 16
	}
	if f.Remote() {
		k.Cluster = 2
	}
	text := mustPrint(t, k, Options{})
	_, text, _ = strings.Cut(text, "u32 x = 1u;\n")
	return strings.TrimSuffix(strings.TrimSpace(text), "\n}")
}

// TestAtomicTypes prints each atomic on each type of its domain and refuses the others.
func TestAtomicTypes(t *testing.T) {
	tile := map[thr.Fn]ir.Op{thr.AtomicAdd: ir.AtomicAdd, thr.AtomicMax: ir.AtomicMax, thr.AtomicMin: ir.AtomicMin, thr.AtomicExch: ir.AtomicExch, thr.AtomicCAS: ir.AtomicCAS}
	for f, o := range tile {
		for _, typ := range registerTypes {
			l := local("x", typ)
			args := []thr.Expr{get(newTensors().z), ref(l), ref(l)}[:thr.Fns[f].Arity]
			_, err := Print(newTensors().kernel("k", decl(l, nil), thr.Do{Fn: f, DT: typ, Args: args}), Options{})
			if want := ir.Table[o].Domain.Has(typ); (err == nil) != want {
				t.Errorf("%v on %v: %v, want it to print: %t", f, typ, err, want)
			}
		}
	}
}

// TestRefused checks the messages about thread IR that CUDA cannot say.
func TestRefused(t *testing.T) {
	x, r := local("x", dtype.F32), array("r", dtype.U32, 4)
	z := get(newTensors().z)
	for _, c := range []struct {
		stmt thr.Stmt
		want string
	}{
		{set(x, thr.Apply{Op: ir.Exp, T: dtype.I32, R: dtype.I32, Args: []thr.Expr{i32(1)}}), "no CUDA for exp on i32"},
		{set(x, thr.Apply{Op: ir.Sum, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{ref(x)}}), "no CUDA for sum on f32"},
		{set(x, thr.Apply{Op: ir.Add, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{ref(x)}}), "add takes 2 operands, not 1"},
		{set(x, elem(x, i32(0))), "an index is for register arrays"},
		{set(x, ref(local("nowhere", dtype.F32))), `"nowhere" is used but not declared`},
		{thr.Do{Fn: thr.BlockSync, Pred: boolean(true)}, "takes no predicate"},
		{thr.Load{Dst: x, Bytes: 8, Addr: z}, "needs an array"},
		{thr.Load{Dst: x, Bytes: 2, Addr: z}, "no access of 2 bytes for registers of f32"},
		{thr.Load{Dst: r, Index: i32(2), Bytes: 16, Addr: z}, "registers 2 to 5 of 4"},
		{thr.Load{Dst: x, Bytes: 4, Addr: u32c(0)}, "is no pointer"},
		{thr.Load{Space: thr.Shared, Dst: x, Bytes: 4, Addr: u32c(0)}, "without shared memory"},
		{thr.Store{Bytes: 4, Addr: z}, "registers or a value"},
		{thr.Store{Value: ref(x), Bytes: 4, Addr: z, Cache: ir.CacheReadOnly}, "read-only hint"},
		{thr.Store{Value: ref(x), Bytes: 4, Addr: z, Rank: i32(0)}, "another block's memory, in a cluster of 0"},
		{thr.Do{Fn: thr.ClusterSync, Pred: boolean(true)}, "takes no predicate"},
		{thr.Do{Fn: thr.ClusterArrive, Pred: boolean(true)}, "takes no predicate"},
		{thr.Do{Fn: thr.ClusterWait, Pred: boolean(true)}, "takes no predicate"},
		{thr.Store{Value: ref(x), Bytes: 16, Addr: z}, "needs a register array"},
	} {
		_, err := Print(newTensors().kernel("k", decl(x, f32(0)), decl(r, nil), c.stmt), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "cuda: kernel k: ") {
			t.Errorf("%#v: %v, want %q", c.stmt, err, c.want)
		}
	}
}
