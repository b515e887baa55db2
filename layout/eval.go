package layout

// At is the offset of index i, which counts the coordinates with the leftmost moving fastest; i is in [0, Size).
func (l Layout) At(i int) (int, error) {
	if err := l.checkIndex(i); err != nil {
		return 0, err
	}
	return l.at(i), nil
}

func (l Layout) checkIndex(i int) error {
	if size := l.Size(); i < 0 || i >= size {
		return fail(ErrRange, "index %d of %s is not in [0, %d)", i, l.clipped(), size)
	}
	return nil
}

// at is the offset of an index in range.
func (l Layout) at(i int) int {
	if l.leaf {
		return i * l.d
	}
	offset := 0
	for _, m := range l.modes {
		n := m.Size()
		offset += m.at(i % n)
		i /= n
	}
	return offset
}

// AtCoord is the offset of a coordinate: nested like the shape, with an index in the place of any part of it.
func (l Layout) AtCoord(c Tuple) (int, error) {
	i, err := l.Index(c)
	if err != nil {
		return 0, err
	}
	return l.at(i), nil
}

// Coord is the coordinate of index i, nested like the shape; i is in [0, Size). It is the inverse of [Layout.Index].
func (l Layout) Coord(i int) (Tuple, error) {
	if err := l.checkIndex(i); err != nil {
		return Tuple{}, err
	}
	return l.coord(i), nil
}

func (l Layout) coord(i int) Tuple {
	if l.leaf {
		return Int(i)
	}
	t := Tuple{parts: make([]Tuple, len(l.modes))}
	for k, m := range l.modes {
		n := m.Size()
		t.parts[k] = m.coord(i % n)
		i /= n
	}
	return t
}

// Index is the index of a coordinate: nested like the shape, with an index in the place of any part of it.
func (l Layout) Index(c Tuple) (int, error) {
	switch {
	case c.kind == isInt:
		if err := l.checkIndex(c.n); err != nil {
			return 0, err
		}
		return c.n, nil
	case c.kind == isAll:
		return 0, fail(ErrInvalid, "a coordinate of %s has a free place: give an index, or use Slice", l.clipped())
	case l.leaf || len(c.parts) != len(l.modes):
		return 0, fail(ErrInvalid, "coordinate %s of %s: it is not nested like the shape %s", c.clipped(),
			l.clipped(), l.Shape().clipped())
	}
	index, step := 0, 1
	for k, m := range l.modes {
		i, err := m.Index(c.parts[k])
		if err != nil {
			return 0, err
		}
		index += i * step // below the size of l, which fits
		step *= m.Size()
	}
	return index, nil
}
