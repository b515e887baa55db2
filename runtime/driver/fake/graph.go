package fake

import (
	"slices"
	"unsafe"

	"github.com/gotile/gotile/internal/stack"
	"github.com/gotile/gotile/runtime/driver"
)

// node is work that a graph replays.
type node func() driver.Result

// capture is what a stream records. The goroutine stands for the thread that the driver goes by: whoever captures is
// locked to its thread.
type capture struct {
	goroutine uint64
	invalid   bool
	nodes     []node
}

// ArgBytes says how large the argument struct of a kernel is. The driver knows it from the module; the fake needs it
// where the kernel is captured.
func (d *Driver) ArgBytes(kernel string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.args[kernel] = n
}

// unsafeCalls are refused on a thread that captures. The driver's documentation names cuMemAlloc as the example; these
// are the calls that allocate, or wait for more than a stream.
var unsafeCalls = []string{
	"cuMemAlloc", "cuMemFree", "cuMemHostAlloc", "cuMemFreeHost", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuModuleLoadData", "cuModuleUnload",
}

// refused reports whether a call comes from a thread that captures and must not; the capture is lost then. It is called
// with d.mu held.
func (d *Driver) refused(call string) bool {
	if len(d.captures) == 0 || !slices.Contains(unsafeCalls, call) {
		return false
	}
	me := stack.Goroutine()
	for _, c := range d.captures {
		if c.goroutine == me {
			c.invalid = true
			return true
		}
	}
	return false
}

// breaks reports whether a stream captures, and so cannot be waited for; the capture is lost then.
func (d *Driver) breaks(s uintptr) bool {
	c := d.captures[driver.Stream(s)]
	if c != nil {
		c.invalid = true
	}
	return c != nil
}

// queue runs work on a stream, or records it.
func (c *context) queue(call string, s driver.Stream, work node) error {
	return c.do(call, func() driver.Result {
		if c.live[uintptr(s)] != "stream" {
			return driver.InvalidHandle
		}
		if cap := c.captures[s]; cap != nil {
			cap.nodes = append(cap.nodes, work)
			return driver.Success
		}
		return work()
	})
}

// record adds a launch to a capture. It keeps a copy of the arguments, as the driver does.
func (c *context) record(cap *capture, fn *function, l driver.LaunchConfig, args unsafe.Pointer) driver.Result {
	n, ok := c.args[fn.name]
	if !ok {
		return driver.InvalidValue
	}
	words := make([]uint64, (n+7)/8+1)
	own := unsafe.Pointer(&words[0])
	copy(unsafe.Slice((*byte)(own), n), unsafe.Slice((*byte)(args), n))
	run := c.kernels[fn.name]
	cap.nodes = append(cap.nodes, func() driver.Result { return run(l, own) })
	return driver.Success
}

func (c *context) BeginCapture(s driver.Stream) error {
	return c.do("cuStreamBeginCapture", func() driver.Result {
		if c.live[uintptr(s)] != "stream" {
			return driver.InvalidHandle
		}
		if c.captures[s] != nil {
			return driver.InvalidValue
		}
		c.captures[s] = &capture{goroutine: stack.Goroutine()}
		return driver.Success
	})
}

func (c *context) EndCapture(s driver.Stream) (g driver.Graph, err error) {
	err = c.do("cuStreamEndCapture", func() driver.Result {
		cap := c.captures[s]
		if cap == nil {
			return driver.InvalidValue
		}
		if cap.goroutine != stack.Goroutine() {
			return driver.CaptureWrongThread
		}
		delete(c.captures, s)
		if cap.invalid {
			return driver.CaptureInvalidated
		}
		g = driver.Graph(c.handle("graph"))
		c.graphs[uintptr(g)] = cap.nodes
		return driver.Success
	})
	if driver.CodeOf(err) != driver.CaptureWrongThread {
		c.mu.Lock()
		delete(c.captures, s) // over, even where the call was made to fail
		c.mu.Unlock()
	}
	return g, err
}

func (c *context) GraphNodes(g driver.Graph) (n int, err error) {
	err = c.do("cuGraphGetNodes", func() driver.Result {
		n = len(c.graphs[uintptr(g)])
		return valid(c.live[uintptr(g)] == "graph", driver.InvalidValue)
	})
	return n, err
}

func (c *context) Instantiate(g driver.Graph) (e driver.GraphExec, err error) {
	err = c.do("cuGraphInstantiate", func() driver.Result {
		if c.live[uintptr(g)] != "graph" {
			return driver.InvalidValue
		}
		e = driver.GraphExec(c.handle("exec"))
		c.graphs[uintptr(e)] = c.graphs[uintptr(g)]
		return driver.Success
	})
	return e, err
}

// LaunchGraph allocates nothing, as Launch.
func (c *context) LaunchGraph(e driver.GraphExec, s driver.Stream) error {
	const call = "cuGraphLaunch"
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.enter(call); err != nil {
		return err
	}
	switch {
	case c.live[uintptr(s)] != "stream":
		return fail(call, driver.InvalidHandle)
	case c.live[uintptr(e)] != "exec":
		return fail(call, driver.InvalidValue)
	case c.captures[s] != nil:
		return fail(call, driver.NotSupported) // the driver makes a child graph; gotile has no use for it
	}
	for _, work := range c.graphs[uintptr(e)] {
		if r := work(); r != driver.Success {
			c.sticky = r
			break
		}
	}
	return nil
}

func (c *context) dropGraph(call, kind string, g uintptr) error {
	return c.do(call, func() driver.Result {
		delete(c.graphs, g)
		return valid(c.drop(kind, g), driver.InvalidValue)
	})
}

func (c *context) DestroyGraph(g driver.Graph) error {
	return c.dropGraph("cuGraphDestroy", "graph", uintptr(g))
}

func (c *context) DestroyGraphExec(e driver.GraphExec) error {
	return c.dropGraph("cuGraphExecDestroy", "exec", uintptr(e))
}
