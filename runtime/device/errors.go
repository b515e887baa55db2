package device

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/sim"
)

// What callers ask for with errors.Is.
var (
	// ErrOutOfMemory: more device or pinned memory than there is, after the pool has given back what it could.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrNoDevice: a device that Open does not know or that the machine does not have.
	ErrNoDevice = errors.New("no such device")
	// ErrSticky: the device is lost to this process. Every later call fails with the first such error.
	ErrSticky = errors.New("device lost")
	// ErrClosed: a closed device, buffer, stream or event.
	ErrClosed = errors.New("closed")
	// ErrWrongDevice: things of two devices in one call.
	ErrWrongDevice = errors.New("wrong device")
	// ErrConcurrent: a stream used by two goroutines at once.
	ErrConcurrent = errors.New("stream used by two goroutines at once; give each its own (Device.NewStream)")
	// ErrShape: shapes, strides, sizes and ranges that do not fit.
	ErrShape = errors.New("bad shape")
	// ErrDType: host numbers of another type than the tensor.
	ErrDType = errors.New("wrong element type")
	// ErrCapture: a call that is not allowed while a stream captures a graph.
	ErrCapture = errors.New("not allowed while a graph is captured")
	// ErrDeadlock: the warps of a kernel wait for what nobody brings, as the simulator or a watchdog (WithWatchdog) has
	// found; the error's text has the table of who waits for what.
	ErrDeadlock = errors.New("deadlock")
	// ErrTarget: a kernel that the device's target cannot run.
	ErrTarget = errors.New("kernel does not support the target")
)

// Error is a failure of the device, as opposed to a wrong argument.
type Error struct {
	Device string
	Code   driver.Result // driver.Success where no driver call failed: on the simulator, in the compiler
	Call   string        // the driver's function, or the method that failed
	Kernel string        // of a failed launch; of the stream's last launch where Async
	Grid   int           // blocks of that launch
	Args   []byte        // its argument struct; nil where it is not known any more
	Async  bool          // seen while waiting: a launch at or before Kernel is to blame
	Err    error         // the cause
}

// Error is one line, and the table of a deadlock, without the arguments and the compiler's log; %+v adds them.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("device: " + e.Device + ": ")
	switch {
	case e.Async && e.Kernel != "":
		fmt.Fprintf(&b, "work up to the launch of %s (grid %d): ", e.Kernel, e.Grid)
	case e.Kernel != "":
		fmt.Fprintf(&b, "launch of %s (grid %d): ", e.Kernel, e.Grid)
	}
	var d *driver.Error
	if !errors.As(e.Err, &d) && (e.Async || e.Kernel == "") {
		b.WriteString(e.Call + ": ") // a driver's error names its call, a launch was named above
	}
	fmt.Fprint(&b, e.Err)
	if e.Code.Sticky() {
		b.WriteString("; the device is lost to this process")
	}
	return b.String()
}

// Format adds the cause's details, such as the compiler's log, and the argument struct, in words of eight bytes, for %+v.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(f, "%q", e.Error())
		return
	}
	io.WriteString(f, e.Error())
	if verb != 'v' || !f.Flag('+') {
		return
	}
	for err := e.Err; err != nil; err = errors.Unwrap(err) { // what wraps an error hides how it is formatted
		if _, ok := err.(fmt.Formatter); ok {
			fmt.Fprintf(f, "\n%+v", err)
			break
		}
	}
	for i := 0; i+8 <= len(e.Args); i += 8 {
		fmt.Fprintf(f, "\nargument bytes %d..%d: %#016x", i, i+7, binary.LittleEndian.Uint64(e.Args[i:]))
	}
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is answers for the sentinels that stand for results of the driver and of the simulator.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrOutOfMemory:
		return e.Code == driver.OutOfMemory
	case ErrSticky:
		return e.Code.Sticky()
	case ErrDeadlock:
		var found *sim.Errors
		return errors.As(e.Err, &found) && found.Has(sim.Deadlock)
	}
	return false
}

// fail describes a backend's error and remembers a sticky one.
func (d *Device) fail(call string, err error) error {
	return d.keep(&Error{Call: call, Err: err})
}

// keep fills in what every error has and remembers a sticky one: the first is what later calls get.
func (d *Device) keep(e *Error) *Error {
	e.Device, e.Code = d.name, driver.CodeOf(e.Err)
	var de *driver.Error
	if errors.As(e.Err, &de) {
		e.Call = de.Call
	}
	if e.Code.Sticky() && d.back != nil {
		if found := d.back.deadlock(); found != nil {
			e.Err = fmt.Errorf("%w\n%w", found, e.Err)
		}
	}
	if e.Code.Sticky() && !d.sticky.CompareAndSwap(nil, e) {
		return d.sticky.Load()
	}
	return e
}
