package layout

import (
	"fmt"
	"math"
)

// Parse reads a layout, such as (2,(1,6)):(1,(6,2)): a shape, a colon and a stride that is nested alike. Integers are
// decimal without sign; spaces and tabs may stand between them. Parse(l.String()) is l.
func Parse(text string) (Layout, error) {
	p := parser{text: text}
	l, err := p.layout()
	if err != nil {
		return Layout{}, err
	}
	if err := p.end(); err != nil {
		return Layout{}, err
	}
	return l, nil
}

// MustParse is Parse for text that stands in the program; it panics where Parse returns an error.
func MustParse(text string) Layout {
	l, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return l
}

// ParseTuple reads a tuple, such as (2,(1,6)), or (_,3) for [Layout.Slice].
func ParseTuple(text string) (Tuple, error) {
	p := parser{text: text}
	t, err := p.tuple(0)
	if err != nil {
		return Tuple{}, err
	}
	if err := p.end(); err != nil {
		return Tuple{}, err
	}
	return t, nil
}

// parser reads text from at on. It holds the limits of a Layout already while it reads.
type parser struct {
	text  string
	at    int
	count int
}

func (p *parser) fail(format string, args ...any) error {
	return fail(ErrSyntax, "%q: byte %d: %s", clip(p.text), p.at, fmt.Sprintf(format, args...))
}

// peek is the next byte that is no space, 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) want(c byte) error {
	if p.peek() != c || p.at == len(p.text) {
		return p.fail("a %q is missing", c)
	}
	p.at++
	return nil
}

func (p *parser) end() error {
	if p.peek(); p.at < len(p.text) {
		return p.fail("nothing may follow")
	}
	return nil
}

func (p *parser) layout() (Layout, error) {
	shape, err := p.tuple(0)
	if err != nil {
		return Layout{}, err
	}
	if err := p.want(':'); err != nil {
		return Layout{}, err
	}
	stride, err := p.tuple(0)
	if err != nil {
		return Layout{}, err
	}
	return New(shape, stride)
}

func (p *parser) tuple(depth int) (Tuple, error) {
	if depth > MaxDepth {
		return Tuple{}, fail(ErrLimit, "%q is nested deeper than %d", clip(p.text), MaxDepth)
	}
	if p.count++; p.count > 2*MaxModes { // shape and stride
		return Tuple{}, fail(ErrLimit, "%q has more than %d modes", clip(p.text), MaxModes)
	}
	switch c := p.peek(); {
	case c == '_':
		p.at++
		return All, nil
	case '0' <= c && c <= '9':
		n, err := p.int()
		return Int(n), err
	case c != '(':
		return Tuple{}, p.fail("an integer or a parenthesis is missing")
	}
	p.at++
	var t Tuple
	if p.peek() == ')' {
		p.at++
		return t, nil
	}
	for {
		part, err := p.tuple(depth + 1)
		if err != nil {
			return Tuple{}, err
		}
		t.parts = append(t.parts, part)
		switch p.peek() {
		case ',':
			p.at++
		case ')':
			p.at++
			return t, nil
		default:
			return Tuple{}, p.fail("a comma or a closing parenthesis is missing")
		}
	}
}

// int reads digits; without a leading 0, so that a number has one text.
func (p *parser) int() (int, error) {
	first, n := p.at, 0
	for ; p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9'; p.at++ {
		var ok bool
		if n, ok = mulAdd(n, 10, int(p.text[p.at]-'0')); !ok {
			return 0, fail(ErrLimit, "%q: byte %d: a number is above %d", clip(p.text), first, math.MaxInt)
		}
	}
	switch {
	case p.at == first:
		return 0, p.fail("an integer is missing")
	case p.text[first] == '0' && p.at > first+1:
		p.at = first
		return 0, p.fail("a number begins with 0")
	}
	return n, nil
}
