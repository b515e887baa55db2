//go:build !gotilegen

package copies

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

//go:generate go run ../../cmd/gotile gen .

// Name is what the copy of so many tensors is called in results: copy, copy2, copy22, ...
func Name(reads, writes int) string { return config{reads, writes}.KernelName() }

// Copy writes the exclusive or of the xs, one word at a time, to each of the ys: of one tensor a copy. All are
// contiguous and of one size, of any shape and type whose size is a multiple of 4 bytes. There are kernels for 1, 2
// and 3 tensors read and 1 written, and for 2 or 3 read and 2 written.
func Copy(s *device.Stream, xs, ys []device.Tensor) error {
	x, err := flat(xs)
	if err != nil {
		return err
	}
	y, err := flat(ys)
	if err != nil {
		return err
	}
	return config{len(xs), len(ys)}.launch(s, x[:], y[:])
}

// launch takes tensors of words.
func (c config) launch(s *device.Stream, x, y []device.Tensor) error {
	switch c {
	case config{1, 1}:
		return launchCopy(s, copyParams{X0: x[0], Y0: y[0]})
	case config{2, 1}:
		return launchCopy2(s, copy2Params{X0: x[0], X1: x[1], Y0: y[0]})
	case config{2, 2}:
		return launchCopy22(s, copy22Params{X0: x[0], X1: x[1], Y0: y[0], Y1: y[1]})
	case config{3, 1}:
		return launchCopy31(s, copy31Params{X0: x[0], X1: x[1], X2: x[2], Y0: y[0]})
	case config{3, 2}:
		return launchCopy32(s, copy32Params{X0: x[0], X1: x[1], X2: x[2], Y0: y[0], Y1: y[1]})
	}
	return fmt.Errorf("copies: no kernel reads %d tensors and writes %d", c.reads, c.writes)
}

// flat views tensors as words.
func flat(ts []device.Tensor) (out [3]device.Tensor, err error) {
	if len(ts) > len(out) {
		return out, fmt.Errorf("copies: %d tensors; at most %d", len(ts), len(out))
	}
	for i, t := range ts {
		bytes := t.Elems() * t.DType().Size()
		if t.Buffer() == nil || !t.Contiguous() || bytes%4 != 0 || t.Addr() != t.Buffer().Addr() {
			return out, fmt.Errorf("copies: %v: copies take whole contiguous buffers of multiples of 4 bytes: %w", t, device.ErrShape)
		}
		if out[i], err = device.View(t.Buffer(), 0, dtype.U32, []int{bytes / 4}, nil); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Cases check every kernel exactly, with sizes around those of a block and a vector.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, c := range []config{{1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 2}} {
		for _, n := range []int{0, 3, words, 3*words + 6} {
			out = append(out, tiletest.Case{Name: fmt.Sprintf("%s/n=%d", c.KernelName(), n), Run: func(r *tiletest.Run) error { return c.check(r, n) }})
		}
	}
	return out
}

func (c config) check(r *tiletest.Run, n int) error {
	const limit = 1 << 20
	want := make([]uint32, n)
	var tensors [5]device.Tensor
	for i := range c.reads {
		x := r.Ints(0, limit, uint64(i), n)
		tensors[i] = r.In(dtype.U32, x, n)
		for j := range want {
			want[j] ^= uint32(x[j])
		}
	}
	for i := range c.writes {
		tensors[c.reads+i] = r.Out(dtype.U32, n)
	}
	if err := c.launch(r.Stream, tensors[:c.reads], tensors[c.reads:c.reads+c.writes]); err != nil {
		return err
	}
	values := make([]float64, n)
	for j := range want {
		values[j] = float64(want[j])
	}
	for i := range c.writes {
		r.Compare(fmt.Sprintf("y%d", i), r.Floats(tensors[c.reads+i]), values, 0)
	}
	return nil
}
