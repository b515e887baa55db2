package device

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// A stream gets back at once what it closed; others, once it is not in use.
func TestPoolOrder(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	s, other := d.Stream(), must(d.NewStream())
	own, any := must(s.Alloc(1000)), must(d.Alloc(1000))
	taken := drv.Count("cuMemAlloc")
	drv.Hold(true)
	calls := drv.Count("")
	ownAddr, anyAddr := own.Addr(), any.Addr()
	ok(t, errors.Join(own.Close(), any.Close()))
	own = must(s.Alloc(1001)) // of the same class
	if own.Addr() != ownAddr || drv.Count("") != calls {
		t.Errorf("the stream's own memory: %#x, was %#x; %d calls", own.Addr(), ownAddr, drv.Count("")-calls)
	}
	ok(t, own.Close())
	busy := []*Buffer{must(d.Alloc(1000)), must(other.Alloc(1000))}
	if drv.Count("cuMemAlloc") != taken+2 {
		t.Errorf("memory in use was given out: %#x and %#x, of %#x and %#x", busy[0].Addr(), busy[1].Addr(), ownAddr, anyAddr)
	}
	drv.Hold(false)
	again := []*Buffer{must(d.Alloc(1000)), must(other.Alloc(1000))}
	if drv.Count("cuMemAlloc") != taken+2 {
		t.Errorf("memory out of use was not given out")
	}
	want := MemoryStats{InUse: 4 * 1024, Reserved: 4 * 1024, Peak: 4 * 1024}
	if m := d.Memory(); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
	for _, b := range append(busy, again...) {
		ok(t, b.Close())
	}
	if n, err := d.Trim(); n != 4*1024 || err != nil || drv.Live()["memory"] != 0 {
		t.Errorf("trimmed %d bytes, %v; left %v", n, err, drv.Live())
	}
	want = MemoryStats{Peak: 4 * 1024}
	if m := d.Memory(); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
}

// Waiting tells that memory is out of use, without asking again.
func TestPoolLearnsFromSync(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	b := must(d.Alloc(1 << 20))
	addr := b.Addr()
	ok(t, b.Close())
	ok(t, d.Stream().Sync(background))
	queries := drv.Count("cuStreamQuery")
	if b = must(d.Alloc(1 << 20)); b.Addr() != addr || drv.Count("cuStreamQuery") != queries {
		t.Errorf("address %#x, was %#x; %d questions", b.Addr(), addr, drv.Count("cuStreamQuery")-queries)
	}
	ok(t, b.Close())
}

// When the device has no more, what the pool keeps is given back; when that does not help, the error has the numbers.
func TestPoolOutOfMemory(t *testing.T) {
	drv := newFake(fake.H200) // 256 MB
	d := openFake(t, drv)
	s := must(d.NewStream())
	for i := range 10 { // 10 sizes, 300 MB in all
		b := must(s.Alloc((25 + i) << 20))
		ok(t, s.Fill(b, 0, b.Bytes(), 1))
		ok(t, b.Close())
	}
	big := must(d.Alloc(200 << 20))
	_, err := d.Alloc(100 << 20)
	is(t, err, ErrOutOfMemory, "104857600 bytes: 209715200 in use, 209715200 reserved", "cuMemAlloc")
	// A stream that captures cannot be waited for. What it used stays, and the capture is whole.
	b := must(s.Alloc(40 << 20))
	ok(t, must(s.Alloc(1<<20)).Close()) // there is something that s has yet to pass
	g := must(s.Capture(func() error {
		done := make(chan error)
		go func() {
			_, err := d.Alloc(41 << 20)
			done <- errors.Join(b.Close(), err)
		}()
		err := <-done
		is(t, err, ErrOutOfMemory)
		return nil
	}))
	if g.Nodes() != 0 {
		t.Errorf("%s: what waits for memory is captured", g)
	}
	ok(t, g.Close())
	must(d.Alloc(41 << 20))
	ok(t, big.Close())
}

// A stream that is closed at work goes when the work is done; the memory that it uses is not given out before.
func TestPoolAfterStreamClose(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	s := must(d.NewStream())
	b := must(s.Alloc(8))
	addr := b.Addr()
	drv.Hold(true)
	ok(t, errors.Join(s.Close(), b.Close()))
	b = must(d.Alloc(8))
	if b.Addr() == addr || drv.Live()["stream"] != 2 {
		t.Errorf("memory in use was given out (%v), or the stream is gone: %v", b.Addr() == addr, drv.Live())
	}
	drv.Hold(false)
	if c := must(d.Alloc(8)); c.Addr() != addr || drv.Live()["stream"] != 1 {
		t.Errorf("memory out of use was not given out (%v), or the stream stays: %v", c.Addr() != addr, drv.Live())
	}
	// A program that makes streams and closes them at work does not gather them.
	drv.Hold(true)
	for range 3 {
		ok(t, must(d.NewStream()).Close())
	}
	if n := drv.Live()["stream"]; n != 4 {
		t.Errorf("%d streams at work", n)
	}
	drv.Hold(false)
	ok(t, must(d.NewStream()).Close())
	if n := drv.Live()["stream"]; n != 1 {
		t.Errorf("%d streams stay", n)
	}
}

func TestPoolSizes(t *testing.T) {
	p := &pool{keep: true}
	for n, want := range map[int]int{1: 256, 256: 256, 257: 512, 4096: 4096, 4097: 4608, 1 << 20: 1 << 20, 1<<20 + 1: 9 << 17, 100 << 20: 100 << 20, 1<<30 + 1: 1<<30 + 2<<20} {
		if got := p.size(n); got != want {
			t.Errorf("%d bytes take %d, want %d", n, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 1<<40).Draw(r, "n")
		size := p.size(n)
		if size < n || size%256 != 0 || n >= 2048 && size > n+n/8 || p.size(size) != size {
			r.Errorf("%d bytes take %d", n, size)
		}
	})
}

// The simulator does not keep memory, so that an access after Close is reported.
func TestSimulatorDoesNotPool(t *testing.T) {
	d := opened(t, "sim")
	b := must(d.Stream().Alloc(100))
	want := MemoryStats{InUse: 100, Reserved: 100, Peak: 100}
	if m := d.Memory(); m != want {
		t.Errorf("%+v", m)
	}
	ok(t, b.Close())
	if n, err := d.Trim(); n != 0 || err != nil || d.Memory() != (MemoryStats{Peak: 100}) {
		t.Errorf("%d, %v, %+v", n, err, d.Memory())
	}
	if c := must(d.Stream().Alloc(100)); c.Addr() == b.Addr() {
		t.Error("an address was given out twice")
	}
}

// modelDevice is a backend whose streams have work that uses memory.
type modelDevice struct {
	backend
	next    uint64 // addresses are given out once
	taken   int
	streams map[uint64]map[uint64]bool // stream -> addresses that work under way uses
	events  map[uint64]uint64          // event -> stream
}

func (m *modelDevice) alloc(int) (uint64, error) {
	if m.taken == 6 {
		return 0, &driver.Error{Code: driver.OutOfMemory}
	}
	m.taken++
	m.next++
	return m.next << 12, nil
}

func (m *modelDevice) free(addr uint64) error {
	m.taken--
	for _, uses := range m.streams {
		if uses[addr] {
			return fmt.Errorf("%#x is in use", addr)
		}
	}
	return nil
}

func (m *modelDevice) freeStream(s uint64) error   { delete(m.streams, s); return nil }
func (m *modelDevice) idle(s uint64) (bool, error) { return len(m.streams[s]) == 0, nil }
func (m *modelDevice) freeEvent(e uint64) error    { delete(m.events, e); return nil }
func (m *modelDevice) pooled() bool                { return true }
func (m *modelDevice) record(s uint64) (uint64, error) {
	e := uint64(len(m.events) + 1)
	m.events[e] = s
	return e, nil
}
func (m *modelDevice) syncEvent(_ context.Context, e uint64) error {
	clear(m.streams[m.events[e]])
	return nil
}

// Whatever the order of allocations, work and closing is: memory that work under way uses is given to nobody but the
// stream that does that work, and all is given back in the end.
func TestPoolNeverGivesOutWhatIsInUse(t *testing.T) {
	type buffer struct {
		memory
		home  *lane
		bytes int
	}
	rapid.Check(t, func(r *rapid.T) {
		m := &modelDevice{streams: map[uint64]map[uint64]bool{}, events: map[uint64]uint64{}}
		d := &Device{back: m}
		d.openPools()
		var lanes []*lane
		var open []buffer
		stream := func() *lane { return lanes[rapid.IntRange(0, len(lanes)-1).Draw(r, "stream")] }
		for step := range 60 {
			op := rapid.SampledFrom([]string{"alloc", "alloc", "close", "close", "work", "work", "work", "finish", "new", "drop", "trim"}).Draw(r, "op")
			switch {
			case op == "new" || len(lanes) == 0:
				raw := uint64(1000 + step)
				m.streams[raw] = map[uint64]bool{}
				lanes = append(lanes, d.time.add(raw, false))
			case op == "alloc":
				var home *lane
				if rapid.Bool().Draw(r, "of a stream") {
					home = stream()
				}
				bytes := rapid.SampledFrom([]int{100, 200, 300}).Draw(r, "bytes")
				got, err := d.buffers.get(bytes, home)
				if err != nil {
					if len(open) < 6 || !errors.Is(err, driver.OutOfMemory) {
						r.Fatalf("%v with %d buffers open", err, len(open))
					}
					continue
				}
				for s, uses := range m.streams {
					if uses[got.addr] && (home == nil || home.raw != s) {
						r.Fatalf("%#x is used by stream %d", got.addr, s)
					}
				}
				open = append(open, buffer{got, home, bytes})
			case op == "work" && len(open) > 0:
				b := open[rapid.IntRange(0, len(open)-1).Draw(r, "buffer")]
				l := b.home
				if l == nil {
					l = stream()
				}
				if !l.closing {
					m.streams[l.raw][b.addr] = true
				}
			case op == "close" && len(open) > 0:
				i := rapid.IntRange(0, len(open)-1).Draw(r, "buffer")
				b := open[i]
				open = append(open[:i:i], open[i+1:]...)
				if err := d.buffers.put(b.memory, b.bytes, b.home); err != nil {
					r.Fatal(err)
				}
			case op == "finish":
				clear(m.streams[stream().raw])
			case op == "drop" && len(lanes) > 1:
				l := lanes[0]
				lanes = lanes[1:]
				if err := d.time.close(l); err != nil {
					r.Fatal(err)
				}
			case op == "trim":
				if _, err := d.buffers.trim(); err != nil {
					r.Fatal(err)
				}
			}
		}
	})
}

// Pinned memory: copies that the host does not wait for, in order with the rest.
func TestPinned(t *testing.T) {
	other := opened(t, "sim")
	each(t, func(t *testing.T, d *Device) {
		s, f, x := d.Stream(), must(d.Load(scaleKernel())), must(NewTensor(d, dtype.F32, 4))
		h := must(d.Pinned(40))
		in := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(h.Bytes()))), 10)
		for i := range in {
			in[i] = float32(i)
		}
		if len(h.Bytes()) != 40 || h.Device() != d {
			t.Errorf("%d bytes", len(h.Bytes()))
		}
		ok(t, s.CopyInAsync(x.Buffer(), 4, h, 4, 12)) // 1, 2, 3
		ok(t, s.CopyInAsync(x.Buffer(), 0, h, 36, 4)) // 9
		ok(t, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 2, 4})))
		ok(t, s.CopyOutAsync(h, 20, x.Buffer(), 0, 16))
		ok(t, s.Sync(background))
		if got := fmt.Sprint(in); got != "[0 1 2 3 4 18 2 4 6 9]" {
			t.Error(got)
		}
		b := x.Buffer()
		is(t, s.CopyInAsync(b, 0, h, 32, 9), ErrShape, "CopyInAsync", "pinned buffer of 40")
		is(t, s.CopyInAsync(b, 12, h, 0, 5), ErrShape, "buffer of 16")
		is(t, s.CopyOutAsync(h, -1, b, 0, 4), ErrShape, "CopyOutAsync")
		is(t, s.CopyOutAsync(nil, 0, b, 0, 4), ErrClosed)
		is(t, s.CopyInAsync(b, 0, must(other.Pinned(8)), 0, 8), ErrWrongDevice)
		_, err := s.Capture(func() error { return s.CopyInAsync(b, 0, h, 0, 8) })
		is(t, err, ErrCapture, "CopyInAsync")
		_, err = s.Capture(func() error { _, err := d.Pinned(8); return err })
		is(t, err, ErrCapture, "Pinned")
		ok(t, errors.Join(h.Close(), h.Close()))
		if h.Bytes() != nil {
			t.Error("closed, and bytes")
		}
		is(t, s.CopyInAsync(b, 0, h, 0, 8), ErrClosed)
		_, err = d.Pinned(-1)
		is(t, err, ErrShape)
		zero := must(d.Pinned(0))
		ok(t, errors.Join(s.CopyInAsync(b, 0, zero, 0, 0), zero.Close(), x.Close()))
	})
}

// Pinned memory that a copy under way uses is not given out, nor back.
func TestPinnedIsPooled(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	drv.Hold(true)
	h := must(d.Pinned(100))
	at := unsafe.SliceData(h.Bytes())
	ok(t, h.Close())
	if h = must(d.Pinned(100)); unsafe.SliceData(h.Bytes()) == at {
		t.Error("given out while in use")
	}
	if n, err := d.Trim(); n != 0 || err != nil {
		t.Errorf("trimmed %d bytes, %v", n, err)
	}
	drv.Hold(false)
	if g := must(d.Pinned(100)); unsafe.SliceData(g.Bytes()) != at || drv.Live()["host memory"] != 2 {
		t.Errorf("not given out again: %v", drv.Live())
	}
	_, err := d.Pinned(1 << 40)
	is(t, err, ErrOutOfMemory, "1099511627776 bytes of pinned memory")
}
