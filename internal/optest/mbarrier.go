package optest

import "github.com/gotile/gotile/tile"

// exchangeArgs: Y = 2 X, where other threads store an element than load it.
type exchangeArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
}

const exchangeCap = 512

// exchange passes rows through shared memory, ordered by an mbarrier at which each thread arrives: its tokens say which
// phase to wait for.
func exchange[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a exchangeArgs[T]) {
			block, n := k.Block(), a.X.Dim(1)
			s := tile.NewShared[T](k, exchangeCap).Manual()
			bar := tile.NewMBarriers(k, 1, k.Threads()).At(0)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				tile.Store(block, s, tile.Load(block, a.X.Row(row), block.Striped(exchangeCap, 1).Clip(n)))
				bar.ArriveAndWait(block)
				y := tile.Load(block, s, block.Striped(exchangeCap, 4).Clip(n))
				tile.Store(block, a.Y.Row(row), y.Add(y))
				read := bar.Arrive(block)
				bar.Wait(block, read) // before others write the next row
			}
			bar.Inval(block)
		}, tile.Threads(128), tile.Doc("Rows passed through shared memory, ordered by an mbarrier."))
	}}
}

func exchangeKernels() tile.Set {
	return family(exchange[tile.F32]("op_exchange_f32"), exchange[tile.BF16]("op_exchange_bf16"))
}

// relayArgs are exchangeArgs, of another family.
type relayArgs[T tile.Number] exchangeArgs[T]

// The stages of a relay and the columns of each.
const (
	relayStages = 3
	relayChunk  = 96
)

// relay has one warp that fills stages from registers and three that read them: a pipeline written by hand. The
// consumers ask for full stages in a loop.
func relay[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a relayArgs[T]) {
			warp, n := k.Warp(), a.X.Dim(1)
			s := tile.NewShared[T](k, relayStages, relayChunk).Manual()
			full, empty := tile.NewMBarriers(k, relayStages, 1), tile.NewMBarriers(k, relayStages, 3)
			count := tile.NewVar(warp, tile.I32(0))
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Range(warp, 0, n, relayChunk) {
					i := tile.AsIndex(count.Get())
					stage, parity := i.RemInt(relayStages), i.DivInt(relayStages).RemInt(2)
					tile.If(warp, warp.Index().EqInt(0), func() {
						empty.At(stage).Wait(warp, parity.AddInt(1).RemInt(2)) // the first ones pass
						tile.Store(warp, s.At(stage), tile.Load(warp, a.X.At(row, col), warp.Striped(relayChunk, 1)))
						full.At(stage).ArriveOnce(warp)
					}, func() {
						tile.While(warp, func() tile.Reg[tile.Bool] { return full.At(stage).TestWait(warp, parity).Not() }, func() {})
						mine := warp.Index().SubInt(1).Scale(32)
						y := tile.Load(warp, s.At(stage, mine), warp.Striped(32, 1).Clip(n.Sub(col).Sub(mine).MaxInt(0).MinInt(32)))
						tile.Store(warp, a.Y.At(row, col.Add(mine)), y.Add(y))
						empty.At(stage).ArriveOnce(warp)
					})
					count.Set(count.Get().Add(tile.I32(1)))
				}
			}
		}, tile.Threads(128), tile.Doc("Rows handed from one warp to three others, stage by stage."))
	}}
}

func relayKernels() tile.Set {
	return family(relay[tile.F32]("op_relay_f32"), relay[tile.I64]("op_relay_i64"))
}

// pollArgs are exchangeArgs, of another family.
type pollArgs[T tile.Number] exchangeArgs[T]

const pollCap = 128

// poll is exchange with arrivals that count twice, and warps that ask for the phase in all four ways.
func poll[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a pollArgs[T]) {
			block, warp, n := k.Block(), k.Warp(), a.X.Dim(1)
			s := tile.NewShared[T](k, pollCap).Manual()
			bar := tile.NewMBarriers(k, 1, 2*k.Threads()).At(0)
			until := func(over func() tile.Reg[tile.Bool]) {
				tile.While(warp, func() tile.Reg[tile.Bool] { return over().Not() }, func() {})
			}
			write := func(x tile.Reg[T]) { tile.Store(block, s, x) }
			read := func() tile.Reg[T] { return tile.Load(block, s, block.Striped(pollCap, 4).Clip(n)) }
			for row := range tile.Persistent(k, a.X.Dim(0)) { // four phases each
				x := tile.Load(block, a.X.Row(row), block.Striped(pollCap, 1).Clip(n))
				write(x)
				written := bar.ArriveCount(warp, 2)
				until(func() tile.Reg[tile.Bool] { return bar.TryWait(warp, written) })
				y := read()
				tile.Store(block, a.Y.Row(row), y)
				bar.ArriveCount(warp, 2)
				until(func() tile.Reg[tile.Bool] { return bar.TryWait(warp, 1) })
				write(x.Add(x))
				written = bar.ArriveCount(warp, 2)
				until(func() tile.Reg[tile.Bool] { return bar.TestWait(warp, written) })
				y = read()
				tile.Store(block, a.Y.Row(row), y)
				bar.ArriveCount(warp, 2)
				until(func() tile.Reg[tile.Bool] { return bar.TestWait(warp, 1) })
			}
		}, tile.Threads(64), tile.Targets(bulkTargets...), tile.Doc("Rows passed through shared memory; warps ask for the phase of an mbarrier."))
	}}
}

// bulkTargets have mbarriers that count bytes, and bulk copies.
var bulkTargets = []string{"sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"}

func pollKernels() tile.Set { return family(poll[tile.I32]("op_poll_i32")) }
