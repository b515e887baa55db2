package env

import (
	"slices"
	"strings"
	"testing"
)

func TestUnknown(t *testing.T) {
	got := unknown([]string{"GOTILE_CACHE=/x", "GOTILE_CASH=1", "HOME=/", "GOTILE_=", "XGOTILE_A=1", "GOTILE_CASH=2", "GOTILE_OFF"})
	if want := []string{"GOTILE_", "GOTILE_CASH"}; !slices.Equal(got, want) {
		t.Errorf("unknown: %v, want %v", got, want)
	}
}

func TestCheckNamesBoth(t *testing.T) {
	t.Setenv("GOTILE_NVTRC", "x")
	err := Check()
	if err == nil {
		t.Fatal("a misspelt name is accepted")
	}
	for _, want := range []string{"GOTILE_NVTRC", NVRTC, Cache, Off, Dump, Device, Conformance} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(table, func(a, b Var) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not sorted")
	}
	for _, v := range All() {
		t.Setenv(v.Name, " value ")
		if got := Get(v.Name); got != "value" {
			t.Errorf("Get(%s) = %q", v.Name, got)
		}
		if v.Doc == "" || strings.ContainsAny(v.Doc, "\n") || strings.HasSuffix(v.Doc, ".") {
			t.Errorf("%s: documentation %q is not one line without a full stop", v.Name, v.Doc)
		}
		if !strings.Contains(Help(), v.Name) || !strings.Contains(Help(), v.Doc) {
			t.Errorf("help lacks %s", v.Name)
		}
	}
	if err := Check(); err != nil {
		t.Errorf("all known names set: %v", err)
	}
}

func TestGetRefusesOtherNames(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Get of a name outside the table does not panic")
		}
	}()
	Get("GOTILE_NVTRC")
}
