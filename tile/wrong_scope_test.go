package tile_test

import "github.com/gotile/gotile/tile"

var wrongScopes = []wrong{
	{name: "loop value after its loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var last tile.Reg[tile.F32]
		for i := range tile.Range(k, 0, 4, 1) {
			last = tile.LoadScalar(k, a.S.At(i))
		}
		tile.Store(k, a.S.At(0), last) // ERR a value made in the loop body at @-2 is used outside it: it ends with its region; declare a variable with tile.NewVar before the Range and Set it inside
	}},
	{name: "loop variable after its loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var j tile.Index
		for i := range tile.Range(k, 0, 4, 1) {
			j = i
		}
		tile.LoadScalar(k, a.S.At(j)) // ERR the loop variable made in the loop body at @-3 is used outside it: it ends with its region; declare a variable with tile.NewVar before the Range and Set it inside
	}},
	{name: "extent after its loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		span := k.Block().Striped(128, 4)
		for i := range tile.Range(k, 0, 4, 1) {
			span = span.Clip(i)
		}
		tile.Load(k, a.S, span) // ERR the loop variable made in the loop body at @-3 is used outside it: it ends with its region; declare a variable with tile.NewVar before the Range and Set it inside
	}},
	{name: "branch value after its branch", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.LoadScalar(k, a.S)
		tile.If(k, x.Gt(tile.F32(0)), func() {
			x = x.Mul(x)
		})
		tile.Store(k, a.S, x) // ERR a value made in the branch at @-2 is used outside it: it ends with its region; declare a variable with tile.NewVar before the If and Set it inside
	}},
	{name: "variable after its loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var v tile.Var[tile.F32]
		for range tile.Range(k, 0, 4, 1) {
			v = tile.NewVar(k, tile.F32(0))
		}
		v.Set(tile.F32(1)) // ERR a variable made in the loop body at @-2 is used outside it: it ends with its region; declare a variable with tile.NewVar before the Range and Set it inside
	}},
	{name: "shared tile after its loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var s tile.Shared[tile.F32]
		for range tile.Range(k, 0, 4, 1) {
			s = tile.NewShared[tile.F32](k, 128)
			tile.Store(k, s, tile.Load(k, a.S, k.Block().Striped(128, 4)))
		}
		x := tile.Load(k, s, k.Block().Striped(128, 1)) // ERR a shared tile made in the loop body at @-3 is used outside it: it ends with its region; make it before the Range
		tile.Store(k, s.At(4), x.Sum())                 // nothing more: x is spoiled
		tile.Store(k, s.At(4), a.Eps)                   // ERR a shared tile made in the loop body at @-5 is used outside it: it ends with its region; make it before the Range
	}},
	{name: "shared tile after its branch", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var s tile.Shared[tile.F32]
		tile.If(k, a.Eps.Reg().Gt(tile.F32(0)), func() {
			s = tile.NewShared[tile.F32](k, 128)
		}, func() {
			tile.LoadScalar(k, s) // ERR a shared tile made in the branch at @-2 is used outside it: it ends with its region; make it before the If
		})
		tile.LoadScalar(k, s) // ERR a shared tile made in the branch at @-4 is used outside it: it ends with its region; make it before the If
	}},
	{name: "shared tile after an inner loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			var s tile.Shared[tile.F32]
			for range tile.Range(k, 0, 4, 1) {
				s = tile.NewShared[tile.F32](k, 128)
			}
			tile.LoadScalar(k, s.At(0)) // ERR a shared tile made in the loop body at @-2 is used outside it: it ends with its region; make it before the Range
		}
	}},
	{name: "shared tile in another loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var s tile.Shared[tile.F32]
		for range tile.Range(k, 0, 4, 1) {
			s = tile.NewShared[tile.F32](k, 128)
		}
		tile.While(k, func() tile.Reg[tile.Bool] {
			return tile.LoadScalar(k, s).Gt(tile.F32(0)) // ERR a shared tile made in the loop body at @-3 is used outside it: it ends with its region; make it before the Range
		}, func() {})
	}},
	{name: "a helper's mistake", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var last tile.Reg[tile.F32]
		for i := range tile.Range(k, 0, 4, 1) {
			last = tile.LoadScalar(k, a.S.At(i))
		}
		helper(k, a, last)
	}},
	{name: "two scopes", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k.Warp(), a.S, k.Warp().Striped(128, 4))
		y := tile.Load(k, a.S, k.Block().Striped(128, 4))
		x.Add(y) // ERR operands of Add belong to the warp and to the block; load both at one scope
	}},
	{name: "a warp's value in a block's tile", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		w := k.Warp()
		y := tile.Load(k, a.S, k.Block().Striped(128, 4))
		y.Add(tile.Load(w, a.S, w.Striped(128, 4)).Sum()) // ERR Add mixes a tile of scope block with one value of scope warp, which differs among the warps; load the tile at scope warp
	}},
	{name: "span of another scope", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.S, k.Warp().Striped(128, 4)) // ERR a span of scope warp at scope block; name one scope for both
	}},
	{name: "block op in a warp's branch", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.S, k.Block().Striped(128, 4))
		tile.If(k.Warp(), k.Warp().Index().EqInt(0), func() {
			tile.Store(k, a.S.At(0), x.Sum()) // ERR Sum of scope block stands in the warp's If at @-1: the other warps do not come here; move it out, or give the If scope block
			k.Block().Sync()                  // ERR Block.Sync of scope block stands in the warp's If at @-2: the other warps do not come here; move it out, or give the If scope block
		})
	}},
	{name: "condition differs among warps", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.If(k, k.Warp().Index().EqInt(0), func() {})                // ERR the condition of If differs among the block's warps (it comes from @+0); use the warp as the scope
		tile.LoadScalar(k, a.S.At(k.Warp().Index()))                    // ERR an offset of Load differs among the block's warps (it comes from @+0); use the warp as the scope
		tile.Full(k, k.Block().Striped(128, 4), k.Warp().Index().Int()) // ERR the value of Full differs among the block's warps (it comes from @+0); use the warp as the scope
		for range tile.Range(k, 0, k.Warp().Index(), 1) {               // ERR the upper bound of Range differs among the block's warps (it comes from @+0); use the warp as the scope
		}
	}},
	{name: "block variable set by one warp", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		v := tile.NewVar(k, tile.I32(0))
		v.Set(k.Warp().Index().Int()) // ERR the value of Var.Set differs among the block's warps (it comes from @+0); use the warp as the scope
		for range tile.Range(k.Warp(), 0, 4, 1) {
			v.Set(tile.I32(1)) // ERR Var.Set of scope block stands in the warp's Range at @-1: the other warps do not come here; move it out, or give the Range scope block
		}
	}},
	{name: "a block's variable of a warp's tile", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		w := k.Warp()
		tile.NewVar(k, tile.Load(w, a.S, w.Striped2(2, 32, 1, 32).Axis(1))) // ERR a variable of scope block cannot hold a tile of scope warp; declare it at the tile's scope
	}},
	{name: "never assigned", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var x tile.Reg[tile.F32]
		var i tile.Index
		var s tile.Span
		var g tile.Global[tile.F32]
		x = x.Add(x).Exp()
		tile.Store(k, a.S, x)                                                // ERR an operand of Store was never assigned: it is the zero value of its type; assign it first
		tile.LoadScalar(k, a.S.At(i))                                        // ERR an offset of At was never assigned: it is the zero value of its type; assign it first
		tile.Load(k, a.S, s)                                                 // ERR the span was never assigned: it is the zero value of its type; assign it first
		tile.LoadScalar(k, g)                                                // ERR the buffer of Load was never assigned: give a field of the Args that Define gives to the function
		tile.Var[tile.F32]{}.Set(a.Eps)                                      // ERR the variable of Set was never assigned: it is the zero value of its type; assign it first
		tile.Full(k, k.Block().Striped(128, 4), tile.Operand[tile.F32](nil)) // ERR the value of Full is nil; give a Reg, a Scalar or a number
		a.Eps.Reg().Add(nil)                                                 // ERR an operand of Add is nil; give a Reg, a Scalar or a number
	}},
	{name: "the result of a tile's atomics", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.S, k.Block().Striped(128, 4))
		tile.AtomicAdd(k, a.S, x).Exp() // ERR an operand of Exp has no value: an atomic on a tile returns none; load the memory afterwards
	}},
	{name: "another kernel's op", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var x tile.Reg[tile.F32]
		other, err := tile.Define("other", func(k *tile.Builder, a wrongArgs) { x = tile.LoadScalar(k, a.S) })
		if err != nil {
			panic(err)
		}
		before := other.String()
		tile.Store(k, a.S, x.Exp().Add(a.Eps)) // ERR an operand of Store belongs to kernel other: values end with their Define; make it in this one
		if other.String() != before {
			panic("a kernel changed after Define")
		}
	}},
	{name: "another kernel's span", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var s tile.Span
		if _, err := tile.Define("other", func(k *tile.Builder, a wrongArgs) { s = k.Block().Striped(128, 4) }); err != nil {
			panic(err)
		}
		tile.Load(k, a.S, s)                                                  // ERR the span belongs to kernel other: spans end with their Define; make it in this one
		tile.Expand(tile.Load(k, a.S, k.Block().Striped(128, 4)).Sum(), s, 0) // ERR the span belongs to kernel other: spans end with their Define; make it in this one
	}},
	{name: "another kernel's argument", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var g tile.Global[tile.F32]
		if _, err := tile.Define("other", func(k *tile.Builder, a wrongArgs) { g = a.S }); err != nil {
			panic(err)
		}
		tile.Store(k, g, a.Eps) // ERR the buffer of Store belongs to kernel other: arguments end with their Define; use those of this one
	}},
	{name: "nil where a buffer or an operand is wanted", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.Store[tile.F32](k, nil, a.Eps)                                                                        // ERR the buffer of Store is nil; give a Global, a Shared or a view of one
		tile.PTX[tile.F32]("add.f32 %0, %1, %2;", func(in []uint64) uint64 { return in[0] }, a.Eps, tile.Any(nil)) // ERR an operand of PTX is nil; give a Reg, a Scalar or an Index
	}},
	{name: "another kernel's value", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		var x tile.Reg[tile.F32]
		if _, err := tile.Define("other", func(k *tile.Builder, a wrongArgs) { x = tile.LoadScalar(k, a.S) }); err != nil {
			panic(err)
		}
		tile.Store(k, a.S, x) // ERR an operand of Store belongs to kernel other: values end with their Define; make it in this one
	}},
}

func helper(k *tile.Builder, a wrongArgs, x tile.Reg[tile.F32]) {
	deeper(k, a, x, 12)
}

func deeper(k *tile.Builder, a wrongArgs, x tile.Reg[tile.F32], n int) {
	if n > 0 {
		deeper(k, a, x, n-1)
		return
	}
	tile.Store(k, a.S.At(0), x) // ERR a value made in the loop body at @-109 is used outside it: it ends with its region; declare a variable with tile.NewVar before the Range and Set it inside (called from @-8)
}
