package layout

// LogicalDivide splits A into tiles: A composed with (B, C), where C is the complement of B within size(A). Mode 0 of
// the result is the tile, A o B; mode 1 runs over the tiles, A o C. With a tiler by mode, each mode of A is split into
// such a pair. Every element of A is in the result once: R(i, j) = A(B(i) + C(j)), and B(i) + C(j) are all of
// [0, size(A)).
//
// It is defined where tiles of B fill A exactly, and where the composition is. A size that the tile does not divide is
// an error: pad A, and mask what was added.
//
// Source: Cecka, CuTe Layout Representation and Algebra, logical divide.
func (l Layout) LogicalDivide(t Tiler) (Layout, error) { return l.apply(t, divide) }

func divide(a, b Layout) (Layout, error) {
	for _, f := range b.leaves() {
		if f.n > 1 && f.d == 0 {
			return Layout{}, fail(ErrUndefined, "division of %s by %s: mode %d:0 of the tile repeats elements; give it a stride",
				a.clipped(), b.clipped(), f.n)
		}
	}
	c, err := b.Complement(a.Size())
	if err != nil {
		return Layout{}, within(err, "division of %s by %s", a.clipped(), b.clipped())
	}
	if n, ok := mul(b.Size(), c.Size()); !ok || n != a.Size() {
		return Layout{}, fail(ErrUndefined, "division of %s by %s: %d tiles of %d elements are not the %d of the first; "+
			"the tile must fill it exactly", a.clipped(), b.clipped(), c.Size(), b.Size(), a.Size())
	}
	r, err := compose(a, tupleOf(b, c))
	if err != nil {
		return Layout{}, within(err, "division of %s by %s", a.clipped(), b.clipped())
	}
	return r, nil
}

// ZippedDivide is [Layout.LogicalDivide] with the tiles of all modes in mode 0 and everything else in mode 1: with a
// tiler of two modes ((tile0,tile1),(rest0,rest1,...)), so that a tile is one coordinate and its number another.
func (l Layout) ZippedDivide(t Tiler) (Layout, error) {
	tile, rest, err := l.divided(t)
	if err != nil {
		return Layout{}, err
	}
	return Concat(tile, rest)
}

// TiledDivide is [Layout.ZippedDivide] with the modes of mode 1 side by side: ((tile0,tile1),rest0,rest1,...).
func (l Layout) TiledDivide(t Tiler) (Layout, error) {
	tile, rest, err := l.divided(t)
	if err != nil {
		return Layout{}, err
	}
	return Concat(append([]Layout{tile}, rest.top()...)...)
}

func (l Layout) divided(t Tiler) (tile, rest Layout, err error) {
	r, err := l.LogicalDivide(t)
	if err != nil {
		return Layout{}, Layout{}, err
	}
	tile, rest = gather(r, t)
	return tile, rest, nil
}
