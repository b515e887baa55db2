package layout

import (
	"cmp"
	"slices"
)

// Complement is the layout R of the offsets at which copies of A do not meet, up to n: the modes that A leaves out.
//
//   - disjoint: A(i) + R(j) are different for different (i, j), but for modes of A with stride 0, which are left out;
//   - ordered: R(j) < R(j+1);
//   - cover: where each stride of A, in order of size, is a multiple of the extent (size times stride) of the one before,
//     A(i) + R(j) are all of [0, m), m being the least multiple of A's extent that is n or more. Otherwise there are gaps.
//
// Where the modes of A overlap, so that a stride is below the extent of the one before, it is an error. n is at least 1.
//
// Source: Cecka, CuTe Layout Representation and Algebra, complement.
func (l Layout) Complement(n int) (Layout, error) {
	if n < 1 {
		return Layout{}, fail(ErrInvalid, "complement of %s within %d: give at least 1", l.clipped(), n)
	}
	var out []Layout
	extent := 1
	for _, m := range byStride(l) {
		if m.d < extent {
			return Layout{}, fail(ErrUndefined, "complement of %s: mode %d:%d begins within the extent %d of the smaller "+
				"strides; a stride must not be below the size times the stride before it", l.clipped(), m.n, m.d, extent)
		}
		out = append(out, leafOf(m.d/extent, extent))
		var ok bool
		if extent, ok = mul(m.n, m.d); !ok {
			return Layout{}, fail(ErrLimit, "complement of %s: the extent of %d:%d does not fit", l.clipped(), m.n, m.d)
		}
	}
	out = append(out, leafOf((n-1)/extent+1, extent))
	r, err := tupleOf(out...).checked()
	if err != nil {
		return Layout{}, err
	}
	return r.Coalesce(), nil
}

// mode is a leaf of a layout with the product of the sizes to the left of it.
type mode struct {
	n, d, before int
}

// byStride are the leaves of a layout that move the offset, smallest stride first, of equal ones the longest first.
func byStride(l Layout) []mode {
	var out []mode
	before := 1
	for _, f := range l.leaves() {
		if f.n > 1 && f.d > 0 {
			out = append(out, mode{f.n, f.d, before})
		}
		before *= f.n
	}
	slices.SortStableFunc(out, func(a, b mode) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(b.n, a.n)) })
	return out
}
