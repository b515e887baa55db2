package tile

// ScaleRows multiplies row i of an accumulator by element i of a vector, in place: acc[i,j] *= by[i]. by is spread as the
// rows of the accumulator are: what a reduction over axis 1 gives, or a load of its span's Axis(0). Between two MMAs it
// is what an online softmax does with the sums so far.
func ScaleRows[T Number](acc Var[T], by Reg[T]) { scaleAlong(acc, by, 1) }

// ScaleCols multiplies column j of an accumulator by element j of a vector, in place: acc[i,j] *= by[j]. by is spread as
// the columns are: what a reduction over axis 0 gives, or a load of its span's Axis(1).
func ScaleCols[T Number](acc Var[T], by Reg[T]) { scaleAlong(acc, by, 0) }

// scaleAlong multiplies a variable by a vector that lacks an axis of it.
func scaleAlong[T Number](acc Var[T], by Reg[T], axis int) {
	now := acc.Get()
	if now.v == nil {
		return
	}
	acc.Set(now.Mul(Expand(by, now.Span(), axis)))
}
