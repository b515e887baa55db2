package ir

import "math"

// bounds are the smallest and the largest value that an index can have as far as constants say. Indices are i32;
// arithmetic that might leave them wraps, so it is unbounded.
func bounds(v *Value) (lo, hi int) {
	if n, ok := intConst(v); ok {
		return n, n
	}
	switch v.Op {
	case Invalid:
		return loopBounds(v.In.Owner)
	case WarpID:
		if r := v.In.InRole(); r != nil {
			return r.First, r.First + r.Parts*r.Warps - 1
		}
		return 0, math.MaxInt32
	case Dim, BlockID, NumBlocks, ClusterID, NumClusters:
		return 0, math.MaxInt32
	case GroupID:
		return 0, v.Attr.(*Role).Parts - 1
	case ClusterRank:
		return 0, MaxCluster - 1
	case Add, Sub, Mul, Min, Max, Div, Rem:
		a, b := bounds(v.Args[0])
		c, d := bounds(v.Args[1])
		return within(arithmetic(v.Op, a, b, c, d))
	}
	return math.MinInt32, math.MaxInt32
}

// arithmetic is op on the intervals [a, b] and [c, d].
func arithmetic(op Op, a, b, c, d int) (lo, hi int) {
	switch op {
	case Add:
		return a + c, b + d
	case Sub:
		return a - d, b - c
	case Mul:
		return min(a*c, a*d, b*c, b*d), max(a*c, a*d, b*c, b*d)
	case Min:
		return min(a, c), min(b, d)
	case Max:
		return max(a, c), max(b, d)
	case Div:
		if a >= 0 && c > 0 {
			return a / d, b / c
		}
	case Rem:
		if a >= 0 && c > 0 {
			return 0, min(b, d-1)
		}
	}
	return math.MinInt32, math.MaxInt32
}

// within is the interval where it lies in i32.
func within(lo, hi int) (int, int) {
	if lo < math.MinInt32 || hi > math.MaxInt32 {
		return math.MinInt32, math.MaxInt32
	}
	return lo, hi
}

// loopBounds are the bounds of a loop's induction variable: lo, lo+step, .. < hi.
func loopBounds(loop *Value) (int, int) {
	switch {
	case loop.Op == Persistent && len(loop.Args) == 2:
		_, n := bounds(loop.Args[0])
		return 0, max(0, n-1)
	case loop.Op == Range && len(loop.Args) == 3:
		lo, first := bounds(loop.Args[0])
		_, end := bounds(loop.Args[1])
		last := end - 1
		if step, ok := intConst(loop.Args[2]); ok && lo == first {
			last = lo + max(0, last-lo)/step*step
		}
		return lo, max(lo, last)
	}
	return math.MinInt32, math.MaxInt32
}
