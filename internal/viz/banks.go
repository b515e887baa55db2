package viz

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/layout"
)

// DrawBanks shows accesses of a warp to shared memory, width bytes a lane: for each phase a row for each wavefront, a
// column for each bank, and in the cells the lanes that get their word there. Wavefronts after a phase's first are
// outlined. Accesses that cost the same at the same banks are drawn once.
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
		"A column is a bank, a row a wavefront, in the cells the lanes served; the colour is the first one's. Outlined wavefronts are conflicts."}}
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
		if panels[0].Heading = fmt.Sprintf("warp %d, value %d", a.Warp, a.Value); len(panels) > 1 {
			panels[0].Heading += ", phase 0"
		}
		for i, q := range panels {
			if i > 0 {
				q.Heading = fmt.Sprintf("phase %d", i)
			}
			p.Panels = append(p.Panels, q.Panel)
		}
	}
	for i, n := range same {
		if n > 1 {
			first[i].Heading += fmt.Sprintf(" (and %d more alike)", n-1)
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
	for i, ways := range a.Cost.Ways {
		words := [layout.Banks][]int{} // in the order in which lanes ask
		who := map[int][]int{}         // by word
		served := fmt.Sprintf("%d ways", ways)
		for l := i * lanes; l < min((i+1)*lanes, len(a.Addr)); l++ {
			if a.Addr[l] < 0 {
				continue
			}
			for w := a.Addr[l] / layout.BankWord; w <= (a.Addr[l]+width-1)/layout.BankWord; w++ {
				if who[w] == nil {
					words[w%layout.Banks] = append(words[w%layout.Banks], w)
				}
				who[w] = append(who[w], l)
			}
		}
		q := &Panel{Cols: numbers(layout.Banks), Cells: grid(ways, layout.Banks), RowTitle: "wavefront", ColTitle: "bank"}
		for r := range ways {
			q.Rows = append(q.Rows, fmt.Sprint(r))
		}
		for bank, ws := range words {
			for r, w := range ws {
				text := ranges(who[w])
				served += fmt.Sprintf(" %d:%s", bank, text)
				q.Cells[r][bank] = Cell{Text: text, Color: colorOf(who[w][0]), Alert: r > 0}
			}
		}
		if ways == 0 {
			q.Rows, q.Cells = []string{"off"}, grid(1, layout.Banks)
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
