package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type awaitArgs struct {
	A, B tile.Global[tile.BF16] `tile:"m,n"`
	C    tile.Global[tile.F32]  `tile:"m,n"`
}

type awaitSlot struct {
	tile.Slot
	A, B tile.Shared[tile.BF16]
}

// multiplyWaits are the waits for multiplies of a kernel in the order of its text, by the groups that they leave in flight; a
// multiply, by the registers of its accumulator, stands between them, and an arrival for a slot as "release".
func multiplyWaits(body []thr.Stmt) (out []string) {
	for _, s := range body {
		switch s := s.(type) {
		case thr.If:
			out = append(append(out, multiplyWaits(s.Then)...), multiplyWaits(s.Else)...)
		case thr.For:
			in := multiplyWaits(s.Body)
			if s.Unroll || len(in) == 0 {
				out = append(out, in...)
			} else {
				out = append(append(append(out, "{"), in...), "}")
			}
		case thr.Do:
			switch s.Fn {
			case thr.WGMMA, thr.WGMMARegs:
				out = append(out, s.Frags[0].Local.Name)
			case thr.WGMMAWait:
				out = append(out, fmt.Sprint("wait", s.Args[0].(thr.Const).Bits))
			case thr.MBarArrive:
				if s.Bar.Name == "pipe_empty" {
					out = append(out, "release")
				}
			}
		}
	}
	return out
}

// Where waits stand, and which slots are given back when.
func TestWaitsForMultiplies(t *testing.T) {
	piped := func(stages int, step func(c tile.Warpgroup, s awaitSlot, acc, other tile.Var[tile.F32])) func(k *tile.Builder, a awaitArgs) {
		return func(k *tile.Builder, a awaitArgs) {
			member := func() tile.Shared[tile.BF16] { return tile.NewShared[tile.BF16](k, 64, 64).Swizzle(layout.Swizzle128) }
			pipe := tile.NewPipeline(k, stages, awaitSlot{A: member(), B: member()})
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				acc, other := tile.NewAcc[tile.F32](c, 64, 64), tile.NewAcc[tile.F32](c, 64, 64)
				for range tile.Range(c, 0, a.A.Dim(1), 64) {
					step(c, pipe.Wait(c), acc, other)
				}
				tile.Store(c, a.C, acc.Get().Add(other.Get()))
			}), tile.Producer(0, func(p tile.Warp) {
				for at := range tile.Range(p, 0, a.A.Dim(1), 64) {
					s := pipe.Acquire(p)
					tile.CopyTensor(p, s.A, a.A.At(0, at), s)
					tile.CopyTensor(p, s.B, a.B.At(at), s)
				}
			}))
		}
	}
	one := func(c tile.Warpgroup, s awaitSlot, acc, _ tile.Var[tile.F32]) {
		tile.MMA(acc, s.A, s.B)
		s.Release(c)
	}
	for _, c := range []struct {
		name   string
		stages int
		step   func(c tile.Warpgroup, s awaitSlot, acc, other tile.Var[tile.F32])
		want   []string
	}{
		{"in flight to the next iteration", 3, one, []string{"{", "acc", "wait1", "release", "}", "wait0", "release"}},
		{"drained where stages are too few", 2, one, []string{"{", "acc", "wait0", "release", "}"}},
		{"two accumulators", 4, func(c tile.Warpgroup, s awaitSlot, acc, other tile.Var[tile.F32]) {
			tile.MMA(acc, s.A, s.B)
			tile.MMA(other, s.A, s.B, tile.ABt)
			s.Release(c)
		}, []string{"{", "acc", "acc2", "wait2", "release", "}", "wait0", "release"}},
		{"an accumulator that is used", 4, func(c tile.Warpgroup, s awaitSlot, acc, other tile.Var[tile.F32]) {
			tile.MMA(acc, s.A, s.B)
			acc.Set(acc.Get().Mul(tile.F32(0.5)))
			s.Release(c)
		}, []string{"{", "acc", "wait0", "release", "}"}},
		{"one that is used while the other runs", 4, func(c tile.Warpgroup, s awaitSlot, acc, other tile.Var[tile.F32]) {
			tile.MMA(other, s.A, s.B)
			tile.MMA(acc, s.A, s.B)
			other.Set(other.Get().Mul(tile.F32(0.5)))
			s.Release(c)
		}, []string{"{", "acc2", "acc", "wait1", "wait0", "release", "}"}},
		{"ended by its author", 4, func(c tile.Warpgroup, s awaitSlot, acc, _ tile.Var[tile.F32]) {
			tile.MMA(acc, s.A, s.B)
			tile.WaitMMA(c, 0)
			s.Release(c)
		}, []string{"{", "acc", "wait0", "release", "}"}},
		{"an operand in registers", 3, func(c tile.Warpgroup, s awaitSlot, acc, other tile.Var[tile.F32]) {
			tile.MMA(acc, tile.Cast[tile.BF16](other.Get()), s.B)
			s.Release(c)
		}, []string{"{", "acc", "release", "wait0", "}", "release"}}, // whose registers end with the iteration
	} {
		low := lower(t, define(t, "k", piped(c.stages, c.step), tile.Threads(160), tile.Targets("sm_90a")))
		if got := multiplyWaits(low.Body); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A tile that is written again is waited for before the write, and the barrier that parts the two comes behind the wait.
func TestWaitBeforeOverwriting(t *testing.T) {
	low := lower(t, define(t, "k", func(k *tile.Builder, a awaitArgs) {
		s := tile.NewShared[tile.BF16](k, 64, 64).Swizzle(layout.Swizzle128)
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			acc := tile.NewAcc[tile.F32](c, 64, 64)
			for col := range tile.Range(c, 0, a.A.Dim(1), 64) {
				tile.Store(c, s, tile.Load(c, a.A.At(0, col), c.Striped2(64, 64, 8, 8)).Fill(tile.Const[tile.BF16](0)))
				tile.MMA(acc, s, s)
			}
			tile.Store(c, a.C, acc.Get())
		}))
	}, tile.Threads(128), tile.Targets("sm_90a")))
	var order []string
	var note func(body []thr.Stmt)
	note = func(body []thr.Stmt) {
		for _, s := range body {
			what := ""
			switch s := s.(type) {
			case thr.If:
				note(s.Then)
				note(s.Else)
			case thr.For:
				note(s.Body)
			case thr.Store:
				if s.Space == thr.Shared {
					what = "store"
				}
			case thr.Do:
				what = map[thr.Fn]string{thr.WGMMA: "multiply", thr.WGMMAWait: "wait", thr.NamedSync: "barrier", thr.FenceAsync: "fence"}[s.Fn]
			}
			if what != "" && (len(order) == 0 || order[len(order)-1] != what) {
				order = append(order, what)
			}
		}
	}
	note(low.Body)
	if want := []string{"wait", "barrier", "store", "fence", "barrier", "multiply", "wait"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}
