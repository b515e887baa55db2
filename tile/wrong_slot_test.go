package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// operandSlot is a slot of two matrices for tensor cores.
type operandSlot struct {
	tile.Slot
	A, B tile.Shared[tile.BF16]
}

// matrices is a pipeline of two matrices of 64x64.
func matrices(k *tile.Builder) tile.Pipeline[operandSlot] {
	m := func() tile.Shared[tile.BF16] {
		return tile.NewShared[tile.BF16](k, 64, 64).Swizzle(layout.Swizzle128)
	}
	return tile.NewPipeline(k, 3, operandSlot{A: m(), B: m()})
}

// filled fills both matrices of the next slot.
func filled(k *tile.Builder, a wrongArgs, pipe tile.Pipeline[operandSlot]) operandSlot {
	s := pipe.Acquire(k)
	tile.CopyAsync(s, s.A, a.H)
	tile.CopyAsync(s, s.B, a.H)
	return s
}

// What tensor cores read of slots is read like anything else: after the wait, before the release.
var wrongSlots = []wrong{
	{name: "a product of a slot that is being filled", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe, w := matrices(k), k.Warp()
		in := filled(k, a, pipe)
		s := pipe.Wait(w)
		tile.MMA(tile.NewAcc[tile.F32](w, 64, 64), in.A, s.B) // ERR MMA of the slot acquired at wrong_slot_test.go:24: nothing is there yet; use what Wait gives
		s.Release(w)
	}},
	{name: "a product of a slot that is released", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe, w := matrices(k), k.Warp()
		filled(k, a, pipe)
		s := pipe.Wait(w)
		s.Release(w)
		tile.MMA(tile.NewAcc[tile.F32](w, 64, 64), s.A, s.B) // ERR MMA of a slot that is released at @-1: its producers may be filling it again; release it afterwards
	}},
	{name: "a product of which one operand is released", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe, w := matrices(k), k.Warp()
		filled(k, a, pipe)
		s := pipe.Wait(w)
		s.B.Release(w)
		tile.MMA(tile.NewAcc[tile.F32](w, 64, 64), s.A, s.B) // ERR MMA of a slot that is released at @-1: its producers may be filling it again; release it afterwards
		s.Release(w)
	}},
	{name: "a fragment of a slot that is being filled", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe, w := matrices(k), k.Warp()
		in := filled(k, a, pipe)
		tile.LoadMatrix(w, in.A, w.Fragment(16, 16)) // ERR LoadMatrix of the slot acquired at wrong_slot_test.go:24: nothing is there yet; use what Wait gives
		pipe.Wait(w).Release(w)
	}},
	{name: "a fragment of a slot that is released", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe, w := matrices(k), k.Warp()
		filled(k, a, pipe)
		s := pipe.Wait(w)
		s.Release(w)
		tile.LoadMatrix(w, s.A, w.Fragment(16, 16)) // ERR LoadMatrix of a slot that is released at @-1: its producers may be filling it again; release it afterwards
	}},
	{name: "a fragment stored to a slot that is released", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		pipe, w := matrices(k), k.Warp()
		filled(k, a, pipe)
		s := pipe.Wait(w)
		x := tile.LoadMatrix(w, s.A, w.Fragment(16, 16))
		s.Release(w)
		tile.StoreMatrix(w, s.A, x) // ERR StoreMatrix of a slot that is released at @-1: its producers may be filling it again; release it afterwards
	}},
}
