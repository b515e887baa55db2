// Package bench times kernels of ours beside plain copies and beside other libraries' kernels. A Suite says what is to
// be timed; how is the same for all:
//
//   - Every contender works on the same inputs, bit for bit, in as many groups as exceed three times the L2 cache.
//   - A contender's launches over all groups are one CUDA graph. A round of it is a number of replays, back to back.
//   - Contenders take turns, forwards and backwards, for several rounds, so that what drifts hits all of them alike. The
//     figure is the median over rounds; ratios are medians of the ratios within rounds.
//   - Outputs are compared with a float64 reference afterwards; a contender that is wrong has no time.
//
// Other libraries run in processes of their own, which Peers describes. Results are JSON in the form that every suite
// shares, and benchfmt for benchstat.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Suite is what a package for gotile bench exports: func Suite() bench.Suite.
type Suite struct {
	Name string // rmsnorm: of the results file and, first, of the benchmarks

	// Benchmarks lists what is selected, without touching a device.
	Benchmarks func(Selection) ([]Benchmark, error)

	Peers *Peers // nil: none
}

// Selection is what the command line asks for; nil is the suite's own list.
type Selection struct {
	Shapes []string
	DTypes []string
}

// Benchmark is one operation on one shape.
type Benchmark struct {
	Name  string // rmsnorm/fwd/32768x4096/bf16
	Bytes int    // the fewest that the operation moves
	FLOPs int
	Input int // bytes that one launch reads: decides how many groups there are; 0: one, as nothing is to leave the cache
	Goal  *Goal
	Peer  any // what a peer program is told of the operation, as JSON; nil: no peers

	// Setup makes the contenders. The first is the one that the others are compared with.
	Setup func(*Setup) ([]Contender, error)

	// Checks are what contenders and peers must have written for the last group. It may take a second: it runs once,
	// after the timing. Nil: nothing is checked.
	Checks func(group int) []Check
}

// Contender is one way to do the operation.
type Contender struct {
	Name   string
	Bytes  int // moved, where they are not the benchmark's
	Launch func(group int) error

	// Time replaces Launch for what is more than launches, such as steps of training or work of the host: it does the
	// operation n times and gives the microseconds that all of them took.
	Time func(ctx context.Context, n int) (us float64, err error)

	// Figures are numbers beside the time, by name with the unit: "peak_bytes", "allocs". It is asked once, after the
	// timing, and given the median. Where it finds results that are wrong it returns ErrWrong. Nil: none.
	Figures func(ctx context.Context, us float64) (map[string]float64, error)

	Outputs map[string]device.Tensor // what the last group's launch writes, contiguous
	Err     error                    // why it cannot run; the other fields may be unset

	// Checks replaces the benchmark's.
	Checks func(group int) []Check
}

// Check is a stretch of an output and what it should hold. The error is the largest difference over the largest number
// wanted; it may be Tol.
type Check struct {
	Output string    `json:"output"`
	At     int       `json:"at"` // of the first element, in row-major order
	Want   []float64 `json:"-"`
	Count  int       `json:"count"` // of Want; filled in by the harness
	Tol    float64   `json:"-"`
}

// Setup is where a benchmark's tensors come from. They live until the benchmark is over.
type Setup struct {
	Stream *device.Stream
	Groups int

	ctx context.Context
	own []io.Closer
}

// Context is cancelled when the benchmark is to stop.
func (s *Setup) Context() context.Context {
	if s.ctx == nil { // a Setup that a test of a suite has made
		return context.Background()
	}
	return s.ctx
}

// New makes a tensor; what it holds is undefined. data.Input makes one that is filled.
func (s *Setup) New(t dtype.Type, shape ...int) (device.Tensor, error) {
	x, err := device.NewTensor(s.Stream.Device(), t, shape...)
	if err == nil {
		s.Own(x)
	}
	return x, err
}

// Own has something closed when the benchmark is over.
func (s *Setup) Own(c io.Closer) { s.own = append(s.own, c) }

// Seed is that of the numbers of an input, counted from 0, of a group: package data makes them here, peers on their own.
func Seed(input, group int) uint64 { return uint64(input)<<32 | uint64(group) }

func (s *Setup) close() error {
	var errs []error
	for _, x := range s.own {
		errs = append(errs, x.Close())
	}
	s.own = nil
	return errors.Join(errs...)
}

// The least number of groups, so that no launch follows itself on the same data, and the most, which bounds the time
// that it takes to make them.
const (
	minGroups = 2
	maxGroups = 64
)

// groups is how many groups of inputs exceed three times a cache.
func (b *Benchmark) groups(cache int) int {
	if b.Input == 0 {
		return 1
	}
	return min(max(minGroups, 3*cache/max(b.Input, 1)+1), maxGroups)
}

// check refuses benchmarks that cannot be run or told apart.
func (s *Suite) check(all []Benchmark) error {
	if s.Name == "" {
		return errors.New("the suite has no name")
	}
	seen := map[string]bool{}
	for _, b := range all {
		if seen[b.Name] {
			return fmt.Errorf("benchmark %s of suite %s twice: -shapes and -dtypes name each once", b.Name, s.Name)
		}
		if b.Name == "" || b.Setup == nil {
			return fmt.Errorf("benchmark %q of suite %s: each has a name and a Setup", b.Name, s.Name)
		}
		seen[b.Name] = true
	}
	return nil
}
