package gowrap

import (
	"fmt"
	"go/token"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// The grid. A persistent loop's bound is an i32 expression of dimensions, constants and scalars; the wrapper computes
// it in 64 bits, to know how many blocks would find work, and refuses what would wrap in the kernel.

// workExpr prints Grid.N as Go over locals named by local and the parameters p. It also lists the symbols used.
func workExpr(k *thr.Kernel) (text string, symbols []*ir.Symbol, err error) {
	p := gridPrinter{kernel: k}
	text = p.expr(k.Grid.N)
	return text, p.symbols, p.err
}

type gridPrinter struct {
	kernel  *thr.Kernel
	symbols []*ir.Symbol
	err     error
}

var infix = map[ir.Op]string{ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.And: "&", ir.Or: "|", ir.Xor: "^"}

func (p *gridPrinter) expr(v *ir.Value) string {
	if n, ok := constant(v); ok {
		return fmt.Sprint(n)
	}
	switch v.Op {
	case ir.Dim:
		s := v.Attr.(*ir.Symbol)
		if !slices.Contains(p.symbols, s) {
			p.symbols = append(p.symbols, s)
		}
		return local(s)
	case ir.Param:
		if a := v.Attr.(*ir.Arg); a.DT == dtype.I32 {
			return "int64(p." + a.Field + ")"
		}
	case ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor:
		return fmt.Sprintf("(%s %s %s)", p.expr(v.Args[0]), infix[v.Op], p.expr(v.Args[1]))
	case ir.Neg:
		return "(-" + p.expr(v.Args[0]) + ")"
	case ir.Min, ir.Max:
		return fmt.Sprintf("%s(%s, %s)", v.Op, p.expr(v.Args[0]), p.expr(v.Args[1]))
	case ir.Div, ir.Rem:
		a, b := p.expr(v.Args[0]), p.expr(v.Args[1])
		if n, ok := constant(v.Args[1]); ok && n != 0 {
			return fmt.Sprintf("(%s %s %s)", a, map[ir.Op]string{ir.Div: "/", ir.Rem: "%"}[v.Op], b)
		}
		return fmt.Sprintf("bind.%s(%s, %s)", map[ir.Op]string{ir.Div: "Quo", ir.Rem: "Rem"}[v.Op], a, b)
	}
	if p.err == nil {
		p.err = fmt.Errorf("%v: kernel %s: the bound of the persistent loop uses %s, which the launch cannot compute; bound it by dimensions, int32 scalars, constants and + - * / %% min max of them",
			v.Pos, p.kernel.Name, v.Op)
	}
	return "0"
}

// constant folds an expression of constants, so that the printed Go never overflows while compiling.
func constant(v *ir.Value) (int32, bool) {
	if v.Op == ir.Const {
		bits, ok := v.Attr.(ir.Bits)
		return int32(uint32(bits)), ok
	}
	if len(v.Args) != 2 {
		return 0, false
	}
	a, ok := constant(v.Args[0])
	b, ok2 := constant(v.Args[1])
	if !ok || !ok2 {
		return 0, false
	}
	switch v.Op {
	case ir.Add:
		return a + b, true
	case ir.Sub:
		return a - b, true
	case ir.Mul:
		return a * b, true
	case ir.Div:
		if b != 0 && !(a == math.MinInt32 && b == -1) {
			return a / b, true
		}
	}
	return 0, false
}

// local is the name of a symbol's variable in generated code; names with a meaning there get an underscore.
func local(s *ir.Symbol) string {
	switch s.Name {
	case "p", "config", "dims", "bind", "device", "dtype", "min", "max", "int", "int32", "panic":
		return s.Name + "_"
	}
	if token.IsKeyword(s.Name) || !token.IsIdentifier(s.Name) {
		return "_" + s.Name
	}
	return s.Name
}

var hostCast = regexp.MustCompile(`int64\((p\.\w+)\)`)

// GridRule is the launch's grid in one line, such as "min(ceil(rows/1), resident)" or "blocks"; of a kernel with
// clusters, what is multiplied by their size.
func GridRule(k *thr.Kernel) (string, error) {
	rule, err := gridRule(k)
	if k.Cluster > 0 {
		rule = fmt.Sprintf("%d * %s", k.Cluster, rule)
	}
	return rule, err
}

func gridRule(k *thr.Kernel) (string, error) {
	if k.Grid.Blocks != nil {
		return k.Grid.Blocks.Name, nil
	}
	if k.Grid.N == nil {
		return "1", nil
	}
	text, _, err := workExpr(k)
	text = hostCast.ReplaceAllString(text, "$1") // how the host computes it is no part of the rule
	if k.Grid.Each {
		return fmt.Sprintf("ceil(%s/%d)", text, max(1, k.Grid.Step)), err
	}
	return fmt.Sprintf("min(ceil(%s/%d), resident)", text, max(1, k.Grid.Step)), err
}

// LaunchText describes a launch in canonical lines: what must stay the same for a receipt to hold, beside the text of
// the kernel. It ends with a line feed.
func LaunchText(k *thr.Kernel) (string, error) {
	rule, err := GridRule(k)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s\nthreads %d\nmin_blocks %d\nshared %d\ncluster %d\ngrid %s\nargs %s\n",
		k.Name, k.Threads, k.MinBlocks, k.SharedBytes, max(k.Cluster, 1), rule, layoutText(k))
	if whole := k.WholeText(); whole != "" {
		fmt.Fprintf(&b, "whole %s\n", whole)
	}
	for _, a := range k.Args {
		if a.Kind == thr.ArgMap {
			fmt.Fprintf(&b, "map %s of %s %v: %s, promotion %d\n", a.Name, a.Arg.Name, a.Arg.DT, a.Map, a.Map.Promotion(a.Arg.DT))
		}
	}
	return b.String(), nil
}
