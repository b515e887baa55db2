package sim

import (
	"runtime"
	"slices"
	"testing"

	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type rewriteArgs struct {
	C tile.Global[tile.F32] `tile:"64,64"`
}

// Each warp of a warpgroup reads all of B. Here each writes B anew, after its own wait, in rows that are its own by some
// order of the rows: whichever those are, without the barrier behind the wait the warps race.
func TestWarpsOfAMultiplyReadAllOfB(t *testing.T) {
	for _, across := range []int{2, 4, 8} { // 16, 8 or 4 rows beside one another are a warp's
		k, err := tile.Define("rewrite", func(k *tile.Builder, a rewriteArgs) {
			s := tile.NewShared[tile.BF16](k, 64, 64).Swizzle(layout.Swizzle128)
			x := tile.NewShared[tile.BF16](k, 64, 64).Swizzle(layout.Swizzle128)
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				span := c.Striped2(64, 64, 8, across)
				tile.Store(c, x, tile.Full(c, span, tile.Const[tile.BF16](1)))
				acc := tile.NewAcc[tile.F32](c, 64, 64)
				for range tile.Range(c, 0, 2, 1) {
					tile.Store(c, s, tile.Full(c, span, tile.Const[tile.BF16](2)))
					tile.MMA(acc, x, s, tile.ABt)
				}
				tile.Store(c, a.C, acc.Get())
			}))
		}, tile.Threads(128), tile.Targets("sm_90a"))
		if err != nil {
			t.Fatal(err)
		}
		low, err := k.Lower("sm_90a")
		if err != nil {
			t.Fatal(err)
		}
		launch := func() *Errors {
			m := NewMemory(false)
			c, _ := output(t, m, 4*64*64)
			_, e := run(t, low, m, 1, words(c, 64), Options{})
			return e
		}
		silent(t, launch())
		dropped := 0
		low.Body = withoutBarrierBehindWait(low.Body, &dropped)
		if dropped != 1 {
			t.Fatalf("%d barriers behind waits", dropped)
		}
		if e := launch(); e == nil || !slices.ContainsFunc(e.Reports, func(r *Report) bool { return r.Kind == InFlight || r.Kind == Race }) {
			t.Errorf("%d threads a row: %v, want a race", across, e)
		}
	}
}

// withoutBarrierBehindWait drops the barriers between a wait for multiplies and the store behind it.
func withoutBarrierBehindWait(body []thr.Stmt, dropped *int) (out []thr.Stmt) {
	waited := false
	for _, s := range body {
		switch s := s.(type) {
		case thr.If:
			s.Then, s.Else = withoutBarrierBehindWait(s.Then, dropped), withoutBarrierBehindWait(s.Else, dropped)
			out = append(out, s)
			continue
		case thr.For:
			waited = waited && s.Unroll
			s.Body = withoutBarrierBehindWait(s.Body, dropped)
			out = append(out, s)
			continue
		case thr.Do:
			waited = waited || s.Fn == thr.WGMMAWait
			if s.Fn == thr.NamedSync && waited {
				*dropped++
				waited = false
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

type heldArgs struct {
	V tile.Global[tile.F32] `tile:"64"`
	C tile.Global[tile.F32] `tile:"64,64"`
}

// An accumulator that is used between two multiplies: without the waits the use is reported, and without the fences the
// multiply behind it, each with the lines of both. The kernel as it is is silent.
func TestRegistersOfMultiplies(t *testing.T) {
	var first, use, second int // lines
	here := func() int {
		_, _, line, _ := runtime.Caller(1)
		return line
	}
	k, err := tile.Define("held", func(k *tile.Builder, a heldArgs) {
		x := tile.NewShared[tile.BF16](k, 64, 64).Swizzle(layout.Swizzle128)
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			tile.Store(c, x, tile.Full(c, c.Striped2(64, 64, 8, 8), tile.Const[tile.BF16](1)))
			acc := tile.NewAcc[tile.F32](c, 64, 64)
			factors := tile.Load(c, a.V, acc.Get().Span().Axis(0))
			tile.MMA(acc, x, x, tile.ABt)
			first = here() - 1
			tile.ScaleRows(acc, factors)
			use = here() - 1
			tile.MMA(acc, x, x, tile.ABt)
			second = here() - 1
			tile.Store(c, a.C, acc.Get())
		}))
	}, tile.Threads(128), tile.Targets("sm_90a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		drop      thr.Fn
		kind      Kind
		at, other *int
	}{{drop: thr.NumFns}, {thr.WGMMAWait, InFlight, &use, &first}, {thr.WGMMAFence, UnfencedRegisters, &second, &use}} {
		low, err := k.Lower("sm_90a")
		if err != nil {
			t.Fatal(err)
		}
		low.Body = withoutCalls(low.Body, c.drop)
		m := NewMemory(false)
		v, _ := output(t, m, 4*64)
		out, _ := output(t, m, 4*64*64)
		_, e := run(t, low, m, 1, words(v, out, 64), Options{})
		if c.at == nil {
			if e != nil && e.Has(InFlight) || e != nil && e.Has(UnfencedRegisters) {
				t.Errorf("with waits and fences: %v", e)
			}
			continue
		}
		if e == nil || !slices.ContainsFunc(e.Reports, func(r *Report) bool {
			return r.Kind == c.kind && r.Pos.Frame().Line == *c.at && r.Other.Frame().Line == *c.other
		}) {
			t.Errorf("without %v: %v, want %q of lines %d and %d", c.drop, e, c.kind, *c.at, *c.other)
		}
	}
}

// withoutCalls drops the statements of a built-in.
func withoutCalls(body []thr.Stmt, fn thr.Fn) (out []thr.Stmt) {
	for _, s := range body {
		switch d := s.(type) {
		case thr.If:
			d.Then, d.Else = withoutCalls(d.Then, fn), withoutCalls(d.Else, fn)
			s = d
		case thr.For:
			d.Body = withoutCalls(d.Body, fn)
			s = d
		case thr.Do:
			if d.Fn == fn {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}
