package doccheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/bench"
)

// shapes lists the ROWSxN of the cases rmsnorm/PASS/ROWSxN/bf16, in their order.
func shapes(r *bench.Results) []string {
	var out []string
	for _, c := range r.Cases {
		if f := strings.Split(c.Name, "/"); len(f) == 4 && !slices.Contains(out, f[2]) {
			out = append(out, f[2])
		}
	}
	return out
}

// pass is one row's half: our arm and the plain copy of as many tensors that was timed in turn with it.
type pass struct {
	ours, copy           bench.Arm
	oursBytes, copyBytes int
}

// passOf finds a pass (fwd or bwd) of a shape.
func passOf(r *bench.Results, name, shape, copy string) (pass, error) {
	full := "rmsnorm/" + name + "/" + shape + "/bf16"
	for _, c := range r.Cases {
		if c.Name != full {
			continue
		}
		p := pass{ours: c.Arms["gotile"], copy: c.Arms[copy], oursBytes: c.Bytes, copyBytes: c.Arms[copy].Bytes}
		if p.ours.Median <= 0 || p.copy.Median <= 0 || p.copyBytes == 0 {
			return pass{}, fmt.Errorf("%s has no arms gotile and %s with a median and bytes", full, copy)
		}
		return p, nil
	}
	return pass{}, fmt.Errorf("no case %s", full)
}

// terabytes is bytes in microseconds as TB/s.
func terabytes(bytes int, us float64) string { return fmt.Sprintf("%.2f", float64(bytes)/us/1e6) }

// ResultsTable shows the medians of RMSNorm's passes, each beside the copy of its run; no shapes: all of them. The
// bandwidth is that of the fewest bytes that the pass moves.
func ResultsTable(r *bench.Results, list []string) (string, error) {
	if len(list) == 0 {
		list = shapes(r)
	}
	if len(list) == 0 {
		return "", fmt.Errorf("suite %s has no cases rmsnorm/PASS/ROWSxN/bf16", r.Suite)
	}
	var b strings.Builder
	b.WriteString("| rows x n | forward, µs | TB/s | copy, µs | TB/s | backward, µs | TB/s | copy2, µs | TB/s |\n" + strings.Repeat("| --- ", 9) + "|\n")
	for _, s := range list {
		fmt.Fprintf(&b, "| %s |", s)
		for _, p := range [][2]string{{"fwd", "copy"}, {"bwd", "copy2"}} {
			m, err := passOf(r, p[0], s, p[1])
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, " %.1f | %s | %.1f | %s |", m.ours.Median, terabytes(m.oursBytes, m.ours.Median), m.copy.Median, terabytes(m.copyBytes, m.copy.Median))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n%s, driver %s, NVRTC %s, commit %s; bf16, medians.\n", r.Device, r.Driver, r.NVRTC, r.Commit)
	return b.String(), nil
}

// The bandwidth of reads plus writes that the floor assumes, in TB/s, and the part of it that a kernel should reach.
const (
	floorBandwidth = 4.28
	floorPart      = 0.93
)

// FloorsTable compares one shape with its floor: the time that its tensors, without the vectors, take at floorBandwidth.
func FloorsTable(r *bench.Results, shape string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "| pass | tensors moved | floor, µs | target, %.2f of its bandwidth | measured, µs (min to max) |\n%s|\n", floorPart, strings.Repeat("| --- ", 5))
	for _, p := range [][4]string{
		{"fwd", "copy", "forward", "x read, y written: 2"},
		{"bwd", "copy2", "backward, both launches", "x and dy read, dx written: 3"},
	} {
		m, err := passOf(r, p[0], shape, p[1])
		if err != nil {
			return "", err
		}
		floor := float64(m.copyBytes) / floorBandwidth / 1e6 // the copy moves as many tensors
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.1f (%.1f to %.1f) |\n", p[2], p[3], floor, floor/floorPart, m.ours.Median, m.ours.Min, m.ours.Max)
	}
	return b.String(), nil
}
