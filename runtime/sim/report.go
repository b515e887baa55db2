package sim

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gotile/gotile/internal/ir"
)

// Kind is a sort of defect.
type Kind string

// The kinds.
const (
	OutOfBounds       Kind = "out of bounds"
	Misaligned        Kind = "misaligned access"
	Uninitialised     Kind = "read of uninitialised memory"
	Race              Kind = "shared-memory race"
	GlobalRace        Kind = "global-memory race"
	BarrierDivergence Kind = "barrier divergence"
	NonUniform        Kind = "non-uniform control flow"
	BadShuffle        Kind = "shuffle from a lane out of range"
	Runaway           Kind = "runaway loop"
	NotRunning        Kind = "shared memory of a block that may not be running"
	InFlight          Kind = "access of a copy or multiply in flight"
	NotAwaited        Kind = "copy not awaited"
	BadBarrier        Kind = "misuse of an mbarrier"
	MissedPhase       Kind = "missed phase of an mbarrier"
	WrongBytes        Kind = "wrong number of bytes at an mbarrier"
	MissingFence      Kind = "missing proxy fence"
	UnfencedRegisters Kind = "missing fence of registers"
	Deadlock          Kind = "deadlock"
	BadRegisters      Kind = "misuse of setmaxnreg"
	Panicked          Kind = "panic"
	Premature         Kind = "access before the kernels ahead are over"
	TooManyStorers    Kind = "bulk stores by too many warps"
)

// Report is one defect. Later occurrences at the same place, or pair of places, only raise Count.
type Report struct {
	Kind   Kind
	Kernel string
	Block  int
	Warp   int
	Lane   int    // the first lane it was seen in
	Pos    ir.Pos // the statement that ran into it
	Other  ir.Pos // the other side, where there is one
	Detail string // address, offset, nearest allocation
	Count  int    // occurrences, at least 1
}

// String is "file.go:12: shared-memory race with file.go:10: detail (kernel k, block 0, warp 1, lane 2; 32 times)".
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Pos, r.Kind)
	if r.Other.Known() {
		fmt.Fprintf(&b, " with %s", r.Other)
	}
	fmt.Fprintf(&b, ": %s (kernel %s, block %d, warp %d, lane %d", r.Detail, r.Kernel, r.Block, r.Warp, r.Lane)
	if r.Count > 1 {
		fmt.Fprintf(&b, "; %d times", r.Count)
	}
	return b.String() + ")"
}

// Errors is what a run found, by block.
type Errors struct {
	Reports []*Report
	More    int // distinct reports beyond Options.MaxReports
}

// Error has one report a line.
func (e *Errors) Error() string {
	var s []string
	for _, r := range e.Reports {
		s = append(s, r.String())
	}
	if e.More > 0 {
		s = append(s, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(s, "\n")
}

// Has reports whether there is a report of a kind.
func (e *Errors) Has(k Kind) bool {
	for _, r := range e.Reports {
		if r.Kind == k {
			return true
		}
	}
	return false
}

// reportKey makes occurrences one report: instructions are identified by their site, not by their position, which
// may be unknown.
type reportKey struct {
	kind        Kind
	site, other int32
}

type keyed struct {
	*Report
	key reportKey
}

// log collects the reports of one block.
type log struct {
	seen map[reportKey]*Report
	list []keyed
}

// add counts an occurrence and returns the report to fill in when it is the first.
func (g *log) add(k reportKey) *Report {
	if r := g.seen[k]; r != nil {
		r.Count++
		return nil
	}
	if g.seen == nil {
		g.seen = map[reportKey]*Report{}
	}
	r := &Report{Kind: k.kind, Count: 1}
	g.seen[k] = r
	g.list = append(g.list, keyed{r, k})
	return r
}

// merge joins the blocks' reports: by block number, then in the order of execution, which makes the result
// independent of the host's timing.
func merge(logs map[int][]keyed, limit int) error {
	if len(logs) == 0 {
		return nil
	}
	var blocks []int
	for b := range logs {
		blocks = append(blocks, b)
	}
	sort.Ints(blocks)
	var all log
	for _, b := range blocks {
		for _, k := range logs[b] {
			if r := all.add(k.key); r != nil {
				*r = *k.Report
			} else {
				all.seen[k.key].Count += k.Count - 1
			}
		}
	}
	e := &Errors{}
	for i, k := range all.list {
		if i == limit {
			e.More = len(all.list) - limit
			break
		}
		e.Reports = append(e.Reports, k.Report)
	}
	return e
}
