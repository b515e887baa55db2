// Package thr is thread IR: what one thread executes, one to one what codegen/cuda prints and what runtime/sim runs
// over 32 lanes. Statements are structured; expressions nest; addresses are explicit.
//
// Control flow is warp-uniform: For bounds and If conditions have the same value in every lane of a warp. Divergence
// exists only as the predicate of one statement. Register arrays are indexed by constants and by variables of
// unrolled loops only. 16-bit floats exist in memory and, in pairs, in u32 registers (the lower half is the element
// of lower index); arithmetic on them is f32 with explicit packing.
package thr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// Type is the type of a local or an expression.
type Type struct {
	DT    dtype.Type // of a value: f32, i32, u32, i64, bool; of a pointer: what it points to, 16-bit types too
	Ptr   bool       // a pointer to global memory
	Const bool       // a pointer through which nothing is written
}

// Val is the type of a value.
func Val(t dtype.Type) Type { return Type{DT: t} }

// Local is a variable or, with Len > 0, a register array of one thread. Names are unique in a kernel, induction
// variables of loops excepted.
type Local struct {
	Name string
	Type Type
	Len  int
}

// ArgKind says what a field of the argument struct is.
type ArgKind uint8

// The kinds of argument fields, in the order in which they stand in the struct: 8-byte fields first.
const (
	ArgPointer ArgKind = iota // base address of Arg
	ArgStride                 // i64 stride of dimension Axis of Arg, in elements
	ArgScalar                 // Arg's value; 16-bit floats as their 16 bits, in a field of 4 bytes
	ArgDim                    // i32, Symbol's value
	ArgMap                    // Map, a tensor map of Arg: MapBytes at a multiple of MapAlign; first in the struct
)

// A tensor map is a CUtensorMap.
const (
	MapBytes = 128
	MapAlign = 64
)

// TensorMap says what the tensor map of an argument describes beside the tensor itself.
type TensorMap struct {
	Box     []int // elements that one copy moves, by dimension of the argument
	Swizzle int   // bytes of the rows within which 16-byte chunks are permuted: 32, 64 or 128; 0: none
	// Optional: the launch makes it if the tensor allows it, which the kernel asks before it uses the map; otherwise it is
	// all zeros.
	Optional bool
}

// Bytes is the size of the box in elements of a type.
func (m *TensorMap) Bytes(t dtype.Type) int {
	n := t.Size()
	for _, side := range m.Box {
		n *= side
	}
	return n
}

// Promotion is how many bytes the L2 cache fetches at once for a box of elements of a type: the most, of 64, 128 and 256,
// that a row of the box fills, so that nothing is fetched in vain; 0: what the chip does by itself.
func (m *TensorMap) Promotion(t dtype.Type) int {
	for _, n := range []int{256, 128, 64} {
		if m.Box[len(m.Box)-1]*t.Size() >= n {
			return n
		}
	}
	return 0
}

// Arg is a field of the kernel's one parameter, a C struct.
type Arg struct {
	Name   string // C name: x, x_stride0, eps, rows
	Kind   ArgKind
	Type   Type
	Offset int     // bytes
	Arg    *ir.Arg // nil for dims
	Axis   int     // of a stride
	Symbol *ir.Symbol
	Map    *TensorMap
}

// Bytes is the size of the field.
func (a *Arg) Bytes() int {
	switch {
	case a.Kind == ArgMap:
		return MapBytes
	case a.Kind == ArgPointer || a.Kind == ArgStride:
		return 8
	}
	return max(4, a.Type.DT.Size())
}

// Align is the alignment of the field.
func (a *Arg) Align() int {
	if a.Kind == ArgMap {
		return MapAlign
	}
	return a.Bytes()
}

// SharedBuf is a range of the block's shared memory.
type SharedBuf struct {
	Name   string
	Offset int
	Bytes  int
	DT     dtype.Type
	Note   string // what for, for the table in the .cu
	Manual bool   // its author orders the accesses; the planner places no barriers for it
	Remote bool   // mbarriers at which other blocks of the cluster arrive or complete bytes
	Slots  bool   // mbarriers of a pipeline: the kernel ends between two phases of each
	Filled bool   // and has waited for all phases: those of slots that are filled
	Align  int    // of Offset; 0: 16
	// The buffer lives from one stretch of the text to another: barriers of all threads part them, and the first is 0.
	First, Last int
}

// Overlaps reports whether another buffer has some of the same bytes.
func (b *SharedBuf) Overlaps(o *SharedBuf) bool {
	return b != o && b.Offset < o.Offset+o.Bytes && o.Offset < b.Offset+b.Bytes
}

// Role is a part of the block's warps with work of its own: Parts groups of Warps warps, from warp First on.
type Role struct {
	First, Warps, Parts int
	Barrier             int // the named barrier of its first group; 0: its parts are warps
}

// Grid says how many blocks a launch has; in a kernel with clusters, how many clusters.
type Grid struct {
	N      *ir.Value  // the loop's bound, i32 of leaves (dims, constants, scalars) and pure ops; nil: one block
	Step   int        // rows an iteration
	Blocks *ir.Symbol // exactly this many blocks
	Each   bool       // one block an iteration; otherwise no more than are resident at once
}

// Kernel is a lowered kernel.
type Kernel struct {
	Name        string
	IR          *ir.Kernel
	Target      string // what it was lowered for
	Lowering    string // name of the lowering set; kernels lowered alike have one text
	Threads     int
	Cluster     int  // blocks of a cluster; 0: none
	Waits       bool // for the kernels before it: it may begin before they are over
	Triggers    bool // it lets the next kernel begin before it is over
	MinBlocks   int
	Args        []*Arg
	ArgBytes    int // a multiple of 8; of MapAlign where there are tensor maps
	Shared      []*SharedBuf
	SharedBytes int
	Grid        Grid
	Whole       *Whole // what a launch sees to; nil: nothing
	Body        []Stmt
}

// Whole is what tile.WholeVectors asks of a launch.
type Whole struct {
	Aligned  []*ir.Arg          // addresses and all strides but the last are multiples of 16 bytes
	Multiple map[*ir.Symbol]int // dimensions are multiples of so many
}

// Elems is what a dimension is a multiple of: 1 where nothing is asked.
func (w *Whole) Elems(s *ir.Symbol) int {
	if w == nil {
		return 1
	}
	return max(w.Multiple[s], 1)
}

// Needs reports whether an argument's address and strides are asked for.
func (w *Whole) Needs(a *ir.Arg) bool { return w != nil && slices.Contains(w.Aligned, a) }

// WholeText says what a launch sees to, in the order of arguments and symbols: "x, y on 16 bytes; n a multiple of 8". It
// is empty where that is nothing.
func (k *Kernel) WholeText() string {
	if k.Whole == nil {
		return ""
	}
	var args, dims []string
	for _, a := range k.IR.Args {
		if k.Whole.Needs(a) {
			args = append(args, a.Name)
		}
	}
	for _, s := range k.IR.Symbols {
		if n := k.Whole.Elems(s); n > 1 {
			dims = append(dims, fmt.Sprintf("%s a multiple of %d", s.Name, n))
		}
	}
	var parts []string
	if args != nil {
		parts = append(parts, strings.Join(args, ", ")+" on 16 bytes")
	}
	if dims != nil {
		parts = append(parts, strings.Join(dims, ", "))
	}
	return strings.Join(parts, "; ")
}

// Expr is an expression without effects.
type Expr interface{ ExprType() Type }

type (
	// Const is a literal: the bit pattern of its type.
	Const struct {
		DT   dtype.Type
		Bits uint64
	}
	// ArgRef reads a field of the argument struct.
	ArgRef struct{ Arg *Arg }
	// Ref reads a local; Index selects an element of a register array.
	Ref struct {
		Local *Local
		Index Expr // nil for scalars
	}
	// Apply is an elementwise op of the tile table on operands of type T (f32, i32, u32, i64, bool) with result
	// type R. For Cast and Bitcast T is the operand's type; for Select it is the type of the branches.
	Apply struct {
		Op   ir.Op
		T, R dtype.Type
		Args []Expr
	}
	// Call is a pure built-in of the thread table.
	Call struct {
		Fn   Fn
		R    dtype.Type
		Args []Expr
	}
	// SharedAddr is a buffer's byte offset in shared memory, a u32 constant that is known once the plan is complete.
	SharedAddr struct{ Buf *SharedBuf }
	// PtrAdd is a pointer moved by Index elements (i64).
	PtrAdd struct{ Base, Index Expr }
)

func (e Const) ExprType() Type      { return Val(e.DT) }
func (e ArgRef) ExprType() Type     { return e.Arg.Type }
func (e Ref) ExprType() Type        { return e.Local.Type }
func (e Apply) ExprType() Type      { return Val(e.R) }
func (e Call) ExprType() Type       { return Val(e.R) }
func (e SharedAddr) ExprType() Type { return Val(dtype.U32) }
func (e PtrAdd) ExprType() Type     { return e.Base.ExprType() }

// Space is a memory space.
type Space uint8

// The spaces.
const (
	Global Space = iota
	Shared
)

// Stmt is a statement. Each carries the position of the tile op it comes from.
type Stmt interface {
	Source() ir.Pos
	Place() At
}

// At is embedded in every statement: where it comes from.
type At struct {
	Pos ir.Pos
	Op  int // ID of the tile op
}

// Source is the user's position.
func (a At) Source() ir.Pos { return a.Pos }

// Place is the user's position with the op.
func (a At) Place() At { return a }

type (
	// Comment is a line of text.
	Comment struct {
		At
		Text string
	}
	// Decl declares a local; Init may be nil (always for arrays).
	Decl struct {
		At
		Local *Local
		Init  Expr
	}
	// Assign sets a local or an array element in the lanes where Pred (nil: all) holds.
	Assign struct {
		At
		Dst  Ref
		Src  Expr
		Pred Expr
	}
	// For counts Var (i32) from Lo up to but not including Hi. Bounds are warp-uniform and read once, before the first
	// iteration. Step is positive. Unroll: all bounds are constants or variables of enclosing unrolled loops.
	For struct {
		At
		Var          *Local
		Lo, Hi, Step Expr
		Unroll       bool
		Scope        ir.Scope // who agrees on the bounds; NoScope: the whole block
		Body         []Stmt
	}
	// While evaluates Head, then leaves when Cond is false, then runs Body.
	While struct {
		At
		Head  []Stmt
		Cond  Expr // warp-uniform
		Scope ir.Scope
		Body  []Stmt
	}
	// If branches on a warp-uniform condition.
	If struct {
		At
		Cond       Expr
		Scope      ir.Scope // who agrees on the condition; NoScope: the whole block
		Then, Else []Stmt
		Roles      [2]*Role // whose Then and Else are; nil: of whoever comes
	}
	// Load reads Bytes (1, 2, 4, 8 or 16) from Addr into consecutive registers of Dst from At on: one for up to 4 bytes
	// (zero-extended), Bytes/4 of 32-bit type, or Bytes/8 of 64-bit type. Lanes where Pred is false get zeros.
	// Addr is a pointer (Global) or a u32 byte offset into the block's shared memory (Shared); it is Bytes-aligned.
	Load struct {
		At
		Space Space
		Dst   *Local
		Index Expr // first register; nil for scalars
		Bytes int
		Addr  Expr
		Pred  Expr
		Cache ir.Cache
		Order ir.Order   // Global: of one register, at gpu scope
		Buf   *SharedBuf // Shared: the buffer, and
		Rank  Expr       // i32: the block of the cluster whose memory it is, nil: the block's own, and
		Scope ir.Scope   // who accesses it together, for synchronisation
	}
	// Store writes Bytes from consecutive registers of Src, or the value of Value, to Addr in the lanes where Pred
	// holds. 16-bit stores take the low half of a 32-bit value.
	Store struct {
		At
		Space Space
		Src   *Local // and Index, or
		Index Expr
		Value Expr
		Bytes int
		Addr  Expr
		Pred  Expr
		Cache ir.Cache
		Order ir.Order   // Global: of one register, at gpu scope
		Buf   *SharedBuf // Shared: the buffer, and
		Rank  Expr       // i32: the block of the cluster whose memory it is, nil: the block's own, and
		Scope ir.Scope   // who accesses it together, for synchronisation
	}
	// Do is a built-in with effects; Pred selects lanes.
	Do struct {
		At
		Fn    Fn
		Dst   *Ref // nil where there is no result
		DT    dtype.Type
		Args  []Expr
		Pred  Expr
		Order ir.Order   // of an atomic, at gpu scope
		Buf   *SharedBuf // of an asynchronous copy: the tile in shared memory, and
		Scope ir.Scope   // who copies together, for synchronisation; of NamedSync: the group whose barrier it is
		Bar   *SharedBuf // the array of the mbarrier that Fn.Barrier names
		Map   *Arg       // of a tensor copy: its tensor map
		Frags []Frag     // of tensor cores
		BufB  *SharedBuf // of a warpgroup's multiply: the tile of B; Buf is that of A, nil where it is in registers
		Ends  []Ended    // of WGMMAWait: the tiles that are no longer read
	}
	// Asm is one inline PTX instruction on scalars.
	Asm struct {
		At
		Info *ir.AsmInfo
		Dst  Ref
		Args []Expr
	}
)

// Ended is an asynchronous read of a tile, by the statement at At, that a wait ends.
type Ended struct {
	At
	Buf   *SharedBuf
	Scope ir.Scope
}

// Frag is the registers of a local that a statement of tensor cores takes: N of them from First on, Step apart.
type Frag struct {
	Local   *Local
	First   Expr // i32; nil for a scalar
	N, Step int
}

// AllOf is a fragment of all registers of a local.
func AllOf(l *Local) Frag {
	if l.Len == 0 {
		return Frag{Local: l, N: 1, Step: 1}
	}
	return Frag{Local: l, First: Const{DT: dtype.I32}, N: l.Len, Step: 1}
}

// At is register i of the fragment.
func (f Frag) At(i int) Ref {
	switch c, ok := f.First.(Const); {
	case f.First == nil:
		return Ref{Local: f.Local}
	case ok:
		return Ref{f.Local, Const{DT: dtype.I32, Bits: c.Bits + uint64(i*f.Step)}}
	case i == 0:
		return Ref{f.Local, f.First}
	}
	return Ref{f.Local, Apply{Op: ir.Add, T: dtype.I32, R: dtype.I32, Args: []Expr{f.First, Const{DT: dtype.I32, Bits: uint64(i * f.Step)}}}}
}

// Operands is how many the statement has: those of its row and, of a tensor copy, a coordinate for each dimension of its
// map; -1 where it has a map and should not, or should and has none.
func (d Do) Operands() int {
	m := d.Map != nil && d.Map.Kind == ArgMap && d.Map.Map != nil
	switch {
	case d.Fn.Tensor() != m || d.Map != nil && !m:
		return -1
	case m:
		return Fns[d.Fn].Arity + len(d.Map.Map.Box)
	}
	return Fns[d.Fn].Arity
}
