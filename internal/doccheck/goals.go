package doccheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/bench"
)

// GoalsTable holds the cases that something is asked of, by the suite's goals, against it: the part of the copy's
// bandwidth, and the time against the fastest peer's. What is missed is bold.
func GoalsTable(r *bench.Results, goals map[string]*bench.Goal) (string, error) {
	var lines [][]string
	mark := func(missed bool, form string, args ...any) string {
		if missed {
			form = "**" + form + "**"
		}
		return fmt.Sprintf(form, args...)
	}
	for _, c := range r.Cases {
		k, shape, ok := split(c)
		goal := goals[c.Name]
		if !ok || goal == nil {
			continue
		}
		m := rowOf(shape, c)
		if m.ours == "" || m.copy == "" {
			return "", fmt.Errorf("%s lacks what its goals compare", c.Name)
		}
		cells := []string{k.title(), shape, fmt.Sprintf("%.3f", m.ofCopy()), "", "", ""}
		if goal.Copy > 0 {
			cells[2], cells[3] = mark(m.ofCopy() < goal.Copy, "%.3f", m.ofCopy()), fmt.Sprintf("%.2f", goal.Copy)
		}
		if goal.Peers > 0 {
			cells[4], cells[5] = "not measured", fmt.Sprintf("%.2f", goal.Peers)
		}
		if goal.Peers > 0 && m.peer != "" {
			cells[4] = mark(m.ratio(m.peer) > goal.Peers, "%.3f", m.ratio(m.peer)) + " of " + m.peer
			if _, verdict, ok := c.Compare(m.peer); ok && verdict == bench.NoChange {
				cells[4] += ", " + verdict
			}
		}
		lines = append(lines, cells)
	}
	if lines == nil {
		return "", fmt.Errorf("nothing is asked of a case of suite %s", r.Suite)
	}
	return table([]string{"pass", "rows x n", "part of copy", "asked", "time against the fastest peer", "asked"}, lines), nil
}

// Missing lists what a suite publishes and the results lack: cases without a figure, and cases without one of a peer.
// names are all of the suite's.
func Missing(r *bench.Results, names []string) string {
	var figures, peers gaps
	for _, name := range names {
		c := bench.Case{Name: name}
		if i := slices.IndexFunc(r.Cases, func(o bench.Case) bool { return o.Name == name }); i >= 0 {
			c = r.Cases[i]
		}
		k, shape, ok := split(c)
		if !ok {
			continue
		}
		m := rowOf(shape, c)
		figures.add(k, shape, m.ours == "")
		peers.add(k, shape, m.ours != "" && m.peer == "")
	}
	return table([]string{"not measured", "rows x n"}, append(figures.lines(""), peers.lines(", peers")...))
}

// EarlierPeers is the table of cases that the results have no peer of, and earlier ones do: what libraries' kernels took
// does not depend on ours. What our present time does not beat is bold.
func EarlierPeers(r, earlier *bench.Results) (string, error) {
	var lines [][]string
	for _, c := range r.Cases {
		k, shape, ok := split(c)
		i := slices.IndexFunc(earlier.Cases, func(o bench.Case) bool { return o.Name == c.Name })
		if !ok || i < 0 {
			continue
		}
		now, then := rowOf(shape, c), rowOf(shape, earlier.Cases[i])
		if now.peer != "" || now.ours == "" || then.peer == "" {
			continue
		}
		ours, theirs := c.Arms[now.ours].Median, then.c.Arms[then.peer].Median
		form := "%.3f"
		if ours > theirs {
			form = "**%.3f**"
		}
		lines = append(lines, []string{k.title(), shape, fmt.Sprintf("%.1f", ours), then.peer, fmt.Sprintf("%.1f", theirs), fmt.Sprintf(form, ours/theirs)})
	}
	if lines == nil {
		return "", fmt.Errorf("the results of %s have no peer that those of %s lack", earlier.Commit, r.Commit)
	}
	return table([]string{"pass", "rows x n", "µs", "fastest peer, earlier", "its µs", "our time against it"}, lines), nil
}

// gaps are the shapes of each kind that something lacks.
type gaps struct {
	kinds []kind
	lacks map[kind][]string
	all   map[kind]int
}

func (g *gaps) add(k kind, shape string, lacks bool) {
	if !slices.Contains(g.kinds, k) {
		g.kinds = append(g.kinds, k)
	}
	if g.all == nil {
		g.lacks, g.all = map[kind][]string{}, map[kind]int{}
	}
	if g.all[k]++; lacks {
		g.lacks[k] = append(g.lacks[k], shape)
	}
}

// lines are the rows of a table.
func (g *gaps) lines(what string) (out [][]string) {
	for _, k := range g.kinds {
		switch n := len(g.lacks[k]); n {
		case 0:
		case g.all[k]:
			out = append(out, []string{k.title() + what, fmt.Sprintf("all %d", n)})
		default:
			out = append(out, []string{k.title() + what, strings.Join(g.lacks[k], ", ")})
		}
	}
	return out
}
