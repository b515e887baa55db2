//go:build !gotilegen

package rmsnorm

import (
	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/copies"
	"github.com/gotile/gotile/bench/data"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/device"
)

// The inputs, by the number that their data depends on. The first are the tensors that a pass reads, in the order of
// its row of passes; peers count likewise.
const weight = 8

// group is the tensors of one group.
type group struct {
	in, out []device.Tensor // rows x n, as many as the pass reads and writes
	w       device.Tensor   // n
	dw      device.Tensor   // n, of backward passes
	rstd    device.Tensor   // rows, f32
}

// setup makes the inputs, our contender and the copy.
func (p problem) setup(s *bench.Setup) ([]bench.Contender, error) {
	groups := make([]*group, s.Groups)
	for i := range groups {
		var err error
		if groups[i], err = p.group(s, i); err != nil {
			return nil, err
		}
	}
	last := groups[len(groups)-1]
	ours := bench.Contender{Name: "gotile", Outputs: p.outputs(last)}
	ours.Launch, ours.Err = p.launch(s, groups)
	y := last.out[p.writes-1]
	words, err := device.View(y.Buffer(), 0, dtype.U32, []int{p.tensor() / 4}, nil)
	return []bench.Contender{ours, {
		Name:    copies.Name(p.reads, p.writes),
		Bytes:   (p.reads + p.writes) * p.tensor(),
		Launch:  func(i int) error { return copies.Copy(s.Stream, groups[i].in, groups[i].out) },
		Outputs: map[string]device.Tensor{"words": words},
		Checks:  p.copied,
	}}, err
}

func (p problem) group(s *bench.Setup, i int) (*group, error) {
	g := &group{}
	for t := range p.reads {
		x, err := data.Input(s, p.dt, t, i, p.rows, p.n)
		if err != nil {
			return nil, err
		}
		g.in = append(g.in, x)
	}
	for range p.writes {
		y, err := s.New(p.dt, p.rows, p.n)
		if err != nil {
			return nil, err
		}
		g.out = append(g.out, y)
	}
	var err error
	if g.w, err = data.Input(s, p.dt, weight, i, p.n); err != nil {
		return nil, err
	}
	if g.dw, err = s.New(p.dt, p.n); err != nil {
		return nil, err
	}
	g.rstd, err = s.New(dtype.F32, p.rows)
	return g, err
}

// outputs names what a pass writes as the checks and the peers do.
func (p problem) outputs(g *group) map[string]device.Tensor {
	switch p.name {
	case "fwd", "gated_fwd":
		return map[string]device.Tensor{"y": g.out[0]}
	case "add_fwd":
		return map[string]device.Tensor{"s": g.out[0], "y": g.out[1]}
	case "gated_bwd":
		return map[string]device.Tensor{"dx": g.out[0], "dz": g.out[1], "dw": g.dw}
	}
	return map[string]device.Tensor{"dx": g.out[0], "dw": g.dw}
}

// launch is our kernels' launch of a group, with what a backward pass needs from before.
func (p problem) launch(s *bench.Setup, groups []*group) (func(i int) error, error) {
	if p.backward() {
		return p.launchBackward(s, groups)
	}
	return func(i int) error {
		g := groups[i]
		in, out := rmsnorm.Inputs{X: g.in[0], W: g.w, Eps: eps}, rmsnorm.Outputs{Y: g.out[p.writes-1], Rstd: g.rstd}
		switch p.name {
		case "add_fwd":
			in.R, out.S = g.in[1], g.out[0]
		case "gated_fwd":
			in.Z, in.Act = g.in[1], rmsnorm.Silu
		}
		return rmsnorm.Forward(s.Stream, in, out)
	}, nil
}

// launchBackward computes rstd by a forward pass, into dx, and shares the scratch memory among the groups, as a program
// would.
func (p problem) launchBackward(s *bench.Setup, groups []*group) (func(i int) error, error) {
	for _, g := range groups {
		if err := rmsnorm.Forward(s.Stream, rmsnorm.Inputs{X: g.in[0], W: g.w, Eps: eps}, rmsnorm.Outputs{Y: g.out[0], Rstd: g.rstd}); err != nil {
			return nil, err
		}
	}
	tensors := func(g *group) (rmsnorm.Saved, rmsnorm.Gradients) {
		saved, grads := rmsnorm.Saved{X: g.in[0], W: g.w, Rstd: g.rstd}, rmsnorm.Gradients{DX: g.out[0], DW: g.dw}
		switch p.name {
		case "bwd":
			saved.DY = g.in[1]
		case "add_bwd":
			saved.DY, saved.DS = g.in[1], g.in[2]
		case "gated_bwd":
			saved.Z, saved.Act, saved.DY, grads.DZ = g.in[1], rmsnorm.Silu, g.in[2], g.out[1]
		}
		return saved, grads
	}
	saved, grads := tensors(groups[0])
	scratch, err := rmsnorm.NewScratch(s.Stream, saved, grads)
	if err != nil {
		return nil, err
	}
	s.Own(scratch)
	return func(i int) error {
		saved, grads := tensors(groups[i])
		return rmsnorm.Backward(s.Stream, saved, grads, scratch)
	}, nil
}
