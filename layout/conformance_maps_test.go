package layout_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/layout"
)

// mapCases are the sections of layout_cases.json about fragments, matrices and banks.
type mapCases struct {
	Fragments []struct {
		ID              string
		Operand         string
		Rows, Cols      int
		Threads         int
		ValuesPerThread int       `json:"values_per_thread"`
		Table           [][][]int // by thread and value, the row and column
		Spot            []struct {
			Thread, Value int
			RC            []int
		}
	}
	Ldmatrix []struct {
		ID    string
		Table [][][]int // by lane and half register, the matrix, row and column
	}
	BankConflicts []struct {
		ID         string
		Width      int   `json:"width_bytes"`
		Addresses  []int `json:"lane_byte_addresses"`
		Phases     int
		Ways       []int `json:"ways_per_phase"`
		Wavefronts int
	} `json:"bank_conflicts"`
}

func readMapCases(t *testing.T) *mapCases {
	t.Helper()
	dir := env.Get(env.Conformance)
	if dir == "" {
		t.Skipf("%s is not set: it names the directory with layout_cases.json", env.Conformance)
	}
	text, err := os.ReadFile(filepath.Join(dir, "layout_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &mapCases{}
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// fragments are the maps by the names of the cases.
var fragments = map[string]func() (*layout.Dist, error){
	"mma.m16n8k8.tf32.A":  func() (*layout.Dist, error) { return layout.MMASyncA(8, 32) },
	"mma.m16n8k8.tf32.B":  func() (*layout.Dist, error) { return layout.MMASyncB(8, 32) },
	"mma.m16n8k8.f16.A":   func() (*layout.Dist, error) { return layout.MMASyncA(8, 16) },
	"mma.m16n8k8.f16.B":   func() (*layout.Dist, error) { return layout.MMASyncB(8, 16) },
	"mma.m16n8k16.f16.A":  func() (*layout.Dist, error) { return layout.MMASyncA(16, 16) },
	"mma.m16n8k16.f16.B":  func() (*layout.Dist, error) { return layout.MMASyncB(16, 16) },
	"mma.m16n8k16.C":      func() (*layout.Dist, error) { return layout.MMASyncC(), nil },
	"mma.m16n8k32.8bit.A": func() (*layout.Dist, error) { return layout.MMASyncA(32, 8) },
	"mma.m16n8k32.8bit.B": func() (*layout.Dist, error) { return layout.MMASyncB(32, 8) },
	"mma.m16n8k64.fp4.A":  func() (*layout.Dist, error) { return layout.MMASyncA(64, 4) },
	"mma.m16n8k64.fp4.B":  func() (*layout.Dist, error) { return layout.MMASyncB(64, 4) },
	"wgmma.m64n8.D":       func() (*layout.Dist, error) { return layout.WGMMAD(8) },
	"wgmma.m64n16.D":      func() (*layout.Dist, error) { return layout.WGMMAD(16) },
	"wgmma.m64n64.D":      func() (*layout.Dist, error) { return layout.WGMMAD(64) },
	"wgmma.m64n128.D":     func() (*layout.Dist, error) { return layout.WGMMAD(128) },
	"wgmma.m64n256.D":     func() (*layout.Dist, error) { return layout.WGMMAD(256) },
	"wgmma.m64k16.A.reg":  func() (*layout.Dist, error) { return layout.WGMMAA(16) },
	"wgmma.m64k32.A.reg":  func() (*layout.Dist, error) { return layout.WGMMAA(8) },
}

func TestConformanceFragments(t *testing.T) {
	cases := readMapCases(t).Fragments
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		make := fragments[c.ID]
		if make == nil {
			t.Errorf("%s: no such fragment here", c.ID)
			continue
		}
		d, err := make()
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		// The cases give B by n and k, PTX and we by k and n.
		given := func(coord []int) []int {
			coord = slices.Clone(coord)
			if c.Operand == "B" {
				slices.Reverse(coord)
			}
			return coord
		}
		if shape := given(d.Shape); !slices.Equal(shape, []int{c.Rows, c.Cols}) || d.Threads() != c.Threads || d.Values() != c.ValuesPerThread {
			t.Errorf("%s: %s, want %dx%d over %d threads of %d values", c.ID, d, c.Rows, c.Cols, c.Threads, c.ValuesPerThread)
			continue
		}
		if c.Table == nil && len(c.Spot) == 0 {
			t.Errorf("%s: the case has no coordinates", c.ID)
		}
		if c.Table != nil {
			got := table(d)
			for th := range got {
				for v := range got[th] {
					got[th][v] = given(got[th][v])
				}
			}
			if diff := cmp.Diff(c.Table, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.ID, diff)
			}
		}
		for _, s := range c.Spot {
			if got := given(d.Coord(s.Thread, s.Value)); !slices.Equal(got, s.RC) {
				t.Errorf("%s: value %d of thread %d is at %v, want %v", c.ID, s.Value, s.Thread, got, s.RC)
			}
		}
	}
}

// table is all coordinates, by thread and value.
func table(d *layout.Dist) [][][]int {
	out := make([][][]int, d.Threads())
	for th := range out {
		for v := range d.Values() {
			out[th] = append(out[th], d.Coord(th, v))
		}
	}
	return out
}

func TestConformanceLdmatrix(t *testing.T) {
	cases := readMapCases(t).Ldmatrix
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	type form struct {
		x     int
		trans bool
	}
	forms := map[string]form{
		"ldmatrix.x1": {1, false}, "ldmatrix.x2": {2, false}, "ldmatrix.x4": {4, false},
		"ldmatrix.x1.trans": {1, true}, "ldmatrix.x2.trans": {2, true}, "ldmatrix.x4.trans": {4, true},
	}
	for _, c := range cases {
		f, ok := forms[c.ID]
		if !ok {
			t.Errorf("%s: no such form here", c.ID)
			continue
		}
		d, err := layout.Ldmatrix(f.x, f.trans)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if diff := cmp.Diff(c.Table, table(d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.ID, diff)
		}
	}
}

func TestConformanceBanks(t *testing.T) {
	cases := readMapCases(t).BankConflicts
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		got, err := layout.CountBanks(c.Addresses, c.Width)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		// A case of one phase gives the addresses of its lanes alone; in the others nobody takes part.
		if len(got.Ways) < c.Phases || !slices.Equal(got.Ways[:c.Phases], c.Ways) || got.Wavefronts != c.Wavefronts {
			t.Errorf("%s: %+v, want %d phases of %v, %d wavefronts", c.ID, got, c.Phases, c.Ways, c.Wavefronts)
		}
	}
}
