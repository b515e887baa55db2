package layout

import "slices"

// Layout is the distribution as CuTe's thread-value layout, (thread, value) -> i + Shape[0]*j + ... at coordinate (i, j,
// ...): the index of the coordinate in column-major order. Replicated threads have stride 0. Composed with the layout of
// a tile, tile.Compose(tv), it gives the offset at which each value of each thread lies in that tile.
//
// A ragged distribution, which reaches past its shape, has no such layout: that is an error.
func (d *Dist) Layout() (Layout, error) {
	if err := d.within(); err != nil {
		return Layout{}, err
	}
	step := make([]int, d.Rank()) // of an axis: what 1 along it adds to the index
	n := 1
	for axis, size := range d.Shape {
		step[axis] = n
		var ok bool
		if n, ok = mul(n, size); !ok {
			return Layout{}, fail(ErrLimit, "%s has more elements than an int counts", d)
		}
	}
	side := func(ms []Mode) Layout {
		var leaves []Layout
		for _, m := range ms {
			f := leafOf(m.Size, 0)
			if m.Axis != Replicated {
				f.d, _ = mul(m.Stride, step[m.Axis]) // fits where the mode moves
			}
			if m.Size == 1 {
				f.d = 0
			}
			leaves = append(leaves, f)
		}
		return flat(leaves)
	}
	return Concat(side(d.Thread), side(d.Value))
}

// within reports modes that are none, and axes whose modes reach past the shape.
func (d *Dist) within() error {
	last := make([]int, d.Rank()) // of an axis: the largest coordinate
	for _, m := range slices.Concat(d.Thread, d.Value) {
		if m.Size < 1 || m.Stride < 0 || m.Axis < Replicated || m.Axis >= d.Rank() {
			return fail(ErrInvalid, "%s: mode %d:%d on axis %d: a size is at least 1, a stride at least 0, an axis below %d", d,
				m.Size, m.Stride, m.Axis, d.Rank())
		}
		if m.Axis == Replicated {
			continue
		}
		var ok bool
		if last[m.Axis], ok = mulAdd(m.Size-1, m.Stride, last[m.Axis]); !ok || last[m.Axis] >= d.Shape[m.Axis] {
			return fail(ErrUndefined, "%s as a layout: mode %d:%d reaches past axis %d, which has %d places; choose a shape that "+
				"the threads fill", d, m.Size, m.Stride, m.Axis, d.Shape[m.Axis])
		}
	}
	return nil
}

// DistOf is the distribution of a thread-value layout of rank 2 in a tile of the given shape: the inverse of
// [Dist.Layout]. Each leaf of the layout must move along one axis at a time, and none past the end of its axis.
func DistOf(tv Layout, shape ...int) (*Dist, error) {
	if tv.leaf || tv.Rank() != 2 {
		return nil, fail(ErrInvalid, "%s as a distribution: it has %d modes; give it two, thread and value", tv.clipped(), tv.Rank())
	}
	tile, err := ColMajor(Ints(shape...))
	if err != nil {
		return nil, err
	}
	if tv.Cosize() > tile.Size() {
		return nil, fail(ErrUndefined, "%s as a distribution: it reaches %d, the shape %v has %d places", tv.clipped(),
			tv.Cosize()-1, shape, tile.Size())
	}
	d := &Dist{Shape: slices.Clone(shape)}
	for i, modes := range []*[]Mode{&d.Thread, &d.Value} {
		for _, f := range tv.modes[i].leaves() {
			ms, err := axisModes(tv, f, shape)
			if err != nil {
				return nil, err
			}
			*modes = append(*modes, ms...)
		}
	}
	if err := d.within(); err != nil {
		return nil, within(err, "%s as a distribution", tv.clipped())
	}
	return d, nil
}

// axisModes is a leaf that walks through a tile, cut where it comes to the end of an axis.
func axisModes(tv, f Layout, shape []int) ([]Mode, error) {
	if f.n > 1 && f.d == 0 {
		return []Mode{{f.n, Replicated, 0}}, nil
	}
	var out []Mode
	for size, step := f.n, f.d; size > 1; {
		axis, stride := -1, 0
		rest := step
		for k, n := range shape {
			if digit := rest % n; digit > 0 {
				if axis >= 0 {
					return nil, fail(ErrUndefined, "%s as a distribution: %s moves along axes %d and %d of %v at once", tv.clipped(),
						f, axis, k, shape)
				}
				axis, stride = k, digit
			}
			rest /= n
		}
		run := min(size, (shape[axis]-1)/stride+1)
		if size%run != 0 {
			return nil, fail(ErrUndefined, "%s as a distribution: of the %d steps of %s %d stay on axis %d of %v", tv.clipped(),
				size, f, run, axis, shape)
		}
		out = append(out, Mode{run, axis, stride})
		if size /= run; size > 1 {
			step *= run
		}
	}
	return out, nil
}
