package report

import "fmt"

// goal is what was asked of a case, and whether it came out.
type goal struct {
	Text  string
	Class string // met or missed
}

func (c shaped) goals() []goal {
	if c.Goal == nil {
		return nil
	}
	var out []goal
	add := func(met bool, form string, args ...any) {
		word := "missed"
		if met {
			word = "met"
		}
		out = append(out, goal{fmt.Sprintf(form, args...) + ": " + word, word})
	}
	if want, part := c.Goal.Copy, c.ofCopy(); want > 0 && part > 0 {
		add(part >= want, "%.3f of copy, goal %.2f", part, want)
	}
	if want, ratio := c.Goal.Peers, c.Ratio[c.fastestPeer()]; want > 0 && ratio > 0 {
		add(ratio <= want, "%.3f of %s’s time, goal %.2f", ratio, c.fastestPeer(), want)
	}
	return out
}
