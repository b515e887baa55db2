package waitfor

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gotile/gotile/internal/thr"
)

// Report is what the watchdog has written of one block.
type Report struct {
	Block  int
	Waited time.Duration // of the warp that reported
	base   uint32
	come   uint32
	warps  [Warps]record
}

// record is where a warp was.
type record struct {
	site, bar   uint32
	want, state uint64
}

// Decode reads the reports that are whole, in the order in which they were begun.
func Decode(b []byte) []Report {
	var out []Report
	word := binary.LittleEndian.Uint32
	long := binary.LittleEndian.Uint64
	for ; len(b) >= ReportBytes; b = b[ReportBytes:] {
		if word(b[4:]) == 0 {
			continue
		}
		r := Report{Block: int(word(b)), base: word(b[8:]), come: word(b[12:]), Waited: time.Duration(long(b[16:]))}
		for i := range r.warps {
			w := b[headBytes+i*recordBytes:]
			r.warps[i] = record{word(w), word(w[4:]), long(w[8:]), long(w[16:])}
		}
		out = append(out, r)
	}
	return out
}

// Describe is the table of the reports of a kernel that was printed with these sites. Blocks that stand alike are
// described once.
func Describe(k *thr.Kernel, sites []Site, reports []Report) string {
	type group struct {
		blocks []int
		rows   string
	}
	var groups []*group
	for i := range reports {
		rows := reports[i].table(k, sites)
		at := slices.IndexFunc(groups, func(g *group) bool { return g.rows == rows })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{rows: rows})
		}
		groups[at].blocks = append(groups[at].blocks, reports[i].Block)
	}
	var out []string
	for _, g := range groups {
		slices.Sort(g.blocks)
		out = append(out, "  "+blockNames(g.blocks)+":\n"+g.rows)
	}
	if len(reports) == Reports {
		out = append(out, fmt.Sprintf("  there may be more blocks: there is room for %d reports", Reports))
	}
	return strings.Join(out, "\n")
}

// blockNames is "block 3", "blocks 0, 1, 2" or "blocks 0, 1, 2, 3 and 60 more".
func blockNames(n []int) string {
	const most = 4
	var names []string
	for _, b := range n[:min(len(n), most)] {
		names = append(names, fmt.Sprint(b))
	}
	s := strings.Join(names, ", ")
	switch {
	case len(n) == 1:
		return "block " + s
	case len(n) > most:
		s += fmt.Sprintf(" and %d more", len(n)-most)
	}
	return "blocks " + s
}

// table is the rows of the block's warps.
func (r *Report) table(k *thr.Kernel, sites []Site) string {
	var t Table
	for i := range k.Threads / 32 {
		name, w := WarpName(k, i), r.warps[i]
		if w.site == Ended {
			t.Left(name)
			continue
		}
		if w.site == Running || int(w.site) > len(sites) {
			t.Runs(name)
			continue
		}
		s := sites[w.site-1]
		switch {
		case s.Fn == thr.InvalidFn:
			t.Spins(name, s.Pos)
		case s.Fn == thr.BlockSync:
			t.Meets(name, "barrier", s.Pos)
		case s.Fn == thr.ClusterSync || s.Fn == thr.ClusterWait:
			t.Meets(name, "barrier of the cluster", s.Pos)
		case s.Fn == thr.NamedSync:
			t.Named(name, s.Pos, int(w.bar-r.come)/8, int(int32(uint32(w.want)-uint32(w.state))), s.Threads/32)
		case s.Fn == thr.RegsInc:
			t.Registers(name, s.Pos, s.Regs, -1)
		default:
			r.phase(&t, k, name, s, w)
		}
	}
	return t.String("    ")
}

// phase is the row of a warp at an mbarrier.
func (r *Report) phase(t *Table, k *thr.Kernel, name string, s Site, w record) {
	parity, waits := int(w.want&1), "waits"
	switch s.Fn {
	case thr.MBarWaitToken, thr.MBarTestToken, thr.MBarTryToken:
		parity = int(w.want >> 63)
	}
	if s.Fn != thr.MBarWait && s.Fn != thr.MBarWaitToken {
		waits = "asks"
	}
	bar := BarName(s.Bar, int(w.bar-r.base)-s.Bar.Offset)
	t.Phase(name, waits, s.Pos, fmt.Sprintf("the phase of parity %d", parity), bar, func() State {
		word := WordOf(k.Target, w.state)
		return State{Phase: fmt.Sprintf("a phase of parity %d", word.Parity), Pending: word.Pending, Count: word.Count,
			Bytes: word.bytes(), Array: s.Bar.Name, Lines: LinesOf(k.Body, s.Bar)}
	})
}
