package autodiff_test

import (
	"math/rand"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// alias views its input, both ways.
var aliased = autodiff.New("aliased", autodiff.Spec[none, unaryIn, out, none]{
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (out, none, error) {
		return out{x.Alias(in.X, in.X.Shape()...)}, none{}, nil
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, _ none, dy out) (unaryIn, error) {
		return unaryIn{x.Alias(dy.Y, in.X.Shape()...)}, nil
	},
})

// twice is [2x, 3x], memory-bound, the second raw.
type pairOut struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
	Z autodiff.Tensor `op:"[rows,n] T raw"`
}

var pair = autodiff.New("pair", autodiff.Spec[none, unaryIn, pairOut, none]{
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o pairOut, s none, err error) {
		o.Y, o.Z = x.Like(in.X), x.Like(in.X)
		if err = host(x, o.Y, func(_ int, v ...float64) float64 { return 2 * v[0] }, in.X); err == nil {
			err = host(x, o.Z, func(_ int, v ...float64) float64 { return -v[0] }, in.X)
		}
		return
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, _ none, dy pairOut) (d unaryIn, err error) {
		d.X = x.Like(in.X)
		if !dy.Z.Set() {
			return d, host(x, d.X, func(_ int, v ...float64) float64 { return 2 * v[0] }, dy.Y)
		}
		return d, host(x, d.X, func(_ int, v ...float64) float64 { return 2*v[0] - v[1] }, dy.Y, dy.Z)
	},
})

// memMul is mul, memory-bound, with what it saves.
type outSaved struct{ Y autodiff.Tensor }

var square = autodiff.New("square_saved", autodiff.Spec[none, unaryIn, out, outSaved]{
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s outSaved, err error) {
		o.Y = x.Like(in.X)
		return o, outSaved(o), host(x, o.Y, func(_ int, v ...float64) float64 { return 5 * v[0] }, in.X)
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, s outSaved, dy out) (d unaryIn, err error) {
		d.X = x.Like(in.X)
		return d, host(x, d.X, func(_ int, v ...float64) float64 { return v[0] * v[1] / v[2] }, dy.Y, s.Y, in.X)
	},
})

const mod = 1 << 20

// Random graphs against the same in Go: gradients by forward-mode-free reverse sweep over scalars.
func TestRandomGraphs(t *testing.T) {
	s := sim(t)
	for seed := range int64(400) {
		for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
			r := rand.New(rand.NewSource(seed))
			pool := autodiff.NewPool(s).Poison()
			params := []*autodiff.Param{}
			var data []device.Tensor
			for i := range 2 {
				d := tensor(t, s, dtype.F32, []float64{float64(i + 1), 1}, 1, 2)
				data = append(data, d)
				params = append(params, autodiff.NewParam(string(rune('a'+i)), d))
			}
			tp := tape(t, s, autodiff.WithPool(pool), autodiff.WithStrategy(strategy))
			type ref struct {
				v    float64
				args []int
				d    []float64
			}
			var refs []ref
			var ts []autodiff.Tensor
			push := func(x autodiff.Tensor, v float64, args []int, d []float64) int {
				refs, ts = append(refs, ref{v, args, d}), append(ts, x)
				return len(ts) - 1
			}
			visible := []int{}
			for i, p := range params {
				visible = append(visible, push(tp.Param(p), float64(i+1), nil, nil))
			}
			visible = append(visible, push(tp.Input("c", data[1]), 2, nil, nil))
			var body func(depth int)
			body = func(depth int) {
				n := 2 + r.Intn(5)
				for range n {
					a, b := visible[r.Intn(len(visible))], visible[r.Intn(len(visible))]
					va, vb := refs[a].v, refs[b].v
					switch k := r.Intn(9); {
					case k == 0 && va*vb < mod:
						visible = append(visible, push(mul.Apply(tp, none{}, binaryIn{ts[a], ts[b]}).Y, va*vb, []int{a, b}, []float64{vb, va}))
					case k == 1 || k == 2:
						visible = append(visible, push(add.Apply(tp, none{}, binaryIn{ts[a], ts[b]}).Y, va+vb, []int{a, b}, []float64{1, 1}))
					case k == 3 && va*va*va < mod && va*va*va > -mod:
						visible = append(visible, push(cube.Apply(tp, none{}, unaryIn{ts[a]}).Y, va*va*va, []int{a}, []float64{3 * va * va}))
					case k == 4:
						visible = append(visible, push(aliased.Apply(tp, none{}, unaryIn{ts[a]}).Y, va, []int{a}, []float64{1}))
					case k == 5:
						o := pair.Apply(tp, none{}, unaryIn{ts[a]})
						visible = append(visible, push(o.Y, 2*va, []int{a}, []float64{2}), push(o.Z, -va, []int{a}, []float64{-1}))
					case k == 6 && va != 0 && va < mod && va > -mod:
						visible = append(visible, push(square.Apply(tp, none{}, unaryIn{ts[a]}).Y, 5*va, []int{a}, []float64{5}))
					case k == 7 && depth < 3:
						outer := visible
						var kept []int
						autodiff.Block(tp, func() struct{ A, B autodiff.Tensor } {
							visible = append([]int{}, outer...)
							body(depth + 1)
							fresh := visible[len(outer):]
							if len(fresh) == 0 {
								return struct{ A, B autodiff.Tensor }{}
							}
							x, y := fresh[r.Intn(len(fresh))], fresh[r.Intn(len(fresh))]
							kept = []int{x, y}
							return struct{ A, B autodiff.Tensor }{ts[x], ts[y]}
						})
						visible = append(append([]int{}, outer...), kept...)
					case k == 8 && r.Intn(3) == 0:
						ts[a] = ts[a].Retain()
					}
				}
			}
			body(0)
			// losses: sums of up to three visible tracked tensors
			var losses []autodiff.Tensor
			dv := make([]float64, len(refs))
			for range 3 {
				a := visible[r.Intn(len(visible))]
				if ts[a].Tracked() {
					losses = append(losses, total.Apply(tp, none{}, unaryIn{ts[a]}).L)
					dv[a]++
				}
			}
			if len(losses) == 0 {
				tp.Close()
				pool.Close()
				break
			}
			for i := len(refs) - 1; i >= 0; i-- {
				for j, a := range refs[i].args {
					dv[a] += dv[i] * refs[i].d[j]
				}
			}
			if err := tp.Backward(losses...); err != nil {
				t.Fatalf("seed %d %s: %v", seed, strategy, err)
			}
			for i, p := range params {
				x := tp.Param(p)
				g, err := x.Grad()
				if err != nil {
					if dv[i] != 0 {
						t.Fatalf("seed %d %s: %v, want %v", seed, strategy, err, dv[i])
					}
					continue
				}
				v := floats(t, g, nil)
				if v[0] != float64(float32(dv[i])) && (v[0]-dv[i] > 1e-5*abs(dv[i]) || dv[i]-v[0] > 1e-5*abs(dv[i])) {
					t.Fatalf("seed %d %s: d%d is %v, want %v", seed, strategy, i, v[0], dv[i])
				}
			}
			if _, err := tp.Close(); err != nil {
				t.Fatalf("seed %d %s: %v", seed, strategy, err)
			}
			if st := pool.Stats(); st.InUse != 0 {
				t.Fatalf("seed %d %s: %d in use", seed, strategy, st.InUse)
			}
			pool.Close()
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }
