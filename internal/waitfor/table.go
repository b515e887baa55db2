// Package waitfor is the table of a deadlock: who waits where, for what, what that lacks, and who could bring it. The
// simulator prints it of its own warps; for a GPU the runtime prints it of what a watchdog has written: the waits of a
// kernel that codegen/cuda prints with a bound leave a Report for each block in host memory.
package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Table collects the rows of a deadlock, one for each warp. Warps are named as WarpName does.
type Table struct {
	rows []string
	told map[string]bool // barriers whose state is a row already
}

// String is the rows, each on a line of its own that begins with indent.
func (t *Table) String(indent string) string {
	return indent + strings.Join(t.rows, "\n"+indent)
}

func (t *Table) add(format string, args ...any) {
	t.rows = append(t.rows, fmt.Sprintf(format, args...))
}

// Left is of a warp that has come to its end.
func (t *Table) Left(warp string) { t.add("%s has left the kernel", warp) }

// Runs is of a warp that waits for nobody.
func (t *Table) Runs(warp string) { t.add("%s runs", warp) }

// Meets is of a warp at a barrier of the block or the cluster.
func (t *Table) Meets(warp, barrier string, at ir.Pos) {
	t.add("%s waits at the %s of %s", warp, barrier, at)
}

// Named is of a warp at a named barrier, to which so many of its warps have yet to come.
func (t *Table) Named(warp string, at ir.Pos, number, lacks, warps int) {
	t.add("%s waits at %s at named barrier %d: %s", warp, at, number, Lacks(lacks, warps))
}

// Lacks says how many warps of a barrier's have yet to come.
func Lacks(n, of int) string {
	return ir.Count(n, "warp") + " of " + ir.Count(of, "warp") + " have yet to come"
}

// Registers is of a warp that waits for registers; free are those of the block, negative where that is not known.
func (t *Table) Registers(warp string, at ir.Pos, want, free int) {
	s := fmt.Sprintf("%s waits at %s for %d registers a thread", warp, at, want)
	if free >= 0 {
		s += fmt.Sprintf(": %d of the block's are free", free)
	}
	t.add("%s", s)
}

// Spins is of a warp in a loop that does nothing but ask.
func (t *Table) Spins(warp string, at ir.Pos) { t.add("%s asks again and again at %s", warp, at) }

// Phase is of a warp that waits, or asks, for a phase of an mbarrier. lacks says what the phase has and lacks; it is
// asked once for each mbarrier.
func (t *Table) Phase(warp, waits string, at ir.Pos, phase, bar string, lacks func() State) {
	t.add("%s %s at %s for %s of %s", warp, waits, at, phase, bar)
	if t.told[bar] {
		return
	}
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[bar] = true
	t.rows = append(t.rows, lacks().rows(bar)...)
}

// State is what an mbarrier has and lacks.
type State struct {
	Phase          string // that is under way: "phase 1"
	Pending, Count int    // arrivals that have yet to come, and those of a phase
	Bytes          string // what is known of them; empty: nothing to say
	Lines          Lines
	Array          string // name of the array
}

// Lines are the lines of a kernel that bring an array of mbarriers what its phases wait for, in the order of the kernel.
type Lines struct{ Arrivals, Expects, Copies []ir.Pos }

func (s State) rows(bar string) []string {
	now := fmt.Sprintf("  %s is in %s: %d of %s pending", bar, s.Phase, s.Pending, ir.Count(s.Count, "arrival"))
	switch {
	case s.Count == 0: // an mbarrier has at least one
		now = fmt.Sprintf("  of %s this GPU shows threads neither arrivals nor bytes", bar)
	case s.Bytes != "":
		now += ", " + s.Bytes
	}
	out := []string{now, "  no line of the kernel arrives at " + s.Array}
	if len(s.Lines.Arrivals) > 0 {
		out[1] = "  who arrives does so at " + list(s.Lines.Arrivals)
	}
	if s.Count > 0 && s.Bytes != "" && len(s.Lines.Expects)+len(s.Lines.Copies) > 0 {
		out = append(out, fmt.Sprintf("  bytes are expected at %s, and copied at %s", list(s.Lines.Expects), list(s.Lines.Copies)))
	}
	return out
}

func list(lines []ir.Pos) string {
	if len(lines) == 0 {
		return "no line"
	}
	var at []string
	for _, p := range lines {
		at = append(at, p.String())
	}
	return strings.Join(at, ", ")
}

// LinesOf finds the lines that concern an array of mbarriers.
func LinesOf(body []thr.Stmt, bar *thr.SharedBuf) (l Lines) {
	add := func(to *[]ir.Pos, at ir.Pos, is bool) {
		if is && !slices.Contains(*to, at) {
			*to = append(*to, at)
		}
	}
	thr.Each(body, func(s thr.Stmt) {
		if d, ok := s.(thr.Do); ok && d.Bar == bar {
			add(&l.Arrivals, d.Pos, d.Fn.Arrives())
			add(&l.Expects, d.Pos, d.Fn.Expects())
			add(&l.Copies, d.Pos, d.Fn.Completes())
		}
	})
	return l
}

// WarpName is "warp 4 (consumers)", or "warp 4" where the kernel has no roles.
func WarpName(k *thr.Kernel, warp int) string {
	name := fmt.Sprintf("warp %d", warp)
	if k.IR == nil || k.IR.Body == nil {
		return name
	}
	for _, v := range k.IR.Body.Ops {
		list, _ := v.Attr.(ir.RoleList)
		for _, r := range list {
			if warp >= r.First && warp < r.First+r.Warps*r.Parts {
				return fmt.Sprintf("%s (%s)", name, r.Name)
			}
		}
	}
	return name
}

// BarName is "full[2]" for the mbarrier at a byte of an array.
func BarName(bar *thr.SharedBuf, offset int) string { return fmt.Sprintf("%s[%d]", bar.Name, offset/8) }
