package fake

import "github.com/gotile/gotile/runtime/driver"

func (c *context) NewStream() (s driver.Stream, err error) {
	err = c.do("cuStreamCreate", func() driver.Result {
		s = driver.Stream(c.handle("stream"))
		return driver.Success
	})
	return s, err
}

func (c *context) DestroyStream(s driver.Stream) error {
	return c.do("cuStreamDestroy", func() driver.Result {
		return valid(c.drop("stream", uintptr(s)), driver.InvalidHandle)
	})
}

// wait is the result of waiting for a handle.
func (c *context) wait(kind string, h uintptr) driver.Result {
	if c.live[h] != kind {
		return driver.InvalidHandle
	}
	if c.breaks(h) {
		return driver.CaptureUnsupported
	}
	return valid(!c.held, driver.LaunchFailed)
}

func (c *context) query(call, kind string, h uintptr) (done bool, err error) {
	err = c.do(call, func() driver.Result {
		done = !c.held
		if c.breaks(h) {
			return driver.CaptureUnsupported
		}
		return valid(c.live[h] == kind, driver.InvalidHandle)
	})
	if driver.CodeOf(err) == driver.NotReady {
		return false, nil // an answer, not a failure
	}
	return done && err == nil, err
}

func (c *context) SyncStream(s driver.Stream) error {
	return c.do("cuStreamSynchronize", func() driver.Result { return c.wait("stream", uintptr(s)) })
}

func (c *context) QueryStream(s driver.Stream) (bool, error) {
	return c.query("cuStreamQuery", "stream", uintptr(s))
}

func (c *context) WaitEvent(s driver.Stream, e driver.Event) error {
	return c.do("cuStreamWaitEvent", func() driver.Result {
		return valid(c.live[uintptr(s)] == "stream" && c.live[uintptr(e)] == "event", driver.InvalidHandle)
	})
}

func (c *context) NewEvent() (e driver.Event, err error) {
	err = c.do("cuEventCreate", func() driver.Result {
		e = driver.Event(c.handle("event"))
		return driver.Success
	})
	return e, err
}

func (c *context) DestroyEvent(e driver.Event) error {
	return c.do("cuEventDestroy", func() driver.Result {
		return valid(c.drop("event", uintptr(e)), driver.InvalidHandle)
	})
}

// RecordEvent takes the time of a clock that goes one millisecond a recording.
func (c *context) RecordEvent(e driver.Event, s driver.Stream) error {
	return c.do("cuEventRecord", func() driver.Result {
		if c.live[uintptr(s)] != "stream" || c.live[uintptr(e)] != "event" {
			return driver.InvalidHandle
		}
		if c.breaks(uintptr(s)) { // libcuda makes it part of the graph, where nobody can wait for it
			return driver.CaptureUnsupported
		}
		c.now++
		c.clock[e] = c.now
		return driver.Success
	})
}

func (c *context) SyncEvent(e driver.Event) error {
	return c.do("cuEventSynchronize", func() driver.Result { return c.wait("event", uintptr(e)) })
}

func (c *context) QueryEvent(e driver.Event) (bool, error) {
	return c.query("cuEventQuery", "event", uintptr(e))
}

func (c *context) Elapsed(from, to driver.Event) (ms float32, err error) {
	err = c.do("cuEventElapsedTime", func() driver.Result {
		if c.live[uintptr(from)] != "event" || c.live[uintptr(to)] != "event" {
			return driver.InvalidHandle
		}
		ms = c.clock[to] - c.clock[from]
		return valid(!c.held, driver.NotReady)
	})
	return ms, err
}
