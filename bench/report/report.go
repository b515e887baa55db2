// Package report shows results of package bench as one HTML page: bars for every contender of every shape beside the
// plain copy that bounds them, the spread of the rounds, and the same figures as tables to copy. The page needs nothing
// but itself: no network, no fonts, no library.
package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/bench"
)

//go:embed page.html style.css script.js
var assets embed.FS

var page = template.Must(template.ParseFS(assets, "page.html"))

// File is one results file.
type File struct {
	Name    string // as the reader knows it
	Results *bench.Results
}

// Load reads results files and, of folders, all JSON files in and below them, in the order of their names. One that is
// no results file is an error.
func Load(paths []string) ([]File, error) {
	var out []File
	for _, path := range paths {
		names, err := files(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			r, err := bench.Read(name)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(out, func(f File) bool { return f.Name == filepath.ToSlash(name) }) {
				return nil, fmt.Errorf("%s is named twice", name)
			}
			out = append(out, File{filepath.ToSlash(name), r})
		}
	}
	return out, nil
}

// files is the path itself, or the results in a folder.
func files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(name) == ".json" && !strings.HasPrefix(d.Name(), ".") {
			out = append(out, name)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s has no results (*.json); gotile bench -out %[1]s makes some", path)
	}
	return out, err
}

// Write writes the page of some results. The same results give the same bytes.
func Write(w io.Writer, list []File) error {
	style, err := assets.ReadFile("style.css")
	if err != nil {
		return err
	}
	script, err := assets.ReadFile("script.js")
	if err != nil {
		return err
	}
	view := struct {
		Title  string
		Style  template.CSS
		Script template.JS
		Files  []section
	}{Style: template.CSS(style), Script: template.JS(script)}
	var titles []string
	for i, f := range list {
		s := sectionOf(fmt.Sprintf("f%d", i+1), f)
		view.Files = append(view.Files, s)
		titles = append(titles, s.Title)
	}
	view.Title = strings.Join(titles, "; ")
	return page.Execute(w, view)
}
