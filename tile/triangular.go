package tile

// InverseUnitLower is the inverse of I + L, where L is what x, a square tile of a warp, has below its diagonal; the rest
// of x is not read. Sizes are 4, 8, 16 and 32. Forward substitution: a lane has a column of the inverse, and the elements
// of L come by shuffles. Row i of column j is
//
//	t[i] = [i = j] - sum over k < i of L[i,k] t[k]
//
// for k from 0 up, each product fused with its sum. The result is spread like x.
func InverseUnitLower(x Reg[F32]) Reg[F32] {
	if x.b == nil {
		return x
	}
	return Reg[F32]{b: x.b, v: x.b.InverseUnitLower(x.v)}
}
