package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gotile/gotile/runtime/device"
)

// graphed is one of our contenders: its launches over all groups as one graph.
type graphed struct {
	*turn
	c     Contender
	graph *device.Graph
	s     *device.Stream
}

// ours makes the contenders of a benchmark. One that does not run has its error as its result.
func (r *runner) ours(b *Benchmark, setup *Setup) ([]*graphed, error) {
	list, err := b.Setup(setup)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("it has no contenders")
	}
	var out []*graphed
	for _, c := range list {
		g := &graphed{c: c, s: setup.Stream}
		g.turn = &turn{name: c.Name, bytes: c.Bytes, launches: setup.Groups, err: c.Err, checks: b.Checks, replay: g.replayGraph, read: g.read, figures: c.Figures}
		if c.Checks != nil {
			g.checks, g.own = c.Checks, true
		}
		if c.Time != nil {
			g.launches, g.replay, g.checks = 1, c.Time, nil // what it computes it compares itself
		} else if g.err == nil {
			g.err = g.capture(setup)
		}
		out = append(out, g)
	}
	return out, setup.Stream.Sync(setup.ctx)
}

// capture launches once, which compiles and may refuse, and then records the graph.
func (g *graphed) capture(setup *Setup) error {
	if err := g.c.Launch(0); err != nil {
		return err
	}
	if err := g.s.Sync(setup.ctx); err != nil {
		return err
	}
	var err error
	g.graph, err = g.s.Capture(func() error {
		for i := range setup.Groups {
			if err := g.c.Launch(i); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// replayGraph launches the graph once, so that the timed replays find the device busy, and then times n.
func (g *graphed) replayGraph(ctx context.Context, n int) (float64, error) {
	if err := g.graph.Launch(g.s); err != nil {
		return 0, err
	}
	start, err := g.s.Record()
	if err != nil {
		return 0, err
	}
	defer start.Close()
	for range n {
		if err := g.graph.Launch(g.s); err != nil {
			return 0, err
		}
	}
	end, err := g.s.Record()
	if err != nil {
		return 0, err
	}
	defer end.Close()
	if err := end.Sync(ctx); err != nil {
		return 0, err
	}
	t, err := end.Since(start)
	return float64(t) / float64(time.Microsecond), err
}

// poison is a byte that makes a NaN of every float.
const poison = 0xff

// read replays on poisoned outputs and reads what the checks ask for.
func (g *graphed) read(ctx context.Context, checks []Check) ([][]float64, error) {
	for _, t := range g.c.Outputs {
		if err := g.s.Fill(t.Buffer(), t.Offset(), t.Elems()*t.DType().Size(), poison); err != nil {
			return nil, err
		}
	}
	if err := g.graph.Launch(g.s); err != nil {
		return nil, err
	}
	if err := g.s.Sync(ctx); err != nil {
		return nil, err
	}
	var out [][]float64
	for _, c := range checks {
		t, ok := g.c.Outputs[c.Output]
		if !ok {
			return nil, fmt.Errorf("it has no output %s", c.Output)
		}
		first := t.Offset() / t.DType().Size()
		v, err := device.View(t.Buffer(), first+c.At, t.DType(), []int{c.Count}, nil)
		if err != nil {
			return nil, err
		}
		x, err := device.DownloadFloats(g.s, v)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func (g *graphed) close() error {
	if g.graph == nil {
		return nil
	}
	return g.graph.Close()
}

// ErrWrong is of contenders whose outputs differ from the reference.
var ErrWrong = errors.New("wrong")

// verify compares what the contenders write with their checks; one that is wrong has an error in place of its time.
// Contenders that share their checks have them computed once.
func verify(ctx context.Context, turns []*turn, group int) {
	var shared []Check
	for _, t := range turns {
		if t.err != nil || t.checks == nil {
			continue
		}
		checks := shared
		if checks == nil || t.own {
			checks = t.checks(group)
			for i := range checks {
				checks[i].Count = len(checks[i].Want)
			}
			if !t.own {
				shared = checks
			}
		}
		got, err := t.read(ctx, checks)
		if err == nil {
			err = compare(checks, got)
		}
		t.err = err
	}
}

// compare gives the first check that fails.
func compare(checks []Check, got [][]float64) error {
	if len(got) != len(checks) {
		return fmt.Errorf("%d outputs were read, not %d", len(got), len(checks))
	}
	for i, c := range checks {
		if len(got[i]) != len(c.Want) {
			return fmt.Errorf("%s: %d elements were read, not %d", c.Output, len(got[i]), len(c.Want))
		}
		worst, scale := 0.0, 0.0
		for j, w := range c.Want {
			d := math.Abs(got[i][j] - w)
			if math.IsNaN(d) || d > worst {
				worst = d
			}
			scale = max(scale, math.Abs(w))
			if math.IsNaN(d) {
				break
			}
		}
		if !(worst <= c.Tol*scale) {
			return fmt.Errorf("%w: %s differs by %.3g from element %d on, where up to %.3g is right; tolerance %.1g of that", ErrWrong, c.Output, worst, c.At, scale, c.Tol)
		}
	}
	return nil
}
