package layout

// Coalesce is the flat layout with the fewest modes that is the same function of the index: R(i) = A(i) for i in
// [0, Size). Modes of size 1 go, and neighbours n0:d, n1:n0*d become (n0*n1):d. Two layouts are the same function
// exactly if they coalesce to the same text. A layout of one element coalesces to 1:0.
func (l Layout) Coalesce() Layout {
	var out []Layout
	for _, f := range l.leaves() {
		if f.n == 1 {
			continue
		}
		if k := len(out) - 1; k >= 0 {
			// Where the product does not fit, it is above every stride.
			if d, ok := mul(out[k].n, out[k].d); ok && d == f.d {
				out[k].n *= f.n
				continue
			}
		}
		out = append(out, f)
	}
	return flat(out)
}

// flat is the flat layout of some leaves.
func flat(leaves []Layout) Layout {
	switch len(leaves) {
	case 0:
		return leafOf(1, 0)
	case 1:
		return leaves[0]
	}
	return tupleOf(leaves...)
}

// CoalesceBy coalesces the parts of a layout that a profile names, and keeps their nesting: an integer in the profile
// coalesces what lies in its place, modes without a place in the profile stay as they are. With the profile (1,1) each of
// two modes is coalesced for itself. Like [Layout.Coalesce], it leaves the function of the index alone.
func (l Layout) CoalesceBy(profile Tuple) (Layout, error) {
	return l.coalesceBy(profile, 0)
}

func (l Layout) coalesceBy(profile Tuple, depth int) (Layout, error) {
	if profile.kind != isTuple {
		return l.Coalesce(), nil
	}
	if len(profile.parts) > l.Rank() || l.leaf || depth > MaxDepth {
		return Layout{}, fail(ErrInvalid, "coalescing %s by %s: the profile is not nested like the layout",
			l.clipped(), profile.clipped())
	}
	modes := l.Modes()
	for i, p := range profile.parts {
		var err error
		if modes[i], err = modes[i].coalesceBy(p, depth+1); err != nil {
			return Layout{}, err
		}
	}
	return tupleOf(modes...), nil
}

// Flatten is the layout of the leaves of l, one mode each: the same function of the index.
func (l Layout) Flatten() Layout {
	if l.leaf {
		return l
	}
	return tupleOf(l.leaves()...)
}

// Equivalent reports whether l and m are the same function of the index: as many elements, and equal offsets.
func (l Layout) Equivalent(m Layout) bool { return l.Coalesce().Equal(m.Coalesce()) }
