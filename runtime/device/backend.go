package device

import (
	"context"
	"time"

	"github.com/gotile/gotile/runtime/driver"
)

// backend is what differs between the simulator and a GPU. Handles and addresses are numbers that the backend made.
// Its errors say what failed; the Device adds where. It is safe for concurrent use, and a handle is used by one
// goroutine at a time.
type backend interface {
	alloc(bytes int) (uint64, error) // bytes > 0
	free(addr uint64) error
	// allocHost gives memory that the device reads and writes while the host goes on.
	allocHost(bytes int) ([]byte, error) // bytes > 0
	freeHost(host []byte) error
	// pooled is whether memory that was given back is to be kept for the next owner.
	pooled() bool

	newStream() (uint64, error)
	freeStream(s uint64) error
	sync(ctx context.Context, s uint64) error
	// idle reports whether all work of a stream is done.
	idle(s uint64) (bool, error)

	// Copies are in stream order; host slices stay untouched until the stream is synchronised.
	copyIn(s, dst uint64, src []byte) error
	copyOut(s uint64, dst []byte, src uint64) error
	copy(s, dst, src uint64, bytes int) error
	fill(s, dst uint64, value byte, bytes int) error

	record(s uint64) (event uint64, err error)
	freeEvent(e uint64) error
	wait(s, e uint64) error
	syncEvent(ctx context.Context, e uint64) error
	elapsed(from, to uint64) (time.Duration, error)

	// beginCapture turns launches, copies and fills on a stream into nodes of a graph; endCapture is called on the same
	// thread. It ends the capture even where it fails.
	beginCapture(s uint64) error
	endCapture(s uint64) (graph, error)

	// encode makes a tensor map.
	encode(t *driver.Tiled) (driver.TensorMap, error)

	// compile does what load needs not do on the device, for load to find.
	compile(k *Kernel) error
	load(k *Kernel) (function, error)
	// deadlock is what watchdogs have reported, where a failure has lost the device; nil: nothing.
	deadlock() error
	// compiler is the version of the compiler in use; empty where there is none.
	compiler() string
	close() error
}

// function is a loaded kernel.
type function interface {
	// launch runs the kernel on grid > 0 blocks; args may be reused when it returns.
	// dependent: it may begin before the launch ahead of it on the stream is over.
	launch(s uint64, grid int, args []byte, dependent bool) error
	blocks() int
	close() error
}

// graph is work that was captured.
type graph interface {
	launch(s uint64) error
	nodes() int
	close() error
}
