package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/plan"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// matrixArgs are 16 rows of 16 for each of four boxes, moved by stmatrix and ldmatrix through tiles of bf16.
type matrixArgs struct {
	X, Y tile.Global[tile.I32] `tile:"4,16,16"`
}

// Lifetimes know what stmatrix writes and ldmatrix reads: tiles share bytes as those of loads and stores do.
func TestSharingOfMatrices(t *testing.T) {
	type program struct {
		put, get func(i, box int)
		sync     func()
	}
	for _, c := range []struct {
		name string
		may  bool
		why  string // what the simulator says where they may not, and do
		body func(p program)
	}{
		{"one after the other", true, "", func(p program) {
			p.put(0, 0)
			p.get(0, 0)
			p.sync()
			p.put(1, 1)
			p.get(1, 1)
		}},
		{"both hold something", false, "taken over", func(p program) {
			p.put(0, 0)
			p.sync()
			p.put(1, 1)
			p.get(1, 1)
			p.sync()
			p.get(0, 0)
		}},
		{"read again", false, "taken over", func(p program) {
			p.put(0, 0)
			p.get(0, 0)
			p.sync()
			p.put(1, 1)
			p.get(1, 1)
			p.sync()
			p.get(0, 2)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := define(t, "matrices", func(k *tile.Builder, a matrixArgs) {
				warp, f := k.Warp(), k.Warp().Fragment(16, 16)
				s := []tile.Shared[tile.BF16]{tile.NewShared[tile.BF16](k, 16, 16), tile.NewShared[tile.BF16](k, 16, 16)}
				c.body(program{
					put: func(i, box int) {
						tile.StoreMatrix(warp, s[i], tile.Cast[tile.BF16](tile.Cast[tile.F32](tile.Load(warp, a.X.At(box), f))))
					},
					get: func(i, box int) {
						tile.Store(warp, a.Y.At(box), tile.Cast[tile.I32](tile.Cast[tile.F32](tile.LoadMatrix(warp, s[i], f))))
					},
					sync: func() { k.Block().Sync() },
				})
			}, tile.Threads(32), tile.Targets("sm_90a"))
			run := func(low *thr.Kernel) ([]int64, error) {
				x := data(1, 4*256)
				for i := range x {
					x[i] &= 127 // exact in bf16
				}
				out, err := launch(low, dtype.I32, map[string][]int64{"x": x, "y": make([]int64, 4*256)}, nil, 1)
				return out["y"], err
			}
			plain := lower(t, k)
			want, err := run(plain)
			if err != nil {
				t.Fatal(err)
			}
			var may bool
			low, err := plan.LowerSharing(plain.IR, sm90a(t), func(s *plan.Sharing) { may = s.May(0, 1) })
			if err != nil {
				t.Fatal(err)
			}
			if may != c.may || low.Shared[0].Overlaps(low.Shared[1]) != c.may {
				t.Fatalf("may share: %v, want %v\n%s", may, c.may, thr.Print(low))
			}
			if got, err := run(low); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v; other results: %v", err, !slices.Equal(got, want))
			}
			if c.may {
				return
			}
			if low, err = plan.LowerSharing(plain.IR, sm90a(t), func(s *plan.Sharing) { s.Forget(0, 1) }); err != nil {
				t.Fatal(err)
			}
			if _, err := run(low); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("sharing all the same: %v, want a report of: %s", err, c.why)
			}
		})
	}
}
