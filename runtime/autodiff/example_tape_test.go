package autodiff_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// There is a gradient, or the reason why not; never nil.
func ExampleTensor_Grad() {
	b := open()
	defer b.d.Close()
	x := b.tensor([]float64{1, 2, 3}, 3)
	w, other := autodiff.NewParam("w", b.tensor([]float64{1, 1, 1}, 3)), autodiff.NewParam("other", b.tensor([]float64{1}, 1))
	t := must(autodiff.NewTape(b.s))
	in := t.Input("x", x)
	y := ops.Mul(t, t.Param(w), in)
	z := ops.Mul(t, y, in).Retain()
	check(t.BackwardFrom(autodiff.Seed{Of: z, Grad: b.tensor([]float64{1, 1, 1}, 3)}))
	for _, v := range []autodiff.Tensor{t.Param(w), z, in, y, t.Param(other)} {
		g, err := v.Grad()
		if err != nil {
			fmt.Println(errors.Is(err, autodiff.ErrUntracked), errors.Is(err, autodiff.ErrConsumed), errors.Is(err, autodiff.ErrUnreached))
			continue
		}
		fmt.Println(must(g.Floats()))
	}
	fmt.Println(t.Close())
	// Output:
	// [1 4 9]
	// [1 1 1]
	// true false false
	// false true false
	// false false true
	// train mul=2/2 bwd=2 <nil>
}

// A gradient is stopped on purpose only, and with the reason: it is in the books.
func ExampleTensor_Detach() {
	b := open()
	defer b.d.Close()
	w := autodiff.NewParam("w", b.tensor([]float64{3}, 1))
	t := must(autodiff.NewTape(b.s))
	x := t.Param(w)
	y := ops.Mul(t, x, x.Detach("a constant factor"))
	check(t.BackwardFrom(autodiff.Seed{Of: y, Grad: b.tensor([]float64{1}, 1)}))
	fmt.Println(must(must(x.Grad()).Floats()))
	books := must(t.Close())
	fmt.Println(books.Detached[autodiff.Train])
	// Output:
	// [3]
	// map[a constant factor:1]
}

// An optimizer changes parameters in an Update, whose Exec is the one way to their memory.
func ExampleTape_Update() {
	b := open()
	defer b.d.Close()
	w := autodiff.NewParam("w", b.tensor([]float64{3, 4}, 2))
	t := must(autodiff.NewTape(b.s))
	check(t.Update("reset", func(x *autodiff.Exec) error {
		d := x.Mutate(x.Param(w))
		return x.Stream().Fill(d.Buffer(), d.Offset(), d.Elems()*d.DType().Size(), 0)
	}))
	books := must(t.Close())
	fmt.Println(must(device.DownloadFloats(b.s, w.Data())), *books.Updates[autodiff.Train]["reset"])
	// Output: [0 0] {1 0}
}

// What backward reads must not have changed since: the error has both lines.
func ExampleExec_Mutate() {
	b := open()
	defer b.d.Close()
	w := autodiff.NewParam("w", b.tensor([]float64{3}, 1))
	t := must(autodiff.NewTape(b.s))
	c := t.Input("c", b.tensor([]float64{2}, 1))
	y := ops.Mul(t, t.Param(w), c)
	check(t.Update("reset", func(x *autodiff.Exec) error { x.Mutate(c); return nil }))
	err := t.BackwardFrom(autodiff.Seed{Of: y, Grad: b.tensor([]float64{1}, 1)})
	var e *autodiff.Error
	fmt.Println(errors.As(err, &e), errors.Is(err, autodiff.ErrChanged), e.Op, e.Port)
	fmt.Println(e.Text)
	t.Close()
	// Output:
	// true true mul B
	// its backward step reads c: f32[1], which example_tape_test.go:82 has changed in place since: make the change after Backward, or in a copy
}

// By Recompute the outputs of memory-bound ops end with their Block, and are made again in backward: fewer bytes, the
// same gradients.
func ExampleWithStrategy() {
	b := open()
	defer b.d.Close()
	w := autodiff.NewParam("w", b.tensor([]float64{1, 2, 4, 8}, 4))
	target := b.tensor(make([]float64, 4), 4)
	for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		pool := autodiff.NewPool(b.s)
		t := must(autodiff.NewTape(b.s, autodiff.WithStrategy(strategy), autodiff.WithPool(pool), autodiff.Strict()))
		x := t.Param(w)
		for range 4 {
			x = autodiff.Block(t, func() autodiff.Tensor { return ops.Silu(t, ops.Silu(t, ops.Silu(t, x))) })
		}
		check(t.Backward(optim.SquaredError(t, x, t.Input("target", target))))
		g := must(must(t.Param(w).Grad()).Floats())
		c := must(t.Close()).Of(autodiff.Train, "silu")
		fmt.Printf("%s: %d forward, %d replayed, %d bytes, dw %.3f\n", strategy, c.Forward, c.Replays, pool.Stats().Peak, g[3])
		check(pool.Close())
	}
	// Output:
	// save-all: 12 forward, 0 replayed, 8192 bytes, dw 4.099
	// recompute: 12 forward, 8 replayed, 5120 bytes, dw 4.099
}

// An evaluation takes the same kernels. What a Block does not return is given back with it.
func ExampleBlock() {
	b := open()
	defer b.d.Close()
	pool := autodiff.NewPool(b.s)
	defer pool.Close()
	x := b.tensor([]float64{1, 4, 9}, 3)
	t := must(autodiff.NewTape(b.s, autodiff.WithPhase(autodiff.Eval), autodiff.WithPool(pool)))
	y := autodiff.Block(t, func() autodiff.Tensor {
		x := t.Input("x", x)
		return ops.Add(t, ops.Sqrt(t, x), ops.Sqrt(t, x))
	})
	fmt.Println(must(y.Floats()), pool.Stats().InUse, "bytes of", pool.Stats().Reserved)
	fmt.Println(t.Close())
	// Output:
	// [2 4 6] 512 bytes of 1536
	// eval add=1/1 sqrt=2/2 <nil>
}

// The first value that is not finite is an error, with what it was made of.
func ExampleAnomaly() {
	b := open()
	defer b.d.Close()
	t := must(autodiff.NewTape(b.s, autodiff.WithPhase(autodiff.Eval), autodiff.Anomaly()))
	x := t.Input("x", b.tensor([]float64{4, -1}, 2))
	ops.Sqrt(t, x)
	_, err := t.Close()
	var e *autodiff.Error
	fmt.Println(errors.As(err, &e), e.Op, e.Port)
	fmt.Println(e.Text)
	// Output:
	// true sqrt Y
	// element 1 of f32[2] is NaN; its inputs: X is x: f32[2], at most 4
}

// The ports that parameters go into: gate.Covers demands a gate for each.
func ExampleTape_Uses() {
	b := open()
	defer b.d.Close()
	w := autodiff.NewParam("w", b.tensor([]float64{3}, 1))
	t := must(autodiff.NewTape(b.s))
	ops.Add(t, ops.Mul(t, t.Param(w), t.Param(w)), t.Input("c", b.tensor([]float64{2}, 1)))
	for _, p := range t.Params() {
		fmt.Println(p.Name(), t.Uses(p))
	}
	t.Close()
	// Output: w [{mul A} {mul B}]
}
