package layout

// Tiler is the second operand of composition, division and product, in one of three forms. A [Layout] acts on the
// indices of the whole first operand. A [ByMode] acts mode by mode. A [Tuple] is a tiler by its sizes: n is the layout
// n:1, and a tuple is a ByMode of its parts, so Ints(16, 8) takes 16 consecutive places of mode 0 and 8 of mode 1.
type Tiler interface {
	isTiler()
}

// ByMode is a tiler with a tiler for each of the first modes of its operand; the modes after them stay as they are.
type ByMode []Tiler

func (Layout) isTiler() {}
func (Tuple) isTiler()  {}
func (ByMode) isTiler() {}

// split is a tiler as the layout that acts on the whole operand or as the tilers of its modes.
func split(t Tiler) (whole Layout, modes []Tiler, byMode bool, err error) {
	switch t := t.(type) {
	case Layout:
		return t, nil, false, nil
	case ByMode:
		return Layout{}, t, true, nil
	case Tuple:
		switch t.kind {
		case isInt:
			whole, err = New(t, Int(1))
			return whole, nil, false, err
		case isTuple:
			for _, p := range t.parts {
				modes = append(modes, p)
			}
			return Layout{}, modes, true, nil
		}
	}
	return Layout{}, nil, false, fail(ErrInvalid, "%v is no tiler: give a Layout, a ByMode or a Tuple of sizes", t)
}

// apply is op with a tiler: of the whole layout, or mode by mode.
func (l Layout) apply(t Tiler, op func(a, b Layout) (Layout, error)) (Layout, error) {
	return l.applyAt(0, t, op)
}

func (l Layout) applyAt(depth int, t Tiler, op func(a, b Layout) (Layout, error)) (Layout, error) {
	whole, parts, byMode, err := split(t)
	if err != nil {
		return Layout{}, err
	}
	if !byMode {
		return op(l, whole)
	}
	if depth > MaxDepth {
		return Layout{}, fail(ErrLimit, "a tiler is nested deeper than %d", MaxDepth)
	}
	if len(parts) > l.Rank() {
		return Layout{}, fail(ErrInvalid, "a tiler of %d modes for %s, which has %d", len(parts), l.clipped(), l.Rank())
	}
	modes := l.Modes()
	for i, p := range parts {
		if modes[i], err = modes[i].applyAt(depth+1, p, op); err != nil {
			return Layout{}, err
		}
	}
	return Concat(modes...)
}

// gather turns the result of a division or a product by a tiler, in which each mode is a pair, into a pair of tuples:
// ((a0,b0),(a1,b1),c) becomes ((a0,a1),(b0,b1,c)).
func gather(l Layout, t Tiler) (first, second Layout) {
	_, parts, byMode, _ := split(t) // without error, since the operation was
	if !byMode {
		modes := l.top() // a pair
		return modes[0], modes[1]
	}
	for i, m := range l.top() {
		if i >= len(parts) {
			second.modes = append(second.modes, m)
			continue
		}
		a, b := gather(m, parts[i])
		first.modes, second.modes = append(first.modes, a), append(second.modes, b)
	}
	return first, second
}
