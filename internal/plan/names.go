package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// A namer gives C names that do not clash with one another, with C and with the prelude's functions.
type namer struct {
	used  map[string]int
	depth int
}

// reserved are the words of C and the prelude's functions.
var reserved = strings.Fields(`a auto bool break case char const continue default do double else enum extern float for goto if inline int long
	register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while smem lane warp tid
	u8 u16 u32 u64 i64 bf16 f16 abs min max exp exp2 log log2 sqrt rsqrt tanh fma pow round floor ceil this new delete class
	template operator private public protected and or not xor true false asm half signbit div index`)

func newNamer(k *thr.Kernel) namer {
	n := namer{used: map[string]int{}}
	for _, w := range reserved {
		n.used[w] = 1
	}
	for d := range loopNames { // they repeat, so nothing else may have them
		n.used[loopName(d)] = 1
	}
	return n
}

// fresh is the name itself the first time, then name2, name3 and so on.
func (n *namer) fresh(name string) string {
	for {
		n.used[name]++
		k := n.used[name]
		if k == 1 {
			return name
		}
		if c := fmt.Sprintf("%s%d", name, k); n.used[c] == 0 {
			n.used[c] = 1
			return c
		}
	}
}

// loop is the name of an unrolled loop's variable: i, j, k by depth. These may repeat in a kernel.
func (n *namer) loop() string {
	n.depth++
	return loopName(n.depth - 1)
}

const loopNames = 8

func loopName(depth int) string { return string(rune('i' + depth%loopNames)) }

func (n *namer) endLoop() { n.depth-- }

// name is the hint for a value's local: the user's name, the argument it comes from or goes to, or what it is.
func (l *lowering) name(v *ir.Value, other string) string {
	if n := l.hint(v, 0); n != "" {
		return n
	}
	return other
}

func (l *lowering) hint(v *ir.Value, depth int) string {
	if v.Name != "" {
		return strings.ToLower(v.Name)
	}
	if n := l.flow.dest[v]; n != "" {
		return n
	}
	if depth > 8 {
		return ""
	}
	switch v.Op {
	case ir.Load:
		a := v.Attr.(*ir.Access)
		if a.Arg != nil {
			return a.Arg.Name
		}
		return a.Shared.Name
	case ir.Cast:
		if h := l.hint(v.Args[0], depth+1); h != "" {
			return h + "_" + v.Type.DT.String()
		}
	case ir.Var:
		return "acc"
	case ir.Get:
		return l.hint(v.Args[0], depth+1) + "_now"
	}
	if v.Op == ir.Sub && v.Args[0].Op == ir.Dim {
		return v.Args[0].Attr.(*ir.Symbol).Name + "_left"
	}
	switch ir.Table[v.Op].Class {
	case ir.Elementwise, ir.Reduction:
		if slices.Contains(reserved, v.Op.String()) {
			return v.Op.String() + "_of" // exp is a function: exp_of
		}
		return v.Op.String()
	}
	return ""
}
