package doctor

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// indent is the width of the first column.
const indent = 11

// Text writes the report for a reader: a part a thing, what is wrong with it, and the command that mends that.
func (r *Report) Text(out io.Writer) error {
	var b strings.Builder
	part := func(name string, c Check, lines ...string) {
		if c.Why != "" {
			lines = append(lines, strings.Split(string(c.State)+": "+c.Why, "; ")...)
		}
		if c.Command != "" {
			lines = append(lines, "run: "+c.Command)
		}
		for i, line := range lines {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "%-*s%s\n", indent, name, line)
		}
	}
	part("go", r.Go.Check, given(r.Go.Version)...)
	switch {
	case r.Module.Version != "":
		part("module", r.Module.Check, r.Module.Path+", with gotile "+r.Module.Version)
	default:
		part("module", r.Module.Check, given(r.Module.Path)...)
	}
	r.driverText(part)
	r.nvrtcText(part)
	r.cacheText(part)
	if h := r.Headers; h.File != "" {
		part("headers", h.Check, "CUDA "+h.Version+", "+h.File)
	} else {
		part("headers", h.Check)
	}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(r.Variables.Set)) {
		set = append(set, name+"="+r.Variables.Set[name])
	}
	if len(set) == 0 && r.Variables.State == OK {
		set = []string{"none of gotile's is set"}
	}
	part("variables", r.Variables.Check, set...)

	var works, not []string
	for _, c := range r.Commands {
		if c.Works {
			works = append(works, c.Name)
		} else {
			not = append(not, c.Name+" (needs "+c.Needs+")")
		}
	}
	b.WriteByte('\n')
	if len(works) > 0 {
		part("works", Check{}, strings.Join(works, ", "))
	}
	if len(not) > 0 {
		part("does not", Check{}, strings.Join(not, ", "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func given(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func (r *Report) driverText(part func(string, Check, ...string)) {
	d := r.Driver
	var lines []string
	if d.CUDA != "" {
		release := ""
		if d.Release != "" {
			release = d.Release + ", "
		}
		lines = []string{strings.TrimSuffix(fmt.Sprintf("%sfor CUDA %s, %s", release, d.CUDA, d.Library), ", ")}
		if d.Binding != "" {
			lines = append(lines, "by the tag "+d.Binding)
		}
	}
	part("driver", d.Check, lines...)
	if len(r.GPUs) == 0 {
		part("gpus", Check{Missing, "kernels run on the simulator; a program for a machine with a GPU can be built", "gotile verify -c FILE PACKAGE"})
	}
	for i, g := range r.GPUs {
		name := "gpus"
		if i > 0 {
			name = ""
		}
		lines := []string{fmt.Sprintf("%s  %s, compute capability %s, %s, %.0f GB", g.Device, g.Name, g.Capability, or(g.Target, "no target"), float64(g.Memory)/1e9)}
		for _, p := range g.Processes {
			lines = append(lines, fmt.Sprintf("        in use by process %d, %s, %s: figures of gotile bench would be wrong", p.PID, p.Name, p.Memory))
		}
		part(name, g.Check, lines...)
	}
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (r *Report) nvrtcText(part func(string, Check, ...string)) {
	n := r.NVRTC
	if n.Version == "" {
		part("nvrtc", n.Check)
		return
	}
	lines := []string{n.Version + ", " + n.Library, "compiles for " + or(strings.Join(n.Targets, " "), "none of gotile's targets")}
	if len(n.Lacks) > 0 {
		lines = append(lines, "not for "+strings.Join(n.Lacks, " "))
	}
	part("nvrtc", n.Check, lines...)
}

func (r *Report) cacheText(part func(string, Check, ...string)) {
	c := r.Cache
	if c.Dir == "" {
		part("cache", c.Check)
		return
	}
	lines := []string{fmt.Sprintf("%s: %s, %s of %s", c.Dir, count(c.Entries, "kernel"), size(c.Size), size(c.Limit))}
	if c.Since != nil {
		lines = append(lines, fmt.Sprintf("%s and %d missed since %s", count(c.Hits, "hit"), c.Misses, c.Since.Local().Format(time.DateOnly)))
	}
	if c.Last != nil {
		lines = append(lines, "last miss: "+c.Last.String(), "gotile doctor -why "+c.Last.Kernel+" shows its history")
	}
	part("cache", c.Check, lines...)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// size is a number of bytes as people write it.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// String is one line: when, for what, and why it missed.
func (l Lookup) String() string {
	what := "hit"
	if !l.Hit {
		what = "miss, " + l.Why
	}
	return fmt.Sprintf("%s  %s for %s by NVRTC %s: %s", l.Time.Local().Format(time.DateTime), l.Kernel, l.Arch, l.NVRTC, what)
}
