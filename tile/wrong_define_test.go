package tile_test

import "github.com/gotile/gotile/tile"

var wrongDefines = []wrong{
	{name: "nil option", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", empty, tile.Threads(64), nil) // ERR option 2 of Define is nil: drop it
		return err
	}},
	{name: "nil function", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define[wrongArgs]("wrong", nil) // ERR the function of Define is nil: give one that records the kernel
		return err
	}},
	{name: "nil scope", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(nil, a.S) // ERR the scope is nil: give the Builder, its Block() or its Warp()
	}},
	{name: "nil scope of a loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		a.V.At(tile.Index{})                 // ERR an offset of At was never assigned: it is the zero value of its type; assign it first
		for range tile.Range(nil, 0, 4, 1) { // ERR the scope is nil: give the Builder, its Block() or its Warp()
		}
	}},
	{name: "nil Builder as a scope", rule: tile.ErrScope, f: func(_ *tile.Builder, a wrongArgs) {
		var k *tile.Builder
		tile.LoadScalar(k, a.S) // ERR the Builder is nil or its zero value: use the one that Define gives to the function
	}},
	{name: "nil Builder", rule: tile.ErrScope, f: func(_ *tile.Builder, a wrongArgs) {
		var k *tile.Builder
		k.Block() // ERR the Builder is nil or its zero value: use the one that Define gives to the function
	}},
	{name: "zero Builder", rule: tile.ErrScope, f: func(*tile.Builder, wrongArgs) {
		new(tile.Builder).BlockID() // ERR the Builder is nil or its zero value: use the one that Define gives to the function
	}},
	{name: "shared tile of a nil Builder", rule: tile.ErrScope, f: func(*tile.Builder, wrongArgs) {
		tile.NewShared[tile.F32](nil, 4) // ERR the Builder is nil or its zero value: use the one that Define gives to the function
	}},
	{name: "zero Block", rule: tile.ErrScope, f: func(_ *tile.Builder, a wrongArgs) {
		tile.LoadScalar(tile.Block{}, a.S) // ERR the Block was never assigned: it is the zero value of its type; take the Builder's Block()
	}},
	{name: "span of a zero Block", rule: tile.ErrScope, f: func(*tile.Builder, wrongArgs) {
		tile.Block{}.Striped(128, 4) // ERR the Block was never assigned: it is the zero value of its type; take the Builder's Block()
	}},
	{name: "2-D span of a zero Block", rule: tile.ErrScope, f: func(*tile.Builder, wrongArgs) {
		tile.Block{}.Striped2(8, 128, 4, 32) // ERR the Block was never assigned: it is the zero value of its type; take the Builder's Block()
	}},
	{name: "barrier of a zero Block", rule: tile.ErrScope, f: func(*tile.Builder, wrongArgs) {
		tile.Block{}.Sync() // ERR the Block was never assigned: it is the zero value of its type; take the Builder's Block()
	}},
	{name: "zero Warp", rule: tile.ErrScope, f: func(_ *tile.Builder, a wrongArgs) {
		tile.Store(tile.Warp{}, a.S, a.Eps) // ERR the Warp was never assigned: it is the zero value of its type; take the Builder's Warp()
	}},
	{name: "span of a zero Warp", rule: tile.ErrScope, f: func(*tile.Builder, wrongArgs) {
		tile.Warp{}.Striped(128, 4) // ERR the Warp was never assigned: it is the zero value of its type; take the Builder's Warp()
	}},
	{name: "number of a zero Warp", rule: tile.ErrScope, f: func(*tile.Builder, wrongArgs) {
		tile.Warp{}.Index() // ERR the Warp was never assigned: it is the zero value of its type; take the Builder's Warp()
	}},
}
