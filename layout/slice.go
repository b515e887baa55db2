package layout

// Slice fixes a part of a coordinate: where c has an index, that is fixed; where it has [All], the mode there stays. The
// offset of what is fixed is returned beside the layout of what stays, so that
//
//	offset + S(free) = A(c with the free places filled in).
//
// Modes that stay keep their nesting; a tuple of which one mode is left is that mode. With All for c it is A itself,
// with an index everywhere ():().
func (l Layout) Slice(c Tuple) (s Layout, offset int, err error) {
	s, offset, err = l.slice(c)
	if err != nil {
		return Layout{}, 0, err
	}
	return s, offset, nil
}

func (l Layout) slice(c Tuple) (Layout, int, error) {
	switch {
	case c.kind == isAll:
		return l, 0, nil
	case c.kind == isInt:
		offset, err := l.At(c.n)
		return Layout{}, offset, err
	case l.leaf || len(c.parts) != len(l.modes):
		return Layout{}, 0, fail(ErrInvalid, "slice %s of %s: it is not nested like the shape %s", c.clipped(), l.clipped(),
			l.Shape().clipped())
	}
	var free []Layout
	offset := 0
	for i, m := range l.modes {
		s, at, err := m.slice(c.parts[i])
		if err != nil {
			return Layout{}, 0, err
		}
		offset += at // below the cosize of l
		if s.leaf || len(s.modes) > 0 || c.parts[i].kind == isAll {
			free = append(free, s)
		}
	}
	if len(free) == 1 {
		return free[0], offset, nil
	}
	return tupleOf(free...), offset, nil
}
