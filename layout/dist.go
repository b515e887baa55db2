// Package layout describes how tiles lie in registers and in memory: layouts (shape:stride) with their algebra, the
// swizzles of shared memory, and distributions, which say what thread holds which element.
package layout

import (
	"fmt"
	"strings"
)

// Mode is one digit of a mixed-radix number: a digit d in [0, Size) moves the coordinate along Axis by d*Stride.
// Axis Replicated means that the digit does not move it: those threads hold copies.
type Mode struct {
	Size, Axis, Stride int
}

// Replicated is the axis of a mode whose threads hold copies of one another's values.
const Replicated = -1

// Dist is a distribution, a thread-value layout: it maps (thread, value) to the coordinates of a tile. The thread
// number is written in mixed radix over Thread, the value number over Value, first mode fastest; each coordinate is
// the sum of its digits times their strides. Striped vectors and MMA fragments are both of this form.
// A Dist is immutable.
type Dist struct {
	Shape  []int // capacity by axis
	Thread []Mode
	Value  []Mode
}

// Striped spreads a vector of n elements over threads: vec consecutive elements a thread, then threads*vec further on,
// until n is covered. vec and threads are at least 1.
func Striped(threads, n, vec int) *Dist {
	return &Dist{Shape: []int{n}, Thread: []Mode{{threads, 0, vec}},
		Value: normal(Mode{vec, 0, 1}, Mode{ceil(n, threads*vec), 0, threads * vec})}
}

// Striped2 spreads a rows x cols tile over threads: across threads share a row, vec consecutive elements each, and
// threads/across rows are served at once. across divides threads. The order of the arguments is the threads' shape, then
// the tile's, then vec; tile.Block.Striped2, which knows its threads, takes rows, cols, vec, across.
func Striped2(threads, across, rows, cols, vec int) *Dist {
	down := threads / across
	return &Dist{Shape: []int{rows, cols}, Thread: []Mode{{across, 1, vec}, {down, 0, 1}},
		Value: normal(Mode{vec, 1, 1}, Mode{ceil(cols, across*vec), 1, across * vec}, Mode{ceil(rows, down), 0, down})}
}

func ceil(a, b int) int { return (a + b - 1) / b }

// normal drops modes of size 1.
func normal(ms ...Mode) []Mode {
	var out []Mode
	for _, m := range ms {
		if m.Size != 1 {
			out = append(out, m)
		}
	}
	return out
}

// Threads is the number of threads.
func (d *Dist) Threads() int { return product(d.Thread) }

// Values is the number of values a thread holds.
func (d *Dist) Values() int { return product(d.Value) }

// Copies is how many threads hold each element: 1 where no thread mode is replicated.
func (d *Dist) Copies() int {
	n := 1
	for _, m := range d.Thread {
		if m.Axis == Replicated {
			n *= m.Size
		}
	}
	return n
}

// Rank is the number of axes.
func (d *Dist) Rank() int { return len(d.Shape) }

func product(ms []Mode) int {
	n := 1
	for _, m := range ms {
		n *= m.Size
	}
	return n
}

// Coord is the coordinates of a thread's value. A coordinate may lie past Shape where the tile is ragged.
func (d *Dist) Coord(thread, value int) []int {
	c := make([]int, len(d.Shape))
	for _, part := range []struct {
		modes []Mode
		n     int
	}{{d.Thread, thread}, {d.Value, value}} {
		n := part.n
		for _, m := range part.modes {
			if m.Axis != Replicated {
				c[m.Axis] += n % m.Size * m.Stride
			}
			n /= m.Size
		}
	}
	return c
}

// Covered is the extent of an axis that the modes reach: at least Shape[axis], more where the tile is ragged.
func (d *Dist) Covered(axis int) int {
	n := 1
	for _, ms := range [][]Mode{d.Thread, d.Value} {
		for _, m := range ms {
			if m.Axis == axis {
				n += (m.Size - 1) * m.Stride
			}
		}
	}
	return n
}

// Vec is the number of consecutive values that lie at consecutive coordinates of the last axis.
func (d *Dist) Vec() int {
	if len(d.Value) > 0 && d.Value[0].Stride == 1 && d.Value[0].Axis == len(d.Shape)-1 {
		return d.Value[0].Size
	}
	return 1
}

// Reduce is the distribution of a reduction over axis: its value digits go, its thread digits become replicated,
// and the axes after it move down by one.
func (d *Dist) Reduce(axis int) *Dist {
	r := &Dist{}
	for i, n := range d.Shape {
		if i != axis {
			r.Shape = append(r.Shape, n)
		}
	}
	move := func(m Mode) Mode {
		switch {
		case m.Axis == axis:
			return Mode{m.Size, Replicated, 0}
		case m.Axis > axis:
			m.Axis--
		}
		return m
	}
	for _, m := range d.Thread {
		r.Thread = append(r.Thread, move(m))
	}
	for _, m := range d.Value {
		if m.Axis != axis {
			r.Value = append(r.Value, move(m))
		}
	}
	return r
}

// Equal reports whether two distributions are the same map.
func (d *Dist) Equal(e *Dist) bool {
	if d == nil || e == nil {
		return d == e
	}
	return d.String() == e.String()
}

// String prints the distribution, such as "[8192] thread (256:8@0) value (8:1@0,4:2048@0)".
func (d *Dist) String() string {
	modes := func(ms []Mode) string {
		var s []string
		for _, m := range ms {
			if m.Axis == Replicated {
				s = append(s, fmt.Sprintf("%d:0", m.Size))
			} else {
				s = append(s, fmt.Sprintf("%d:%d@%d", m.Size, m.Stride, m.Axis))
			}
		}
		return "(" + strings.Join(s, ",") + ")"
	}
	var shape []string
	for _, n := range d.Shape {
		shape = append(shape, fmt.Sprint(n))
	}
	return fmt.Sprintf("[%s] thread %s value %s", strings.Join(shape, ","), modes(d.Thread), modes(d.Value))
}
