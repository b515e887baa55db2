package tile

import "github.com/gotile/gotile/internal/ir"

// MMAOption is an option of MMA: a Form, an Accuracy, Overwrite or MMASync.
type MMAOption interface{ mmaOption(*mmaOptions) }

type mmaOptions struct {
	form            ir.Form
	overwrite, sync bool
	terms           int // of an Accuracy
}

// Form says which operands of MMA are given transposed.
type Form uint8

// The forms, AB without an option.
const (
	AB   Form = Form(ir.AB)   // A of m x k, B of k x n
	ABt  Form = Form(ir.ABt)  // B of n x k
	AtB  Form = Form(ir.AtB)  // A of k x m
	AtBt Form = Form(ir.AtBt) // both
)

func (f Form) mmaOption(o *mmaOptions) { o.form = ir.Form(f) }

// String is the form's name.
func (f Form) String() string { return ir.Form(f).String() }

type overwrite struct{}

func (overwrite) mmaOption(o *mmaOptions) { o.overwrite = true }

// Overwrite makes MMA set the accumulator to the product instead of adding.
var Overwrite MMAOption = overwrite{}

type mmaSync struct{}

func (mmaSync) mmaOption(o *mmaOptions) { o.sync = true }

// MMASync makes MMA of a warpgroup use mma.sync also where the target has wgmma: for operands that wgmma cannot have.
var MMASync MMAOption = mmaSync{}

// WaitMMA waits until at most n of the newest MMAs of the scope, 0 to 7, are in flight. Nothing asks for it: what uses the
// accumulator or the operands of an MMA waits by itself. It is for what the planner does not see, such as a signal that a
// tile is read, or for ending one MMA before the next begins. By mma.sync nothing is in flight.
func WaitMMA(s TensorScope, n int) {
	b, scope := scopeOf(s)
	b.WaitMMA(scope, n)
}

// MatrixOperand is an operand of MMA: a Reg, a Shared tile of rank 2, or a part of one.
type MatrixOperand[T Elem] interface {
	matrix(T) (*ir.Builder, *ir.MMAOperand)
}

// MMA adds a product of matrices to an accumulator by tensor cores: acc += a b, of m x n, m x k and k x n, for the warp or
// the warpgroup that the accumulator belongs to. Products are exact and added up in the accumulator's type, in an order
// that the hardware chooses: f32 for floats, f16 for f16 too, and i32, which wraps, for i8. k is a multiple of 8 of 16-bit
// types, of 16 of i8 and of 32 of 8-bit floats.
//
// 8-bit types are multiplied by mma.sync, E4M3 and E5M2 on sm_89 and later. Tensor cores take them along k only: an operand
// in shared memory whose rows run along m or n is read byte by byte, and one beside an operand in registers by two bytes.
// gotile check says so. A tile that is read often is better transposed once: Load, Redistribute of its Transpose, Store.
//
// Operands of f32 are multiplied as tf32, and the call names an Accuracy, TF32 or TF32x3. Matrix loads are of 16 bits: a
// warp loads operands in shared memory as fragments, by plain loads. A warpgroup multiplies f32 where the target has wgmma
// alone, which takes A in registers and B in shared memory with rows along k, and does not round: A, from wherever it is,
// is rounded in registers, and B, in whatever form and with whatever swizzle, through a copy of n x k in shared memory, of
// TF32x3 two; MMAs of the same sides have one place for it. TF32Cut takes operands as they lie, without a copy.
//
// An operand in shared memory is a tile with any swizzle, whole or a part of it. One in registers has, as it is
// multiplied, the span Fragment(m, k), and B Fragment(n, k).Transpose(); given transposed, the Transpose of that. Its
// elements past its extents count as 0. A warpgroup's B is in shared memory.
//
//	acc := tile.NewAcc[tile.F32](warp, 64, 64)
//	tile.MMA(acc, q, k, tile.ABt) // scores
//	p := tile.Cast[tile.BF16](acc.Get())
//	tile.MMA(out, p, v) // an accumulator in 16 bits is an operand as it is
//
// A warp multiplies by mma.sync. A warpgroup multiplies by wgmma where the target has it (sm_90a); elsewhere by mma.sync,
// 16-bit types alone, each warp its own rows. wgmma asks more of its operands: tiles in shared memory have a swizzle of 32, 64 or 128
// bytes, parts of them begin at a multiple of 8 rows and, along rows, of a panel (a tile's columns within its swizzle) or,
// where rows run along k, of 16 elements; n is at most 256, and the role begins at a whole warpgroup. What does not fit is
// an error; the option MMASync takes mma.sync on every target.
//
// wgmma is asynchronous, and nothing has to be done about it: the accumulator, an operand A in registers and the tiles in
// shared memory are waited for where they are next used, so that an MMA runs beside whatever stands between. In a loop
// over a pipeline it runs on into the next iteration: Release of a slot that an MMA reads gives back the slot of the
// iteration before, if the pipeline has three stages or more, and drains otherwise. Two MMAs into two accumulators
// overlap; WaitMMA ends them sooner.
//
//	k.Roles(tile.Producer(40, ...), tile.Consumers(2, 232, func(c tile.Warpgroup) { // 128 x 256, 64 rows a warpgroup
//		acc := tile.NewAcc[tile.F32](c, 64, 256)
//		for range tile.Range(c, 0, depth, 64) {
//			s := pipe.Wait(c)
//			tile.MMA(acc, s.A.Rows(c.Index().Scale(64), 64), s.B)
//			s.Release(c)
//		}
//		tile.Store(c, a.C.At(row, col), tile.Cast[tile.BF16](acc.Get()))
//	}))
func MMA[C Accumulator, T Number](acc Var[C], a, b MatrixOperand[T], opts ...MMAOption) {
	k := acc.b
	if k == nil {
		ir.Fail(ErrScope, "MMA into an accumulator that was never declared: it is the zero value of its type; declare it with tile.NewAcc")
	}
	var o mmaOptions
	for _, opt := range opts {
		if opt == nil {
			k.Errorf(ir.MMA, ErrTarget, "MMA with a nil option; drop it")
			return
		}
		opt.mmaOption(&o)
	}
	if o.form > ir.AtBt {
		k.Errorf(ir.MMA, ErrShape, "MMA of %v, which is none of the four; use tile.AB, ABt, AtB or AtBt", o.form)
		return
	}
	x, y := matrixOperand(k, "A", a), matrixOperand(k, "B", b)
	switch {
	case x == nil || y == nil:
	case o.terms > 0 && o.sync:
		k.Errorf(ir.MMA, ErrTarget, "MMA of f32 with tile.MMASync: the scope says which instruction multiplies, wgmma for a warpgroup, mma.sync for a warp; drop it")
	case o.terms > 0:
		k.MMATF32(acc.v, o.form, o.overwrite, o.terms, *x, *y)
	default:
		k.MMA(acc.v, o.form, o.overwrite, o.sync, *x, *y)
	}
}

func matrixOperand[T Number](b *ir.Builder, name string, x MatrixOperand[T]) *ir.MMAOperand {
	if x == nil {
		b.Errorf(ir.MMA, ErrScope, "operand %s of MMA is nil; give a Reg, a Shared tile or a part of one", name)
		return nil
	}
	var t T
	xb, o := x.matrix(t)
	switch {
	case xb == nil:
		b.Errorf(ir.MMA, ErrScope, "operand %s of MMA was never assigned: it is the zero value of its type; assign it first", name)
		return nil
	case xb != b:
		b.Errorf(ir.MMA, ErrScope, "operand %s of MMA belongs to kernel %s: values end with their Define; make it in this one", name, xb.Kernel.Name)
		return nil
	}
	return o
}

func (x Reg[T]) matrix(T) (*ir.Builder, *ir.MMAOperand) {
	if x.v == nil {
		return x.b, nil
	}
	if x.v.Type.Span == nil {
		x.b.Errorf(ir.MMA, ErrShape, "an operand of MMA is one value; give a matrix")
		return x.b, nil
	}
	return x.b, &ir.MMAOperand{Reg: x.v}
}

func (s Shared[T]) matrix(T) (*ir.Builder, *ir.MMAOperand) {
	if s.s == nil {
		return s.b, nil
	}
	var t T
	v, own := s.view(t), 0
	if s.slot != nil {
		own = 1
	}
	shape := s.s.Shape[own:]
	if p := s.s.Pipe; p != nil && s.slot == nil {
		s.b.Errorf(ir.MMA, ErrScope, "an operand of MMA is the shared tile of %s, which the pipeline of %s hands over slot by slot; take it from the slot that Wait gives", s.s.Pos, p.Pos)
		return s.b, nil
	}
	if len(shape) != 2 {
		s.b.Errorf(ir.MMA, ErrShape, "an operand of MMA is the shared tile of %s, which has %s; give a part of it: At(...).Matrix(rows, cols)", s.s.Pos, ir.Count(len(shape), "dimension"))
		return s.b, nil
	}
	return s.b, &ir.MMAOperand{Place: *v.p, Rows: shape[0], Cols: shape[1]}
}

// MatrixView is a part of a shared tile as an operand of MMA.
type MatrixView[T Number] struct {
	_          [0]func()
	v          View[T]
	rows, cols int
}

// Matrix is the part of rows x cols, along the last two dimensions of a shared tile, from the view's element on:
// s.At(row, col).Matrix(64, 16). It lies inside the tile for every offset; columns are multiples of 16 bytes.
func (v View[T]) Matrix(rows, cols int) MatrixView[T] {
	return MatrixView[T]{v: v, rows: rows, cols: cols}
}

// Rows are n rows of a tile of rank 2, from one on, an int or an Index, as an operand of MMA.
func (s Shared[T]) Rows(first any, n int) MatrixView[T] {
	if s.s == nil {
		return MatrixView[T]{v: View[T]{b: s.b}}
	}
	return s.At(first).Matrix(n, s.s.Shape[len(s.s.Shape)-1])
}

func (m MatrixView[T]) matrix(T) (*ir.Builder, *ir.MMAOperand) {
	b := m.v.b
	if m.v.p == nil {
		return b, nil
	}
	if m.rows < 1 || m.cols < 1 {
		b.Errorf(ir.MMA, ErrShape, "an operand of MMA of %dx%d; give sides of at least 1", m.rows, m.cols)
		return b, nil
	}
	if t := m.v.p.Shared; t != nil && len(t.Shape) < 2 {
		b.Errorf(ir.MMA, ErrShape, "an operand of MMA is a Matrix of the shared tile of %s, which has 1 dimension: it is along the last two; make a tile of rows x columns", t.Pos)
		return b, nil
	}
	if m.v.p.Shared == nil {
		b.Errorf(ir.MMA, ErrLayout, "an operand of MMA is in global memory: tensor cores read shared memory and registers; copy it to a shared tile, or load it with a Fragment")
		return b, nil
	}
	return b, &ir.MMAOperand{Place: *m.v.p, Rows: m.rows, Cols: m.cols}
}
