package device

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/gotile/gotile/runtime/driver"
)

// MemoryStats counts bytes of device memory. Sizes are rounded up as the pool does it, by an eighth at most.
type MemoryStats struct {
	InUse    int64 // of open buffers, and of closed ones that a graph holds
	Reserved int64 // taken from the driver: InUse and what the pool keeps
	Peak     int64 // the largest InUse so far
}

// memory is a range of device memory, or of pinned host memory.
type memory struct {
	addr uint64 // on the device
	host []byte
}

// block is memory that waits for its next owner.
type block struct {
	memory
	home *lane  // the only stream that used it; nil: any may have
	mark uint64 // of the timeline
}

// pool keeps what was given back, by size. Taking memory from the driver is slow and giving it back waits for the
// device; the pool does the first when nothing fits, the second when memory runs out or Trim asks for it.
type pool struct {
	time  *timeline
	keep  bool // false: memory goes back to the backend at once
	alloc func(bytes int) (memory, error)
	free  func(m memory) error

	mu     sync.Mutex
	blocks map[int][]block // by size
	stats  MemoryStats
}

// openPools sets up what gives memory out.
func (d *Device) openPools() {
	d.time = &timeline{back: d.back}
	d.buffers = &pool{
		time: d.time, keep: d.back.pooled(), blocks: map[int][]block{},
		alloc: func(n int) (memory, error) { addr, err := d.back.alloc(n); return memory{addr: addr}, err },
		free:  func(m memory) error { return d.back.free(m.addr) },
	}
	d.hosts = &pool{
		time: d.time, keep: d.back.pooled(), blocks: map[int][]block{},
		alloc: func(n int) (memory, error) { b, err := d.back.allocHost(n); return memory{host: b}, err },
		free:  func(m memory) error { return d.back.freeHost(m.host) },
	}
}

// poolGrain is the granularity of large sizes, the driver's own.
const poolGrain = 2 << 20

// size rounds up, so that sizes that differ a little share blocks: to an eighth of the power of two above, at least
// 256 and at most poolGrain bytes.
func (p *pool) size(n int) int {
	if !p.keep || n > math.MaxInt-poolGrain {
		return n
	}
	grain := 256
	if b := bits.Len(uint(n - 1)); b > 4 {
		grain = min(max(grain, 1<<(b-4)), poolGrain)
	}
	return (n + grain - 1) / grain * grain
}

// get finds memory for n > 0 bytes: memory that the stream home gave back, which is in order without waiting; memory
// that is no longer used; new memory. Where the driver has none left, it waits for what is under way and gives all that
// is free back.
func (p *pool) get(n int, home *lane) (memory, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := p.size(n)
	m, ok := p.take(size, home)
	if !ok && len(p.blocks[size]) > 0 {
		if err := p.time.ask(); err != nil {
			return memory{}, err
		}
		m, ok = p.take(size, home)
	}
	if !ok {
		var err error
		if m, err = p.fresh(size); err != nil {
			return memory{}, err
		}
	}
	p.stats.InUse += int64(size)
	p.stats.Peak = max(p.stats.Peak, p.stats.InUse)
	return m, nil
}

// fresh takes memory from the driver.
func (p *pool) fresh(size int) (memory, error) {
	m, err := p.alloc(size)
	if errors.Is(err, driver.OutOfMemory) && p.stats.Reserved > p.stats.InUse {
		if err := p.time.wait(); err != nil {
			return memory{}, err
		}
		if m, ok := p.take(size, nil); ok {
			return m, nil
		}
		if _, err := p.release(p.time.past()); err != nil {
			return memory{}, err
		}
		m, err = p.alloc(size)
	}
	if err != nil {
		if p.keep {
			err = fmt.Errorf("%d in use, %d reserved: %w", p.stats.InUse, p.stats.Reserved, err)
		}
		return memory{}, err
	}
	p.stats.Reserved += int64(size)
	return m, nil
}

// take finds a block of a size, the newest first.
func (p *pool) take(size int, home *lane) (memory, bool) {
	list, past := p.blocks[size], p.time.past()
	at := -1
	for i, b := range slices.Backward(list) {
		if home != nil && b.home == home {
			at = i
			break
		}
		if at < 0 && b.mark <= past {
			at = i
		}
	}
	if at < 0 {
		return memory{}, false
	}
	m := list[at].memory
	p.blocks[size] = slices.Delete(list, at, at+1)
	return m, true
}

// put takes n bytes back, which only the stream home has used, or any stream where home is nil. Work that uses them may
// be under way.
func (p *pool) put(m memory, n int, home *lane) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := p.size(n)
	p.stats.InUse -= int64(size)
	if !p.keep {
		p.stats.Reserved -= int64(size)
		return p.free(m)
	}
	p.blocks[size] = append(p.blocks[size], block{m, home, p.time.mark()})
	return nil
}

// trim gives what is no longer used back to the driver, without waiting for work. It returns the number of bytes.
func (p *pool) trim() (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.time.ask(); err != nil {
		return 0, err
	}
	return p.release(p.time.past())
}

// release gives blocks back to the driver that were given to the pool up to a mark.
func (p *pool) release(past uint64) (int64, error) {
	var errs []error
	before := p.stats.Reserved
	for _, size := range slices.Sorted(maps.Keys(p.blocks)) {
		p.blocks[size] = slices.DeleteFunc(p.blocks[size], func(b block) bool {
			if b.mark > past {
				return false
			}
			p.stats.Reserved -= int64(size)
			errs = append(errs, p.free(b.memory))
			return true
		})
		if len(p.blocks[size]) == 0 {
			delete(p.blocks, size)
		}
	}
	return before - p.stats.Reserved, errors.Join(errs...)
}

// close gives all blocks back; the streams are idle.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.release(math.MaxUint64)
	return err
}

func (p *pool) memory() MemoryStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Memory counts the device memory of the buffers and of the pool.
func (d *Device) Memory() MemoryStats { return d.buffers.memory() }

// Trim gives memory that the pool keeps back to the driver, for other programs, as far as no work under way uses it. It
// returns the number of bytes, pinned host memory included. Allocations that fail for want of memory do it by
// themselves.
func (d *Device) Trim() (int64, error) {
	if err := d.inCapture("Trim"); err != nil {
		return 0, err
	}
	d.Drain()
	release, err := d.use()
	if err != nil {
		return 0, err
	}
	defer release()
	n, err := d.buffers.trim()
	m, err2 := d.hosts.trim()
	if err := errors.Join(err, err2); err != nil {
		return n + m, d.fail("Trim", err)
	}
	return n + m, nil
}
