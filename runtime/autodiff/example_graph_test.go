package autodiff_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// A step of training, once and then as a graph: inputs by name, the learning rate in a block of numbers on the device,
// the loss copied out.
func ExampleCapture() {
	b := open()
	defer b.d.Close()
	w, loss := autodiff.NewParam("w", b.tensor([]float64{0, 0}, 2)), b.tensor([]float64{0})
	x, y := b.tensor([]float64{1, 2}, 2), b.tensor([]float64{3, 4}, 2)
	opt := must(optim.NewAdamW(b.s, optim.Config{Clip: 1}, w))
	defer opt.Close()
	pool := autodiff.NewPool(b.s)
	defer pool.Close()
	step := func(t *autodiff.Tape, err error) error {
		if err != nil {
			return err
		}
		l := optim.SquaredError(t, ops.Mul(t, t.Input("x", x), t.Param(w)), t.Input("y", y))
		return errors.Join(t.Backward(l), opt.Step(t), t.CopyTo(loss, l.Detach("to report")))
	}

	_, err := autodiff.Capture(pool, func(r *autodiff.Recording) error { return step(r.Tape()) })
	fmt.Println("an empty pool would grow:", errors.Is(err, autodiff.ErrGrow))
	check(opt.Next(0.1))
	t, err := autodiff.NewTape(b.s, autodiff.WithPool(pool))
	check(step(t, err))
	must(t.Close())

	p := must(autodiff.Capture(pool, func(r *autodiff.Recording) error { return step(r.Tape(autodiff.Strict())) }))
	defer p.Close()
	for range 40 {
		check(opt.Next(0.1))
		check(p.Replay())
	}
	fmt.Printf("%d launches and copies; after 41 steps the loss is %.2f\n", p.Nodes(), must(device.DownloadFloats(b.s, loss)))
	fmt.Println(p.Ledger())

	check(p.Load("x", b.tensor([]float64{0, 0}, 2))) // another batch
	check(opt.Next(0))
	check(p.Replay())
	fmt.Println(must(device.DownloadFloats(b.s, loss)))
	// Output:
	// an empty pool would grow: true
	// 10 launches and copies; after 41 steps the loss is [0.10]
	// train mul=40/40 bwd=40 squared_error=40/40 bwd=40
	// [12.5]
}

// Numbers that kernels read from memory, since a graph repeats its arguments.
func ExampleControl() {
	b := open()
	defer b.d.Close()
	c := must(autodiff.NewControl(b.s, "rate", "decay"))
	defer c.Close()
	check(c.Set("rate", 0.5))
	check(c.Upload())
	fmt.Println(must(device.DownloadFloats(b.s, c.Tensor())))
	fmt.Println(errors.Is(c.Set("rat", 1), autodiff.ErrUnset))
	// Output:
	// [0.5 0]
	// true
}

// A pool that is kept gives the memory of one step to the next. Poisoned, it shows what is read before it is written.
func ExamplePool() {
	b := open()
	defer b.d.Close()
	pool := autodiff.NewPool(b.s).Poison()
	defer pool.Close()
	x := b.tensor([]float64{1, 2}, 2)
	for range 2 {
		t := must(autodiff.NewTape(b.s, autodiff.WithPhase(autodiff.Eval), autodiff.WithPool(pool)))
		ops.Silu(t, t.Input("x", x))
		fmt.Println(pool.Stats())
		must(t.Close())
	}
	fmt.Println(pool.Stats())
	// Output:
	// {512 512 512}
	// {512 512 512}
	// {0 512 512}
}

// Books add up over steps and phases, are one line or JSON, and must balance.
func ExampleLedger() {
	b := open()
	defer b.d.Close()
	w := autodiff.NewParam("w", b.tensor([]float64{3}, 1))
	seed := b.tensor([]float64{1}, 1)
	var all autodiff.Ledger
	for _, phase := range []autodiff.Phase{autodiff.Train, autodiff.Train, autodiff.Eval} {
		t := must(autodiff.NewTape(b.s, autodiff.WithPhase(phase)))
		y := ops.Silu(t, t.Param(w))
		if phase == autodiff.Train {
			check(t.BackwardFrom(autodiff.Seed{Of: y, Grad: seed}))
		}
		all.Add(must(t.Close()), 1)
	}
	fmt.Println(&all, all.Check())
	fmt.Printf("%+v\n", all.Of(autodiff.Train, "silu").Launches)
	all.Ops[autodiff.Train]["silu"].Backward-- // a backward step that was forgotten
	fmt.Println(all.Check())
	// Output:
	// train silu=2/2 bwd=2 | eval silu=1/1 <nil>
	// {Forward:2 Backward:2 Replay:0}
	// silu: the books do not balance: train: forward = backward + dropped is 2 = 1
}
