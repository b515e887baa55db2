package cuda

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tree is an expression of the property test: an operator with operands, or a name.
type tree struct {
	op   string
	args []tree
}

// String is the tree with every parenthesis.
func (t tree) String() string {
	switch len(t.args) {
	case 0:
		return t.op
	case 1:
		return "(" + t.op + t.args[0].String() + ")"
	case 2:
		return "(" + t.args[0].String() + t.op + t.args[1].String() + ")"
	}
	return "(" + t.args[0].String() + "?" + t.args[1].String() + ":" + t.args[2].String() + ")"
}

// levels is C's table of binary operators, weakest first, written down apart from the printer's.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

var printerLevels = []prec{precOrOr, precAndAnd, precOr, precXor, precAnd, precEqual, precLess, precShift, precAdd, precMul}

// print prints a tree with the printer's own functions.
func (t tree) print() code {
	switch len(t.args) {
	case 0:
		if strings.HasPrefix(t.op, "-") {
			return code{t.op, precUnary}
		}
		return primary(t.op)
	case 1:
		return prefix(t.op, t.args[0].print())
	case 3:
		return conditional(t.args[0].print(), t.args[1].print(), t.args[2].print())
	}
	for i, ops := range levels {
		for _, o := range ops {
			if o == t.op {
				return infix(o, printerLevels[i], t.args[0].print(), t.args[1].print())
			}
		}
	}
	panic(t.op)
}

// cParser reads C expressions of single-letter names.
type cParser struct{ s string }

func (p *cParser) skip(tok string) bool {
	p.s = strings.TrimLeft(p.s, " ")
	if !strings.HasPrefix(p.s, tok) {
		return false
	}
	for _, longer := range []string{"||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "--"} {
		if len(longer) > len(tok) && strings.HasPrefix(longer, tok) && strings.HasPrefix(p.s, longer) {
			return false
		}
	}
	p.s = p.s[len(tok):]
	return true
}

func (p *cParser) conditional() tree {
	c := p.binary(0)
	if !p.skip("?") {
		return c
	}
	a := p.conditional()
	p.skip(":")
	return tree{"?", []tree{c, a, p.conditional()}}
}

func (p *cParser) binary(level int) tree {
	if level == len(levels) {
		return p.unary()
	}
	t := p.binary(level + 1)
next:
	for _, o := range levels[level] {
		if p.skip(o) {
			t = tree{o, []tree{t, p.binary(level + 1)}}
			goto next
		}
	}
	return t
}

func (p *cParser) unary() tree {
	for _, o := range []string{"(int)", "-", "!", "~"} {
		if p.skip(o) {
			t := p.unary()
			if o == "-" && t.op == "1" {
				return tree{op: "-1"}
			}
			return tree{o, []tree{t}}
		}
	}
	if p.skip("(") {
		t := p.conditional()
		p.skip(")")
		return t
	}
	p.s = strings.TrimLeft(p.s, " ")
	if p.s == "" {
		return tree{op: "missing"}
	}
	name := p.s[:1]
	p.s = p.s[1:]
	return tree{op: name}
}

func genTree(t *rapid.T, depth int) tree {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 8).Draw(t, "kind")
	}
	switch {
	case kind == 0:
		return tree{op: rapid.SampledFrom([]string{"x", "y", "z", "-1"}).Draw(t, "leaf")}
	case kind == 1:
		return tree{rapid.SampledFrom([]string{"-", "!", "~", "(int)"}).Draw(t, "unary"), []tree{genTree(t, depth-1)}}
	case kind == 2:
		return tree{"?", []tree{genTree(t, depth-1), genTree(t, depth-1), genTree(t, depth-1)}}
	}
	level := rapid.SampledFrom(levels).Draw(t, "level")
	return tree{rapid.SampledFrom(level).Draw(t, "op"), []tree{genTree(t, depth-1), genTree(t, depth-1)}}
}

// TestPrecedence prints random trees, reads them back by C's rules and demands the same trees; and no pair of
// parentheses may be removable.
func TestPrecedence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genTree(t, 5)
		text := want.print().text
		if got := parseC(text); got != want.String() {
			t.Fatalf("%s is printed as %s, which reads as %s", want, text, got)
		}
		for i := range text {
			if text[i] != '(' || strings.HasPrefix(text[i:], "(int)") {
				continue
			}
			j := closing(text, i)
			without := text[:i] + text[i+1:j] + text[j+1:]
			inner := text[i+1 : j]
			// A condition nested in a condition, and a minus after a minus, keep theirs for the reader's sake.
			if strings.Contains(inner, "?") || strings.HasPrefix(inner, "-") {
				continue
			}
			if parseC(without) == want.String() {
				t.Fatalf("%s: the parentheses at %d are superfluous", text, i)
			}
		}
	})
}

func parseC(text string) string {
	p := &cParser{text}
	got := p.conditional()
	if p.s != "" {
		return fmt.Sprintf("%v, then %q", got, p.s)
	}
	return got.String()
}

func closing(s string, open int) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s) - 1
}
