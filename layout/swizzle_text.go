package layout

import "strings"

// ParseSwizzle reads a swizzle in CuTe's form, such as Sw<3,4,3>.
func ParseSwizzle(text string) (Swizzle, error) {
	p := parser{text: text}
	s, err := p.swizzle()
	if err != nil {
		return Swizzle{}, err
	}
	if err := p.end(); err != nil {
		return Swizzle{}, err
	}
	return s, nil
}

// ParseSwizzled reads a swizzle after a layout, such as Sw<3,4,3> o 0 o (8,64):(64,1).
func ParseSwizzled(text string) (Swizzled, error) {
	p := parser{text: text}
	s, err := p.swizzle()
	if err != nil {
		return Swizzled{}, err
	}
	if err := p.want('o'); err != nil {
		return Swizzled{}, err
	}
	p.peek()
	offset, err := p.int()
	if err != nil {
		return Swizzled{}, err
	}
	if err := p.want('o'); err != nil {
		return Swizzled{}, err
	}
	l, err := p.layout()
	if err != nil {
		return Swizzled{}, err
	}
	if err := p.end(); err != nil {
		return Swizzled{}, err
	}
	return s.Compose(offset, l)
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
