package layout

import "strings"

// ParseSwizzle reads a swizzle in CuTe's form, such as Sw<3,4,3>.
func ParseSwizzle(text string) (Swizzle, error) {
	p := parser{text: text}
	s, err := p.swizzle()
	if err != nil {
		return Swizzle{}, err
	}
	return s, p.end()
}

func (p *parser) swizzle() (Swizzle, error) {
	p.peek()
	if !strings.HasPrefix(p.text[p.at:], "Sw") {
		return Swizzle{}, p.fail("Sw<bits,base,shift> is missing")
	}
	p.at += len("Sw")
	var n [3]int
	for i, before := range []byte("<,,") {
		if err := p.want(before); err != nil {
			return Swizzle{}, err
		}
		negative := i == 2 && p.peek() == '-'
		if negative {
			p.at++
		}
		p.peek()
		var err error
		if n[i], err = p.int(); err != nil {
			return Swizzle{}, err
		}
		if negative {
			n[i] = -n[i]
		}
	}
	if err := p.want('>'); err != nil {
		return Swizzle{}, err
	}
	return NewSwizzle(n[0], n[1], n[2])
}
