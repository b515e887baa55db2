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
	scalar8 struct {
		X tile.Global[tile.E4M3] `tile:"n"`
		S tile.Scalar[tile.E4M3]
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

// spoiled has a mistake in each field but the last.
type spoiled struct {
	A tile.Global[tile.F32]
	B tile.Global[tile.F32] `tile:"rows,0"`
	C tile.Scalar[tile.F32] `tile:"n"`
	d tile.Global[tile.F32] `tile:"n"`
	e tile.Scalar[tile.F32]
	F struct {
		X tile.Global[tile.F32]
		Y [2]tile.Scalar[tile.I32]
	}
	Z tile.Global[tile.F32] `tile:"n"`
}

// useAll uses spoiled fields in every way that a right one may be used: none of it is a mistake of its own.
func useAll(k *tile.Builder, a spoiled) {
	span := k.Block().Striped(128, 4)
	for i, g := range []tile.Global[tile.F32]{a.A, a.B, a.d, a.F.X} {
		g.Rank()
		for row := range tile.Range(k, 0, g.Dim(i), 1) {
			x := tile.Load(k, g.Row(row), span.Clip(g.Dim(1)))
			tile.Store(k, g.At(row, i), x.Add(a.C).Add(x.Fill(a.e)).Sum())
			v := tile.NewVar(k, x.Mul(a.e))
			v.Set(v.Get().Sub(tile.Full(k, x.Span(), a.C)))
			tile.Store(k, a.Z, v.Get())
		}
		tile.AtomicAdd(k, g, tile.LoadScalar(k, g))
		tile.Store(k, g, tile.Load(k, a.Z, span))
		tile.If(k, g.Dim(0).GtInt(3), func() { tile.Store(k, a.Z, g.Dim(0).Float()) })
	}
	for range tile.Persistent(k, a.A.Dim(0), tile.Blocks(a.B.Dim(0))) {
		tile.Store(k, a.Z.At(tile.AsIndex(a.F.Y[1].Reg())), a.e.Reg().Exp())
	}
}

var wrongPorts = []wrong{
	{name: "no struct", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, int) {}) // ERR Args is int: use a struct of tile.Global and tile.Scalar fields
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
		_, err := tile.Define("wrong", func(*tile.Builder, untagged) {}) // ERR field X of untagged: no shape; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided"
		return err
	}},
	{name: "tagged scalar", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, taggedScalar) {}) // ERR scalar Eps of taggedScalar has the shape tag "n"; drop it
		return err
	}},
	{name: "bad tags", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, badTags) {}) // ERR field A of badTags: dimension "" in tag "rows,,n" is no size and no symbol; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field B of badTags: size 0 in tag "rows,0": give a size of at least 1 // ERR field C of badTags: dimension "rows n" in tag "rows n" is no size and no symbol; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field D of badTags: no shape; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field E of badTags: dimension "int" in tag "int" is no size and no symbol; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided"
		return err
	}},
	{name: "one mistake once", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", useAll) // ERR field A of spoiled: no shape; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field B of spoiled: size 0 in tag "rows,0": give a size of at least 1 // ERR scalar C of spoiled has the shape tag "n"; drop it // ERR field d of spoiled is not exported: the wrapper needs its name; export it // ERR field e of spoiled is not exported: the wrapper needs its name; export it // ERR field F of spoiled is a struct { X tile.Global[github.com/gotile/gotile/dtype.Float32]; Y [2]tile.Scalar[github.com/gotile/gotile/dtype.Int32] }: use tile.Global[T] or tile.Scalar[T]
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
	{name: "a kernel called main", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("main", empty) // ERR kernel name "main" is taken by CUDA, C or the generated code; use another
		return err
	}},
	{name: "keyword", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("double", empty) // ERR kernel name "double" is a keyword of C++ or a type of the generated code; use another
		return err
	}},
	{name: "a kernel named like a type of the prelude", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("u32", empty) // ERR kernel name "u32" is a keyword of C++ or a type of the generated code; use another
		return err
	}},
	{name: "a kernel named like a function of the prelude", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("load_f32x4_cs", empty) // ERR kernel name "load_f32x4_cs" is taken by CUDA, C or the generated code; use another
		return err
	}},
	{name: "a kernel called _", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("_", empty) // ERR kernel name "_" is taken by CUDA, C or the generated code; use another
		return err
	}},
	{name: "names that members of a struct cannot have", rule: tile.ErrPort, def: func() error {
		type args struct {
			Ünit     tile.Global[tile.F32] `tile:"n"`
			X        tile.Global[tile.F32] `tile:"NULL"`
			Y        tile.Global[tile.F32] `tile:"u32"`
			Padding0 tile.Scalar[tile.U32]
			U32      tile.Scalar[tile.U32]
		}
		_, err := tile.Define("wrong", func(*tile.Builder, args) {}) // ERR field Ünit of args has letters that C does not; use A to Z, digits and underscores // ERR field X of args: dimension "NULL" in tag "NULL" is no size and no symbol; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided" // ERR field Y of args: dimension "u32" in tag "u32" is no size and no symbol; give a symbol or a size for each dimension, such as tile:"rows,n" or tile:"rows,128 strided"
		return err
	}},
	{name: "no arguments", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, struct{}) {}) // ERR Args has no fields: a kernel without arguments has nothing to work on; add a tile.Global
		return err
	}},
	{name: "zero byte in Doc", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", empty, tile.Doc("a\x00b")) // ERR the text of Doc has a zero byte, which ends a C source; drop it
		return err
	}},
}
