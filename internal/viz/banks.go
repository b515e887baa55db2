package viz

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/layout"
)

// DrawBanks shows accesses of a warp to shared memory, width bytes a lane: for each phase a row for each wavefront, a
// column for each bank, or for the banks that a lane accesses together, and in the cells the lanes that get their words
// there. Wavefronts after a phase's first are outlined. Accesses of the same lanes to the same banks are drawn once.
func DrawBanks(title string, accesses []layout.WarpAccess, width int) (*Picture, error) {
	if len(accesses) == 0 {
		return nil, fmt.Errorf("%s: no accesses", title)
	}
	wavefronts, least := 0, 0
	for _, a := range accesses {
		wavefronts += a.Cost.Wavefronts
		least += a.Cost.Least
	}
	p := &Picture{Title: title, Notes: []string{
		fmt.Sprintf("%s of %d bytes a lane: %d wavefronts where %d would do.", count(len(accesses), "access", "accesses"), width, wavefronts, least),
		"A row is a wavefront; in the cells are the lanes that it serves, in the first one's colour. What is outlined waits: a conflict."}}
	seen := map[string]int{} // by its lanes and banks, the panel
	var same []int           // by access drawn, how many it stands for
	var first []*Panel
	for _, a := range accesses {
		panels := bankPanels(a, width)
		key := fmt.Sprintf("%v", panels)
		if i, ok := seen[key]; ok {
			same[i]++
			continue
		}
		seen[key] = len(same)
		same = append(same, 1)
		first = append(first, panels[0].Panel)
		for i, q := range panels {
			q.Heading = fmt.Sprintf("phase %d: %s", i, count(a.Cost.Ways[i], "way", "ways"))
			p.Panels = append(p.Panels, q.Panel)
		}
		panels[0].Heading = fmt.Sprintf("warp %d, value %d, %s", a.Warp, a.Value, panels[0].Heading)
	}
	for i, n := range same {
		if n > 1 {
			first[i].Heading += fmt.Sprintf(" (%d accesses are alike)", n)
		}
	}
	return p, nil
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// phase is a panel with what makes it equal to another.
type phase struct {
	*Panel
	served string
}

func (p phase) String() string { return p.served }

// bankPanels are the phases of an access.
func bankPanels(a layout.WarpAccess, width int) []phase {
	var out []phase
	lanes := layout.PhaseLanes(width)
	unit := max(width, layout.BankWord) // what a lane accesses begins at a multiple of its size: its banks go together
	cols := lineBytes / unit
	for i, ways := range a.Cost.Ways {
		units := make([][]int, cols) // by column, in the order in which lanes ask
		who := map[int][]int{}       // by unit
		served := fmt.Sprintf("%d ways", ways)
		for l := i * lanes; l < min((i+1)*lanes, len(a.Addr)); l++ {
			if a.Addr[l] < 0 {
				continue
			}
			u := a.Addr[l] / unit
			if who[u] == nil {
				units[u%cols] = append(units[u%cols], u)
			}
			who[u] = append(who[u], l)
		}
		rows := max(ways, 1)
		q := &Panel{Rows: numbers(rows), Cells: grid(rows, cols), RowTitle: "wavefront", ColTitle: "banks"}
		for c := range cols {
			q.Cols = append(q.Cols, banksOf(c*unit, unit))
		}
		if ways == 0 {
			q.Rows = []string{"off"}
		}
		for c, us := range units {
			for r, u := range us {
				text := ranges(who[u])
				served += fmt.Sprintf(" %d:%s", c, text)
				q.Cells[r][c] = Cell{Text: text, Color: colorOf(who[u][0]), Alert: r > 0}
			}
		}
		out = append(out, phase{q, served})
	}
	return out
}

// ranges is a text for ascending numbers: 0-7 or 0,4,8.. where there are many.
func ranges(ns []int) string {
	last := len(ns) - 1
	switch {
	case last == 0:
		return fmt.Sprint(ns[0])
	case ns[last]-ns[0] == last:
		return fmt.Sprintf("%d-%d", ns[0], ns[last])
	case last < 3:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(ns), " ", ","), "[]")
	}
	return fmt.Sprintf("%d,%d..", ns[0], ns[1])
}
