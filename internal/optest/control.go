package optest

import "github.com/gotile/gotile/tile"

// controlArgs: Times are the numbers of iterations to try, M decides branches. Row t of every output belongs to trip
// count t.
type controlArgs struct {
	X     tile.Global[tile.I32] `tile:"n"`
	Times tile.Global[tile.I32] `tile:"trips"`
	M     tile.Scalar[tile.I32]
	Count tile.Global[tile.I32] `tile:"trips,4"` // iterations, sum of the variable, last value of it, iterations of the inner loop
	Y     tile.Global[tile.I32] `tile:"trips,n"`
	If    tile.Global[tile.I32] `tile:"trips,n"`
}

func control(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a controlArgs) {
		block := k.Block()
		x := tile.Load(block, a.X, block.Striped(96, 1))
		for t := range tile.Range(block, 0, a.Times.Dim(0), 1) {
			n := tile.AsIndex(tile.LoadScalar(block, a.Times.At(t)))
			count, sum, last, inner := tile.NewVar(block, tile.I32(0)), tile.NewVar(block, tile.I32(0)), tile.NewVar(block, tile.I32(-1)), tile.NewVar(block, tile.I32(0))
			acc := tile.NewVar(block, x)
			for i := range tile.Range(block, 2, n.Scale(3).AddInt(2), 3) {
				count.Set(count.Get().Add(tile.I32(1)))
				sum.Set(sum.Get().Add(i.Int()))
				last.Set(i.Int())
				for j := range tile.Range(block, i, i.Add(n), 2) {
					inner.Set(inner.Get().Add(tile.I32(1)))
					acc.Set(acc.Get().Mul(tile.I32(3)).Add(j.Int()))
				}
			}
			for i, v := range []tile.Var[tile.I32]{count, sum, last, inner} {
				tile.Store(block, a.Count.At(t, i), v.Get())
			}
			tile.Store(block, a.Y.Row(t), acc.Get())

			branch := tile.NewVar(block, x)
			tile.If(block, n.Int().Lt(a.M), func() {
				branch.Set(branch.Get().Add(tile.I32(100)))
			}, func() {
				tile.If(block, n.EqInt(3).Or(n.EqInt(5)), func() { branch.Set(branch.Get().Neg()) })
			})
			tile.Store(block, a.If.Row(t), branch.Get())
		}
	}, tile.Threads(96), tile.Doc("Loops of every trip count, nested loops and branches."))
}

func controlKernels() tile.Set { return family(kernel{"op_control", control}) }

// whileArgs: the Collatz sequence of each element of X at warp scope, and the integer square root at block scope.
type whileArgs struct {
	X     tile.Global[tile.I32] `tile:"n"`
	Steps tile.Global[tile.I32] `tile:"n"`
	Root  tile.Global[tile.I32] `tile:"n"`
}

func while(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a whileArgs) {
		warp := k.Warp()
		for at := range tile.Persistent(warp, a.X.Dim(0)) {
			x := tile.NewVar(warp, tile.LoadScalar(warp, a.X.At(at)))
			steps, root := tile.NewVar(warp, tile.I32(0)), tile.NewVar(warp, tile.I32(0))
			tile.While(warp, func() tile.Reg[tile.Bool] {
				r := root.Get().Add(tile.I32(1))
				return r.Mul(r).Le(x.Get())
			}, func() { root.Set(root.Get().Add(tile.I32(1))) })
			tile.While(warp, func() tile.Reg[tile.Bool] { return x.Get().Gt(tile.I32(1)) }, func() {
				v := x.Get()
				x.Set(tile.Select(v.And(tile.I32(1)).Eq(tile.I32(0)), v.Shr(tile.I32(1)), v.Mul(tile.I32(3)).Add(tile.I32(1))))
				steps.Set(steps.Get().Add(tile.I32(1)))
			})
			tile.Store(warp, a.Steps.At(at), steps.Get())
			tile.Store(warp, a.Root.At(at), root.Get())
		}
	}, tile.Threads(64), tile.Doc("Loops that run on a condition, a warp each for itself."))
}

func whileKernels() tile.Set { return family(kernel{"op_while", while}) }

// variableArgs: what a read of a variable gives before and after an assignment, within a batch and across batches.
type variableArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"n"`
	Y tile.Global[T] `tile:"6,n"`
	S tile.Global[T] `tile:"6"`
}

func variable[T tile.Number](name string) (*tile.Kernel, error) {
	c := tile.Const[T]
	return tile.Define(name, func(k *tile.Builder, a variableArgs[T]) {
		block := k.Block()
		x := tile.Load(block, a.X, block.Striped(192, 2))
		v, w := tile.NewVar(block, x), tile.NewVar(block, x.Add(c(1)))

		old := v.Get()
		v.Set(old.Add(c(2)))                  // within one batch
		tile.Store(block, a.Y.At(0), old)     // x
		tile.Store(block, a.Y.At(1), v.Get()) // x + 2

		before, total := w.Get(), w.Get().MaxOf() // a batch of its own
		w.Set(before.Add(total))                  // needs the reduction: another batch
		tile.Store(block, a.Y.At(2), before)      // x + 1
		tile.Store(block, a.Y.At(3), w.Get())     // x + 1 + max(x + 1)

		p, q := v.Get(), w.Get()
		v.Set(q) // exchange
		w.Set(p)
		kept := v.Get().Sub(w.Get())
		for range tile.Range(block, 0, 3, 1) {
			inside := v.Get()
			v.Set(w.Get().Add(c(1)))
			w.Set(inside)
		}
		tile.Store(block, a.Y.At(4), v.Get().Add(kept))
		tile.Store(block, a.Y.At(5), w.Get())

		s, t := tile.NewVar(block, c(5)), tile.NewVar(block, total)
		first := s.Get()
		s.Set(first.Add(c(1)))
		second := s.Get()
		s.Set(t.Get())
		t.Set(second.Mul(first))
		for i, y := range []tile.Reg[T]{first, second, s.Get(), t.Get(), total, x.MinOf()} {
			tile.Store(block, a.S.At(i), y)
		}
	}, tile.Threads(96), tile.Doc("Reads of variables before and after assignments."))
}

func variableKernels() tile.Set {
	return family(kernel{"op_variable_i32", variable[tile.I32]}, kernel{"op_variable_f32", variable[tile.F32]}, kernel{"op_variable_bf16", variable[tile.BF16]})
}

// gridArgs: block b writes its number, the number of blocks, and which iterations it got.
type gridArgs struct {
	Y    tile.Global[tile.I32] `tile:"blocks,3"` // block, blocks, iterations
	Mine tile.Global[tile.I32] `tile:"m"`        // the block of each iteration
}

func grid(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a gridArgs) {
		count := tile.NewVar(k, tile.I32(0))
		for i := range tile.Persistent(k, a.Mine.Dim(0), tile.Step(2), tile.Blocks(a.Y.Dim(0))) {
			count.Set(count.Get().Add(tile.I32(1)))
			tile.Store(k, a.Mine.At(i), tile.Full(k, k.Block().Striped(2, 1), k.BlockID().Int()))
		}
		for i, v := range []tile.Reg[tile.I32]{k.BlockID().Int(), k.NumBlocks().Int(), count.Get()} {
			tile.Store(k, a.Y.At(k.BlockID(), i), v)
		}
	}, tile.Threads(32), tile.Doc("Where a block stands, and its share of the grid's work."))
}

func gridKernels() tile.Set { return family(kernel{"op_grid", grid}) }

// warpArgs: for each row the warp, the block and the number of blocks that served it, and the row's sum.
type warpArgs struct {
	X tile.Global[tile.I32] `tile:"rows,n"`
	Y tile.Global[tile.I32] `tile:"rows,4"`
}

func warps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a warpArgs) {
		warp := k.Warp()
		for row := range tile.Persistent(warp, a.X.Dim(0)) {
			sum := tile.Load(warp, a.X.Row(row), warp.Striped(70, 2)).Sum()
			for i, v := range []tile.Reg[tile.I32]{warp.Index().Int(), k.BlockID().Int(), k.NumBlocks().Int(), sum} {
				tile.Store(warp, a.Y.At(row, i), v)
			}
		}
	}, tile.Threads(160), tile.Doc("Rows shared out over the warps of the grid."))
}

func warpKernels() tile.Set { return family(kernel{"op_warps", warps}) }
