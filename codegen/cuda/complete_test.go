package cuda

import (
	"fmt"
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

// TestOpsComplete prints every elementwise op on every type of its domain, and demands that no two ops of one
// signature print alike: exchanging two rows of the table is noticed here.
func TestOpsComplete(t *testing.T) {
	seen := map[string]ir.Op{} // signature and text
	count := 0
	for o := ir.Op(1); o < ir.NumOps; o++ {
		info := ir.Table[o]
		for _, typ := range registerTypes {
			want := info.Class == ir.Elementwise && o != ir.Asm && info.Domain.Has(typ)
			if has := ops[o][typ].print != nil; has != want {
				t.Errorf("%v on %v: has a form %t, want %t", o, typ, has, want)
			}
			if !want {
				continue
			}
			for _, r := range results(o, typ) {
				locals := []*thr.Local{local("p", typ), local("q", typ), local("s", typ)}
				if o == ir.Select {
					locals[0] = local("c", dtype.Bool)
				}
				var args []thr.Expr
				for _, l := range locals[:info.Arity] {
					args = append(args, ref(l))
				}
				text := printed(t, thr.Apply{Op: o, T: typ, R: r, Args: args}, locals...)
				key := fmt.Sprintf("(%d %v) %v: %s", info.Arity, typ, r, text)
				if other, ok := seen[key]; ok && !sameFunction(other, o, typ, r) {
					t.Errorf("%v and %v on %v both print %q", other, o, typ, text)
				}
				seen[key] = o
				count++
			}
		}
	}
	if count < 150 {
		t.Errorf("only %d forms were printed", count)
	}
}

// sameFunction lists the ops that are one function on some types: conversions among integers of one size and to the
// type itself, and the absolute value of an unsigned number.
func sameFunction(a, b ir.Op, t, r dtype.Type) bool {
	conversions := func(o ir.Op) bool { return o == ir.Cast || o == ir.Bitcast }
	identities := func(o ir.Op) bool { return conversions(o) || o == ir.Abs && t == dtype.U32 }
	return conversions(a) && conversions(b) && t.IsInt() && r.IsInt() || identities(a) && identities(b) && t == r
}

// TestFnsComplete demands a form for every built-in, of the kind that the table says, with distinct texts.
func TestFnsComplete(t *testing.T) {
	seen := map[string]thr.Fn{}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		info, row := thr.Fns[f], fns[f]
		if (row.expr != nil) != info.Pure || (row.stmt != nil) == info.Pure {
			t.Errorf("%v: expression %t, statement %t; pure %t", f, row.expr != nil, row.stmt != nil, info.Pure)
			continue
		}
		l := local("x", dtype.U32)
		var args []thr.Expr
		for range info.Arity {
			args = append(args, ref(l))
		}
		var text string
		if info.Pure {
			text = printed(t, thr.Call{Fn: f, R: dtype.F32, Args: args}, l)
		} else {
			k := newTensors().kernel("k", decl(l, u32c(1)), thr.Do{Fn: f, DT: dtype.U32, Args: args})
			text = mustPrint(t, k, Options{})
			text = strings.TrimSpace(text[strings.Index(text, "u32 x = 1u;\n")+len("u32 x = 1u;\n"):])
		}
		if other, ok := seen[text]; ok {
			t.Errorf("%v and %v both print %q", other, f, text)
		}
		seen[text] = f
	}
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
		{thr.Store{Value: ref(x), Bytes: 16, Addr: z}, "needs a register array"},
	} {
		_, err := Print(newTensors().kernel("k", decl(x, f32(0)), decl(r, nil), c.stmt), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "cuda: kernel k: ") {
			t.Errorf("%#v: %v, want %q", c.stmt, err, c.want)
		}
	}
}
