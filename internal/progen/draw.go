package progen

import (
	"fmt"
	"math/bits"

	"github.com/gotile/gotile/dtype"
	"pgregory.net/rapid"
)

// Programs draws programs.
var Programs = rapid.Custom(draw)

// Fixed is program number i of a fixed sequence.
func Fixed(i int) Program { return Programs.Example(i) }

// drawing draws numbers with their names.
type drawing struct{ *rapid.T }

func (d drawing) num(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.T, what) }

// one reports true once in n.
func (d drawing) one(n int, what string) bool { return d.num(1, n, what) == n }

func pickOf[V any](d drawing, what string, from ...V) V {
	return rapid.SampledFrom(from).Draw(d.T, what)
}

func draw(t *rapid.T) Program {
	d := drawing{t}
	p := Program{
		T: pickOf(d, "T", dtype.Arithmetic()...), U: pickOf(d, "U", dtype.Arithmetic()...),
		Scope: pickOf(d, "scope", Block, Block, Block, Warp, Cluster), Loop: pickOf(d, "loop", Once, Persistent, Persistent, EachBlock),
		Threads: 32 << d.num(0, 3, "threads"),
		Rows:    d.num(1, 12, "rows"), Cols: d.num(1, 40, "cols"),
		Ends: pickOf(d, "ends", Whole, Clipped, Clipped, Short, Half),
		Salt: d.num(0, 99, "salt"),
	}
	if d.one(6, "wide") {
		p.Rows, p.Cols = d.num(1, 4, "wide rows"), d.num(41, 256, "wide cols")
	}
	threads := p.Threads // of the scope
	switch p.Scope {
	case Warp:
		threads = 32
		if p.Loop == EachBlock { // goes with blocks
			p.Loop = Persistent
		}
		if p.Loop == Once {
			p.Threads = 32
		}
	case Cluster:
		p.Cluster = 2 << d.num(0, 2, "cluster")
		threads *= p.Cluster
	}
	across := func(what string) int { return 1 << d.num(0, bits.Len(uint(threads))-1, what) }
	p.Vec, p.Across = 1<<d.num(0, 3, "vec"), across("across")
	p.Vec2, p.Across2 = 1<<d.num(0, 4, "vec2"), across("across2")

	p.M, p.N, p.Batch, p.Units = d.num(1, p.Rows, "m"), d.num(1, p.Cols, "n"), 1, 1
	if p.Loop != Once {
		p.Batch = d.num(1, 5, "batch")
		p.Units = p.Batch
	}
	if p.Loop == Persistent {
		p.Units = d.num(1, 3, "units")
	}
	if d.one(3, "padded") {
		p.Pad = d.num(1, 16, "pad")
	}
	if d.one(3, "shifted") {
		p.Shift = d.num(1, 9, "shift")
	}
	p.Steps = d.steps(p, d.num(3, 14, "length"), 2)
	return p
}

// steps draws n statements, with loops and branches to a depth.
func (d drawing) steps(p Program, n, depth int) []Step {
	doing := []string{
		"load", "load", "gather", "unary", "binary", "binary", "binary", "ternary", "const", "select", "reduce", "reduce", "expand", "full", "coord",
		"cast", "exact", "fill", "var", "get", "set", "set", "store", "store", "bounce", "atomic",
	}
	if p.Scope != Cluster {
		doing = append(doing, "share", "share", "copy", "fold")
	} else {
		doing = append(doing, "peer")
	}
	if depth > 0 {
		doing = append(doing, "range", "range", "while", "if", "if")
	}
	out := []Step{}
	for i := range n {
		s := Step{Do: pickOf(d, fmt.Sprint("do ", i), doing...), Second: d.one(3, "second"), Kind: Kind(d.num(0, int(kinds)-1, "kind")), Op: d.num(0, 15, "op"),
			A: d.num(0, 9, "a"), B: d.num(0, 9, "b"), C: d.num(0, 9, "c")}
		switch s.Do {
		case "range", "while":
			s.Body = d.steps(p, d.num(1, 5, "body"), depth-1)
		case "if":
			s.Body = d.steps(p, d.num(1, 4, "then"), depth-1)
			if d.one(2, "else") {
				s.Else = d.steps(p, d.num(1, 3, "otherwise"), depth-1)
			}
		}
		out = append(out, s)
	}
	return out
}
