package device

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// Every call that writes into memory is counted, with its place; one that reads, or is refused, is not. What a graph
// holds is counted again by each replay.
func TestChanges(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s := d.Stream()
		x, y := must(NewTensor(d, dtype.F32, 4)), must(NewTensor(d, dtype.F32, 4))
		h := must(d.Pinned(16))
		g := must(s.Capture(func() error { return s.Fill(y.Buffer(), 0, 4, 0) }))
		told := must(s.Capture(func() error { y.Buffer().NoteChange(); return s.Fill(y.Buffer(), 0, 4, 0) }))
		if at, _ := x.Buffer().ChangedAt(); len(at) != 0 || x.Buffer().Changes() != 0 {
			t.Errorf("new memory was changed %d times, at %v", x.Buffer().Changes(), at)
		}
		for name, c := range map[string]struct {
			do     func() error
			reads  Tensor
			writes Tensor // the zero Tensor: none
		}{
			"Upload":        {func() error { return Upload(s, x, make([]dtype.Float32, 4)) }, y, x},
			"UploadFloats":  {func() error { return UploadFloats(s, x, make([]float64, 4)) }, y, x},
			"CopyIn":        {func() error { return s.CopyIn(x.Buffer(), 0, make([]byte, 4)) }, y, x},
			"CopyInAsync":   {func() error { return s.CopyInAsync(x.Buffer(), 0, h, 0, 4) }, y, x},
			"Fill":          {func() error { return s.Fill(x.Buffer(), 0, 4, 0) }, y, x},
			"Copy":          {func() error { return s.Copy(x.Buffer(), 0, y.Buffer(), 0, 4) }, y, x},
			"NoteChange":    {func() error { x.Buffer().NoteChange(); return nil }, y, x},
			"replay":        {func() error { return g.Launch(s) }, x, y},
			"replay, told":  {func() error { return told.Launch(s) }, x, y},
			"CopyOut":       {func() error { return s.CopyOut(make([]byte, 4), x.Buffer(), 0) }, x, Tensor{}},
			"CopyOutAsync":  {func() error { return s.CopyOutAsync(h, 0, x.Buffer(), 0, 4) }, x, Tensor{}},
			"Download":      {func() error { return Download(s, make([]dtype.Float32, 4), x) }, x, Tensor{}},
			"another shape": {func() error { UploadFloats(s, x, make([]float64, 5)); return nil }, x, Tensor{}},
		} {
			read := c.reads.Buffer().Changes()
			var written int64
			if c.writes.Buffer() != nil {
				written = c.writes.Buffer().Changes()
			}
			ok(t, c.do())
			if n := c.reads.Buffer().Changes() - read; n != 0 {
				t.Errorf("%s: what it reads has %d changes", name, n)
			}
			if c.writes.Buffer() == nil {
				continue
			}
			if n := c.writes.Buffer().Changes() - written; n != 1 {
				t.Errorf("%s: %d changes", name, n)
			}
			if at, n := c.writes.Buffer().ChangedAt(); !passes(at) || n != written+1 {
				t.Errorf("%s: where it was made is not known", name)
			}
		}
		there, _ := y.Buffer().ChangedAt()
		x.Buffer().NoteChange(there...)
		at, n := x.Buffer().ChangedAt()
		if !slices.Equal(at, there) || n != x.Buffer().Changes() {
			t.Errorf("the place is %v, it was told %v", at, there)
		}
		launched := must(s.Capture(func() error { x.Buffer().NoteLaunch(); return s.Fill(y.Buffer(), 0, 4, 0) }))
		if _, placed := x.Buffer().ChangedAt(); placed != n || x.Buffer().Changes() != n+1 {
			t.Errorf("a launch has no place: %d, %d changes", placed, x.Buffer().Changes())
		}
		ok(t, launched.Launch(s))
		if x.Buffer().Changes() != n+2 {
			t.Errorf("a replay of a launch: %d changes", x.Buffer().Changes()-n)
		}
		x.Buffer().Watch()
		bind := func() { x.Buffer().NoteLaunch() }
		generated := func() { bind() }
		generated()
		if at, placed := x.Buffer().ChangedAt(); placed != n+3 || !passes(at[:1]) {
			t.Errorf("a launch into watched memory has the place %v, of change %d of %d", at, placed-n, x.Buffer().Changes()-n)
		}
	})
}

// passes reports whether the calls went through this file.
func passes(counters []uintptr) bool {
	for frames, more := runtime.CallersFrames(counters), len(counters) > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); filepath.Base(f.File) == "change_test.go" {
			return true
		}
	}
	return false
}

// Counting allocates nothing: fills, copies and replays are in the steps of a training loop.
func TestChangesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("testing.AllocsPerRun is wrong under -race")
	}
	d := openFake(t, newFake(fake.H200))
	s := d.Stream()
	b := must(d.Alloc(64))
	queue := func() error { return s.Fill(b, 0, 4, 0) }
	g := must(s.Capture(queue))
	fills, noted := testing.AllocsPerRun(100, func() { ok(t, queue()) }), testing.AllocsPerRun(100, func() { b.NoteChange() })
	if n := testing.AllocsPerRun(100, func() { ok(t, g.Launch(s)) }); n != 0 || noted != 0 || fills > 1 {
		t.Errorf("%v allocations for a replay that fills, %v for a change that is noted, %v for a fill", n, noted, fills)
	}
}
