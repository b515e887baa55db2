package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/device"
)

func TestMeasureTakesTurns(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var order []string
	arm := func(name string) Contender {
		return Contender{Name: name, Run: func(i int) error {
			if i == 0 {
				order = append(order, name)
			}
			return nil
		}}
	}
	arms, err := Plan{Rounds: 2, Launches: 3}.Measure(t.Context(), d.Stream(), []Contender{arm("a"), arm("b")})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abbaab" { // the first round warms up
		t.Errorf("order %s, want abbaab", got)
	}
	for _, name := range []string{"a", "b"} {
		if a := arms[name]; a.Min > a.Median || a.Median > a.Max {
			t.Errorf("%s: median %v outside [%v, %v]", name, a.Median, a.Min, a.Max)
		}
	}
	boom := errors.New("boom")
	if _, err := Default.Measure(t.Context(), d.Stream(), []Contender{{Name: "bad", Run: func(int) error { return boom }}}); !errors.Is(err, boom) {
		t.Errorf("error %v, want boom", err)
	}
}

func TestWriteKeepsForeignFiles(t *testing.T) {
	dir := t.TempDir()
	r := &Results{Suite: "s", Cases: []Case{{Name: "c"}}}
	path, err := r.Write(dir, "h200")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(dir, "h200"); err != nil {
		t.Errorf("a second result is refused: %v", err)
	}
	for _, text := range []string{`{"suite":"other"}`, `{"suite":"s","cas`, "notes"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Write(dir, "h200"); err == nil {
			t.Errorf("%q was overwritten", text)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "h200", ".s.json*")); len(left) > 0 {
		t.Errorf("temporary files stay behind: %v", left)
	}
}
