package sim

import (
	"strings"
	"sync"
	"testing"
)

func TestMemory(t *testing.T) {
	m := NewMemory(false)
	a, err := m.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Alloc(0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Alloc(7)
	if err != nil {
		t.Fatal(err)
	}
	if a%256 != 0 || b%256 != 0 || c%256 != 0 || a == 0 || b < a+100+guardGap || c < b+guardGap {
		t.Fatalf("addresses %#x %#x %#x", a, b, c)
	}
	w, err := m.Bytes(a+10, 90)
	if err != nil {
		t.Fatal(err)
	}
	if w[0] != 0xff || w[89] != 0xff {
		t.Fatal("fresh memory is not NaN")
	}
	w[0] = 42
	if r, err := m.Peek(a, 11); err != nil || r[10] != 42 || cap(r) != 11 {
		t.Fatal(r, err)
	}
	if _, err := m.Bytes(b, 0); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		addr uint64
		n    int
		want string
	}{
		{a, 101, "byte 0 of the allocation of 100 bytes"},
		{a + 101, 0, "1 bytes past the end of the allocation of 100 bytes"},
		{a, -1, "out of bounds"},
		{a, 1<<63 - 1, "out of bounds"},
		{b, 1, "0 bytes past the end of the allocation of 0 bytes"},
		{c - 1, 1, "1 bytes before the allocation of 7 bytes"},
		{0, 1, "bytes before the allocation of 100 bytes"},
		{^uint64(0), 1<<63 - 1, "past the end of the allocation of 7 bytes"},
	} {
		if _, err := m.Bytes(bad.addr, bad.n); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%d bytes at %#x: %v; want %q", bad.n, bad.addr, err, bad.want)
		}
	}
	if err := m.Free(a + 1); err == nil {
		t.Error("an address inside an allocation was freed")
	}
	if err := m.Free(a); err != nil {
		t.Fatal(err)
	}
	if err := m.Free(a); err == nil || !strings.Contains(err.Error(), "freed allocation of 100 bytes") {
		t.Errorf("freed twice: %v", err)
	}
	if _, err := m.Bytes(a, 1); err == nil || !strings.Contains(err.Error(), "byte 0 of a freed allocation") {
		t.Error(err)
	}
	if d, err := m.Alloc(1); err != nil || d <= c {
		t.Errorf("address %#x came again: %v", d, err)
	}
	if _, err := m.Alloc(-1); err == nil {
		t.Error("a negative size was accepted")
	}
}

// The bits of initialised bytes against a plain array.
func TestInitialisedBits(t *testing.T) {
	m := NewMemory(true)
	addr, err := m.Alloc(200)
	if err != nil {
		t.Fatal(err)
	}
	a := m.find(addr)
	var plain [200]bool
	for i, s := range []span{{3, 1}, {16, 16}, {62, 4}, {96, 64}, {100, 2}, {160, 33}} {
		a.mark(s.addr, int(s.bytes))
		for k := s.addr; k < s.addr+s.bytes; k++ {
			plain[k] = true
		}
		for n := 1; n <= 16; n *= 2 {
			for o := 0; o+n <= 200; o += n {
				want := true
				for _, p := range plain[o : o+n] {
					want = want && p
				}
				if got := a.marked(uint64(o), n); got != want {
					t.Fatalf("after %d: bytes %d to %d initialised: %v", i, o, o+n, got)
				}
			}
		}
		for o := range 200 {
			for _, end := range []int{o, min(o+1, 200), min(o+31, 200), min(o+70, 200), 200} {
				want := o
				for want < end && plain[want] {
					want++
				}
				if got := a.unmarked(uint64(o), end-o); got != uint64(want) {
					t.Fatalf("after %d: of bytes %d to %d the first without a mark is %d, not %d", i, o, end, got, want)
				}
			}
		}
	}
}

func TestMemoryConcurrently(t *testing.T) {
	m := NewMemory(false)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				a, err := m.Alloc(64)
				if err != nil {
					t.Error(err)
					return
				}
				b, err := m.Bytes(a, 64)
				if err != nil {
					t.Error(err)
					return
				}
				b[0] = byte(i)
				if r, err := m.Peek(a, 1); err != nil || r[0] != byte(i) {
					t.Errorf("%v, %v", r, err)
				}
				if err := m.Free(a); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(*m.live.Load()); n != 0 {
		t.Fatalf("%d allocations are left", n)
	}
}
