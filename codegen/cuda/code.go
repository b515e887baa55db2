package cuda

import "strings"

// prec is the binding strength of a C expression, weakest first.
type prec int

const (
	precSelect prec = iota // ?:
	precOrOr
	precAndAnd
	precOr
	precXor
	precAnd
	precEqual
	precLess
	precShift
	precAdd
	precMul
	precUnary // prefix operators and casts
	precPrimary
)

// code is a printed expression and how strongly its outermost operator binds.
type code struct {
	text string
	prec prec
}

// primary is text that never needs parentheses: names, calls, literals.
func primary(text string) code { return code{text, precPrimary} }

// at gives the text of an operand where at least the strength p is needed.
func (c code) at(p prec) string {
	if c.prec < p {
		return "(" + c.text + ")"
	}
	return c.text
}

// infix joins two operands by a left-associative operator.
func infix(op string, p prec, a, b code) code {
	return code{a.at(p) + " " + op + " " + b.at(p+1), p}
}

// prefix puts a unary operator or a cast before an operand. Two minus signs in a row would be a decrement.
func prefix(op string, a code) code {
	s := a.at(precUnary)
	if strings.HasPrefix(s, op) && op == "-" {
		s = "(" + a.text + ")"
	}
	return code{op + s, precUnary}
}

// conditional is c ? a : b.
func conditional(c, a, b code) code {
	return code{c.at(precOrOr) + " ? " + a.at(precOrOr) + " : " + b.at(precSelect), precSelect}
}

// call is name(args...).
func call(name string, args ...code) code {
	var s []string
	for _, a := range args {
		s = append(s, a.text)
	}
	return primary(name + "(" + strings.Join(s, ", ") + ")")
}
