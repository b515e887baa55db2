//go:build !gotilegen

package doccheck

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMap: the map in architecture.md has a row for every package, alone or under FOLDER/..., and no others.
func TestMap(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\n## The map\n")
	section, _, ok := strings.Cut(after, "\n```")
	if !ok {
		t.Fatal("architecture.md has no section The map with a picture after it")
	}
	named := map[string]bool{}
	for line := range strings.Lines(section) {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
			named[m[1]] = true
			if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(strings.TrimSuffix(m[1], "/...")))); err != nil || !info.IsDir() {
				t.Errorf("the map has %s, which is no folder (%v)", m[1], err)
			}
		}
	}
	packages := 0
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, at)
		dir := filepath.ToSlash(rel)
		// What is below another package's internal, and data, is that package's own affair.
		if name := d.Name(); dir != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "receipts" || name == "internal" && dir != "internal") {
			return filepath.SkipDir
		}
		files, globErr := filepath.Glob(filepath.Join(at, "*.go"))
		if err != nil || globErr != nil || len(files) == 0 {
			return err
		}
		packages++
		if parent := path.Dir(dir); !named[dir] && !named[parent+"/..."] {
			t.Errorf("the map in docs/architecture.md has no row for %s", dir)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if packages < 20 {
		t.Errorf("found %d packages", packages)
	}
}
