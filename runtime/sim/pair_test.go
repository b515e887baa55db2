package sim

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/gotile/gotile/internal/thr"
)

// Hazards come as pairs: the right program is silent whenever its copies arrive, the same without one statement is
// reported, with the lines of both sides.

// named is a statement that a test takes out by its name.
type named struct {
	name string
	s    thr.Stmt
}

// taken is the statements of a list but for one.
func taken(list []named, name string) (out []thr.Stmt) {
	for _, n := range list {
		if n.name != name {
			out = append(out, n.s)
		}
	}
	return out
}

// lack is what a program is reported for without one of its statements.
type lack struct {
	without string
	kind    Kind
	// at and other are the statements whose lines every run reports, in either order; of a deadlock they are
	// in the table. No other: the defect has one side, or, with ways, one that depends on the schedule.
	at, other string
	// ways are further kinds that it may be instead, by schedule. Then one run at least has the lines.
	ways []Kind
}

// twoSided are the kinds whose reports always name a second line.
var twoSided = []Kind{Race, GlobalRace, InFlight, MissingFence}

// shown says how a run failed to report a kind, or one of ways, with two lines, the second 0 where the defect has one
// side; "": it did. lines says whether a report has both.
func shown(e *Errors, kind Kind, ways []Kind, first, second int) (why string, lines bool) {
	if e == nil {
		return "silent", false
	}
	found := false
	for _, r := range e.Reports {
		switch {
		case !r.Pos.Known():
			return "no line: " + r.String(), false
		case slices.Contains(twoSided, r.Kind) && !r.Other.Known():
			return "no line of the other side: " + r.String(), false
		case r.Kind != kind:
			found = found || slices.Contains(ways, r.Kind)
			continue
		}
		found = true
		at, other := r.Pos.Frame().Line, r.Other.Frame().Line
		switch {
		case kind == Deadlock:
			lines = lines || tells(r, first) && (second == 0 || tells(r, second))
		case second == 0:
			lines = lines || at == first
		default:
			lines = lines || at == first && other == second || at == second && other == first
		}
	}
	switch {
	case !found:
		return fmt.Sprintf("no %s %v\n%v", kind, ways, e), lines
	case !lines && ways == nil:
		return fmt.Sprintf("no %s at lines %d and %d\n%v", kind, first, second, e), false
	}
	return "", lines
}

// tells reports whether a line of a test is in the table of a deadlock.
func tells(r *Report, line int) bool {
	return regexp.MustCompile(fmt.Sprintf(`_test\.go:%d\b`, line)).MatchString(r.Detail)
}

// everyCompletion runs a kernel of pointers to buffers of 4096 bytes with all completions and seeds.
func everyCompletion(t *testing.T, k *thr.Kernel, f func(what string, e *Errors)) {
	t.Helper()
	everyRun(t, k, max(k.Cluster, 1), false, f)
}

func everyRun(t *testing.T, k *thr.Kernel, grid int, global bool, f func(what string, e *Errors)) {
	t.Helper()
	for _, c := range []Completion{BySeed, Early, Late, AtRandom} {
		for seed := range uint64(6) {
			m := NewMemory(false)
			var args []uint64
			for range k.Args {
				x, _ := output(t, m, 4096)
				args = append(args, x)
			}
			_, e := run(t, k, m, grid, words(args...), Options{Seed: seed, Copies: c, GlobalRaces: global})
			f(fmt.Sprintf("copies %s, seed %d", []string{"by seed", "early", "late", "random"}[c], seed), e)
		}
	}
}

// pairs runs a program, which must be silent, and the same without one statement after the other, each of which must be
// reported. kernel makes a program of statements.
func pairs(t *testing.T, kernel func(body ...thr.Stmt) *thr.Kernel, list []named, lacks ...lack) {
	t.Helper()
	pairsOf(t, func(without string) *thr.Kernel { return kernel(taken(list, without)...) }, list, lacks...)
}

// pairsOf is pairs of a program whose statements do not follow one another: program makes it without one of them.
func pairsOf(t *testing.T, program func(without string) *thr.Kernel, list []named, lacks ...lack) {
	t.Helper()
	right(t, program(""))
	at := func(name string) thr.Stmt {
		for _, n := range list {
			if n.name == name {
				return n.s
			}
		}
		return nil
	}
	for _, l := range lacks {
		t.Run("without "+l.without, func(t *testing.T) { wrong(t, program(l.without), l.kind, at(l.at), at(l.other), l.ways...) })
	}
}

// wrong runs a program that must be reported in every run as one kind, or one of ways, with the lines of two statements; no
// second: the defect has one side.
func wrong(t *testing.T, k *thr.Kernel, kind Kind, at, other thr.Stmt, ways ...Kind) {
	t.Helper()
	second := 0
	if other != nil {
		second = line(other)
	}
	lines, failed := false, false
	everyCompletion(t, k, func(when string, e *Errors) {
		why, both := shown(e, kind, ways, line(at), second)
		if lines = lines || both; why != "" && !failed {
			t.Errorf("%s: %s", when, why)
			failed = true
		}
	})
	if !lines && !failed {
		t.Errorf("no report at lines %d and %d", line(at), second)
	}
}

// right runs a program that must be silent.
func right(t *testing.T, k *thr.Kernel) {
	t.Helper()
	everyCompletion(t, k, func(_ string, e *Errors) { silent(t, e) })
}

// inPair is a cluster of two blocks of a warp, with x, a tile of 128 bytes and two mbarriers.
func inPair(body ...thr.Stmt) *thr.Kernel {
	return clusterKernel(2, 32, 144, []*thr.Arg{bulkX}, body...)
}

// alone is a block of a warp with the same, and two one of two warps.
func alone(body ...thr.Stmt) *thr.Kernel { return kernel(32, 144, []*thr.Arg{bulkX}, body...) }
func two(body ...thr.Stmt) *thr.Kernel   { return kernel(64, 144, []*thr.Arg{bulkX}, body...) }
