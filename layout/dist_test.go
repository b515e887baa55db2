package layout

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// dist draws a striped distribution of one or two axes.
func dist(t *rapid.T) *Dist {
	small := rapid.IntRange(1, 40)
	vec := rapid.SampledFrom([]int{1, 2, 3, 4, 8}).Draw(t, "vec")
	threads := rapid.SampledFrom([]int{1, 2, 6, 32, 48, 64}).Draw(t, "threads")
	if rapid.Bool().Draw(t, "vector") {
		return Striped(threads, rapid.IntRange(1, 3000).Draw(t, "n"), vec)
	}
	var divisors []int
	for d := 1; d <= threads; d++ {
		if threads%d == 0 {
			divisors = append(divisors, d)
		}
	}
	across := rapid.SampledFrom(divisors).Draw(t, "across")
	return Striped2(threads, across, small.Draw(t, "rows"), small.Draw(t, "cols"), vec)
}

// holders counts who holds each coordinate.
func holders(d *Dist) map[string]int {
	n := map[string]int{}
	for th := range d.Threads() {
		for v := range d.Values() {
			n[fmt.Sprint(d.Coord(th, v))]++
		}
	}
	return n
}

// box visits the coordinates of a box.
func box(shape []int, visit func([]int)) {
	c := make([]int, len(shape))
	for {
		visit(c)
		i := len(c) - 1
		for ; i >= 0; i-- {
			if c[i]++; c[i] < shape[i] {
				break
			}
			c[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

func covered(d *Dist) []int {
	var s []int
	for i := range d.Shape {
		s = append(s, d.Covered(i))
	}
	return s
}

// Every element of the box that a striped distribution reaches has exactly one holder, and the tile lies inside.
func TestStripedCoversOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dist(t)
		n := holders(d)
		reached := covered(d)
		for i, s := range d.Shape {
			if reached[i] < s {
				t.Fatalf("%s reaches %d of %d on axis %d", d, reached[i], s, i)
			}
		}
		elements := 0
		box(reached, func(c []int) {
			elements++
			if n[fmt.Sprint(c)] != 1 {
				t.Fatalf("%s: %d holders of %v", d, n[fmt.Sprint(c)], c)
			}
		})
		if len(n) != elements || d.Threads()*d.Values() != elements {
			t.Fatalf("%s: %d coordinates, %d values, a box of %d", d, len(n), d.Threads()*d.Values(), elements)
		}
	})
}

// No whole stripe lies past the tile: that would be registers for nothing.
func TestStripedIsTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dist(t)
		for _, m := range d.Value {
			if m.Size < 2 {
				t.Fatalf("%s: a mode of size %d", d, m.Size)
			}
			if m.Stride == 1 && m.Axis == len(d.Shape)-1 {
				continue // the vector itself
			}
			if last := (m.Size - 1) * m.Stride; last >= d.Shape[m.Axis] {
				t.Fatalf("%s: the last stripe on axis %d starts at %d", d, m.Axis, last)
			}
		}
	})
}

// Vec consecutive values are consecutive elements of the last axis.
func TestVec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dist(t)
		if rapid.Bool().Draw(t, "reduced") {
			d = d.Reduce(rapid.IntRange(0, d.Rank()-1).Draw(t, "axis"))
		}
		k := d.Vec()
		if k < 1 || d.Values()%k != 0 {
			t.Fatalf("%s: a vector of %d in %d values", d, k, d.Values())
		}
		for th := range d.Threads() {
			for v := range d.Values() {
				if v%k == 0 {
					continue
				}
				before, here := d.Coord(th, v-1), d.Coord(th, v)
				before[len(before)-1]++
				if !slices.Equal(before, here) {
					t.Fatalf("%s: values %d and %d of thread %d are not neighbours", d, v-1, v, th)
				}
			}
		}
	})
	for vec := 1; vec <= 8; vec *= 2 {
		if got := Striped(32, 4096, vec).Vec(); got != vec {
			t.Errorf("Striped of %d has vectors of %d", vec, got)
		}
		if got := Striped2(32, 8, 64, 256, vec).Vec(); got != vec {
			t.Errorf("Striped2 of %d has vectors of %d", vec, got)
		}
	}
}

// A thread of the reduced distribution holds what its coordinates become without the axis, each once, in order.
func TestReduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dist(t)
		axis := rapid.IntRange(0, d.Rank()-1).Draw(t, "axis")
		r := d.Reduce(axis)
		if r.Threads() != d.Threads() || r.Rank() != d.Rank()-1 || !slices.Equal(r.Shape, slices.Delete(slices.Clone(d.Shape), axis, axis+1)) {
			t.Fatalf("%s reduces over %d to %s", d, axis, r)
		}
		for th := range d.Threads() {
			var want []string
			for v := range d.Values() {
				c := fmt.Sprint(slices.Delete(d.Coord(th, v), axis, axis+1))
				if !slices.Contains(want, c) {
					want = append(want, c)
				}
			}
			var got []string
			for v := range r.Values() {
				got = append(got, fmt.Sprint(r.Coord(th, v)))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s over %d, thread %d: %v, want %v", d, axis, th, got, want)
			}
		}
	})
}

// Reducing all axes leaves one value that every thread has.
func TestReduceAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dist(t)
		threads := d.Threads()
		for d.Rank() > 0 {
			d = d.Reduce(d.Rank() - 1)
		}
		if d.Threads() != threads || d.Values() != 1 || len(d.Coord(threads-1, 0)) != 0 || d.Vec() != 1 {
			t.Fatalf("%s", d)
		}
	})
}

// Equal is equality of maps, not of the way they were made.
func TestEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, e := dist(t), dist(t)
		if !d.Equal(d) || d.Equal(e) != e.Equal(d) {
			t.Fatal("not an equivalence")
		}
		if d.Equal(e) {
			if !slices.Equal(d.Shape, e.Shape) || d.Threads() != e.Threads() || d.Values() != e.Values() {
				t.Fatalf("%s and %s", d, e)
			}
			for th := range d.Threads() {
				for v := range d.Values() {
					if !slices.Equal(d.Coord(th, v), e.Coord(th, v)) {
						t.Fatalf("%s and %s differ at (%d, %d)", d, e, th, v)
					}
				}
			}
		}
	})
	var none *Dist
	if !none.Equal(nil) || none.Equal(Striped(1, 1, 1)) || Striped(1, 1, 1).Equal(nil) {
		t.Error("nil is equal to nil only")
	}
}

func TestKnownDists(t *testing.T) {
	for _, c := range []struct {
		d    *Dist
		want string
		// the coordinates of a thread's value
		thread, value int
		at            []int
	}{
		{Striped(256, 8192, 8), "[8192] thread (256:8@0) value (8:1@0,4:2048@0)", 3, 10, []int{24 + 2 + 2048}},
		{Striped(32, 100, 1), "[100] thread (32:1@0) value (4:32@0)", 31, 3, []int{127}},
		{Striped(32, 7, 4), "[7] thread (32:4@0) value (4:1@0)", 1, 3, []int{7}},
		{Striped2(128, 16, 64, 64, 4), "[64,64] thread (16:4@1,8:1@0) value (4:1@1,8:8@0)", 17, 6, []int{9, 6}},
		{Striped2(64, 8, 16, 128, 8).Reduce(1), "[16] thread (8:0,8:1@0) value (2:8@0)", 13, 1, []int{9}},
		{Striped2(64, 8, 16, 128, 8).Reduce(0), "[128] thread (8:8@0,8:0) value (8:1@0,2:64@0)", 13, 9, []int{40 + 1 + 64}},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if got := c.d.Coord(c.thread, c.value); !slices.Equal(got, c.at) {
			t.Errorf("%s: value %d of thread %d is at %v, want %v", c.d, c.value, c.thread, got, c.at)
		}
	}
}
