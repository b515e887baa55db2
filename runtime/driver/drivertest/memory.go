package drivertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/gotile/gotile/runtime/driver"
)

// memory moves bytes in every way there is, between bytes that must not change.
func memory(t *tester) {
	const n, guard = 1000, 64
	s := t.stream()
	in := make([]byte, n)
	for i := range in {
		in[i] = byte(7*i + 1)
	}
	for name, move := range map[string]func(dst, mid driver.Ptr) error{
		"sync": func(dst, mid driver.Ptr) error {
			return errors.Join(t.c.CopyIn(mid, in), t.c.Copy(dst, mid, n))
		},
		"async": func(dst, mid driver.Ptr) error {
			return errors.Join(t.c.CopyInAsync(mid, in, s), t.c.CopyAsync(dst, mid, n, s))
		},
		"set bytes": func(dst, mid driver.Ptr) error {
			clear(in)
			for i := range in {
				in[i] = 0xa5
			}
			return t.c.Set8Async(dst, 0xa5, n, s)
		},
		"set words": func(dst, mid driver.Ptr) error {
			for i := 0; i < n; i += 4 {
				binary.LittleEndian.PutUint32(in[i:], 0xdeadbeef)
			}
			return t.c.Set32Async(dst, 0xdeadbeef, n/4, s)
		},
	} {
		p, q := t.alloc(n+2*guard, 0xee), t.alloc(n+2*guard, 0xdd)
		ok(t.T, move(p+guard, q+guard))
		want := append(append(bytes.Repeat([]byte{0xee}, guard), in...), bytes.Repeat([]byte{0xee}, guard)...)
		if got := t.read(p, len(want), s); !bytes.Equal(got, want) {
			t.Errorf("%s: the memory differs", name)
		}
		out := make([]byte, n)
		ok(t.T, t.c.CopyOutAsync(out, p+guard, s), t.c.SyncStream(s))
		if !bytes.Equal(out, in) {
			t.Errorf("%s: read asynchronously: it differs", name)
		}
		ok(t.T, t.c.Free(p), t.c.Free(q))
	}
	ok(t.T, t.c.DestroyStream(s))
}

// streamOrdered uses memory of the pool in the order of its stream.
func streamOrdered(t *tester) {
	s := t.stream()
	for i := range byte(3) {
		p := must[driver.Ptr](t.T)(t.c.AllocAsync(1<<20, s))
		ok(t.T, t.c.Set8Async(p, i, 1<<20, s))
		out := make([]byte, 1<<20)
		ok(t.T, t.c.CopyOutAsync(out, p, s), t.c.FreeAsync(p, s), t.c.SyncStream(s))
		if !bytes.Equal(out, bytes.Repeat([]byte{i}, 1<<20)) {
			t.Errorf("turn %d: the memory differs", i)
		}
	}
	ok(t.T, t.c.DestroyStream(s))
}

func pinned(t *tester) {
	const n = 4096
	s, p := t.stream(), t.alloc(n, 0)
	host := must[[]byte](t.T)(t.c.AllocHost(2 * n))
	if len(host) != 2*n {
		t.Fatalf("%d bytes of %d", len(host), 2*n)
	}
	for i := range n {
		host[i], host[n+i] = byte(i*i), 0
	}
	ok(t.T, t.c.CopyInAsync(p, host[:n], s), t.c.CopyOutAsync(host[n:], p, s), t.c.SyncStream(s))
	if !bytes.Equal(host[:n], host[n:]) {
		t.Error("the memory differs")
	}
	ok(t.T, t.c.FreeHost(host), t.c.Free(p), t.c.DestroyStream(s))
}

func outOfMemory(t *tester) {
	all := int(must[int64](t.T)(t.Driver.DeviceMemory(0)))
	_, err := t.c.Alloc(2 * all)
	is(t.T, err, "cuMemAlloc", driver.OutOfMemory)
	if err == nil || !strings.HasPrefix(err.Error(), "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (") {
		t.Errorf("%v", err)
	}
	p, err := t.c.Alloc(1 << 10)
	ok(t.T, err, t.c.Free(p)) // nothing is lost by it
	_, err = t.c.Alloc(0)
	is(t.T, err, "cuMemAlloc", driver.InvalidValue)
}
