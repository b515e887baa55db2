package oracle_test

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/oracle"
	"github.com/gotile/gotile/tile"
)

type args struct {
	X tile.Global[tile.F32] `tile:"rows,n"`
	Y tile.Global[tile.F32] `tile:"rows,n"`
	I tile.Global[tile.I32] `tile:"rows"`
	E tile.Scalar[tile.F32]
}

func array(dt dtype.Type, dims []int, x ...float64) *oracle.Array {
	a := &oracle.Array{DT: dt, Dims: dims}
	for _, v := range x {
		a.Data = append(a.Data, oracle.Num{F: v, I: int64(v)}.In(dt))
	}
	return a
}

// launch has x = 1 2 3, -4 5 -6, of which y and i are to be made.
func launch(grid int) *oracle.Launch {
	return &oracle.Launch{Grid: grid, Dims: map[string]int{"rows": 2, "n": 3}, Scalars: map[string]oracle.Num{"e": {F: 0.5}},
		Arrays: map[string]*oracle.Array{
			"x": array(dtype.F32, []int{2, 3}, 1, 2, 3, -4, 5, -6), "y": array(dtype.F32, []int{2, 3}, 9, 9, 9, 9, 9, 9), "i": array(dtype.I32, []int{2}, 7, 7),
		}}
}

func values(a *oracle.Array) []float64 {
	var out []float64
	for _, n := range a.Data {
		if out = append(out, n.F); !a.DT.IsFloat() {
			out[len(out)-1] = float64(n.I)
		}
	}
	return out
}

// TestMeaning: small kernels leave what is worked out by hand.
func TestMeaning(t *testing.T) {
	for _, c := range []struct {
		name string
		grid int
		f    func(k *tile.Builder, a args)
		opts []tile.Option
		y    []float64
		i    []float64
	}{
		{"scans", 1, func(k *tile.Builder, a args) {
			x := tile.Load(k, a.X, k.Block().Striped2(2, 4, 1, 4))
			tile.Store(k, a.Y, x.CumSum(1).Add(x.CumMax(0, tile.Reverse)).Add(x.CumMin(1, tile.Exclusive).Max(tile.F32(-9)).Min(tile.F32(9))))
		}, nil, []float64{1 + 1 + 9, 3 + 5 + 1, 6 + 3 + 1, -4 - 4 + 9, 1 + 5 - 4, -5 - 6 - 4}, []float64{7, 7}},
		{"views", 1, func(k *tile.Builder, a args) {
			x := tile.Load(k, a.X, k.Block().Striped2(4, 4, 1, 4))
			y := tile.Redistribute(x.Transpose(), k.Block().Striped2(4, 4, 1, 2)).Transpose()
			tile.Store(k, a.Y, y.Add(tile.LoadShifted(k, a.X, y.Span(), 1)))                                 // plus the row before
			tile.Store(k, a.Y.At(0, 2), tile.Load(k, a.X, k.Block().Striped2(2, 64, 1, 1)).Subtile(1, 2, 2)) // the last column as it is
		}, nil, []float64{1, 2, 3, -3, 7, -6}, []float64{7, 7}},
		{"inverse", 1, func(k *tile.Builder, a args) {
			warp := k.Warp()
			x := tile.Load(warp, a.X, warp.Striped2(4, 4, 1, 4)).Fill(tile.F32(0))
			tile.Store(warp, a.Y, tile.InverseUnitLower(x))
		}, nil, []float64{1, 0, 0, 4, 1, 0}, []float64{7, 7}},
		{"rows shared out", 1, func(k *tile.Builder, a args) {
			for r := range tile.Persistent(k, a.X.Dim(0)) {
				x := tile.Load(k, a.X.Row(r), k.Block().Striped(64, 4))
				tile.Store(k, a.Y.Row(r), x.Sub(tile.Full(k, x.Span(), x.MaxOf())).Add(a.E)) // masked elements are no part of the maximum
				tile.Store(k, a.I.At(r), tile.Cast[tile.I32](x.Add(tile.F32(1)).Sum()))      // nor of the sum
			}
		}, nil, []float64{-1.5, -0.5, 0.5, -8.5, 0.5, -10.5}, []float64{9, -2}},
		{"each warp its own row", 1, func(k *tile.Builder, a args) {
			w := k.Warp()
			tile.If(w, w.Index().Lt(a.X.Dim(0)), func() {
				tile.Store(w, a.I.At(w.Index()), tile.Cast[tile.I32](tile.Load(w, a.X.Row(w.Index()), w.Striped(64, 1)).Prod()))
			})
		}, []tile.Option{tile.Threads(96)}, []float64{9, 9, 9, 9, 9, 9}, []float64{6, 120}},
		{"a variable in a loop", 1, func(k *tile.Builder, a args) {
			v := tile.NewVar(k, tile.I32(1))
			for i := range tile.Range(k, 1, 6, 2) { // 1, 3, 5
				v.Set(v.Get().Mul(i.Int()).Add(tile.I32(1)))
			}
			tile.Store(k, a.I.At(1), v.Get())
		}, nil, []float64{9, 9, 9, 9, 9, 9}, []float64{7, 36}},
		{"columns, through shared memory", 1, func(k *tile.Builder, a args) {
			s, b := tile.NewShared[tile.F32](k, 4, 8), k.Block()
			x := tile.Load(k, a.X, b.Striped2(4, 8, 2, 4))
			tile.Store(k, s, x)
			z := tile.Load(k, s, b.Striped2(4, 8, 1, 8).Clip(a.X.Dim(0), a.X.Dim(1)))
			tile.Store(k, a.Y, z.Mul(tile.Expand(z.Sum(0), z.Span(), 0))) // -3 7 -3
		}, []tile.Option{tile.Threads(32)}, []float64{-3, 14, -9, 12, 35, 18}, []float64{7, 7}},
		{"a peer's tile", 2, func(k *tile.Builder, a args) {
			c, b, s := k.Cluster(), k.Block(), tile.NewShared[tile.F32](k, 8)
			span := b.Striped(8, 1).Clip(a.X.Dim(1))
			tile.Store(b, s, tile.Load(b, a.X.Row(c.Rank()), span))
			tile.Store(b, a.Y.Row(c.Rank()), tile.Load(b, tile.Peer(s, c.Rank().AddInt(1).RemInt(2)), span))
		}, []tile.Option{tile.ClusterSize(2)}, []float64{-4, 5, -6, 1, 2, 3}, []float64{7, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := tile.Define("k", c.f, c.opts...)
			if err != nil {
				t.Fatalf("%+v", err)
			}
			l := launch(c.grid)
			if err := oracle.Run(k.IR(), l); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string][]float64{"y": c.y, "i": c.i} {
				got := values(l.Arrays[name])
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s is %v, want %v\n%v", name, got, want, k)
					}
				}
			}
		})
	}
}

// TestFaults: what a program must not do is an error with the Go line.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func(k *tile.Builder, a args)
	}{
		{"which nothing has written", func(k *tile.Builder, a args) {
			tile.Store(k, a.Y, tile.Load(k, tile.NewShared[tile.F32](k, 2, 3), k.Block().Striped2(2, 3, 1, 4)))
		}},
		{"load at [2] of I, whose sizes are [2]", func(k *tile.Builder, a args) {
			tile.Store(k, a.I, tile.LoadScalar(k, a.I.At(a.X.Dim(0))))
		}},
		{"has not ended", func(k *tile.Builder, a args) {
			tile.While(k, func() tile.Reg[tile.Bool] { return a.E.Reg().Gt(tile.F32(0)) }, func() {})
		}},
		{"no whole clusters", nil},
	} {
		f, opts := c.f, []tile.Option(nil)
		if f == nil {
			f, opts = func(k *tile.Builder, a args) { k.Cluster().Sync() }, []tile.Option{tile.ClusterSize(2)}
		}
		k, err := tile.Define("k", f, opts...)
		if err != nil {
			t.Fatalf("%+v", err)
		}
		err = oracle.Run(k.IR(), launch(1))
		if err == nil || !strings.Contains(err.Error(), c.want) || c.f != nil && !strings.Contains(err.Error(), "oracle_test.go:") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
