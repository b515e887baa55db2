package tile_test

import (
	"errors"

	"github.com/gotile/gotile/tile"
)

var errAuthor = errors.New("no such size")

var wrongControl = []wrong{
	{name: "accumulate in Go", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		acc := tile.LoadScalar(k, a.S)
		for i := range tile.Range(k, 0, 4, 1) {
			acc = acc.Add(tile.LoadScalar(k, a.S.At(i))) // ERR host state carried between iterations; use tile.NewVar: operand 1 of Add is the Load of @-2 the first time, the Add of @+0 the second
		}
	}},
	{name: "count in Go", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		n := 0
		for range tile.Range(k, 0, 4, 1) {
			tile.Store(k, a.S.At(n), tile.F32(0)) // ERR host state carried between iterations; use tile.NewVar: operand 2 of Store is 0 the first time, 1 the second
			n++
		}
	}},
	{name: "append in Go", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		var all []tile.Reg[tile.F32]
		for i := range tile.Range(k, 0, 4, 1) {
			x := tile.LoadScalar(k, a.S.At(i))
			for _, y := range all {
				x = x.Add(y) // ERR host state carried between iterations; use tile.NewVar: Add is recorded the second time only
			}
			all = append(all, x)
		}
	}},
	{name: "first iteration in Go", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		first := true
		for i := range tile.Range(k, 0, 4, 1) {
			if first {
				tile.Store(k, a.S.At(i), tile.F32(0)) // ERR host state carried between iterations; use tile.NewVar: Store is recorded the first time only
			}
			first = false
		}
	}},
	{name: "state of an inner loop", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		n := 0
		for range tile.Range(k, 0, 4, 1) {
			for range tile.Range(k, 0, 4, 1) {
				tile.Store(k, a.S.At(n), tile.F32(0)) // ERR host state carried between iterations; use tile.NewVar: operand 2 of Store is 0 the first time, 1 the second
				n++
			}
		}
	}},
	{name: "state in While", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		n := 0
		tile.While(k, func() tile.Reg[tile.Bool] { return a.Eps.Reg().Gt(tile.F32(0)) }, func() {
			n++
			tile.Store(k, a.S.At(n), tile.F32(0)) // ERR host state carried between iterations; use tile.NewVar: operand 2 of Store is 1 the first time, 2 the second
		})
	}},
	{name: "a shape that changes", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		size := 128
		for range tile.Range(k, 0, 4, 1) {
			tile.Load(k, a.V, k.Block().Striped(size, 4)) // ERR host state carried between iterations; use tile.NewVar: Load makes a tile of 128 the first time, of 256 the second
			size *= 2
		}
	}},
	{name: "attributes that change", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		hint, size, axis := tile.Streaming, 4, 0
		x := tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32))
		for range tile.Range(k, 0, 4, 1) {
			tile.LoadScalar(k, a.S, hint) // ERR host state carried between iterations; use tile.NewVar: Load is not the same op the second time: S hint cs, then S hint cg
			hint = tile.L2Only
		}
		for range tile.Range(k, 0, 4, 1) {
			tile.Store(k, tile.NewShared[tile.F32](k, size), a.Eps) // ERR host state carried between iterations; use tile.NewVar: Store is not the same op the second time: the shared tile of @+0 f32[4], then the shared tile of @+0 f32[5]
			size++
		}
		for range tile.Range(k, 0, 4, 1) {
			tile.Coord(x.Span(), axis) // ERR host state carried between iterations; use tile.NewVar: Coord is not the same op the second time: axis 0, then axis 1
			axis = 1
		}
	}},
	{name: "an extent that changes", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		n := 8
		for range tile.Range(k, 0, 4, 1) {
			tile.Load(k, a.S, k.Block().Striped(128, 1).Clip(n)) // ERR host state carried between iterations; use tile.NewVar: axis 0 of Load ends at 8 the first time, at 9 the second
			n++
		}
	}},
	{name: "a condition that changes", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		c := a.Eps.Reg().Gt(tile.F32(0))
		d := c.Not()
		tile.While(k, func() tile.Reg[tile.Bool] { c, d = d, c; return c }, func() {}) // ERR host state carried between iterations; use tile.NewVar: the condition is another value the second time
	}},
	{name: "a branch that changes", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		c := a.Eps.Reg().Gt(tile.F32(0))
		els := []func(){func() {}}
		for range tile.Range(k, 0, 4, 1) {
			tile.If(k, c, func() {}, els...) // ERR host state carried between iterations; use tile.NewVar: If has no else the second time
			els = nil
		}
	}},
	{name: "fails the second time", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		axis := 0
		x := tile.Load(k, a.S, k.Block().Striped(128, 4))
		for range tile.Range(k, 0, 4, 1) {
			x.Span().Axis(axis) // ERR host state carried between iterations; use tile.NewVar: only the second recording fails: Axis(1) of a span of rank 1; axes count from 0
			axis++
		}
	}},
	{name: "break", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) { // ERR break, return, goto or an outer continue leaves the body of this Range: the body is recorded, not run; use tile.If around what follows, or tile.While
			break
		}
	}},
	{name: "break the second time", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		n := 0
		for range tile.Range(k, 0, 4, 1) { // ERR host state carried between iterations; use tile.NewVar: the body leaves this Range early when it is recorded again
			if n++; n == 2 {
				break
			}
		}
	}},
	{name: "return", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Persistent(k, a.X.Dim(0)) {
			for range tile.Range(k, 0, 4, 1) { // ERR break, return, goto or an outer continue leaves the body of this Range: the body is recorded, not run; use tile.If around what follows, or tile.While
				return
			}
		}
	}},
	{name: "outer continue", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
	outer:
		for range tile.Persistent(k, a.X.Dim(0)) {
			for range tile.Range(k, 0, 4, 1) { // ERR break, return, goto or an outer continue leaves the body of this Range: the body is recorded, not run; use tile.If around what follows, or tile.While
				continue outer
			}
		}
	}},
	{name: "steps", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 4, 0, -1) { // ERR Range with step -1: steps are positive; count up and compute the index
		}
		for range tile.Persistent(k, 4, tile.Step(0)) { // ERR Persistent with step 0: steps are positive; without tile.Step it is 1
		}
	}},
	{name: "persistent loops", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			for range tile.Persistent(k, 4) { // ERR Persistent stands inside the Range at @-1: it shares out the grid, so it stands at the top level; use Range here
			}
		}
		for range tile.Persistent(k, tile.AsIndex(tile.LoadScalar(k, a.I)), tile.Blocks(a.S.Dim(0))) { // ERR Blocks of what is no run-time dimension itself; give one such as a.Out.Dim(0) // ERR the bound of Persistent is not known at launch; use dimensions, scalars and arithmetic on them, from which the grid is sized
		}
	}},
	{name: "two persistent loops", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Persistent(k, 4) {
		}
		for range tile.Persistent(k, 4) { // ERR a second Persistent (the first is at @-2): a launch has one grid; join the loops, or define two kernels
		}
	}},
	{name: "missing functions", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		c := a.Eps.Reg().Gt(tile.F32(0))
		tile.If(k, c, nil)                       // ERR If with a nil function; give an empty one
		tile.If(k, c, func() {}, func() {}, nil) // ERR If with 2 else functions: it has one; nest another If
		tile.While(k, nil, func() {})            // ERR While with a nil function; give both
	}},
	{name: "panic", rule: tile.ErrPanic, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			panic(errAuthor) // ERR panic: no such size
		}
	}},
	{name: "undeclared variable", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.Var[tile.F32]{}.Set(tile.F32(1)) // ERR Set of a variable that was never declared: it is the zero value of its type; declare it with tile.NewVar
	}},
	{name: "nil pointer", rule: tile.ErrPanic, f: func(k *tile.Builder, a wrongArgs) {
		var c *wrongArgs
		tile.LoadScalar(k, c.S) // ERR panic: runtime error: invalid memory address or nil pointer dereference
	}},
	{name: "recovered panic in a loop", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		func() {
			defer func() { _ = recover() }()
			for range tile.Range(k, 0, 4, 1) { // ERR the body of this Range was begun and not ended: a panic in it was recovered, or iter.Pull stopped early; leave the panic to Define, and write loops with for range
				panic(errAuthor)
			}
		}()
		tile.Store(k, a.V, tile.F32(1)) // would be part of the loop
	}},
	{name: "recovered panic in a branch", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		defer func() { _ = recover() }()
		tile.If(k, a.Eps.Reg().Gt(tile.F32(0)), func() { panic(errAuthor) }) // ERR the body of this If was begun and not ended: a panic in it was recovered, or iter.Pull stopped early; leave the panic to Define, and write loops with for range
	}},
	{name: "nil option of a loop", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Persistent(k, a.X.Dim(0), nil) { // ERR option 1 of Persistent is nil: drop it
		}
	}},
}
