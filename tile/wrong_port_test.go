package tile_test

import "github.com/gotile/gotile/tile"

type (
	unexported struct {
		X tile.Global[tile.F32] `tile:"n"`
		y tile.Global[tile.F32] `tile:"n"`
	}
	foreign struct {
		X   tile.Global[tile.F32] `tile:"n"`
		Eps float32
	}
	untagged     struct{ X tile.Global[tile.F32] }
	taggedScalar struct {
		Eps tile.Scalar[tile.F32] `tile:"n"`
	}
	badTags struct {
		A tile.Global[tile.F32] `tile:"rows,,n"`
		B tile.Global[tile.F32] `tile:"rows,0"`
		C tile.Global[tile.F32] `tile:"rows n"`
		D tile.Global[tile.F32] `tile:"strided"`
		E tile.Global[tile.F32] `tile:"int"`
	}
	clash struct {
		X tile.Global[tile.F32] `tile:"rows,n"`
		N tile.Scalar[tile.I32]
	}
)

var wrongPorts = []wrong{
	{name: "no struct", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, int) {}) // ERR Args is int: it must be a struct of tile.Global and tile.Scalar fields
		return err
	}},
	{name: "unexported field", rule: tile.ErrPort, def: func() error {
		_ = unexported{}.y
		_, err := tile.Define("wrong", func(*tile.Builder, unexported) {}) // ERR field y of unexported is not exported: the wrapper needs its name; export it
		return err
	}},
	{name: "foreign field", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, foreign) {}) // ERR field Eps of foreign is a float32: use tile.Global[T] or tile.Scalar[T]
		return err
	}},
	{name: "no tag", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, untagged) {}) // ERR field X of untagged: no shape; a shape tag lists a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided"
		return err
	}},
	{name: "tagged scalar", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, taggedScalar) {}) // ERR scalar Eps of taggedScalar has the shape tag "n"; drop it
		return err
	}},
	{name: "bad tags", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, badTags) {}) // ERR field A of badTags: dimension "" in tag "rows,,n" is no size and no symbol; a shape tag lists a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field B of badTags: size 0 in tag "rows,0": sizes are at least 1 // ERR field C of badTags: dimension "rows n" in tag "rows n" is no size and no symbol; a shape tag lists a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field D of badTags: no shape; a shape tag lists a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field E of badTags: dimension "int" in tag "int" is no size and no symbol; a shape tag lists a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided"
		return err
	}},
	{name: "one C name for two", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, clash) {}) // ERR field N and dimension n of clash are both "n" in C; rename one
		return err
	}},
	{name: "kernel name", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("rms-norm", empty) // ERR kernel name "rms-norm" is no C identifier; use letters, digits and underscores
		return err
	}},
}
