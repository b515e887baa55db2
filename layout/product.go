package layout

// LogicalProduct repeats A as B says: the layout (A, C o B), where C is the complement of A within size(A)*cosize(B).
// Mode 0 of the result is A, mode 1 runs over its copies: R(i, j) = A(i) + C(B(j)). Copies at different B(j) do not
// meet. With a tiler by mode, each mode of A is repeated for itself. It is defined where C and the composition are.
//
// Source: Cecka, CuTe Layout Representation and Algebra, logical product.
func (l Layout) LogicalProduct(t Tiler) (Layout, error) { return l.apply(t, multiply) }

func multiply(a, b Layout) (Layout, error) {
	n, ok := mul(a.Size(), b.Cosize())
	if !ok {
		return Layout{}, fail(ErrLimit, "product of %s and %s: %d elements at %d places do not fit",
			a.clipped(), b.clipped(), a.Size(), b.Cosize())
	}
	c, err := a.Complement(n)
	if err != nil {
		return Layout{}, within(err, "product of %s and %s", a.clipped(), b.clipped())
	}
	copies, err := compose(c, b)
	if err != nil {
		return Layout{}, within(err, "product of %s and %s", a.clipped(), b.clipped())
	}
	return Concat(a, copies)
}

// ZippedProduct is [Layout.LogicalProduct] with the modes of A in mode 0 and their copies in mode 1.
func (l Layout) ZippedProduct(t Tiler) (Layout, error) {
	a, copies, err := l.multiplied(t)
	if err != nil {
		return Layout{}, err
	}
	return Concat(a, copies)
}

// TiledProduct is [Layout.ZippedProduct] with the modes of mode 1 side by side: ((a0,a1),copies0,copies1,...).
func (l Layout) TiledProduct(t Tiler) (Layout, error) {
	a, copies, err := l.multiplied(t)
	if err != nil {
		return Layout{}, err
	}
	return Concat(append([]Layout{a}, copies.top()...)...)
}

func (l Layout) multiplied(t Tiler) (a, copies Layout, err error) {
	r, err := l.LogicalProduct(t)
	if err != nil {
		return Layout{}, Layout{}, err
	}
	a, copies = gather(r, t)
	return a, copies, nil
}

// BlockedProduct is the tile B of blocks A: mode k of the result is (A_k, B_k), so a block's elements are neighbours
// and the blocks stand side by side. Where A and B differ in rank, modes 1:0 are added. The offsets are those of
// [Layout.LogicalProduct] of A and B.
func (l Layout) BlockedProduct(b Layout) (Layout, error) {
	return l.interleave(b, func(a, b Layout) Layout { return tupleOf(a, b) })
}

// RakedProduct is [Layout.BlockedProduct] with the copies inside: mode k is (B_k, A_k), so the elements of one block
// stand apart, one in each group of copies.
func (l Layout) RakedProduct(b Layout) (Layout, error) {
	return l.interleave(b, func(a, b Layout) Layout { return tupleOf(b, a) })
}

func (l Layout) interleave(b Layout, pair func(a, b Layout) Layout) (Layout, error) {
	rank := max(l.Rank(), b.Rank())
	r, err := multiply(l.padded(rank), b.padded(rank))
	if err != nil {
		return Layout{}, err
	}
	as, bs := r.modes[0].modes, r.modes[1].modes
	out := make([]Layout, rank)
	for k := range out {
		out[k] = pair(as[k], bs[k])
	}
	return Concat(out...)
}

// padded is l as a tuple of rank modes, at least its own.
func (l Layout) padded(rank int) Layout {
	modes := l.Modes()
	for len(modes) < rank {
		modes = append(modes, leafOf(1, 0))
	}
	return tupleOf(modes...)
}

// TileToShape repeats a block until it has a shape: mode k of the result has the size of mode k of the shape, and block
// number j, counted over the modes in the given order, fastest first, lies where [Layout.LogicalProduct] puts copy j:
// for a compact block at j*size(block). The order is a permutation of the shape's modes; by default it is 0, 1, ...
// (column-major); 1, 0 fills row by row. Only the size of each mode of the shape counts, not its nesting. Each must be
// a multiple of the block's.
//
// Source: NVIDIA CUTLASS documentation, CuTe, tile_to_shape.
func (l Layout) TileToShape(shape Tuple, order ...int) (Layout, error) {
	whole, err := ColMajor(shape)
	if err != nil {
		return Layout{}, err
	}
	rank := whole.Rank()
	if l.Rank() > rank {
		return Layout{}, fail(ErrInvalid, "block %s for shape %s: the block has more modes", l.clipped(), shape.clipped())
	}
	if len(order) == 0 {
		for k := range rank {
			order = append(order, k)
		}
	}
	if !isPermutation(order, rank) {
		return Layout{}, fail(ErrInvalid, "order %v for shape %s: give each of its modes 0 to %d once", order, shape.clipped(), rank-1)
	}
	block := l.padded(rank)
	tiles := make([]Layout, rank)
	stride := 1
	for _, k := range order {
		have, want := block.modes[k].Size(), whole.top()[k].Size()
		if want%have != 0 {
			return Layout{}, fail(ErrUndefined, "block %s for shape %s: size %d of mode %d is not a multiple of the block's %d",
				l.clipped(), shape.clipped(), want, k, have)
		}
		tiles[k] = leafOf(want/have, stride)
		stride *= want / have
	}
	return block.BlockedProduct(tupleOf(tiles...))
}

func isPermutation(order []int, n int) bool {
	seen := make([]bool, n)
	for _, k := range order {
		if k < 0 || k >= n || seen[k] {
			return false
		}
		seen[k] = true
	}
	return len(order) == n
}
