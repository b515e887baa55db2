//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia

import "github.com/gotile/gotile/runtime/driver"

func (c *context) BeginCapture(s driver.Stream) error {
	return c.raw("cuStreamBeginCapture", func() driver.Result { return rawBeginCapture(s) })
}

func (c *context) EndCapture(s driver.Stream) (driver.Graph, error) {
	g, err := c.get("cuStreamEndCapture", func() (uint64, driver.Result) { return rawEndCapture(s) })
	return driver.Graph(g), err
}

func (c *context) GraphNodes(g driver.Graph) (int, error) {
	n, err := c.get("cuGraphGetNodes", func() (uint64, driver.Result) { return rawGraphNodes(g) })
	return int(n), err
}

func (c *context) Instantiate(g driver.Graph) (driver.GraphExec, error) {
	e, err := c.get("cuGraphInstantiateWithFlags", func() (uint64, driver.Result) { return rawInstantiate(g) })
	return driver.GraphExec(e), err
}

func (c *context) LaunchGraph(e driver.GraphExec, s driver.Stream) error {
	entered, err := c.enter() // as Launch
	if err != nil {
		return err
	}
	r := rawLaunchGraph(e, s)
	leave(entered)
	return fail("cuGraphLaunch", r)
}

func (c *context) DestroyGraph(g driver.Graph) error {
	return c.raw("cuGraphDestroy", func() driver.Result { return rawDestroyGraph(g) })
}

func (c *context) DestroyGraphExec(e driver.GraphExec) error {
	return c.raw("cuGraphExecDestroy", func() driver.Result { return rawDestroyGraphExec(e) })
}
