// Package doccheck keeps what the documentation quotes equal to its sources. A generated part of a Markdown file
// stands between two comments:
//
//	<!-- generated: kernels/rmsnorm/forward.go | type forwardArgs | } -->
//	<!-- end -->
//
// The first field names a source, a file of the repository or a name that the caller knows; the pairs of fields after
// it are first and last lines of excerpts, none for the whole source. The package's test compares; with -write it
// writes.
package doccheck

import (
	"fmt"
	"path"
	"strings"
)

const (
	begin = "<!-- generated: "
	stop  = " -->"
	end   = "<!-- end -->"
)

// Source is the text behind a name; markdown says that it goes in as it is, not as a block of code.
type Source func(name string) (text string, markdown bool, err error)

// Update returns a Markdown text with its generated parts written anew.
func Update(text string, source Source) (string, error) {
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		spec, ok := strings.CutPrefix(lines[i], begin)
		if !ok {
			continue
		}
		spec, ok = strings.CutSuffix(spec, stop)
		if !ok {
			return "", fmt.Errorf("line %d: the comment does not end in %q", i+1, stop)
		}
		part, err := generate(strings.Split(spec, " | "), source)
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, part...)
		for i++; i < len(lines) && lines[i] != end; i++ {
			if strings.HasPrefix(lines[i], begin) {
				break
			}
		}
		if i == len(lines) || lines[i] != end {
			return "", fmt.Errorf("%s: no %q after it", spec, end)
		}
		out = append(out, end)
	}
	return strings.Join(out, "\n"), nil
}

// generate is one generated part.
func generate(fields []string, source Source) ([]string, error) {
	text, markdown, err := source(fields[0])
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if markdown {
		return lines, nil
	}
	language, gap := "text", "..."
	switch path.Ext(fields[0]) {
	case ".go":
		language, gap = "go", ""
	case ".cu":
		language, gap = "cuda", "// ..."
	}
	if len(fields) > 1 {
		if lines, err = excerpts(lines, fields[1:], gap); err != nil {
			return nil, fmt.Errorf("%s: %w", fields[0], err)
		}
	}
	return append(append([]string{"```" + language}, lines...), "```"), nil
}

// excerpts joins the parts of a text from the first line that contains the first field of each pair, or is all of what
// follows a = in it, to the next line that begins with the second, or is all of what follows a = in it; a closing
// brace is the one that is indented like the first line. The indentation that all lines have goes.
func excerpts(lines, pairs []string, gap string) ([]string, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("a first line without a last one: %q", pairs[len(pairs)-1])
	}
	var out []string
	at := 0
	for p := 0; p < len(pairs); p += 2 {
		whole, exact := strings.CutPrefix(pairs[p], "=")
		first := at
		for ; first < len(lines) && lines[first] != whole && (exact || !strings.Contains(lines[first], pairs[p])); first++ {
		}
		if first == len(lines) {
			return nil, fmt.Errorf("no line after line %d contains %q", at, pairs[p])
		}
		indent := indentation(lines[first])
		last := first
		for ; last < len(lines) && !begins(lines[last], pairs[p+1], indent); last++ {
		}
		if last == len(lines) {
			return nil, fmt.Errorf("no line from line %d on begins with %q", first+1, pairs[p+1])
		}
		if p > 0 {
			out = append(out, strings.TrimRight(indent+gap, " \t"))
		}
		out = append(out, lines[first:last+1]...)
		at = last + 1
	}
	return dedent(out), nil
}

func begins(line, text, indent string) bool {
	if whole, exact := strings.CutPrefix(text, "="); exact {
		return line == whole
	}
	if strings.HasPrefix(text, "}") {
		return strings.HasPrefix(line, indent+text)
	}
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), text)
}

func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func dedent(lines []string) []string {
	least := indentation(lines[0])
	for _, l := range lines {
		if in := indentation(l); l != "" && len(in) < len(least) {
			least = in
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimPrefix(l, least)
	}
	return out
}
