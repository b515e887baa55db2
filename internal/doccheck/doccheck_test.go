//go:build !gotilegen

package doccheck

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

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
	return append(docs, filepath.Join(root, "README.md"), filepath.Join(root, "CHANGELOG.md"), filepath.Join(root, "CONTRIBUTING.md"))
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

// source knows the tables, those of measurements (results), dump:KERNEL:PASS, which is what GOTILE_DUMP writes,
// viz:ARGUMENTS, the text of gotile viz, what examples/quickstart prints, and the files of the repository.
func source(t *testing.T, name string) (text string, markdown bool, err error) {
	switch kind, rest, _ := strings.Cut(name, ":"); kind {
	case "environment":
		return environment(), true, nil
	case "targets":
		text, err = targets()
		return text, true, err
	case "bench", "floors", "goals", "missing", "earlier", "budget", "of", "recompute", "host", "async":
		text, err = results(kind, rest)
		return text, true, err
	case "quickstart":
		run := exec.Command("go", "run", "./examples/quickstart")
		run.Dir, run.Env = root, append(os.Environ(), env.Device+"=sim")
		out, err := run.Output()
		return string(out), false, err
	case "viz":
		return visualised(t, rest), false, nil
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

// link is a link to a file, to a heading of one, or to a heading of the same document.
var link = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)

// anchors are the links to a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for i, part := range strings.Split("\n"+text, "\n```") {
		for line := range strings.Lines(part) {
			if title := strings.TrimLeft(line, "#"); i%2 == 0 && title != line && strings.HasPrefix(title, " ") {
				out["#"+slug(title)] = true
			}
		}
	}
	return out
}

// slug is a heading in lower case, with its letters, digits, hyphens and, for blanks, hyphens.
func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}

// TestLinks: what the documents link to within the repository exists, files and headings.
func TestLinks(t *testing.T) {
	links := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(prose(string(text)), -1) {
			links++
			to := path
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: a broken link: %v", path, err)
			} else if m[2] != "" {
				if text, err := os.ReadFile(to); err != nil || !anchors(string(text))[m[2]] {
					t.Errorf("%s: a broken link: %s has no heading %s (%v)", path, to, m[2], err)
				}
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

// TestVerified: no document says that something has not run on a GPU while every kernel has a receipt: the step
// "receipts" of .ci/run sees to it that .ci/open-receipts names exactly those without.
func TestVerified(t *testing.T) {
	open, err := os.ReadFile(filepath.Join(root, ".ci", "open-receipts"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(open)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return
		}
	}
	stale := regexp.MustCompile(`(has|have) not (yet )?run on (a|the|any) (GPU|H200)`)
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := stale.FindString(strings.Join(strings.Fields(string(text)), " ")); m != "" {
			t.Errorf("%s says %q, but .ci/open-receipts names nothing", path, m)
		}
	}
}

// TestFragments: the distributions that architecture.md gives for tensor cores are those of package layout, whose tests
// hold them against the formulas of the PTX manual.
func TestFragments(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, fragment := range map[string]func() (*layout.Dist, error){
		"wgmma m64n256, D":        func() (*layout.Dist, error) { return layout.WGMMAD(256) },
		"mma m16n8k16, 16-bit, A": func() (*layout.Dist, error) { return layout.MMASyncA(16, 16) },
		"mma m16n8k16, 16-bit, B": func() (*layout.Dist, error) { return layout.MMASyncB(16, 16) },
	} {
		d, err := fragment()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "`"+d.String()+"`") {
			t.Errorf("%s: architecture.md does not have %s", name, d)
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
