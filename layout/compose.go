package layout

// Compose is the composition A o B, A after B: the layout R with the shape of B (each leaf of which may have become
// several) and
//
//	R(c) = A(B(c)) for every c in [0, size(B)).
//
// With a tiler by mode, each mode of A is composed with its own. It is defined where B stays within A, cosize(B) <=
// size(A), and where there is such a layout: each leaf of B steps through the modes of A so that it fills a mode
// exactly before it goes on to the next, and the leaves of B together do not carry from one mode of A into the next.
// Anything else is an error, even if offsets should add up by chance. (CuTe asks for divisibility of sizes and strides,
// which is stricter, and does not look for carries.) A size of 1 has stride 0 in the result.
//
// Source: Cecka, CuTe Layout Representation and Algebra, composition.
func (l Layout) Compose(t Tiler) (Layout, error) { return l.apply(t, compose) }

func compose(a, b Layout) (Layout, error) {
	if a.Size() < b.Cosize() {
		return Layout{}, fail(ErrUndefined, "composition %s o %s: the second reaches index %d, the first has %d elements; "+
			"use a smaller tile or pad the first", a.clipped(), b.clipped(), b.Cosize()-1, a.Size())
	}
	c := composer{a: a, b: b, modes: a.Coalesce().top()}
	for _, f := range c.modes {
		c.room = append(c.room, f.n-1)
	}
	r, err := c.compose(b)
	if err != nil {
		return Layout{}, err
	}
	return r.checked()
}

// composer composes the leaves of b with a, whose coalesced modes are the digits of an index in mixed radix.
type composer struct {
	a, b  Layout
	modes []Layout
	room  []int // of each digit: what the leaves of b composed so far have left of it
}

func (c *composer) compose(b Layout) (Layout, error) {
	if b.leaf {
		return c.leaf(b.n, b.d)
	}
	out := Layout{modes: make([]Layout, len(b.modes))}
	for i, m := range b.modes {
		var err error
		if out.modes[i], err = c.compose(m); err != nil {
			return Layout{}, err
		}
	}
	return out, nil
}

// leaf composes the leaf s:d of b. As long as no digit carries, a steps evenly; that run is a leaf of the result, and the
// runs are walked in the same way, in steps as long as a run.
func (c *composer) leaf(s, d int) (Layout, error) {
	if s == 1 || d == 0 {
		return leafOf(s, 0), nil
	}
	var out []Layout
	for size, step := s, d; size > 1; {
		run, stride, end := c.run(size, step)
		if size%run != 0 {
			return Layout{}, fail(ErrUndefined, "composition %s o %s: %d:%d walks %d places in steps of %d, of which %d fill "+
				"mode %s of the first, and %d does not divide %d", c.a.clipped(), c.b.clipped(), s, d, size, step, run, end,
				run, size)
		}
		for k, rest := 0, step; k < len(c.modes); k++ {
			if c.room[k] -= (run - 1) * (rest % c.modes[k].n); c.room[k] < 0 {
				return Layout{}, fail(ErrUndefined, "composition %s o %s: the steps of %d:%d carry out of mode %s of the first, "+
					"by themselves or with the leaves before it, so that offsets do not add up", c.a.clipped(), c.b.clipped(),
					s, d, c.modes[k])
			}
			rest /= c.modes[k].n
		}
		out = append(out, leafOf(run, stride))
		if size /= run; size > 1 {
			step *= run // below the size of a, as the last place of the leaf is
		}
	}
	return flat(out), nil
}

// run is how many of size places, in steps of step, come before a digit carries, how a steps over them, and the mode of
// the first digit that would carry. Two places at least do: each digit of a step is below its size.
func (c *composer) run(size, step int) (run, stride int, end Layout) {
	run = size
	for _, m := range c.modes {
		digit := step % m.n
		if digit > 0 && run > (m.n-1)/digit+1 {
			run, end = (m.n-1)/digit+1, m
		}
		stride += digit * m.d // at most the cosize of a
		step /= m.n
	}
	return run, stride, end
}
