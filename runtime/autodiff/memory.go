package autodiff

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Pool is device memory for the intermediate tensors of tapes on one stream, one tape after the other. A tape without
// one makes its own and closes it. With one that is kept, the steps after the first allocate nothing on the device,
// which capturing a step as a graph requires. Like a stream it is not safe for concurrent use.
type Pool struct {
	s      *device.Stream
	free   map[int][]*device.Buffer // by bytes
	all    []*device.Buffer
	inUse  int64
	peak   int64
	poison bool
	closed bool

	recording *Recording // the capture under way, in which the pool does not grow; nil: none
}

// NewPool makes an empty pool. The owner closes it, after the tapes and graphs that use it.
func NewPool(s *device.Stream) *Pool { return &Pool{s: s, free: map[int][]*device.Buffer{}} }

// Poison makes the pool fill memory with bytes of 0xff, NaN in every float type, when it is handed out and when it is
// given back: what an op reads before it wrote it, or after it gave it back, shows. It returns p.
func (p *Pool) Poison() *Pool {
	p.poison = true
	return p
}

// fill poisons.
func (p *Pool) fill(b *device.Buffer) error {
	if !p.poison {
		return nil
	}
	return p.s.Fill(b, 0, b.Bytes(), 0xff)
}

// PoolStats counts bytes.
type PoolStats struct {
	InUse    int64 // of tensors that are alive
	Peak     int64 // the largest InUse since the pool was made, or since ResetPeak
	Reserved int64 // taken from the device
}

// Stats counts the pool's memory.
func (p *Pool) Stats() PoolStats {
	st := PoolStats{InUse: p.inUse, Peak: p.peak}
	for _, b := range p.all {
		st.Reserved += int64(b.Bytes())
	}
	return st
}

// ResetPeak makes the present use the peak.
func (p *Pool) ResetPeak() { p.peak = p.inUse }

// Close gives the memory back to the device. Closing twice is fine.
func (p *Pool) Close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, b := range p.all {
		errs = append(errs, b.Close())
	}
	p.all, p.free, p.closed = nil, nil, true
	return errors.Join(errs...)
}

// class rounds a size up, by an eighth at most, so that tensors of nearly one size use the same memory in turn.
func class(n int) int {
	const least = 512
	if n <= least {
		return least
	}
	step := 1 << (bits.Len(uint(n-1)) - 1) / 8
	return (n + step - 1) / step * step
}

// get is memory for at least bytes. The one that was given back last comes first: it is most likely in a cache.
func (p *Pool) get(bytes int) (*device.Buffer, error) {
	if p.closed {
		return nil, fmt.Errorf("the pool is closed: %w", ErrClosed)
	}
	c := class(bytes)
	list := p.free[c]
	var b *device.Buffer
	if n := len(list); n > 0 {
		b, p.free[c] = list[n-1], list[:n-1]
	} else if p.recording != nil {
		return nil, fmt.Errorf("%d bytes more than the pool has: run the step once with this pool before it is captured: %w", c, ErrGrow)
	} else {
		var err error
		if b, err = p.s.Alloc(c); err != nil {
			return nil, err
		}
		p.all = append(p.all, b)
	}
	p.inUse += int64(c)
	p.peak = max(p.peak, p.inUse)
	return b, p.fill(b)
}

func (p *Pool) put(b *device.Buffer) {
	if p.closed {
		return
	}
	p.free[b.Bytes()] = append(p.free[b.Bytes()], b)
	p.inUse -= int64(b.Bytes())
	p.fill(b) // an error is the stream's, and the next launch has it too
}

// storage is memory that tensors of a tape view, and what was done to it.
type storage struct {
	buf    *device.Buffer
	pooled bool  // the tape's; else the user's
	refs   int   // of pooled memory: what needs it
	base   int64 // the memory's changes when an op had made what is there
	maker  *Exec // that made it, and may write to it
}

// version counts the changes in place.
func (s *storage) version() int64 { return s.buf.Changes() - s.base }

// changed notes a change in place.
func (s *storage) changed(at *position) { s.buf.NoteChange(at.counters()...) }

// changedBy is the line of the last change after a version. Of a launch past the tapes into their own memory, which is
// not watched, only that there was one is known.
func (s *storage) changedBy(version int64) string {
	if at, changes := s.buf.ChangedAt(); len(at) > 0 && changes-s.base > version {
		return lineOf(at)
	}
	return "a launch outside of the tape's ops"
}

// newTensor takes memory for a contiguous tensor from the pool.
func (t *Tape) newTensor(dt dtype.Type, shape []int) (device.Tensor, *storage, error) {
	n := dt.Size()
	for _, d := range shape {
		hi, lo := bits.Mul(uint(n), uint(d))
		if d < 0 || hi != 0 || int(lo) < 0 {
			return device.Tensor{}, nil, fmt.Errorf("%v %v: %w", dt, slices.Clone(shape), device.ErrShape) // a clone: shape stays off the heap
		}
		n = int(lo)
	}
	b, err := t.pool.get(n)
	if err != nil {
		return device.Tensor{}, nil, err
	}
	d, err := device.View(b, 0, dt, shape, nil)
	if err != nil {
		t.pool.put(b)
		return device.Tensor{}, nil, err
	}
	s := t.storages.one()
	s.buf, s.pooled, s.refs = b, true, 1
	return d, s, nil
}

// release drops one need of memory; what nobody needs goes back to the pool.
func (t *Tape) release(s *storage) {
	if s == nil || !s.pooled {
		return
	}
	if s.refs--; s.refs == 0 {
		t.pool.put(s.buf)
	}
}

// storageOf is the user's memory. Tensors that view one buffer share it, so that a change through one is seen by all.
func (t *Tape) storageOf(b *device.Buffer) *storage {
	s := t.stores[b]
	if s == nil {
		s = &storage{buf: b}
		t.stores[b] = s
		b.Watch()
	}
	return s
}
