package doccheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/report"
)

// kind is an operation and a type of a suite: the cases SUITE/PASS/ROWSxN/DTYPE that differ in their shapes alone.
type kind struct{ pass, dtype string }

func (k kind) String() string { return k.pass + "/" + k.dtype }

// title is the kind in words.
func (k kind) title() string {
	return report.Words(k.pass) + ", " + k.dtype
}

// split gives a case's kind and shape.
func split(c bench.Case) (k kind, shape string, ok bool) {
	f := strings.Split(c.Name, "/")
	if len(f) != 4 {
		return kind{}, "", false
	}
	return kind{f[1], f[3]}, f[2], true
}

// kinds lists those of the results, in their order.
func kinds(r *bench.Results) []kind {
	var out []kind
	for _, c := range r.Cases {
		if k, _, ok := split(c); ok && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// row is a case as tables and pictures show it. Arms that are missing or have no time are empty names.
type row struct {
	shape            string
	c                bench.Case
	ours, copy, peer string
}

// rows are the cases of a kind, of all shapes or of those listed.
func rows(r *bench.Results, k kind, list []string) ([]row, error) {
	var all []row
	for _, c := range r.Cases {
		if is, shape, ok := split(c); ok && is == k {
			all = append(all, rowOf(shape, c))
		}
	}
	if len(list) == 0 {
		if len(all) == 0 {
			return nil, fmt.Errorf("suite %s has no cases %s", r.Suite, k)
		}
		return all, nil
	}
	var out []row
	for _, shape := range list {
		i := slices.IndexFunc(all, func(r row) bool { return r.shape == shape })
		if i < 0 {
			return nil, fmt.Errorf("suite %s has no case %s of shape %q", r.Suite, k, shape)
		}
		out = append(out, all[i])
	}
	return out, nil
}

func rowOf(shape string, c bench.Case) row {
	out := row{shape: shape, c: c}
	for _, name := range slices.Sorted(maps.Keys(c.Arms)) {
		switch a := c.Arms[name]; {
		case a.Median <= 0:
		case name == "gotile":
			out.ours = name
		case strings.HasPrefix(name, "copy"):
			out.copy = name
		case out.peer == "" || a.Median < c.Arms[out.peer].Median:
			out.peer = name
		}
	}
	return out
}

// peers reports whether other libraries were timed in the run.
func (r row) peers() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(r.c.Arms)), func(name string) bool { return name != "gotile" && !strings.HasPrefix(name, "copy") })
}

// ratio is our time over another arm's: the median over rounds where the results have it.
func (r row) ratio(arm string) float64 {
	if x, ok := r.c.Ratio[arm]; ok {
		return x
	}
	return r.c.Arms[r.ours].Median / r.c.Arms[arm].Median
}

// ofCopy is our bandwidth as a part of the copy's.
func (r row) ofCopy() float64 {
	bytes := r.c.Arms[r.copy].Bytes
	if bytes == 0 {
		bytes = r.c.Bytes
	}
	return float64(r.c.Bytes) / float64(bytes) / r.ratio(r.copy)
}

// terabytes is an arm's bandwidth in TB/s; 0 for none.
func (r row) terabytes(arm string) float64 { return r.c.Bandwidth(arm) / 1e12 }

// ResultsTable shows a kind of cases: our time beside the copy's bandwidth and the fastest peer's time, all medians of
// one run. No shapes: all of them.
func ResultsTable(r *bench.Results, k kind, list []string) (string, error) {
	all, err := rows(r, k, list)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| rows x n, %s | µs (min to max) | TB/s | copy, TB/s | part of it | fastest peer | its µs | our time against it |\n%s|\n", k.title(), strings.Repeat("| --- ", 8))
	for _, row := range all {
		fmt.Fprintf(&b, "| %s | %s |\n", row.shape, strings.Join(row.cells(), " | "))
	}
	return b.String(), nil
}

func (r row) cells() []string {
	cells := []string{"does not run", "", "", "", "not measured", "", ""}
	if r.ours != "" {
		a := r.c.Arms[r.ours]
		cells[0] = fmt.Sprintf("%.1f (%.1f to %.1f)", a.Median, a.Min, a.Max)
		cells[1] = fmt.Sprintf("%.2f", r.terabytes(r.ours))
	}
	if r.copy != "" {
		cells[2] = fmt.Sprintf("%.2f", r.terabytes(r.copy))
	}
	if r.ours != "" && r.copy != "" {
		cells[3] = fmt.Sprintf("%.2f", r.ofCopy())
	}
	switch {
	case r.peer != "":
		cells[4], cells[5] = r.peer, fmt.Sprintf("%.1f", r.c.Arms[r.peer].Median)
	case r.peers():
		cells[4] = "none runs"
	}
	if r.ours != "" && r.peer != "" {
		cells[6] = fmt.Sprintf("%.2f", r.ratio(r.peer))
		if _, verdict, ok := r.c.Compare(r.peer); ok && verdict == bench.NoChange {
			cells[6] += ", " + verdict
		}
	}
	return cells
}

// AllTables shows every kind.
func AllTables(r *bench.Results) (string, error) {
	var b strings.Builder
	for _, k := range kinds(r) {
		t, err := ResultsTable(r, k, nil)
		if err != nil {
			return "", err
		}
		b.WriteString(t + "\n")
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("suite %s has no cases SUITE/PASS/ROWSxN/DTYPE", r.Suite)
	}
	return b.String() + Provenance(r), nil
}

// Provenance says what results are of.
func Provenance(r *bench.Results) string {
	s := fmt.Sprintf("%s, driver %s, NVRTC %s, commit %s", r.Device, r.Driver, r.NVRTC, r.Commit)
	if r.Dirty {
		s += " with changes"
	}
	if r.Plan != "" {
		s += ", " + r.Plan
	}
	s += "; medians.\n"
	seen := map[string]bool{}
	var versions []string
	for _, f := range slices.Sorted(maps.Keys(r.Peers)) {
		for v := range strings.SplitSeq(r.Peers[f], ", ") {
			if !seen[v] {
				seen[v] = true
				versions = append(versions, v)
			}
		}
	}
	if len(versions) > 0 {
		s += wrap("Peers: " + strings.Join(versions, ", ") + ".")
	}
	for _, n := range r.Notes {
		s += wrap("Note: " + n + ".")
	}
	return s
}

// wrap breaks a line at spaces where it is wider than the documents are.
func wrap(line string) string {
	const width = 120
	var out string
	for len(line) > width {
		at := strings.LastIndexByte(line[:width+1], ' ')
		if at < 0 {
			break
		}
		out, line = out+line[:at]+"\n", line[at+1:]
	}
	return out + line + "\n"
}

// The bandwidth of reads plus writes that the floor assumes, in TB/s, and the part of it that a kernel should reach.
const (
	floorBandwidth = 4.28
	floorPart      = 0.97
)

// FloorsTable compares one shape with its floor: the time that its tensors, without the vectors, take at floorBandwidth.
func FloorsTable(r *bench.Results, shape string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "| pass | tensors moved | floor at %.2f TB/s, µs | target, %.2f of its bandwidth | measured, µs (min to max) |\n%s|\n",
		floorBandwidth, floorPart, strings.Repeat("| --- ", 5))
	for _, p := range []struct{ pass, name, moved string }{
		{"fwd", "forward", "x read, y written: 2"},
		{"bwd", "backward, both launches", "x and dy read, dx written: 3"},
	} {
		k := kind{p.pass, "bf16"}
		list, err := rows(r, k, []string{shape})
		if err != nil {
			return "", err
		}
		m := list[0]
		if m.ours == "" || m.copy == "" || m.c.Arms[m.copy].Bytes == 0 {
			return "", fmt.Errorf("%s of shape %s lacks our arm or a copy with its bytes", k, shape)
		}
		a := m.c.Arms[m.ours]
		floor := float64(m.c.Arms[m.copy].Bytes) / floorBandwidth / 1e6 // the copy moves as many tensors
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.1f (%.1f to %.1f) |\n", p.name, p.moved, floor, floor/floorPart, a.Median, a.Min, a.Max)
	}
	return b.String(), nil
}

// BudgetTable parts the time of a shape whose tensors pass quickly: what they take at floorBandwidth; what a plain copy
// of as many takes beyond that, which are the launch, the latency of memory and the blocks' start and end, of any kernel;
// and what is our own, reductions and, backward, the sum of dw.
func BudgetTable(r *bench.Results, shape string) (string, error) {
	var lines [][]string
	for _, p := range []string{"fwd", "bwd"} {
		k := kind{p, "bf16"}
		list, err := rows(r, k, []string{shape})
		if err != nil {
			return "", err
		}
		m := list[0]
		if m.ours == "" || m.copy == "" || m.c.Arms[m.copy].Bytes == 0 {
			return "", fmt.Errorf("%s of shape %s lacks our arm or a copy with its bytes", k, shape)
		}
		ours, plain := m.c.Arms[m.ours].Median, m.c.Arms[m.copy]
		bytes := float64(plain.Bytes) / floorBandwidth / 1e6
		peer := []string{"not measured", ""}
		if m.peer != "" {
			peer = []string{m.peer, fmt.Sprintf("%.2f", m.c.Arms[m.peer].Median)}
		}
		lines = append(lines, append([]string{k.title(), fmt.Sprintf("%.2f", bytes), fmt.Sprintf("%.2f", plain.Median-bytes),
			fmt.Sprintf("%.2f", ours-plain.Median), fmt.Sprintf("%.2f", ours)}, peer...))
	}
	head := []string{shape, fmt.Sprintf("its bytes at %.2f TB/s, µs", floorBandwidth), "launch and latency, as of a copy, µs", "our own, µs", "together, µs", "fastest peer", "its µs"}
	return table(head, lines), nil
}
