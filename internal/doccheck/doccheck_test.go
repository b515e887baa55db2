//go:build !gotilegen

package doccheck

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/layout"
)

var write = flag.Bool("write", false, "write the generated parts of the documentation")

// root is the repository's.
const root = "../.."

// documents are the Markdown files with generated parts or links.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("no docs: %v", err)
	}
	return append(docs, filepath.Join(root, "README.md"), filepath.Join(root, "CHANGELOG.md"))
}

// TestGenerated compares every quotation with its source.
func TestGenerated(t *testing.T) {
	parts := 0
	for _, path := range documents(t) {
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts += strings.Count(string(have), begin)
		want, err := Update(string(have), func(name string) (string, bool, error) { return source(t, name) })
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if *write && want != string(have) {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(strings.Split(string(have), "\n"), strings.Split(want, "\n")); d != "" {
			t.Errorf("%s is stale; run go test ./internal/doccheck -write (-have +want):\n%s", path, d)
		}
	}
	if parts < 10 {
		t.Errorf("found %d generated parts: the comments that mark them have changed", parts)
	}
}

// source knows the tables, those of measurements (results), dump:KERNEL:PASS, which is what GOTILE_DUMP writes, and the files of the repository.
func source(t *testing.T, name string) (text string, markdown bool, err error) {
	switch kind, rest, _ := strings.Cut(name, ":"); kind {
	case "environment":
		return environment(), true, nil
	case "targets":
		text, err = targets()
		return text, true, err
	case "bench", "floors", "of":
		text, err = results(kind, rest)
		return text, true, err
	case "dump":
		kernel, pass, _ := strings.Cut(rest, ":")
		text, err = dump(t, kernel, pass)
		return text, false, err
	}
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	return string(b), false, err
}

func environment() string {
	var b strings.Builder
	b.WriteString("| variable | meaning |\n| --- | --- |\n")
	for _, v := range env.All() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.Name, v.Doc)
	}
	return b.String()
}

func targets() (string, error) {
	var b strings.Builder
	b.WriteString("| target | compiled for | shared memory a block | threads an SM | lowered like |\n| --- | --- | --- | --- | --- |\n")
	for _, name := range target.Names() {
		t, err := target.Lookup(name)
		if err != nil {
			return "", err
		}
		like := t.Name
		if t.Proxy != "" {
			like = t.Proxy
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d KB | %d | %s |\n", t.Name, t.Arch, t.Shared/1024, t.Threads, like)
	}
	return b.String(), nil
}

// dump is the IR of an RMSNorm kernel after a pass of the planner.
func dump(t *testing.T, kernel, pass string) (string, error) {
	dir := t.TempDir()
	t.Setenv(env.Dump, dir)
	k, err := rmsnorm.Kernels().Build(kernel)
	if err != nil {
		return "", err
	}
	if _, err := k.Lower("sm_90a"); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, kernel+".sm_90a.*."+pass+".txt"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("pass %s wrote %d files (%v)", pass, len(files), err)
	}
	b, err := os.ReadFile(files[0])
	return string(b), err
}

// prose is a text without code.
func prose(text string) string {
	var out strings.Builder
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 0 {
			out.WriteString(quoted.ReplaceAllString(part, ""))
		}
	}
	return out.String()
}

var quoted = regexp.MustCompile("`[^`]*`")

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestLinks: what the documents link to within the repository exists.
func TestLinks(t *testing.T) {
	links := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(prose(string(text)), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: a broken link: %v", path, err)
			}
		}
	}
	if links == 0 {
		t.Error("no links found: the pattern is wrong")
	}
}

// TestPlain: the documents hold no paths of a machine and no lines too long to read; code and tables may be longer.
func TestPlain(t *testing.T) {
	private := regexp.MustCompile(`(^|[\s"'(=])/(work|root|home|opt|tmp)/`)
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if private.MatchString(line) {
				t.Errorf("%s:%d: a path of one machine: %s", path, i+1, line)
			}
			// What internal/opgen writes is one line a paragraph.
			if n := len([]rune(line)); n > 120 && filepath.Base(path) != "ops.md" && !code && !strings.HasPrefix(strings.TrimSpace(line), "|") && !strings.HasPrefix(line, "<!--") {
				t.Errorf("%s:%d: %d characters; wrap at 120", path, i+1, n)
			}
		}
	}
}

// modes makes modes of size, axis and stride.
func modes(ms ...[3]int) []layout.Mode {
	var out []layout.Mode
	for _, m := range ms {
		out = append(out, layout.Mode{Size: m[0], Axis: m[1], Stride: m[2]})
	}
	return out
}

// TestFragments: the distributions that architecture.md gives for tensor cores are the fragments of the PTX manual.
func TestFragments(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name  string
		dist  *layout.Dist
		coord func(thread, i int) []int
	}{
		{"wgmma m64n256, D", // each warp of the warpgroup has 16 rows
			&layout.Dist{Shape: []int{64, 256}, Thread: modes([3]int{4, 1, 2}, [3]int{8, 0, 1}, [3]int{4, 0, 16}), Value: modes([3]int{2, 1, 1}, [3]int{2, 0, 8}, [3]int{32, 1, 8})},
			func(thread, i int) []int {
				warp, lane := thread/32, thread%32
				return []int{16*warp + lane/4 + 8*(i/2%2), lane%4*2 + i%2 + 8*(i/4)}
			}},
		{"mma m16n8k16, A",
			&layout.Dist{Shape: []int{16, 16}, Thread: modes([3]int{4, 1, 2}, [3]int{8, 0, 1}), Value: modes([3]int{2, 1, 1}, [3]int{2, 0, 8}, [3]int{2, 1, 8})},
			func(lane, i int) []int { return []int{lane/4 + 8*(i>>1&1), lane%4*2 + i&1 + 8*(i>>2)} }},
		{"mma m16n8k16, B",
			&layout.Dist{Shape: []int{16, 8}, Thread: modes([3]int{4, 0, 2}, [3]int{8, 1, 1}), Value: modes([3]int{2, 0, 1}, [3]int{2, 0, 8})},
			func(lane, i int) []int { return []int{lane%4*2 + i&1 + 8*(i>>1), lane / 4} }},
	} {
		if !strings.Contains(string(text), "`"+f.dist.String()+"`") {
			t.Errorf("%s: architecture.md does not have %s", f.name, f.dist)
		}
		seen := map[string]bool{}
		for thread := range f.dist.Threads() {
			for i := range f.dist.Values() {
				got, want := f.dist.Coord(thread, i), f.coord(thread, i)
				if !slices.Equal(got, want) {
					t.Fatalf("%s: value %d of thread %d is at %v, not %v", f.name, i, thread, got, want)
				}
				seen[fmt.Sprint(got)] = true
			}
		}
		if n := f.dist.Shape[0] * f.dist.Shape[1]; len(seen) != n {
			t.Errorf("%s: %d coordinates of %d", f.name, len(seen), n)
		}
	}
}

// TestUpdate: excerpts are found, dedented and joined; what cannot be found is an error.
func TestUpdate(t *testing.T) {
	files := map[string]string{"a.go": "package a\n\nfunc f() {\n\tif x {\n\t\tg()\n\t}\n\treturn\n}\n\ntype t struct {\n}\n", "table": "| a |\n"}
	src := func(name string) (string, bool, error) {
		text, ok := files[name]
		if !ok {
			return "", false, os.ErrNotExist
		}
		return text, name == "table", nil
	}
	part := func(spec string, lines ...string) string {
		return "before\n" + begin + spec + stop + "\n" + strings.Join(append(lines, end), "\n") + "\nafter\n"
	}
	for spec, want := range map[string]string{
		"a.go | if x | }":                        "```go\nif x {\n\tg()\n}\n```",
		"a.go | func f | } | type t | }":         "```go\nfunc f() {\n\tif x {\n\t\tg()\n\t}\n\treturn\n}\n\ntype t struct {\n}\n```",
		"a.go | =\tif x { | g() | =\t} | return": "```go\nif x {\n\tg()\n\n}\nreturn\n```",
		"a.go | return | return":                 "```go\nreturn\n```",
		"table":                                  "| a |",
	} {
		for _, old := range []string{"", "stale\n\nlines"} {
			got, err := Update(part(spec, strings.Split(old, "\n")...), src)
			if d := cmp.Diff(part(spec, want), got); err != nil || d != "" {
				t.Errorf("%s: %v\n%s", spec, err, d)
			}
		}
	}
	for _, text := range []string{
		part("b.go"), part("a.go | func g | }"), part("a.go | func f | ]"), part("a.go | func f"),
		begin + "a.go" + stop + "\nno end\n", begin + "a.go\n" + end,
		begin + "a.go" + stop + "\n" + begin + "table" + stop + "\n" + end,
	} {
		if out, err := Update(text, src); err == nil {
			t.Errorf("no error for %q; got %q", text, out)
		}
	}
}
