package tile_test

import "github.com/gotile/gotile/tile"

// What a text shows to be wrong about the phases of mbarriers. The simulator reports the rest: TestPhaseMisuse of package
// sim.
var wrongPhases = []wrong{
	{name: "nobody arrives", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m, w := tile.NewMBarriers(k, 2, 4), k.Warp()
		for i := range tile.Range(k, 0, 4, 1) {
			m.At(i.RemInt(2)).Wait(w, i.DivInt(2).RemInt(2)) // ERR MBarrier.Wait of the mbarriers made at @-2, at which nobody arrives: their phases take 4 arrivals and never end; arrive, by ArriveOnce or ArriveExpect, where what is waited for is done
		}
	}},
	{name: "expect without a copy", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m, w := tile.NewMBarriers(k, 1, 1).At(0), k.Warp()
		tile.If(w, w.Index().EqInt(0), func() {
			m.ArriveExpect(w, 1024) // ERR MBarrier.ArriveExpect at the mbarriers made at @-2, where no copy completes bytes: the phase never ends; name the mbarrier in the copy whose bytes are expected, or use ArriveOnce
		})
		m.Wait(k, 0)
	}},
	{name: "copy without an expect", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32).Manual()
		tile.CopyTensor(k, s, a.X, m) // ERR CopyTensor completes its bytes at the mbarriers made at @-1, where nobody expects any: phases end before the bytes are there; give what it returns to ArriveExpect or Expect
		m.ArriveOnce(k)
		m.Wait(k, 0)
	}},
	{name: "bytes of another mbarrier's copy", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		one, other, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32).Manual()
		n := tile.CopyTensor(k, s, a.X, one) // ERR CopyTensor completes its bytes at the mbarriers made at @-1, where nobody expects any: phases end before the bytes are there; give what it returns to ArriveExpect or Expect
		other.ArriveExpect(k, n)             // ERR MBarrier.ArriveExpect at the mbarriers made at @-2, where no copy completes bytes: the phase never ends; name the mbarrier in the copy whose bytes are expected, or use ArriveOnce
	}},
	{name: "more arrivals than a phase takes", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		w := k.Warp()
		m := tile.NewMBarriers(k, 2, 8)
		m.At(0).Wait(k, m.At(0).Arrive(k)) // ERR MBarrier.Arrive at scope block is 256 arrivals, one of each thread, at mbarriers made at @-1 for 8 a phase: the phase would be over before all have come; make them for 256, or use ArriveOnce
		m.At(1).ArriveCount(w, 2)          // ERR MBarrier.Arrive at scope warp is 64 arrivals, one of each thread, at mbarriers made at @-2 for 8 a phase: the phase would be over before all have come; make them for 64, or use ArriveOnce
	}},
	{name: "token of another mbarrier", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m, other := tile.NewMBarriers(k, 2, 256), tile.NewMBarriers(k, 1, 256).At(0)
		m.At(0).Wait(k, m.At(1).Arrive(k)) // ERR MBarrier.Wait with the token of an arrival at another mbarrier, at @+0: a token says which phase of its own it was; wait at that one
		other.Wait(k, m.At(0).Arrive(k))   // ERR MBarrier.Wait with the token of an arrival at another mbarrier, at @+0: a token says which phase of its own it was; wait at that one
	}},
	{name: "arrivals that are missing", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 3).At(0)
		m.ArriveOnce(k)
		m.ArriveOnce(k)
		m.Wait(k, 0) // ERR MBarrier.Wait of phase 0 of mbarrier 0 of those made at @-3 never ends: 2 of 3 arrivals have come, and all of the block's threads wait; arrive before, or make them for 2
	}},
	{name: "arrivals of two phases in one", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 384).At(0)
		m.Arrive(k)
		m.Arrive(k) // ERR MBarrier.Arrive brings 256 arrivals to phase 0 of mbarrier 0 of those made at @-2, which lacks 128 of 384: wait for the phase before, or make them for as many as arrive
	}},
	{name: "bytes that do not come", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32).Manual()
		m.Expect(k, 1024)
		m.ArriveExpect(k, tile.CopyTensor(k, s, a.X, m))
		m.Wait(k, 0) // ERR MBarrier.Wait of phase 0 of mbarrier 0 of those made at @-3 never ends: 1024 bytes are expected that no copy before completes; expect what CopyBulk and CopyTensor return
	}},
	{name: "bytes that nobody expects", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 2, 8, 32).Manual()
		tile.CopyTensor(k, s.At(0), a.X, m)
		m.ArriveExpect(k, tile.CopyTensor(k, s.At(1), a.X.At(8), m))
		m.Wait(k, 0) // ERR MBarrier.Wait of phase 0 of mbarrier 0 of those made at @-3 never ends: 1024 bytes are copied that nobody expects; expect what CopyBulk and CopyTensor return
	}},
	{name: "the parity of the first phase in each iteration", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 64).Manual()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			m.ArriveExpect(k, tile.CopyBulk(k, s, a.X.Row(row), m))
			m.Wait(k, 0) // ERR MBarrier.Wait of parity 0 of mbarrier 0 of those made at @-3: phase 1, which MBarrier.ArriveExpect at @-1 ends, has parity 1; use that, and count phases in a tile.Var where a loop goes round
		}
	}, opts: []tile.Option{tile.WholeVectors()}},
	{name: "a phase that nobody waits for", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1).At(0)
		m.ArriveOnce(k)
		m.ArriveOnce(k) // ERR MBarrier.Arrive ends phase 1 of mbarrier 0 of those made at @-2, and nobody has waited for phase 0: its parity, 0, is that of phase 2 too; wait for each phase, parity 0 comes next
		m.Wait(k, 1)
	}},
	{name: "use of an mbarrier that has ended", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 256).At(0)
		m.ArriveAndWait(k)
		m.Inval(k)
		m.Arrive(k) // ERR MBarrier.Arrive of mbarrier 0 of those made at @-3, which Inval has ended at @-1; drop the call, or end it later
	}},
}
