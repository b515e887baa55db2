package sim

import (
	"fmt"
	"math/bits"
	"sort"
	"sync"
	"sync/atomic"
)

const (
	firstAddress = 0x7000_0000_0000 // looks like a device pointer; a small integer never is one
	allocAlign   = 256              // as cudaMalloc
	guardGap     = 1 << 20          // unmapped bytes between allocations; they cost no memory
	maxFreed     = 1024             // freed ranges remembered for messages
)

// Memory is the simulated device's global memory. Addresses are 64-bit, never 0 and never reused, so an access after
// Free is reported. It is safe for concurrent use; the bytes themselves are shared with running kernels as they would
// be on a device.
type Memory struct {
	mu    sync.Mutex
	next  uint64
	track bool
	freed []span
	live  atomic.Pointer[[]*allocation] // sorted by address, copied on change: kernels look up without a lock
}

type span struct{ addr, bytes uint64 }

// allocation is one live range.
type allocation struct {
	addr uint64
	data []byte
	// init has a bit for each byte that was written; nil where this is not tracked.
	init []atomic.Uint32
	// writer is the number of the launch that wrote it last, of those that have one.
	writer atomic.Int64
}

// NewMemory makes an empty memory. With trackUninitialised, kernels that read bytes which neither the host nor a
// kernel has written are reported, at the cost of one bit a byte and slower accesses.
func NewMemory(trackUninitialised bool) *Memory {
	m := &Memory{next: firstAddress, track: trackUninitialised}
	m.live.Store(&[]*allocation{})
	return m
}

// Alloc reserves bytes and returns their address, a multiple of 256. Zero bytes get an address that cannot be
// accessed. The contents are 0xff, which is NaN in every float format.
func (m *Memory) Alloc(bytes int) (uint64, error) {
	if bytes < 0 {
		return 0, fmt.Errorf("sim: allocation of %d bytes", bytes)
	}
	a := &allocation{data: make([]byte, bytes)}
	for i := range a.data {
		a.data[i] = 0xff
	}
	if m.track {
		a.init = make([]atomic.Uint32, (bytes+31)/32)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a.addr = m.next
	m.next += (uint64(bytes)+allocAlign-1)/allocAlign*allocAlign + guardGap
	old := *m.live.Load()
	live := append(old[:len(old):len(old)], a) // addresses only grow, so the list stays sorted
	m.live.Store(&live)
	return a.addr, nil
}

// Free releases an allocation by the address that Alloc gave.
func (m *Memory) Free(addr uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.live.Load()
	i := sort.Search(len(old), func(i int) bool { return old[i].addr >= addr })
	if i == len(old) || old[i].addr != addr {
		return fmt.Errorf("sim: free of %#x: no allocation starts there (%s)", addr, m.describe(addr))
	}
	if m.freed = append(m.freed, span{addr, uint64(len(old[i].data))}); len(m.freed) > maxFreed {
		m.freed = m.freed[1:]
	}
	live := append(append(make([]*allocation, 0, len(old)-1), old[:i]...), old[i+1:]...)
	m.live.Store(&live)
	return nil
}

// Bytes is the host's window on n bytes at addr, for reading and writing. They count as initialised from then on.
func (m *Memory) Bytes(addr uint64, n int) ([]byte, error) {
	b, a, err := m.window(addr, n)
	if err == nil {
		a.mark(addr-a.addr, n)
	}
	return b, err
}

// Peek is Bytes for reading only: it leaves uninitialised bytes uninitialised.
func (m *Memory) Peek(addr uint64, n int) ([]byte, error) {
	b, _, err := m.window(addr, n)
	return b, err
}

func (m *Memory) window(addr uint64, n int) ([]byte, *allocation, error) {
	a := m.find(addr)
	if n < 0 || a == nil || !a.holds(addr, n) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return nil, nil, fmt.Errorf("sim: host access to %d bytes at %#x is out of bounds: %s", n, addr, m.describe(addr))
	}
	o := addr - a.addr
	return a.data[o : o+uint64(n) : o+uint64(n)], a, nil
}

// find is the last allocation that starts at or below addr, or nil; addr may lie past its end.
func (m *Memory) find(addr uint64) *allocation {
	live := *m.live.Load()
	i := sort.Search(len(live), func(i int) bool { return live[i].addr > addr })
	if i == 0 {
		return nil
	}
	return live[i-1]
}

// at is find for an access of n bytes that must fit.
func (m *Memory) at(addr uint64, n int) *allocation {
	if a := m.find(addr); a != nil && a.holds(addr, n) {
		return a
	}
	return nil
}

// holds reports whether n bytes at addr, which is not below a, are inside.
func (a *allocation) holds(addr uint64, n int) bool {
	o, size := addr-a.addr, uint64(len(a.data))
	return o <= size && uint64(n) <= size-o
}

// describe says where addr lies relative to the nearest allocation. The caller holds the lock.
func (m *Memory) describe(addr uint64) string {
	for _, f := range m.freed {
		if addr >= f.addr && addr < f.addr+max(f.bytes, 1) {
			return fmt.Sprintf("byte %d of a freed allocation of %d bytes at %#x", addr-f.addr, f.bytes, f.addr)
		}
	}
	live := *m.live.Load()
	i := sort.Search(len(live), func(i int) bool { return live[i].addr > addr })
	var best string
	dist := uint64(1) << 63
	if i > 0 {
		a := live[i-1]
		end := a.addr + uint64(len(a.data))
		if addr < end {
			return fmt.Sprintf("byte %d of the allocation of %d bytes at %#x", addr-a.addr, len(a.data), a.addr)
		}
		dist, best = addr-end, fmt.Sprintf("%d bytes past the end of the allocation of %d bytes at %#x", addr-end, len(a.data), a.addr)
	}
	if i < len(live) && live[i].addr-addr < dist {
		best = fmt.Sprintf("%d bytes before the allocation of %d bytes at %#x", live[i].addr-addr, len(live[i].data), live[i].addr)
	}
	if best == "" {
		return "there are no allocations"
	}
	return best
}

// mark records that n bytes from offset on were written.
func (a *allocation) mark(offset uint64, n int) {
	if a.init == nil {
		return
	}
	for i := offset; i < offset+uint64(n); {
		if i%32 == 0 && i+32 <= offset+uint64(n) {
			a.init[i/32].Store(^uint32(0))
			i += 32
			continue
		}
		a.init[i/32].Or(1 << (i % 32))
		i++
	}
}

// unmarked is the first of n bytes from offset on that was not written, or what follows them.
func (a *allocation) unmarked(offset uint64, n int) uint64 {
	end := offset + uint64(n)
	if a.init == nil {
		return end
	}
	for i := offset; i < end; {
		left := 32 - i%32 // bits of the word
		written := uint64(bits.TrailingZeros32(^(a.init[i/32].Load() >> (i % 32))))
		if i += min(written, left); written < left {
			return min(i, end)
		}
	}
	return end
}

// marked reports whether n bytes (at most 16, aligned) from offset on were written.
func (a *allocation) marked(offset uint64, n int) bool {
	want := (uint32(1)<<n - 1) << (offset % 32)
	return a.init == nil || a.init[offset/32].Load()&want == want
}
