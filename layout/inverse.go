package layout

// RightInverse is a layout R, made of whole modes of A, with
//
//	A(R(i)) = i for i in [0, size(R)).
//
// It is as long as such a layout can be when its modes are taken by stride: no mode of A has the stride size(R). For a
// layout whose offsets are all of [0, Size) it is the inverse; where none has stride 1, it is 1:0.
//
// Source: Cecka, CuTe Layout Representation and Algebra, right-inverse.
func (l Layout) RightInverse() Layout {
	var out []Layout
	next := 1
	for _, m := range byStride(l) {
		if m.d > next {
			break
		}
		if m.d == next { // those below overlap with modes taken before
			out = append(out, leafOf(m.n, m.before))
			next *= m.n
		}
	}
	return tupleOf(out...).Coalesce()
}

// LeftInverse is a layout L with
//
//	L(A(i)) = i for i in [0, size(A)).
//
// A layout with modes of stride 0, which repeats elements, has no such L; then L(A(i)) is the least index of the offset,
// so that A(L(A(i))) = A(i). It is not unique: what L is at numbers that are no offsets of A is not specified. It is
// defined where each stride of A, in order of size, is a multiple of the one before and not below that one's extent
// (size times stride); anything else is an error.
//
// Source: Cecka, CuTe Layout Representation and Algebra, left-inverse.
func (l Layout) LeftInverse() (Layout, error) {
	var out []Layout
	before := mode{n: 1, d: 1} // its digit, below the smallest stride, is always 0
	for _, m := range byStride(l) {
		if m.d%before.d != 0 || m.d/before.d < before.n {
			return Layout{}, fail(ErrUndefined, "left inverse of %s: stride %d follows %d:%d; it must be a multiple of %d and "+
				"at least %d times as large", l.clipped(), m.d, before.n, before.d, before.d, before.n)
		}
		out = append(out, leafOf(m.d/before.d, before.before))
		before = m
	}
	r, err := tupleOf(append(out, leafOf(before.n, before.before))...).checked()
	if err != nil {
		return Layout{}, err
	}
	return r.Coalesce(), nil
}
