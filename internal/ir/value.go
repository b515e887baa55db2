package ir

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/layout"
)

// Scope names who executes an op together.
type Scope uint8

// The scopes, narrow ones first.
const (
	NoScope Scope = iota
	ScopeWarp
	ScopeGroup // the warps of a role that work together: a warpgroup, or as many as the role says
	ScopeBlock
	ScopeCluster // the widest: what all blocks of a cluster share, and in a kernel without clusters all blocks
)

func (s Scope) String() string { return [...]string{"none", "warp", "group", "block", "cluster"}[s] }

// Parts are what a scope consists of, in messages.
func (s Scope) Parts() string {
	if s == ScopeCluster {
		return "blocks"
	}
	return "warps"
}

// Type is the type of a value.
type Type struct {
	DT   dtype.Type // Invalid where the op has no result
	Span *Span      // nil: rank 0, one value, the same in every thread of the scope
}

// Span is how a register tile is spread: a distribution over the threads of a scope, and the run-time extent of each
// axis. Lanes past the extent are masked: loads zero them, elementwise ops leave anything there, reductions take
// their identity, stores skip them.
type Span struct {
	Scope  Scope
	Dist   *layout.Dist
	Extent []*Value // by axis, i32 of rank 0; nil: the whole capacity
}

// Rank is the number of axes; a nil Span has rank 0.
func (s *Span) Rank() int {
	if s == nil {
		return 0
	}
	return s.Dist.Rank()
}

// SameShape reports whether two spans are the same distribution over the same scope; extents may differ.
func (s *Span) SameShape(t *Span) bool {
	if s == nil || t == nil {
		return s == t
	}
	return s == t || s.Scope == t.Scope && s.Dist.Equal(t.Dist)
}

// Value is an op and its result. Leaves have ID -1. A Store has no result type, but its Type.Span is the value's span
// with the extents that the store clips at.
type Value struct {
	ID      int
	Op      Op
	Type    Type
	Args    []*Value
	Attr    any
	Regions []*Region
	In      *Region // nil for leaves
	Scope   Scope   // with a result: whose threads share it (rank 0: all hold the same value); else who executes the op together
	Pos     Pos
	Name    string // a hint from the user's names: argument field, variable
}

// Region is a straight list of ops; loops and conditionals own regions.
type Region struct {
	Owner  *Value
	Parent *Region
	Ops    []*Value
	Ind    *Value // induction variable of a loop body: Op Invalid, i32
	Yield  *Value // condition of a While
	Role   *Role  // of a region of Roles: whose it is
}

// EachOp visits every op of a region and of the regions below it, in program order.
func EachOp(r *Region, f func(*Value)) {
	if r == nil {
		return
	}
	for _, v := range r.Ops {
		f(v)
		for _, in := range v.Regions {
			EachOp(in, f)
		}
	}
}

// Bits is the attribute of a Const: its bit pattern.
type Bits uint64

// Symbol is a named dimension. Equal names in a kernel's tags are one symbol.
type Symbol struct {
	Name string
	Max  int // launch refuses more; 0: no limit. Set where an access clips at the symbol and a capacity bounds it
}

// Arg is a field of the Args struct.
type Arg struct {
	Field   string // Go field name, X
	Name    string // C name, x
	DT      dtype.Type
	Dims    []DimSpec // nil for scalars
	Strided bool      // the last stride is an argument too; otherwise it is 1
	Read    bool      // some op loads it
	Written bool      // some op stores to it
}

// DimSpec is one dimension of an argument's tag: a symbol or a fixed size.
type DimSpec struct {
	Symbol *Symbol // nil: fixed
	Size   int     // where fixed
}

// Scalar reports whether the argument is passed by value.
func (a *Arg) Scalar() bool { return a.Dims == nil }

// SharedTile is a tile in shared memory.
type SharedTile struct {
	Name  string
	DT    dtype.Type
	Shape []int
	In    *Region // where it was made; it ends with it
	Pos   Pos
	// Manual: the author orders its accesses, by mbarriers, bulk groups or barriers; the planner places none for it.
	Manual bool
	Pipe   *Pipeline // whose slots it has, one after the other along the first dimension; nil: it is no member of any
	// Swizzle permutes byte offsets in the tile, which is then stored as panels of its width; the zero value: none.
	Swizzle layout.Swizzle
	Bulk    bool // bulk or tensor copies access it
	used    bool // something does
	staged  int  // of a copy of operand B of an MMA: the number of the part, from 1 on
}

// PanelCols is the number of columns of a panel: all, where there is no swizzle.
func (s *SharedTile) PanelCols() int {
	if s.Swizzle.Bits() == 0 {
		return s.Shape[len(s.Shape)-1]
	}
	return s.Swizzle.Width() / s.DT.Size()
}

// Align is the alignment of the tile in shared memory, in bytes.
func (s *SharedTile) Align() int {
	n := CopyBytes
	if s.Bulk { // those of tensors must; others from within a line of shared memory are slower
		n = TensorAlign
	}
	return max(n, s.Swizzle.Align())
}

// Elems is the number of elements.
func (s *SharedTile) Elems() int {
	n := 1
	for _, d := range s.Shape {
		n *= d
	}
	return n
}

// Layout is how the tile lies in shared memory, in elements and before the swizzle: row-major, but that a matrix, the last
// two dimensions, is cut into panels, one behind the other. Its sizes were checked when the tile was made.
func (s *SharedTile) Layout() layout.Layout {
	last, cols := len(s.Shape)-1, s.PanelCols()
	shape, stride := make([]layout.Tuple, last+1), make([]layout.Tuple, last+1)
	rows, step := 1, s.Shape[last]
	if last > 0 {
		rows = s.Shape[last-1]
		shape[last-1], stride[last-1] = layout.Int(rows), layout.Int(cols)
		step *= rows
	}
	shape[last], stride[last] = layout.Int(cols), layout.Int(1)
	if panels := s.Shape[last] / cols; panels > 1 {
		shape[last], stride[last] = layout.Ints(cols, panels), layout.Ints(1, rows*cols)
	}
	for d := last - 2; d >= 0; d-- {
		shape[d], stride[d] = layout.Int(s.Shape[d]), layout.Int(step)
		step *= s.Shape[d]
	}
	l, err := layout.New(layout.Nest(shape...), layout.Nest(stride...))
	if err != nil {
		panic(err)
	}
	return l
}

// Cache is a cache hint of a global access.
type Cache uint8

// The hints, named as PTX does where it has a letter for one.
const (
	CacheDefault    Cache = iota
	CacheStreaming        // .cs
	CacheReadOnly         // .nc
	CacheGlobal           // .cg: L2 only
	CacheEvictFirst       // .L1::evict_first, and .L2::cache_hint with that policy
	CacheEvictLast        // .L1::evict_last, and .L2::cache_hint with that policy
)

func (c Cache) String() string { return [...]string{"", "cs", "nc", "cg", "ef", "el"}[c] }

// Access is the attribute of memory ops: which buffer, and which buffer dimension each tile axis runs along. The
// tile's axes are the buffer's last Rank dimensions; the op's offsets (one a dimension) say where it starts.
type Access struct {
	Arg    *Arg        // a global, or
	Shared *SharedTile // a shared tile
	Peer   bool        // of a shared tile: of a block of the cluster whose number is the first of the op's offsets
	// Shift is by how many rows a load's tile lies before the place that its extents count from; 0: by none. The op's
	// offsets have it in them. Rows outside the buffer are zero.
	Shift int
	How
}

// Dims is the number of offsets: the rank of the buffer, and one more for a peer's tile, which counts as a buffer with
// the cluster's blocks as its first dimension.
func (a *Access) Dims() int {
	switch {
	case a.Arg != nil:
		return len(a.Arg.Dims)
	case a.Peer:
		return 1 + len(a.Shared.Shape)
	}
	return len(a.Shared.Shape)
}

// PersistentInfo is the attribute of a Persistent loop. Step, the second operand, is a constant.
type PersistentInfo struct {
	Scope  Scope   // who shares the iterations: the grid's clusters, its blocks, or all their warps
	Blocks *Symbol // the grid is exactly as many blocks (clusters) as this dimension; nil: as many as the device holds at once, at most one an iteration
	Each   bool    // the grid is one block (cluster) an iteration
	Looped bool    // although each block then has one iteration, it is a loop
}

// AsmInfo is the attribute of Asm: an elementwise PTX instruction.
type AsmInfo struct {
	Template string                   // PTX with %0 the result and %1.. the operands
	Sim      func(in []uint64) uint64 // the same on bit patterns, for the simulator
	Volatile bool
}

// Kernel is a recorded kernel.
type Kernel struct {
	Name         string
	Args         []*Arg
	ArgsType     string // Go name of the Args struct, for the wrapper
	Symbols      []*Symbol
	Shared       []*SharedTile
	Barriers     []*MBarrier
	Named        []*Named // by number, from 1 on
	Pipelines    []*Pipeline
	Work         *Value  // pieces of work that the grid's blocks share by loops of their own; nil: there is no schedule
	WorkBlocks   *Symbol // the grid is exactly as many blocks (clusters) as this dimension; nil: as many as the device holds, at most one a piece
	Body         *Region
	Threads      int
	Cluster      int      // blocks of a cluster; 0: none
	MinBlocks    int      // __launch_bounds__' second number; 0: none
	Whole        bool     // rows are whole 16-byte vectors: the launch sees to it
	Waits        bool     // it has a WaitPrerequisites: it may begin before the kernels ahead of it are over
	Triggers     bool     // it has a LaunchDependents
	FencesGlobal bool     // it has a FenceAsyncGlobal: what it writes may be read by bulk copies
	Targets      []string // the targets the kernel claims; nil: all
	Doc          string
	Pos          Pos // where it was defined
}

// SameValue reports whether two rank-0 values are certain to be equal: the same value, or the same pure op of the
// same operands.
func SameValue(a, b *Value) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Op != b.Op || a.Op == Invalid || !Table[a.Op].Pure() || a.Op == Asm || len(a.Args) != len(b.Args) ||
		a.Type.DT != b.Type.DT || a.Type.Span != nil || b.Type.Span != nil || a.Attr != b.Attr {
		return false
	}
	for i := range a.Args {
		if !SameValue(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}
