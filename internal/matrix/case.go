package matrix

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// A testCase is one launch of a body.
type testCase struct {
	*module
	body
	workers int
	m, n    int // the valid part of the workers' tiles
	place   place
}

// cases are those of a module: each body with each number of workers. Clipped tiles end anywhere.
func (m *module) cases() []*testCase {
	var out []*testCase
	for _, b := range m.bodies() {
		r, c := m.sides(b)
		valid := [][2]int{{r, c}}
		if b.clip {
			valid = [][2]int{{r - 3, c - 5}, {r, c - 8}, {r - 14, c}, {1, 1}}
		}
		for i, v := range valid {
			for _, w := range m.workers() {
				t := &testCase{module: m, body: b, workers: w, m: v[0], n: v[1]}
				if m.family.results == toGlobal {
					t.place = places[(b.number+i)%len(places)]
				}
				out = append(out, t)
			}
		}
	}
	return out
}

// name is family/type/way/layout/size of the tile/what of it is valid.
func (c *testCase) name() string {
	way := c.way.name
	if c.way == warpwise {
		way = fmt.Sprintf("warp%d", c.workers)
	}
	if c.variant.name != "" {
		way += "/" + c.variant.name
	}
	valid := "whole"
	if c.clip {
		valid = fmt.Sprintf("%dx%d valid", c.m, c.n)
	}
	return fmt.Sprintf("%s/%v/%s/%s/%dx%d/%s%s", c.family.name, c.dt, way, c.layout, c.rows, c.cols, valid, c.place.name)
}

// tensors are the number of tiles of a launch.
func (c *testCase) tiles() int {
	if c.way.kind == perWarp {
		return c.workers
	}
	return 1
}

// run launches the case and compares what it leaves with what is wanted.
func (c *testCase) run(r *tiletest.Run) error {
	if t := r.Device.Target().Name; !slices.Contains(c.targets(), t) {
		return r.Skip("its module is not for " + t)
	}
	var problems []*problem
	var values []float64
	for w := range c.tiles() {
		p := c.newProblem(r.Seed, w)
		c.family.want(p)
		problems = append(problems, p)
		values = append(append(values, p.x.flat()...), p.second.flat()...)
	}
	row := side + c.place.pad
	x := r.Place(tiletest.Spec{DType: c.dt, Shape: []int{c.tiles(), 2, side, side}, Strides: []int{2 * side * row, side * row, row, 1}, Offset: c.place.shift, Values: values})
	out, rows, cols := c.dt, side, side
	switch c.family.results {
	case toGlobal:
		rows, cols = c.m, c.n
	case ofProducts:
		out, rows, cols = dtype.F32, c.rows, c.cols
	}
	y := r.Place(tiletest.Spec{Role: tiletest.Output, DType: out, Shape: []int{c.tiles(), rows, cols}, Strides: []int{side * row, row, 1}, Offset: c.place.shift})
	if err := c.launch(r, x, y); err != nil {
		return err
	}
	got := r.Floats(y)
	if len(got) != c.tiles()*rows*cols {
		return nil // it could not be read, which is noted
	}
	for w, p := range problems {
		c.compare(r, p, got[w*rows*cols:][:rows*cols], cols)
	}
	return nil
}

// compare judges one worker's results, which have rows of cols.
func (c *testCase) compare(r *tiletest.Run, p *problem, got []float64, cols int) {
	var want []float64
	for i := range len(got) / cols {
		want = append(want, p.y[i][:cols]...)
	}
	if c.family.bar != nil {
		var near, exact []float64
		for i := range p.m {
			near, exact = append(near, got[i*cols:][:p.n]...), append(exact, want[i*cols:][:p.n]...)
			copy(got[i*cols:][:p.n], want[i*cols:][:p.n])
		}
		r.Compare("results", near, exact, c.family.bar(c.dt))
	}
	wrong := 0
	for i := range want {
		if got[i] != want[i] { // NaN is wrong
			if wrong++; wrong == 1 {
				r.Errorf("element (%d, %d) is %v, want %v", i/cols, i%cols, got[i], want[i])
			}
		}
	}
	r.Compare("wrong elements", []float64{float64(wrong)}, []float64{0}, 0)
}

// launch runs the module's body on tensors, in one block.
func (c *testCase) launch(r *tiletest.Run, x, y device.Tensor) error {
	l, err := c.load(r.Device)
	if err != nil {
		return err
	}
	f, err := r.Device.Load(l.kernel)
	if err != nil {
		return err
	}
	args := make([]byte, l.lowered.ArgBytes)
	for _, a := range l.lowered.Args {
		to := args[a.Offset:]
		t := y
		if a.Arg != nil && a.Arg.Field == "X" {
			t = x
		}
		switch a.Kind {
		case thr.ArgPointer:
			binary.LittleEndian.PutUint64(to, t.Addr())
		case thr.ArgStride:
			binary.LittleEndian.PutUint64(to, uint64(t.Stride(a.Axis)))
		case thr.ArgScalar:
			n := map[string]int{"Body": c.number, "Workers": c.workers, "Rows": c.m, "Cols": c.n}[a.Arg.Field]
			binary.LittleEndian.PutUint32(to, uint32(n))
		}
	}
	return r.Stream.Launch(f, 1, unsafe.Pointer(unsafe.SliceData(args)))
}
