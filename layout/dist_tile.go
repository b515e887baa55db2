package layout

import "slices"

// Place is a digit of a number: digit d in [0, Size) counts d*Place.
type Place struct{ Place, Size int }

// Slice is the distribution of the n elements from start on along an axis, with what it takes of each thread: value i of
// the result is value base plus the sum of the digits of i, first one fastest, times their places. start is a multiple of
// n. Of each thread it takes the same values, so all that moves in larger steps along the axis than n is a value's
// digit: other slices are errors.
func (d *Dist) Slice(axis, start, n int) (s *Dist, base int, digits []Place, err error) {
	if axis < 0 || axis >= d.Rank() || n < 1 || start < 0 || start+n > d.Shape[axis] {
		return nil, 0, nil, fail(ErrInvalid, "a slice of %d from %d on along axis %d of %v: it lies inside; use less", n, start, axis, d.Shape)
	}
	if start%n != 0 {
		return nil, 0, nil, fail(ErrInvalid, "a slice of %d from %d on: it starts at a multiple of its size; use %d or %d", n, start, start/n*n, (start/n+1)*n)
	}
	for _, m := range d.Thread {
		if m.Axis == axis && (m.Size-1)*m.Stride >= n {
			return nil, 0, nil, fail(ErrInvalid, "a slice of %d along axis %d, over which the threads spread %d elements: each thread has a part; use a multiple of %d",
				n, axis, m.Size*m.Stride, m.Size*m.Stride)
		}
	}
	s = &Dist{Shape: slices.Clone(d.Shape), Thread: slices.Clone(d.Thread)}
	s.Shape[axis] = n
	place := 1
	for _, m := range d.Value {
		keep, fixed := m.Size, 1
		if span := m.Size * m.Stride; m.Axis == axis && span > n {
			switch {
			case m.Stride >= n && m.Stride%n == 0:
				keep, fixed = 1, m.Size
			case n%m.Stride == 0 && span%n == 0:
				keep, fixed = n/m.Stride, span/n
			default:
				return nil, 0, nil, fail(ErrInvalid, "a slice of %d along axis %d, where a thread's values lie %d apart, %d of them; use a multiple of %d", n, axis, m.Stride, m.Size, m.Stride)
			}
		}
		if keep > 1 {
			s.Value, digits = append(s.Value, Mode{keep, m.Axis, m.Stride}), append(digits, Place{place, keep})
		}
		if fixed > 1 {
			base += start / (m.Stride * keep) % fixed * place * keep
		}
		place *= m.Size
	}
	return s, base, digits, nil
}
