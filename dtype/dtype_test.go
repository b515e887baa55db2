package dtype

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for x := Invalid + 1; x < numTypes; x++ {
		s := x.String()
		if y, err := Parse(s); err != nil || y != x {
			t.Errorf("Parse(%q) = %v, %v", s, y, err)
		}
		if seen[s] || s == "" {
			t.Errorf("%q names two types", s)
		}
		seen[s] = true
	}
	for _, s := range []string{"", "F32", "float", "invalid", "dtype(9)"} {
		if x, err := Parse(s); err == nil || x != Invalid || !strings.Contains(err.Error(), "bf16") {
			t.Errorf("Parse(%q) = %v, %v; want an error that lists the names", s, x, err)
		}
	}
	if s := numTypes.String(); s != "dtype(11)" {
		t.Errorf("an unknown type prints as %q", s)
	}
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		t                    Type
		size                 int
		float, integer, half bool
	}{
		{F32, 4, true, false, false}, {BF16, 2, true, false, true}, {F16, 2, true, false, true},
		{I32, 4, false, true, false}, {U32, 4, false, true, false}, {I64, 8, false, true, false},
		{E4M3, 1, true, false, false}, {E5M2, 1, true, false, false}, {I8, 1, false, true, false},
		{Bool, 1, false, false, false}, {Invalid, 0, false, false, false},
	} {
		if c.t.Size() != c.size || c.t.IsFloat() != c.float || c.t.IsInt() != c.integer || c.t.Is16() != c.half {
			t.Errorf("%s: size %d, float %v, integer %v, 16 bits %v", c.t, c.t.Size(), c.t.IsFloat(), c.t.IsInt(), c.t.Is16())
		}
	}
	for _, x := range All() {
		if x == Bool || x == Invalid {
			t.Errorf("%s is not for memory", x)
		}
		if x.Is8() == slices.Contains(Arithmetic(), x) || x.Is8() != (x.Size() == 1) {
			t.Errorf("%s: of 8 bits %v, computed with %v", x, x.Is8(), slices.Contains(Arithmetic(), x))
		}
	}
	if len(All()) != int(numTypes)-2 {
		t.Errorf("memory holds %d types", len(All()))
	}
}
