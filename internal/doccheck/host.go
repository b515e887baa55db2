package doccheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/bench"
)

// table is a table of Markdown.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	for _, row := range append([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows...) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

// spread is a time with its extremes, in units of so many microseconds.
func spread(a bench.Arm, unit float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", a.Median/unit, a.Min/unit, a.Max/unit)
}

const (
	millisecond = 1e3
	mebibyte    = 1 << 20
)

// RecomputeTable shows the arms of suite recompute: time, memory and launches of a step.
func RecomputeTable(r *bench.Results) (string, error) {
	names := []struct{ arm, text string }{
		{"saveall", "SaveAll"}, {"recompute", "Recompute"}, {"saveall_graph", "SaveAll, one graph"}, {"recompute_graph", "Recompute, one graph"},
	}
	var rows [][]string
	for _, c := range r.Cases {
		base := c.Arms[names[0].arm]
		for _, n := range names {
			a := c.Arms[n.arm]
			if a.Median <= 0 || base.Median <= 0 {
				return "", fmt.Errorf("%s: no time of %s or of %s: %s", c.Name, n.arm, names[0].arm, a.Error)
			}
			f := a.Figures
			rows = append(rows, []string{
				shapeOf(c), n.text, spread(a, millisecond), fmt.Sprintf("%.2f", a.Median/base.Median), fmt.Sprintf("%.1f", f["peak_bytes"]/mebibyte),
				fmt.Sprintf("%.2f", f["peak_bytes"]/base.Figures["peak_bytes"]), fmt.Sprintf("%.0f", f["launches"]), fmt.Sprintf("%.0f", f["replays"]),
			})
		}
	}
	if rows == nil {
		return "", fmt.Errorf("suite %s has no cases", r.Suite)
	}
	return table([]string{"rows x n, type", "arm", "ms a step (min to max)", "time of SaveAll's", "peak of the pool, MiB", "of SaveAll's", "launches", "ops run again"}, rows), nil
}

// shapeOf is the end of a case's name, after suite and pass.
func shapeOf(c bench.Case) string {
	parts := strings.Split(c.Name, "/")
	return strings.Join(parts[min(2, len(parts)-1):], ", ")
}

// HostTable shows a pass of suite host: launch or apply, whose arms stand beside libcuda's own launch, or step.
func HostTable(r *bench.Results, pass string) (string, error) {
	i := slices.IndexFunc(r.Cases, func(c bench.Case) bool { return strings.HasPrefix(c.Name, r.Suite+"/"+pass+"/") })
	if i < 0 {
		return "", fmt.Errorf("suite %s has no case %s", r.Suite, pass)
	}
	c := r.Cases[i]
	if pass == "step" {
		return stepTable(c)
	}
	const own = "c"
	names := []struct{ arm, text string }{
		{"launch", "`Stream.Launch`"}, {"wrapper", "`rmsnorm.Forward`"}, {"apply", "`Apply`, tracked"}, {"apply_untracked", "`Apply`, not tracked"},
		{"driver", "`driver.Context.Launch`"}, {own, "`cuLaunchKernel` itself, arguments made before"},
	}
	var rows [][]string
	for _, n := range names {
		a, ok := c.Arms[n.arm]
		if !ok {
			continue
		}
		above, ok := c.Above(n.arm, own)
		if !ok {
			return "", fmt.Errorf("%s: no time of %s or of %s: %s%s", c.Name, n.arm, own, a.Error, c.Arms[own].Error)
		}
		cells := []string{n.text, spread(a, 1), "", "", fmt.Sprintf("%.0f", a.Figures["allocs"])}
		if n.arm != own {
			cells[2] = fmt.Sprintf("%.2f", above)
		}
		// What is asked of apply is asked of apply_untracked too.
		if goal := c.Goal; goal != nil && strings.HasPrefix(n.arm, c.Base) && goal.Above[own] > 0 {
			if cells[3] = fmt.Sprintf("%.1f", goal.Above[own]); above > goal.Above[own] {
				cells[2] = "**" + cells[2] + "**"
			}
		}
		rows = append(rows, cells)
	}
	return table([]string{"call", "µs (min to max)", "beyond libcuda's own, µs", "goal", "objects allocated"}, rows), nil
}

func stepTable(c bench.Case) (string, error) {
	var rows [][]string
	for _, n := range []struct{ arm, text string }{{"eager", "launch by launch"}, {"graph", "one graph"}} {
		a := c.Arms[n.arm]
		if a.Median <= 0 {
			return "", fmt.Errorf("%s: no time of %s: %s", c.Name, n.arm, a.Error)
		}
		f := a.Figures
		rows = append(rows, []string{n.text, spread(a, millisecond), fmt.Sprintf("%.3f", f["host_us"]/millisecond), fmt.Sprintf("%.3f", f["gpu_us"]/millisecond),
			fmt.Sprintf("%.2f", f["gpu_busy"]), fmt.Sprintf("%.0f", f["launches"]), fmt.Sprintf("%.0f", f["nodes"])})
	}
	return table([]string{"step", "ms (min to max)", "host, ms", "GPU, ms", "GPU busy", "launches", "nodes of the graph"}, rows), nil
}
