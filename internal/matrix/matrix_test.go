package matrix

import (
	"fmt"
	"testing"

	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// TestSpread runs a spread of the cases on the simulator, and on a GPU where there is one.
func TestSpread(t *testing.T) {
	var cases []tiletest.Case
	for _, c := range Cases() {
		if !c.Deep {
			cases = append(cases, c)
		}
	}
	t.Logf("%d of %d cases, of %d modules", len(cases), len(Cases()), len(modules()))
	tiletest.RunCases(t, cases)
}

// TestTable: there are as many cases as promised, no two of one name, and each family has all sizes and all numbers of
// warps that its tiles and its ways allow.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Cases() {
		if names[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		names[c.Name] = true
	}
	if len(names) < 5000 {
		t.Errorf("%d cases, fewer than 5000", len(names))
	}
	type size struct{ rows, cols int }
	for _, f := range families {
		sizes, warps, clipped := map[size]bool{}, map[int]bool{}, false
		for _, m := range modules() {
			if m.family != f {
				continue
			}
			for _, c := range m.cases() {
				sizes[size{c.rows, c.cols}], warps[max(c.workers, c.way.warps*min(1, int(c.way.kind)))] = true, true
				clipped = clipped || c.clip
			}
		}
		for r := base; r <= side; r += base {
			for c := base; c <= side; c += base {
				// A warpgroup's accumulators have 64 rows.
				if fits := (f != redistributions || r*c <= 32*32) && (!groups(f) || r == side); fits && !sizes[size{r, c}] {
					t.Errorf("%s has no tile of %dx%d", f.name, r, c)
				}
			}
		}
		for _, w := range []int{1, 2, 4} {
			// Matrix moves are of warps and warpgroups; products of f32, whose tiles are large, of one warp a block.
			if alone := f == matrixMoves && w == 2 || f == productsTF32 && w > 1 || groups(f) && w < 4; !alone && !warps[w] {
				t.Errorf("%s has no case of %d warps", f.name, w)
			}
		}
		if whole := f.ends != nil && !f.ends("registers_registers"); clipped == whole {
			t.Errorf("%s: clipped tiles: %v", f.name, clipped)
		}
	}
}

// groups reports whether a family is of warpgroups alone.
func groups(f *family) bool { return len(f.ways) == 1 && f.ways[0] == groupwise }

// TestBites: each family's cases fail where one element is another than wanted.
func TestBites(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, f := range families {
		t.Run(f.name, func(t *testing.T) {
			var m *module
			for _, m = range modules() {
				if m.family == f {
					break
				}
			}
			wrong := *f
			wrong.want = func(p *problem) {
				f.want(p)
				p.y[i%p.m][i%p.n] += 2
			}
			c := *m.cases()[len(m.cases())-1]
			broken := &module{family: &wrong, dt: m.dt, way: m.way, variant: m.variant}
			c.module = broken
			res := tiletest.Case{Name: fmt.Sprint(f.name), Run: c.run}.Exec(t.Context(), d, 1)
			if res.Err == nil || len(res.Kernels) != 1 {
				t.Errorf("a wrong element was not seen: %v of %v", res.Err, res.Kernels)
			}
		})
	}
}
