package gemm

import "github.com/gotile/gotile/tile"

// The arguments of the kernels by form. The results have parts of products: batch * Splits of them, of which part p is of
// the product p / Splits and adds up the p % Splits th part of k. They are written in f32 to Wide, if it has
// elements, else to D, which always has some. C and WideC are added, and Bias to each row; they may have no elements.
type (
	nnArgs[T tile.Float] struct {
		A      tile.Global[T]        `tile:"batch,m,k"`
		B      tile.Global[T]        `tile:"batch,k,n"`
		Bias   tile.Global[T]        `tile:"biased"`
		C      tile.Global[T]        `tile:"c0,c1,c2"`
		D      tile.Global[T]        `tile:"d0,d1,d2"`
		WideC  tile.Global[tile.F32] `tile:"e0,e1,e2"`
		Wide   tile.Global[tile.F32] `tile:"f0,f1,f2"`
		Splits tile.Scalar[tile.I32]
	}
	ntArgs[T tile.Float] struct {
		A      tile.Global[T]        `tile:"batch,m,k"`
		B      tile.Global[T]        `tile:"batch,n,k"`
		Bias   tile.Global[T]        `tile:"biased"`
		C      tile.Global[T]        `tile:"c0,c1,c2"`
		D      tile.Global[T]        `tile:"d0,d1,d2"`
		WideC  tile.Global[tile.F32] `tile:"e0,e1,e2"`
		Wide   tile.Global[tile.F32] `tile:"f0,f1,f2"`
		Splits tile.Scalar[tile.I32]
	}
	tnArgs[T tile.Float] struct {
		A      tile.Global[T]        `tile:"batch,k,m"`
		B      tile.Global[T]        `tile:"batch,k,n"`
		Bias   tile.Global[T]        `tile:"biased"`
		C      tile.Global[T]        `tile:"c0,c1,c2"`
		D      tile.Global[T]        `tile:"d0,d1,d2"`
		WideC  tile.Global[tile.F32] `tile:"e0,e1,e2"`
		Wide   tile.Global[tile.F32] `tile:"f0,f1,f2"`
		Splits tile.Scalar[tile.I32]
	}
	ttArgs[T tile.Float] struct {
		A      tile.Global[T]        `tile:"batch,k,m"`
		B      tile.Global[T]        `tile:"batch,n,k"`
		Bias   tile.Global[T]        `tile:"biased"`
		C      tile.Global[T]        `tile:"c0,c1,c2"`
		D      tile.Global[T]        `tile:"d0,d1,d2"`
		WideC  tile.Global[tile.F32] `tile:"e0,e1,e2"`
		Wide   tile.Global[tile.F32] `tile:"f0,f1,f2"`
		Splits tile.Scalar[tile.I32]
	}

	// operands are the arguments of any form.
	operands[T tile.Float] struct {
		A      tile.Global[T]
		B      tile.Global[T]
		Bias   tile.Global[T]
		C      tile.Global[T]
		D      tile.Global[T]
		WideC  tile.Global[tile.F32]
		Wide   tile.Global[tile.F32]
		Splits tile.Scalar[tile.I32]
	}
)

// The kernels of each size have a launch of their own, so types of their own.
type (
	nnTma128Args[T tile.Float]       nnArgs[T]
	ntTma128Args[T tile.Float]       ntArgs[T]
	tnTma128Args[T tile.Float]       tnArgs[T]
	ttTma128Args[T tile.Float]       ttArgs[T]
	nnAsync128Args[T tile.Float]     nnArgs[T]
	ntAsync128Args[T tile.Float]     ntArgs[T]
	tnAsync128Args[T tile.Float]     tnArgs[T]
	ttAsync128Args[T tile.Float]     ttArgs[T]
	nnAsync64Args[T tile.Float]      nnArgs[T]
	ntAsync64Args[T tile.Float]      ntArgs[T]
	tnAsync64Args[T tile.Float]      tnArgs[T]
	ttAsync64Args[T tile.Float]      ttArgs[T]
	nnWgmma128x192Args[T tile.Float] nnArgs[T]
	ntWgmma128x192Args[T tile.Float] ntArgs[T]
	tnWgmma128x192Args[T tile.Float] tnArgs[T]
	ttWgmma128x192Args[T tile.Float] ttArgs[T]
	nnWgmma128x256Args[T tile.Float] nnArgs[T]
	ntWgmma128x256Args[T tile.Float] ntArgs[T]
	tnWgmma128x256Args[T tile.Float] tnArgs[T]
	ttWgmma128x256Args[T tile.Float] ttArgs[T]
	nnWgmma128x128Args[T tile.Float] nnArgs[T]
	ntWgmma128x128Args[T tile.Float] ntArgs[T]
	tnWgmma128x128Args[T tile.Float] tnArgs[T]
	ttWgmma128x128Args[T tile.Float] ttArgs[T]
)
