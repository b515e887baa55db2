package ir

import "slices"

// storeValues is how many vectors a thread holds at a time of what it stores in the place of a tensor copy.
const storeValues = 4

// StoreTensorTo records StoreTensor of a box that may end before its tensor does, as the last rows of a segment do: valid
// are the extents of its axes, nil, and those that are missing: where the tensor ends. A tensor copy clips at the tensor
// only, so a box that ends earlier is stored by the threads of the scope, each element by itself.
func (b *Builder) StoreTensorTo(s Scope, shared, global Place, valid []*Value) {
	if b.poisoned(StoreTensor, shared.Offs...) || b.poisoned(StoreTensor, global.Offs...) {
		return
	}
	store := func() { b.Tensor(StoreTensor, s, shared, global, 0, Completion{}, nil) }
	if !slices.ContainsFunc(valid, func(e *Value) bool { return e != nil }) {
		store()
		return
	}
	if !b.tensorPlaces(StoreTensor, s, shared, global) || !b.tensorBox(StoreTensor, shared, global) || !b.executes(StoreTensor, s) {
		return
	}
	box := shared.Shared.Shape[len(shared.Offs):]
	switch {
	case len(box) > 2:
		b.Errorf(StoreTensor, ErrShape, "StoreTensor with Valid of a box of rank %d: it is what At leaves of the shared tile, and threads store a row or a matrix; leave one dimension or two", len(box))
		return
	case len(valid) > len(box):
		b.Errorf(StoreTensor, ErrShape, "StoreTensor with %s of a box of rank %d; give one an axis, nil for none", Count(len(valid), "extent"), len(box))
		return
	}
	extents, whole := make([]*Value, len(box)), (*Value)(nil)
	for i, n := range box {
		extents[i] = b.rest(global, len(global.Dims())-len(box)+i, n)
		if i >= len(valid) || valid[i] == nil {
			continue
		}
		if !b.uniform(StoreTensor, s, "an extent", valid[i]) {
			return
		}
		extents[i] = b.Index(Min, valid[i], extents[i])
		if full := b.Apply(Ge, nil, 0, valid[i], b.Int(n)); whole == nil {
			whole = full
		} else {
			whole = b.Apply(And, nil, 0, whole, full)
		}
	}
	b.If(s, whole, store, func() { b.storeRows(s, shared, global, box, extents) })
}

// rest is how many elements of a dimension lie from a place on, at most n; below 0: none.
func (b *Builder) rest(p Place, axis, n int) *Value {
	size := b.Dim(p.Dims()[axis])
	if axis < len(p.Offs) {
		size = b.Index(Sub, size, p.Offs[axis])
	}
	return b.Index(Min, size, b.Int(n))
}

// storeRows records loads and stores of a box in the place of a tensor copy, some rows at a time.
func (b *Builder) storeRows(s Scope, shared, global Place, box []int, extents []*Value) {
	size, threads := shared.Shared.DT.Size(), b.threads(s)
	copyRows := func(box []int, shared, global Place, extents []*Value) {
		span := &Span{Scope: s, Dist: copyDist(threads, box, CopyBytes/size), Extent: extents}
		b.Store(Store, s, global, How{}, b.Load(s, shared, span, How{}))
	}
	if len(box) == 1 {
		copyRows(box, shared, global, extents)
		return
	}
	rows := 1
	for 2*rows <= box[0] && 2*rows*box[1]*size <= storeValues*CopyBytes*threads {
		rows *= 2
	}
	b.Loop(s, b.Int(0), extents[0], b.Int(rows), func(i *Value) bool {
		to, lead := global, len(global.Dims())-2
		to.Offs = slices.Clone(global.Offs)
		for len(to.Offs) <= lead {
			to.Offs = append(to.Offs, b.Int(0))
		}
		to.Offs[lead] = b.Index(Add, to.Offs[lead], i)
		from := shared
		from.Offs = append(slices.Clone(shared.Offs), i)
		copyRows([]int{rows, box[1]}, from, to, []*Value{b.Index(Sub, extents[0], i), extents[1]})
		return true
	})
}
