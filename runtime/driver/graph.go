//go:build linux && (amd64 || arm64) && !nocuda

package driver

// captureThreadLocal is CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: what other threads do meanwhile is their own affair.
const captureThreadLocal = 1

func (c *context) BeginCapture(s Stream) error {
	return c.call(cuStreamBeginCapture, uintptr(s), captureThreadLocal)
}

func (c *context) EndCapture(s Stream) (Graph, error) {
	f := newFrame()
	defer f.done()
	f.out = 0
	f.args[0], f.args[1] = uintptr(s), addr(&f.out)
	err := c.lib.check(c.lib.callIn(c.ctx, cuStreamEndCapture, f, 2))
	return Graph(f.out), err
}

func (c *context) GraphNodes(g Graph) (int, error) {
	f := newFrame()
	defer f.done()
	f.out = 0
	f.args[0], f.args[1], f.args[2] = uintptr(g), 0, addr(&f.out)
	err := c.lib.check(c.lib.callIn(c.ctx, cuGraphGetNodes, f, 3))
	return int(f.out), err
}

func (c *context) Instantiate(g Graph) (GraphExec, error) {
	e, err := c.create(cuGraphInstantiate, uintptr(g), 0)
	return GraphExec(e), err
}

func (c *context) LaunchGraph(e GraphExec, s Stream) error {
	f := newFrame()
	f.args[0], f.args[1] = uintptr(e), uintptr(s)
	err := c.lib.check(c.lib.callIn(c.ctx, cuGraphLaunch, f, 2))
	f.done()
	return err
}

func (c *context) DestroyGraph(g Graph) error         { return c.call(cuGraphDestroy, uintptr(g)) }
func (c *context) DestroyGraphExec(e GraphExec) error { return c.call(cuGraphExecDestroy, uintptr(e)) }
