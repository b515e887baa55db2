package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// lineOf is the line of main.go that has a text.
func lineOf(t *testing.T, text string) int {
	t.Helper()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(string(source), "\n") {
		if strings.Contains(l, text) {
			return i + 1
		}
	}
	t.Fatalf("main.go has no %q", text)
	return 0
}

// TestSim: the simulator reports the mistake at its line, and nothing without it. The report is in the documentation.
func TestSim(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), &out, []string{"-right"}); err != nil || !strings.Contains(out.String(), "row 3 of y is twice row 1 of x: [2 2 2 2]...") {
		t.Errorf("%+v\n%s", err, &out)
	}
	err := run(context.Background(), &out, nil)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("main.go:%d", lineOf(t, "so this may be anywhere"))) {
		t.Fatalf("%+v", err)
	}
	doc, e := os.ReadFile("../../docs/debugging.md")
	if e != nil {
		t.Fatal(e)
	}
	// Its lines are wrapped.
	if !strings.Contains(strings.Join(strings.Fields(string(doc)), " "), strings.Join(strings.Fields(err.Error()), " ")) {
		t.Errorf("docs/debugging.md does not have the report\n%v", err)
	}
}

// TestTranscript: the script finds the line that its tools are to name.
func TestTranscript(t *testing.T) {
	script, err := os.ReadFile("transcript.sh")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(script), "$(line 'so this may be anywhere')"); n != 2 {
		t.Errorf("the script asks %d times for the line", n)
	}
}
