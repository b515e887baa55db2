package device

import (
	"errors"

	"github.com/gotile/gotile/runtime/driver"
)

// cudaGraph is a graph made ready to launch.
type cudaGraph struct {
	ctx  driver.Context
	exec driver.GraphExec
	size int // nodes
}

func (c *cuda) beginCapture(s uint64) error {
	if err := c.ctx.BeginCapture(driver.Stream(s)); err != nil {
		return err
	}
	c.capturing.Add(1)
	return nil
}

func (c *cuda) endCapture(s uint64) (graph, error) {
	g, err := c.ctx.EndCapture(driver.Stream(s))
	c.capturing.Add(-1)
	if err != nil {
		return nil, err
	}
	out := &cudaGraph{ctx: c.ctx}
	if out.size, err = c.ctx.GraphNodes(g); err == nil {
		out.exec, err = c.ctx.Instantiate(g)
	}
	if e := c.ctx.DestroyGraph(g); e != nil {
		if err == nil {
			e = errors.Join(e, out.close())
		}
		err = errors.Join(err, e)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// apart runs f on a thread that captures nothing. Captures are of their thread, and what captures is locked to it: a
// new goroutine runs on another one.
func (c *cuda) apart(f func()) {
	if c.capturing.Load() == 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (g *cudaGraph) launch(s uint64) error { return g.ctx.LaunchGraph(g.exec, driver.Stream(s)) }
func (g *cudaGraph) nodes() int            { return g.size }
func (g *cudaGraph) close() error          { return g.ctx.DestroyGraphExec(g.exec) }
