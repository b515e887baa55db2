package report

import (
	"fmt"
	"maps"
	"slices"
)

// goal is what was asked of a case, and whether it came out; the figures beside it say by how much.
type goal struct {
	Text  string
	Class string // met or missed
}

func (c shaped) goals() []goal {
	if c.Goal == nil {
		return nil
	}
	var out []goal
	add := func(met bool, form string, want ...any) {
		word := "missed"
		if met {
			word = "met"
		}
		out = append(out, goal{fmt.Sprintf(form, want...) + ": " + word, word})
	}
	if want, part := c.Goal.Copy, c.ofCopy(); want > 0 && part > 0 {
		add(part >= want, "goal %.2f of copy", want)
	}
	worst := 0.0
	for _, name := range c.peers() {
		worst = max(worst, c.Ratio[name])
	}
	if want := c.Goal.Peers; want > 0 && worst > 0 {
		add(worst <= want, "goal %.2f of the peers’ times", want)
	}
	for _, other := range slices.Sorted(maps.Keys(c.Goal.Above)) {
		if above, ok := c.Above(c.base(), other); ok {
			add(above <= c.Goal.Above[other], "goal %.1f µs more than %s", c.Goal.Above[other], other)
		}
	}
	return out
}
