package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page of the committed results, and what happens to a page that is there where the results are bad.
func TestReport(t *testing.T) {
	results, err := filepath.Abs("../../../bench/results")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	mustFail(t, 2, "name files that gotile bench -out has written", "report")
	if out := mustRun(t, "report", results); out != "wrote report.html\n" {
		t.Errorf("it says %q", out)
	}
	page, err := os.ReadFile("report.html")
	if err != nil || !strings.HasPrefix(string(page), "<!DOCTYPE html>") || !strings.HasSuffix(string(page), "</html>\n") {
		t.Fatalf("%v: %.100q", err, page)
	}
	if out := mustRun(t, "report", "-o", "-", results); out != string(page) {
		t.Error("standard output gets another page")
	}
	// The folder that bench -out is told in the documentation.
	if err := os.MkdirAll("bench", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS("bench/results", os.DirFS(results)); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "report", "-o", "default.html")
	if err := os.WriteFile("cut.json", page[:100], 0o644); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, "cut.json is no results file", "report", "cut.json")
	if now, err := os.ReadFile("report.html"); err != nil || string(now) != string(page) {
		t.Errorf("a failed report changed the page: %v", err)
	}
	mustFail(t, 1, "nowhere", "report", "-o", filepath.Join("nowhere", "x.html"), results)
	mustFail(t, 0, "Example", "help", "report")
}
