package sim

import (
	"fmt"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"pgregory.net/rapid"
)

// generator draws programs of i32 locals with scopes, loops, branches and predicates.
type generator struct {
	*rapid.T
	arg    *thr.Arg
	locals []*thr.Local // in scope, may be assigned to
	loops  []*thr.Local // loop variables in scope
	n      int
}

func (g *generator) leaf() thr.Expr {
	leaves := []thr.Expr{i32(rapid.IntRange(-9, 99).Draw(g.T, "c")), lane, bid, warpID, arg(g.arg)}
	for _, l := range append(g.locals, g.loops...) {
		leaves = append(leaves, ref(l))
	}
	return rapid.SampledFrom(leaves).Draw(g.T, "leaf")
}

func (g *generator) expr(depth int) thr.Expr {
	if depth == 0 || rapid.IntRange(0, 3).Draw(g.T, "stop") == 0 {
		return g.leaf()
	}
	switch o := rapid.SampledFrom([]ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Xor, ir.Shr, ir.Min, ir.Neg, ir.Select, ir.Invalid}).Draw(g.T, "op"); o {
	case ir.Invalid:
		return call(thr.ShflXor, g.expr(depth-1), i32(rapid.IntRange(0, 31).Draw(g.T, "mask")))
	case ir.Neg:
		return op(o, g.expr(depth-1))
	case ir.Select:
		return op(o, g.pred(depth-1), g.expr(depth-1), g.expr(depth-1))
	default:
		return op(o, g.expr(depth-1), g.expr(depth-1))
	}
}

func (g *generator) pred(depth int) thr.Expr { return op(ir.Lt, g.expr(depth), g.expr(depth)) }

// same is a condition that all lanes share.
func (g *generator) same() thr.Expr {
	leaves := []thr.Expr{bid, warpID, arg(g.arg), i32(1)}
	for _, l := range g.loops {
		leaves = append(leaves, ref(l))
	}
	return op(ir.Lt, rapid.SampledFrom(leaves).Draw(g.T, "left"), rapid.SampledFrom(leaves).Draw(g.T, "right"))
}

func (g *generator) name() string { g.n++; return fmt.Sprint("v", g.n) }

func (g *generator) body(depth int) []thr.Stmt {
	scope, loops := len(g.locals), len(g.loops)
	var out []thr.Stmt
	for range rapid.IntRange(1, 5).Draw(g.T, "statements") {
		kind := rapid.IntRange(0, 9).Draw(g.T, "kind")
		switch {
		case kind < 3 || len(g.locals) == 0:
			l := local(g.name(), tI)
			out = append(out, declare(l, g.expr(3)))
			g.locals = append(g.locals, l)
		case kind < 6 || depth == 0:
			s := thr.Assign{Dst: ref(rapid.SampledFrom(g.locals).Draw(g.T, "to")), Src: g.expr(3)}
			if rapid.Bool().Draw(g.T, "predicated") {
				s.Pred = g.pred(1)
			}
			out = append(out, s)
		case kind < 8:
			v := local(g.name(), tI)
			f := thr.For{Var: v, Lo: i32(rapid.IntRange(-2, 2).Draw(g.T, "lo")), Hi: i32(rapid.IntRange(-2, 4).Draw(g.T, "hi")), Step: i32(rapid.IntRange(1, 3).Draw(g.T, "step")),
				Unroll: rapid.Bool().Draw(g.T, "unroll")}
			g.loops = append(g.loops, v)
			f.Body = g.body(depth - 1)
			g.loops = g.loops[:loops]
			out = append(out, f)
		default:
			s := thr.If{Cond: g.same(), Then: g.body(depth - 1)}
			if rapid.Bool().Draw(g.T, "else") {
				s.Else = g.body(depth - 1)
			}
			out = append(out, s)
		}
	}
	g.locals = g.locals[:scope]
	return out
}

// walker executes thread IR the slow way: a map of lanes for each local, expressions by recursion.
type walker struct {
	vars  map[*thr.Local]*[32]int32
	block int32
	warp  int32
	arg   int32
}

func (w *walker) eval(e thr.Expr) (out [32]int32) {
	each := func(f func(l int) int32) [32]int32 {
		for l := range out {
			out[l] = f(l)
		}
		return out
	}
	switch e := e.(type) {
	case thr.Const:
		return each(func(int) int32 { return int32(uint32(e.Bits)) })
	case thr.ArgRef:
		return each(func(int) int32 { return w.arg })
	case thr.Ref:
		return *w.vars[e.Local]
	case thr.Call:
		switch e.Fn {
		case thr.Lane:
			return each(func(l int) int32 { return int32(l) })
		case thr.BlockX:
			return each(func(int) int32 { return w.block })
		case thr.Warp:
			return each(func(int) int32 { return w.warp })
		case thr.ShflXor:
			x, m := w.eval(e.Args[0]), w.eval(e.Args[1])
			return each(func(l int) int32 { return x[l^int(m[l])] })
		}
	case thr.Apply:
		var x [3][32]int32
		for i, a := range e.Args {
			x[i] = w.eval(a)
		}
		return each(func(l int) int32 {
			a, b, c := x[0][l], x[1][l], x[2][l]
			switch e.Op {
			case ir.Add:
				return a + b
			case ir.Sub:
				return a - b
			case ir.Mul:
				return a * b
			case ir.Xor:
				return a ^ b
			case ir.Shr:
				return a >> (b & 31)
			case ir.Min:
				return min(a, b)
			case ir.Neg:
				return -a
			case ir.Lt:
				if a < b {
					return 1
				}
				return 0
			case ir.Select:
				if a != 0 {
					return b
				}
				return c
			}
			panic(e.Op)
		})
	}
	panic(fmt.Sprintf("%T", e))
}

func (w *walker) run(body []thr.Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case thr.Decl:
			x := w.eval(s.Init)
			w.vars[s.Local] = &x
		case thr.Assign:
			x := w.eval(s.Src)
			d := w.vars[s.Dst.Local]
			on := [32]int32{}
			if s.Pred != nil {
				on = w.eval(s.Pred)
			}
			for l := range d {
				if s.Pred == nil || on[l] != 0 {
					d[l] = x[l]
				}
			}
		case thr.For:
			lo, hi, step := w.eval(s.Lo)[0], w.eval(s.Hi)[0], w.eval(s.Step)[0]
			for i := lo; i < hi; i += step {
				var v [32]int32
				for l := range v {
					v[l] = i
				}
				w.vars[s.Var] = &v
				w.run(s.Body)
			}
		case thr.If:
			if w.eval(s.Cond)[0] != 0 {
				w.run(s.Then)
			} else {
				w.run(s.Else)
			}
		}
	}
}

// The compiler (scalar registers, reused temporaries, folding, unrolling, results over operands) computes what a walk
// over the statements does.
func TestCompilerAgainstWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out, a := pointer("out", tI), scalar("a", tI)
		var keep []*thr.Local
		var body []thr.Stmt
		g := &generator{T: t, arg: a}
		for range 4 {
			l := local(g.name(), tI)
			body = append(body, declare(l, g.expr(2)))
			keep = append(keep, l)
			g.locals = append(g.locals, l)
		}
		body = append(body, g.body(3)...)
		program := body
		for i, l := range keep {
			where := op(ir.Add, op(ir.Mul, op(ir.Add, op(ir.Mul, bid, i32(64)), tid), i32(4)), i32(i))
			program = append(program[:len(program):len(program)], storeGlobal(at(), out, where, ref(l)))
		}
		k := kernel(64, 0, []*thr.Arg{out, a}, program...)
		p, err := Compile(k)
		if err != nil {
			t.Fatal(err)
		}
		m := NewMemory(false)
		addr, err := m.Alloc(2 * 64 * 4 * 4)
		if err != nil {
			t.Fatal(err)
		}
		value := rapid.IntRange(-3, 70).Draw(t, "argument")
		if _, err := p.Run(t.Context(), m, 2, words(addr, uint64(uint32(int32(value)))), Options{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		b, err := m.Bytes(addr, 2*64*4*4)
		if err != nil {
			t.Fatal(err)
		}
		got := u32s(b)
		for block := range 2 {
			for warp := range 2 {
				w := &walker{map[*thr.Local]*[32]int32{}, int32(block), int32(warp), int32(value)}
				w.run(body)
				for l := range 32 {
					for i, x := range keep {
						if g, want := int32(got[((block*2+warp)*32+l)*4+i]), w.vars[x][l]; g != want {
							t.Fatalf("block %d warp %d lane %d: %s = %d, want %d", block, warp, l, x.Name, g, want)
						}
					}
				}
			}
		}
	})
}
