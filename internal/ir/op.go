// Package ir is the untyped tile IR: what a kernel author said, before any plan. It holds the one op table, values,
// regions, positions, the builder that records a kernel, the printer and the verifier. It knows no target.
package ir

import "github.com/gotile/gotile/dtype"

// Op is an operation of the tile IR.
type Op uint8

// Class groups ops that every pass treats alike.
type Class uint8

// The classes.
const (
	Leaf        Class = iota // no operands, outside any region: constants, arguments, dimensions
	Elementwise              // pure, element by element, all operands of one distribution or rank 0
	Shape                    // pure, changes the distribution: broadcast, coordinates
	Reduction                // pure, removes axes, needs communication (Fold: within a thread)
	Collective               // pure, a tile of a tile, needs communication: scans, changes of distribution
	Variable                 // explicit variables
	Memory                   // loads, stores, atomics
	Control                  // loops, conditionals
	Position                 // where a thread or block stands: block id, warp id
	Async                    // asynchronous copies
	Matrix                   // tensor cores: all threads of a warp or a warpgroup together
)

// Domain is the set of element types an op accepts for its (non-condition) operands.
type Domain uint8

// The domains. 16-bit floats are computed in f32 and rounded once to the type.
const (
	Singles Domain = 1 << iota // f32
	Halves                     // bf16, f16
	Ints                       // i32, u32, i64
	Bools                      // predicates
	Bytes                      // e4m3, e5m2, i8: no arithmetic
	None    Domain = 0         // the op has no element type
	Floats         = Singles | Halves
	Words          = Singles | Ints // what atomics take
	Numbers        = Floats | Ints
	Stored         = Numbers | Bytes // what memory holds
	Any            = Stored | Bools
)

// Has reports whether a type belongs to the domain.
func (d Domain) Has(t dtype.Type) bool {
	switch {
	case t.Is8():
		return d&Bytes != 0
	case t.Is16():
		return d&Halves != 0
	case t.IsFloat():
		return d&Singles != 0
	case t.IsInt():
		return d&Ints != 0
	}
	return t == dtype.Bool && d&Bools != 0
}

// Result says how the result type follows from the operands.
type Result uint8

// The result rules.
const (
	Same     Result = iota // the type of the (last) operand
	ToBool                 // Bool
	ByAttr                 // the op carries it: casts, constants, loads
	ToNumber               // I32: coordinates, ids
	Nothing                // the op has no result
)

// The ops. The order is the order of the documentation.
const (
	Invalid Op = iota

	// Leaves.
	Const // Attr Bits: the bit pattern in the value's type (16-bit types: in their 16 bits)
	Param // Attr *Arg: a scalar argument
	Dim   // Attr *Symbol: a run-time dimension, i32

	// Arithmetic.
	Add
	Sub
	Mul
	Div // integers truncate towards zero
	Rem // integers only, sign of the dividend
	Fma // a*b + c, rounded once
	Neg
	Abs
	Min // floats: if one operand is NaN the other
	Max
	MulHi // the high word of the product

	// Functions, rounded to nearest or within the ulp bound of the table.
	Exp
	Exp2
	Log
	Log2
	Sqrt
	Rsqrt
	Tanh
	Sigmoid
	Silu
	Softplus
	RoundTF32 // to what tensor cores take of f32

	// Fast approximations, by name and never silently.
	ExpApprox
	Exp2Approx
	LogApprox
	Log2Approx
	SqrtApprox
	RsqrtApprox
	TanhApprox
	SigmoidApprox
	SiluApprox
	DivApprox

	// Comparisons (false where an operand is NaN, but Ne) and selection.
	Lt
	Le
	Gt
	Ge
	Eq
	Ne
	Select // cond, then, else

	// Bits.
	And
	Or
	Xor
	Not
	Shl
	Shr // arithmetic for signed types; shift counts are masked to the width
	Bitcast

	Cast // round to nearest even; float to integer truncates and saturates, NaN to 0

	// Shape.
	Broadcast // Attr *Span target: repeats a reduced value along the axis it lacks, or a rank-0 value over the tile
	Coord     // Attr int axis: the coordinate of each element, i32, counted from the tile's first element
	Fill      // x, value of rank 0; Attr []int: elements past the extent on one of these axes take the value
	Elect     // 32 bools, one a lane of the warp: true in the lane that the hardware elects
	Transpose // axes exchanged; each thread keeps its values
	Subtile   // Attr SliceInfo: a part of a tile, of which each thread has the same values

	// Reductions. Attr []int: the axes, ascending.
	Sum
	MaxOf
	MinOf
	Prod
	Fold // no Attr: the sum of the elements that each thread holds, one element a thread

	// Scans. Attr ScanInfo.
	CumSum
	CumMax
	CumMin
	CumProd

	Redistribute     // the same tile, spread as the result's span says
	InverseUnitLower // of a square tile, whose columns lie in lanes; what is on and above its diagonal is not read

	// Explicit variables. Var is a declaration; Get and Set name it by Args[0].
	Var
	Get
	Set

	// Memory. Attr *Access; Args of Load: one offset per buffer dimension. Store: the value first, then the offsets.
	Load
	Store
	AtomicAdd // like Store; with a result when the value is rank 0 (the old value)
	AtomicMax
	AtomicMin
	AtomicExch
	AtomicCAS // compare, value, offsets

	CopyAsync // Attr *CopyInfo; Args: the offsets of the destination, then those of the source
	Commit    // closes the group of the copies since the last one
	WaitGroup // Attr Groups: how many of the newest groups may stay in flight

	// mbarriers. Attr *BarrierInfo; Args: the index of the mbarrier, then what the op takes. Scope: who executes it.
	MBarInit      // Args: the arrivals of a phase; all mbarriers of the array
	MBarArrive    // count; the result, if it is used, is the token of the phase, i64 of each thread
	MBarArriveTx  // bytes; the leader arrives
	MBarExpectTx  // bytes; the leader
	MBarTest      // parity or token
	MBarTry       // the same
	MBarWait      // the same
	MBarTrack     // no operand
	MBarArriveAt  // rank: an arrival at the mbarrier of another block of the cluster
	MBarArriveAll // an arrival at the mbarrier of each block of the cluster
	MBarInval

	CopyBulk  // Attr *BulkInfo; Args: offsets in the shared tile, in the argument, elements, index of the mbarrier
	StoreBulk // Attr *BulkInfo; Args: offsets in the shared tile, in the argument, elements
	// Attr *TensorInfo; Args: offsets in the shared tile, in the argument, then the index of the mbarrier and the mask.
	CopyTensor
	MulticastTensor
	StoreTensor
	ReduceTensor
	PrefetchTensor

	CommitBulk   // closes the group of the bulk and tensor stores since the last one
	WaitBulk     // Attr Groups: how many of the newest groups may stay in flight
	WaitBulkRead // the same, of groups that have yet to read shared memory
	FenceAsync   // generic accesses of shared memory before, asynchronous ones after

	BroadcastAsync   // Attr *RemoteInfo; Args: the value, offsets in the shared tile, index of the mbarrier
	StoreAsync       // Attr *RemoteInfo; Args: the value, rank, offsets in the shared tile, index of the mbarrier
	FenceAsyncGlobal // FenceAsync of global memory
	FenceCluster     // what came before, before relaxed arrivals at blocks of the cluster

	LaunchDependents  // the next grid of the stream may begin
	WaitPrerequisites // until the grids before are over

	NamedSync   // Attr *Named
	NamedArrive // the same

	// Pipelines. A slot is the number of its stage, i32.
	PipeInit    // Attr *Pipeline: its mbarriers
	SlotAcquire // Attr *SlotInfo; the result is the next slot, which nobody reads any more
	SlotWait    // Attr *SlotInfo; the result is the next slot, which is filled
	SlotRelease // Attr *SlotInfo; Args: the slot

	SetMaxRegs // Attr *Role: registers of each thread of a warpgroup

	// Tensor cores. Tiles have fragments, or fragments transposed.
	LoadMatrix  // Attr *Access; Args: the offsets
	StoreMatrix // Attr *Access; Args: the value, the offsets
	MoveMatrix  // a tile from a fragment to the transpose of one, or back
	MMA         // Attr *MMAInfo; Args: the variable, then of A and of B the tile or the offsets
	WaitMMA     // Attr Groups: how many of the newest MMAs may stay in flight

	Asm // inline PTX, elementwise; Attr *AsmInfo

	// Control.
	Range      // Args lo, hi, step; Regions[0] body with Ind
	Persistent // Args n, step; Attr *PersistentInfo; Regions[0] body with Ind: the blocks of the grid share 0, step, .. < n
	If         // Args cond; Regions[0] then, Regions[1] else (may be nil)
	While      // Regions[0] computes the condition (its Yield), Regions[1] is the body

	Roles // Attr RoleList; a region a role

	Barrier // block-wide; written by the user or by the planner

	// Position. Rank 0, i32.
	BlockID   // blockIdx.x
	NumBlocks // gridDim.x
	WarpID    // warp number in the block
	GroupID   // Attr *Role: number of the part of the role

	// Clusters.
	ClusterID      // %clusterid.x
	NumClusters    // %nclusterid.x
	ClusterRank    // %cluster_ctarank: the block's number in its cluster
	ClusterBarrier // cluster-wide; written by the user or by the planner

	NumOps
)

// Info is one row of the op table. Printer and simulator hang their functions on the same index; the op's test cases
// are those whose names begin with Op.Case.
type Info struct {
	Name   string // the IR name and the documentation's
	Go     string // the typed layer's spelling
	Arity  int    // -1: as the attribute says
	Class  Class
	Domain Domain
	Result Result
	Ulp    float64 // f32: bound on the distance of CUDA's result from the true one, in units in the last place; 0 exact
	Doc    string  // one line: formula, rounding
}

// Pure reports whether an op may be moved, merged or dropped.
func (i *Info) Pure() bool {
	return i.Class == Elementwise || i.Class == Shape || i.Class == Leaf || i.Class == Position
}

// Table is the one op table: typed layer, printers, simulator and documentation derive from it.
var Table = [NumOps]Info{
	Const: {"const", "Const", 0, Leaf, Any, ByAttr, 0, "a host value: `F32(2)`, `Bool(true)`; in generic code `Const[T](2)`, of numbers only"},
	Param: {"param", "Scalar", 0, Leaf, Numbers, ByAttr, 0, "a scalar argument of the kernel"},
	Dim:   {"dim", "Global.Dim", 0, Leaf, Ints, ByAttr, 0, "a run-time dimension of an argument"},

	Add:   {"add", "Add", 2, Elementwise, Numbers, Same, 0, "a + b; integers wrap"},
	Sub:   {"sub", "Sub", 2, Elementwise, Numbers, Same, 0, "a - b; integers wrap"},
	Mul:   {"mul", "Mul", 2, Elementwise, Numbers, Same, 0, "a * b; integers wrap"},
	Div:   {"div", "Div", 2, Elementwise, Numbers, Same, 0, "a / b, rounded to nearest; integers truncate, by zero gives all ones"},
	Rem:   {"rem", "Rem", 2, Elementwise, Ints, Same, 0, "a - trunc(a/b)*b; by zero gives a"},
	Fma:   {"fma", "Fma", 3, Elementwise, Floats, Same, 0, "a*b + c, rounded once"},
	Neg:   {"neg", "Neg", 1, Elementwise, Numbers, Same, 0, "-a"},
	Abs:   {"abs", "Abs", 1, Elementwise, Numbers, Same, 0, "|a|"},
	Min:   {"min", "Min", 2, Elementwise, Numbers, Same, 0, "the smaller; where one is NaN the other"},
	Max:   {"max", "Max", 2, Elementwise, Numbers, Same, 0, "the larger; where one is NaN the other"},
	MulHi: {"mulhi", "MulHi", 2, Elementwise, Ints, Same, 0, "the high word of the exact product"},

	Exp:       {"exp", "Exp", 1, Elementwise, Floats, Same, 2, "e^a"},
	Exp2:      {"exp2", "Exp2", 1, Elementwise, Floats, Same, 2, "2^a"},
	Log:       {"log", "Log", 1, Elementwise, Floats, Same, 2, "ln a"},
	Log2:      {"log2", "Log2", 1, Elementwise, Floats, Same, 2, "log2 a"},
	Sqrt:      {"sqrt", "Sqrt", 1, Elementwise, Floats, Same, 0, "the square root, rounded to nearest"},
	Rsqrt:     {"rsqrt", "Rsqrt", 1, Elementwise, Floats, Same, 0, "1/sqrt(a), rounded to nearest"},
	Tanh:      {"tanh", "Tanh", 1, Elementwise, Floats, Same, 3, "tanh a"},
	Sigmoid:   {"sigmoid", "Sigmoid", 1, Elementwise, Floats, Same, 4, "1/(1 + e^-a); 0 below -88.7, where e^-a overflows"},
	Silu:      {"silu", "Silu", 1, Elementwise, Floats, Same, 5, "a/(1 + e^-a); -0 below -88.7, where e^-a overflows"},
	RoundTF32: {"round_tf32", "RoundTF32", 1, Elementwise, Singles, Same, 0, "the number of 10 bits of fraction next to a, ties away from 0: what tensor cores take of f32"},
	Softplus:  {"softplus", "Softplus", 1, Elementwise, Floats, Same, 4, "max(a, 0) + log1p(e^-|a|)"},

	ExpApprox:     {"exp_approx", "ExpApprox", 1, Elementwise, Floats, Same, 64, "e^a by ex2.approx of a*log2(e); the error grows with |a|"},
	Exp2Approx:    {"exp2_approx", "Exp2Approx", 1, Elementwise, Floats, Same, 4, "2^a by ex2.approx.ftz"},
	LogApprox:     {"log_approx", "LogApprox", 1, Elementwise, Floats, Same, 64, "ln a by lg2.approx.ftz; near 1 the error is absolute (2^-21)"},
	Log2Approx:    {"log2_approx", "Log2Approx", 1, Elementwise, Floats, Same, 64, "log2 a by lg2.approx.ftz; near 1 the error is absolute (2^-22)"},
	SqrtApprox:    {"sqrt_approx", "SqrtApprox", 1, Elementwise, Floats, Same, 4, "sqrt.approx.ftz"},
	RsqrtApprox:   {"rsqrt_approx", "RsqrtApprox", 1, Elementwise, Floats, Same, 4, "rsqrt.approx.ftz"},
	TanhApprox:    {"tanh_approx", "TanhApprox", 1, Elementwise, Floats, Same, 8192, "tanh.approx (relative error 2^-11)"},
	SigmoidApprox: {"sigmoid_approx", "SigmoidApprox", 1, Elementwise, Floats, Same, 64, "1/(1 + e^-a) by ex2.approx and rcp.approx"},
	SiluApprox:    {"silu_approx", "SiluApprox", 1, Elementwise, Floats, Same, 64, "a/(1 + e^-a) by ex2.approx and rcp.approx"},
	DivApprox:     {"div_approx", "DivApprox", 2, Elementwise, Floats, Same, 4, "a/b by div.approx.ftz; 0 where 2^126 < |b|"},

	Lt:     {"lt", "Lt", 2, Elementwise, Numbers, ToBool, 0, "a < b"},
	Le:     {"le", "Le", 2, Elementwise, Numbers, ToBool, 0, "a <= b"},
	Gt:     {"gt", "Gt", 2, Elementwise, Numbers, ToBool, 0, "a > b"},
	Ge:     {"ge", "Ge", 2, Elementwise, Numbers, ToBool, 0, "a >= b"},
	Eq:     {"eq", "Eq", 2, Elementwise, Numbers, ToBool, 0, "a == b"},
	Ne:     {"ne", "Ne", 2, Elementwise, Numbers, ToBool, 0, "a != b, true where one is NaN"},
	Select: {"select", "Select", 3, Elementwise, Any, Same, 0, "cond ? a : b"},

	And:     {"and", "And", 2, Elementwise, Ints | Bools, Same, 0, "a & b"},
	Or:      {"or", "Or", 2, Elementwise, Ints | Bools, Same, 0, "a | b"},
	Xor:     {"xor", "Xor", 2, Elementwise, Ints | Bools, Same, 0, "a ^ b"},
	Not:     {"not", "Not", 1, Elementwise, Ints | Bools, Same, 0, "~a"},
	Shl:     {"shl", "Shl", 2, Elementwise, Ints, Same, 0, "a << (b mod width)"},
	Shr:     {"shr", "Shr", 2, Elementwise, Ints, Same, 0, "a >> (b mod width), arithmetic for signed types"},
	Bitcast: {"bitcast", "Bitcast", 1, Elementwise, Numbers, ByAttr, 0, "the same bits as another type of the same size; a NaN of 16 bits becomes 0x7fff first"},
	Cast:    {"cast", "Cast", 1, Elementwise, Any, ByAttr, 0, "to another type: nearest even; float to integer truncates and saturates, NaN to 0; integers to 16-bit floats go through f32"},

	Broadcast: {"broadcast", "Expand", 1, Shape, Any, Same, 0, "repeats a reduced value along an axis, or one value over a tile"},
	Coord:     {"coord", "Coord", 0, Shape, Any, ToNumber, 0, "the coordinate of each element along an axis"},
	Elect:     {"elect", "Warp.Elect", 0, Shape, Bools, ToBool, 0, "32 bools, one a lane of the warp: true in one, which the hardware chooses"},
	Fill:      {"fill", "Fill", 2, Shape, Any, Same, 0, "elements past the extent on some axes take a value; the result has no extent there"},
	Transpose: {"transpose", "Transpose", 1, Shape, Any, Same, 0, "rows and columns exchanged: each thread keeps its values, so nothing moves, and the result is spread in another way"},
	Subtile:   {"subtile", "Subtile", 1, Shape, Any, Same, 0, "n elements along an axis, of which each thread has the same values"},

	Sum:   {"sum", "Sum", 1, Reduction, Numbers, Same, 0, "the sum along axes, in a fixed order"},
	MaxOf: {"max_of", "MaxOf", 1, Reduction, Numbers, Same, 0, "the largest along axes"},
	MinOf: {"min_of", "MinOf", 1, Reduction, Numbers, Same, 0, "the smallest along axes"},
	Prod:  {"prod", "Prod", 1, Reduction, Numbers, Same, 0, "the product along axes, in a fixed order"},
	Fold:  {"fold", "Fold", 1, Reduction, Numbers, Same, 0, "the sum of the elements that each thread holds, a vector with one element a thread"},

	CumSum:  {"cum_sum", "CumSum", 1, Collective, Numbers, Same, 0, "the sum of each element and those before it along an axis, in a fixed order"},
	CumMax:  {"cum_max", "CumMax", 1, Collective, Numbers, Same, 0, "the largest of each element and those before it along an axis"},
	CumMin:  {"cum_min", "CumMin", 1, Collective, Numbers, Same, 0, "the smallest of each element and those before it along an axis"},
	CumProd: {"cum_prod", "CumProd", 1, Collective, Numbers, Same, 0, "the product of each element and those before it along an axis, in a fixed order"},

	Redistribute:     {"redistribute", "Redistribute", 1, Collective, Stored, Same, 0, "the same tile spread as another span says: by shuffles within a warp, otherwise through shared memory"},
	InverseUnitLower: {"inverse_unit_lower", "InverseUnitLower", 1, Collective, Singles, Same, 0, "the inverse of I + L, where L is what the tile has below its diagonal; by forward substitution, each product fused with its sum"},

	Var: {"var", "NewVar", 1, Variable, Any, Same, 0, "an explicit variable with a first value"},
	Get: {"get", "Var.Get", 1, Variable, Any, Same, 0, "the value of a variable now"},
	Set: {"set", "Var.Set", 2, Variable, Any, Nothing, 0, "assigns to a variable"},

	Load:       {"load", "Load", -1, Memory, Stored, ByAttr, 0, "from a view; masked elements are zero"},
	Store:      {"store", "Store", -1, Memory, Stored, Nothing, 0, "to a view; masked elements are left alone"},
	AtomicAdd:  {"atomic_add", "AtomicAdd", -1, Memory, Words, Same, 0, "adds to global memory; the order of float sums is not fixed"},
	AtomicMax:  {"atomic_max", "AtomicMax", -1, Memory, Ints, Same, 0, "maximum with global memory"},
	AtomicMin:  {"atomic_min", "AtomicMin", -1, Memory, Ints, Same, 0, "minimum with global memory"},
	AtomicExch: {"atomic_exch", "AtomicExch", -1, Memory, Words, Same, 0, "stores and returns the old value"},
	AtomicCAS:  {"atomic_cas", "AtomicCAS", -1, Memory, Ints, Same, 0, "stores where memory equals the first operand; returns the old value"},

	CopyAsync: {"copy_async", "CopyAsync", -1, Async, Stored, Nothing, 0, "from a view of global memory to a shared tile, 16 bytes at a time; zeros past the edge; visible after WaitGroup"},
	Commit:    {"commit", "Commit", 0, Async, None, Nothing, 0, "makes a group of the copies since the last Commit"},
	WaitGroup: {"wait_group", "WaitGroup", 0, Async, None, Nothing, 0, "waits until at most n of the newest groups are in flight"},

	Asm: {"asm", "PTX", -1, Elementwise, Any, ByAttr, 0, "inline PTX with a Go function for the simulator"},

	MBarInit:      {"mbar_init", "NewMBarriers", 1, Async, Ints, Nothing, 0, "mbarriers in shared memory, each complete after so many arrivals and the bytes expected"},
	MBarArrive:    {"mbar_arrive", "MBarrier.Arrive", 2, Async, Ints, ByAttr, 0, "each thread arrives, or the leader for its scope; releases what came before"},
	MBarArriveTx:  {"mbar_arrive_tx", "MBarrier.ArriveExpect", 2, Async, Ints, Nothing, 0, "the scope's leader arrives, and the phase expects so many bytes more"},
	MBarExpectTx:  {"mbar_expect_tx", "MBarrier.Expect", 2, Async, Ints, Nothing, 0, "the phase expects so many bytes more"},
	MBarTest:      {"mbar_test", "MBarrier.TestWait", 2, Async, Ints, ByAttr, 0, "whether a phase is over; acquires if it is"},
	MBarTry:       {"mbar_try", "MBarrier.TryWait", 2, Async, Ints, ByAttr, 0, "whether a phase is over, after a wait of bounded time"},
	MBarWait:      {"mbar_wait", "MBarrier.Wait", 2, Async, Ints, Nothing, 0, "until a phase is over; acquires what was released in it, and its bytes"},
	MBarTrack:     {"mbar_track", "MBarrier.Track", 1, Async, Ints, Nothing, 0, "the phase waits for the asynchronous copies that each thread has begun"},
	MBarArriveAt:  {"mbar_arrive_at", "PeerMBarrier.Arrive", 2, Async, Ints, Nothing, 0, "each thread arrives at another block's mbarrier, or the leader for its scope; releases what came before to the cluster"},
	MBarArriveAll: {"mbar_arrive_all", "MBarrier.ArriveEverywhere", 1, Async, Ints, Nothing, 0, "the scope arrives once at the mbarrier of each block of the cluster; releases what came before in its own shared memory"},
	MBarInval:     {"mbar_inval", "MBarrier.Inval", 1, Async, Ints, Nothing, 0, "the mbarrier ends"},

	CopyBulk:        {"copy_bulk", "CopyBulk", -1, Async, Stored, Nothing, 0, "a row of global memory to a shared tile, by one thread; completes its bytes at an mbarrier"},
	StoreBulk:       {"store_bulk", "StoreBulk", -1, Async, Stored, Nothing, 0, "a row of a shared tile to global memory, by one thread, in a bulk group"},
	CopyTensor:      {"copy_tensor", "CopyTensor", -1, Async, Stored, Nothing, 0, "a box of global memory to a shared tile, by one thread, zeros outside; completes the bytes of the whole box at an mbarrier"},
	MulticastTensor: {"multicast_tensor", "MulticastTensor", -1, Async, Stored, Nothing, 0, "the same into several blocks of the cluster, at an mbarrier of each"},
	StoreTensor:     {"store_tensor", "StoreTensor", -1, Async, Stored, Nothing, 0, "a shared tile to a box of global memory, by one thread, in a bulk group; nothing outside is written"},
	ReduceTensor:    {"reduce_tensor", "ReduceTensor", -1, Async, Numbers, Nothing, 0, "the same, adding or taking the minimum or maximum; the order of float sums is not fixed"},
	PrefetchTensor:  {"prefetch_tensor", "PrefetchTensor", -1, Async, Stored, Nothing, 0, "a box of global memory into the L2 cache, by one thread"},

	CommitBulk:   {"commit_bulk", "CommitBulk", 0, Async, None, Nothing, 0, "makes a group of the bulk stores since the last one"},
	WaitBulk:     {"wait_bulk", "WaitBulk", 0, Async, None, Nothing, 0, "waits until at most so many bulk groups are in flight"},
	WaitBulkRead: {"wait_bulk_read", "WaitBulkRead", 0, Async, None, Nothing, 0, "waits until at most so many bulk groups have yet to read their tiles"},
	FenceAsync:   {"fence_async", "FenceAsync", 0, Async, None, Nothing, 0, "orders accesses of shared memory by threads before those by bulk copies"},

	BroadcastAsync:   {"broadcast_async", "BroadcastAsync", -1, Async, Words, Nothing, 0, "a value to the same place of each block's shared tile; completes its bytes at the mbarrier there"},
	StoreAsync:       {"store_async", "StoreAsync", -1, Async, Words, Nothing, 0, "a tile to another block's shared tile; completes its bytes at that block's mbarrier"},
	FenceAsyncGlobal: {"fence_async_global", "FenceAsyncGlobal", 0, Async, None, Nothing, 0, "orders accesses of global memory by threads before those by bulk copies"},
	FenceCluster:     {"fence_cluster", "FenceCluster", 0, Async, None, Nothing, 0, "orders what came before it ahead of relaxed arrivals in the cluster"},

	LaunchDependents:  {"launch_dependents", "Builder.LaunchDependents", 0, Async, None, Nothing, 0, "lets the next kernel of the stream begin before this one ends"},
	WaitPrerequisites: {"wait_prerequisites", "Builder.WaitPrerequisites", 0, Async, None, Nothing, 0, "waits until the kernels before it on the stream are over and their writes visible"},

	NamedSync:   {"named_sync", "NamedBarrier.Sync", 0, Async, None, Nothing, 0, "waits until all threads of a named barrier have come"},
	NamedArrive: {"named_arrive", "NamedBarrier.Arrive", 0, Async, None, Nothing, 0, "comes to a named barrier and goes on"},

	PipeInit:    {"pipe_init", "NewPipeline", 0, Async, None, Nothing, 0, "a ring of slots in shared memory with the mbarriers that hand them over"},
	SlotAcquire: {"slot_acquire", "Pipeline.Acquire", 0, Async, Ints, ToNumber, 0, "the next slot to be filled, once its consumers have released it"},
	SlotWait:    {"slot_wait", "Pipeline.Wait", 0, Async, Ints, ToNumber, 0, "the next slot to be read, once its producers have filled it"},
	SlotRelease: {"slot_release", "Slot.Release", 1, Async, Ints, Nothing, 0, "gives a slot, or a member of it, back to the producers"},

	SetMaxRegs: {"set_max_regs", "Producer", 0, Async, None, Nothing, 0, "the registers of each thread of a role: setmaxnreg, of whole warpgroups"},

	LoadMatrix:  {"load_matrix", "LoadMatrix", -1, Matrix, Halves, ByAttr, 0, "a fragment from a shared tile: ldmatrix, with .trans for the transpose of one"},
	StoreMatrix: {"store_matrix", "StoreMatrix", -1, Matrix, Halves, Nothing, 0, "a fragment to a shared tile: stmatrix, with .trans for the transpose of one"},
	MoveMatrix:  {"move_matrix", "MoveMatrix", 1, Matrix, Halves, Same, 0, "the same tile as the transpose of a fragment, or back: movmatrix"},
	MMA:         {"mma", "MMA", -1, Matrix, Stored, Nothing, 0, "adds a product of matrices to an accumulator, or overwrites it"},
	WaitMMA:     {"wait_mma", "WaitMMA", 0, Matrix, None, Nothing, 0, "waits until at most n of the scope's newest MMAs are in flight"},

	Range:      {"range", "Range", 3, Control, Ints, Nothing, 0, "a loop; its body is recorded once"},
	Persistent: {"persistent", "Persistent", 2, Control, Ints, Nothing, 0, "a loop whose iterations the grid's blocks share"},
	If:         {"if", "If", 1, Control, Bools, Nothing, 0, "a conditional, uniform in its scope"},
	While:      {"while", "While", 0, Control, Bools, Nothing, 0, "a loop with a recorded condition"},
	Roles:      {"roles", "Builder.Roles", 0, Control, None, Nothing, 0, "parts of the block's warps, each with work of its own"},
	Barrier:    {"barrier", "Block.Sync", 0, Control, None, Nothing, 0, "orders shared memory among the threads of a block; Warp.Sync among those of a warp"},

	BlockID:   {"block_id", "Builder.BlockID", 0, Position, Ints, ToNumber, 0, "the block's number in the grid"},
	NumBlocks: {"num_blocks", "Builder.NumBlocks", 0, Position, Ints, ToNumber, 0, "the number of blocks in the grid"},
	WarpID:    {"warp_id", "Warp.Index", 0, Position, Ints, ToNumber, 0, "the warp's number in its block"},
	GroupID:   {"group_id", "Group.Index", 0, Position, Ints, ToNumber, 0, "the group's number in its role"},

	ClusterID:      {"cluster_id", "Builder.ClusterID", 0, Position, Ints, ToNumber, 0, "the cluster's number in the grid"},
	NumClusters:    {"num_clusters", "Builder.NumClusters", 0, Position, Ints, ToNumber, 0, "the number of clusters in the grid"},
	ClusterRank:    {"cluster_rank", "Cluster.Rank", 0, Position, Ints, ToNumber, 0, "the block's number in its cluster"},
	ClusterBarrier: {"cluster_barrier", "Cluster.Sync", 0, Control, None, Nothing, 0, "orders shared and global memory among the blocks of a cluster"},
}

// String is the IR name.
func (o Op) String() string { return Table[o].Name }

// Case is how the names of the op's test cases begin: op/NAME/. Every op has at least one in internal/optest, and what
// is wrong about the op turns each of them red.
func (o Op) Case() string { return "op/" + Table[o].Name + "/" }
