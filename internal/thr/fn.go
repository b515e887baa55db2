package thr

import "github.com/gotile/gotile/dtype"

// Fn is a built-in of thread IR.
type Fn uint8

// The built-ins. Pure ones are expressions (Call), the others statements (Do).
const (
	InvalidFn Fn = iota

	// Where the thread stands, i32.
	TID     // threadIdx.x
	Lane    // threadIdx.x & 31
	Warp    // threadIdx.x >> 5, warp-uniform
	BlockX  // blockIdx.x
	GridX   // gridDim.x
	Aligned // (pointer, const bytes) -> bool: the address is a multiple of bytes
	Opaque  // (i32) -> i32: the value itself, of which the compiler knows nothing

	// Pairs of 16-bit floats in a u32.
	BF16Lo   // (u32) -> f32
	BF16Hi   // (u32) -> f32
	BF16Pair // (f32 lo, f32 hi) -> u32, rounded to nearest even
	F16Lo
	F16Hi
	F16Pair
	RoundBF16 // (f32) -> f32: to bf16 and back
	RoundF16

	// Warp communication; all 32 lanes take part.
	ShflXor // (x, const mask) -> x of lane^mask
	ShflIdx // (x, i32 lane) -> x of a lane

	// Statements.
	BlockSync // __syncthreads()
	WarpSync  // __syncwarp()
	AtomicAdd // (pointer, value); Dst, if any, gets the old value
	AtomicMax
	AtomicMin
	AtomicExch
	AtomicCAS // (pointer, compare, value)

	// Clusters; only in a kernel that has them.
	ClusterRank // %cluster_ctarank, i32
	ClusterX    // %clusterid.x, i32
	ClustersX   // %nclusterid.x, i32
	ClusterSync // barrier.cluster.arrive.release, then wait.acquire
	// The two halves of ClusterSync, in turn: what stands between them is ordered by neither.
	ClusterArrive // barrier.cluster.arrive.release
	ClusterWait   // barrier.cluster.wait.acquire
	// Asynchronous copies; groups are a thread's own.
	CpAsync  // (pointer, u32 offset in shared memory, i32 bytes): 16 bytes, of which the first are read and the others 0
	CpCommit // closes the group of the copies since the last one
	CpWait   // (const groups): until at most so many are in flight

	NumFns
)

// FnInfo is one row of the table of built-ins.
type FnInfo struct {
	Name  string
	Arity int
	Pure  bool
	// Result is the result type where the table fixes it; Invalid where the expression says (shuffles, atomics).
	Result dtype.Type
	// Uniform: the result is the same in all lanes of a warp when the operands are.
	Uniform bool
	Doc     string
}

// Fns is the table of built-ins; printer and simulator keep arrays on the same index.
var Fns = [NumFns]FnInfo{
	TID:     {"tid", 0, true, dtype.I32, false, "the thread's number in its block"},
	Lane:    {"lane", 0, true, dtype.I32, false, "the thread's number in its warp"},
	Warp:    {"warp", 0, true, dtype.I32, true, "the warp's number in its block"},
	BlockX:  {"block_x", 0, true, dtype.I32, true, "the block's number in the grid"},
	GridX:   {"grid_x", 0, true, dtype.I32, true, "the number of blocks"},
	Aligned: {"aligned", 2, true, dtype.Bool, true, "whether an address is a multiple of a power of two"},
	Opaque:  {"opaque", 1, true, dtype.I32, true, "the value itself, hidden from the compiler, so that what depends on it is not hoisted out of a loop"},

	BF16Lo:    {"bf16_lo", 1, true, dtype.F32, true, "the lower bf16 of a pair"},
	BF16Hi:    {"bf16_hi", 1, true, dtype.F32, true, "the upper bf16 of a pair"},
	BF16Pair:  {"bf16_pair", 2, true, dtype.U32, true, "two floats rounded to bf16, the first in the lower half"},
	F16Lo:     {"f16_lo", 1, true, dtype.F32, true, "the lower f16 of a pair"},
	F16Hi:     {"f16_hi", 1, true, dtype.F32, true, "the upper f16 of a pair"},
	F16Pair:   {"f16_pair", 2, true, dtype.U32, true, "two floats rounded to f16, the first in the lower half"},
	RoundBF16: {"round_bf16", 1, true, dtype.F32, true, "rounded to bf16 and back"},
	RoundF16:  {"round_f16", 1, true, dtype.F32, true, "rounded to f16 and back"},

	ShflXor: {"shfl_xor", 2, true, dtype.Invalid, false, "the value of the lane whose number differs by a mask"},
	ShflIdx: {"shfl_idx", 2, true, dtype.Invalid, false, "the value of a lane"},

	BlockSync:  {"block_sync", 0, false, dtype.Invalid, false, "all threads of the block meet; orders shared memory"},
	WarpSync:   {"warp_sync", 0, false, dtype.Invalid, false, "all lanes of the warp meet; orders shared memory"},
	AtomicAdd:  {"atomic_add", 2, false, dtype.Invalid, false, "adds to global memory"},
	AtomicMax:  {"atomic_max", 2, false, dtype.Invalid, false, "maximum with global memory"},
	AtomicMin:  {"atomic_min", 2, false, dtype.Invalid, false, "minimum with global memory"},
	AtomicExch: {"atomic_exch", 2, false, dtype.Invalid, false, "exchanges with global memory"},
	AtomicCAS:  {"atomic_cas", 3, false, dtype.Invalid, false, "compares and swaps global memory"},

	ClusterRank:   {"cluster_rank", 0, true, dtype.I32, true, "the block's number in its cluster"},
	ClusterX:      {"cluster_x", 0, true, dtype.I32, true, "the cluster's number in the grid"},
	ClustersX:     {"clusters_x", 0, true, dtype.I32, true, "the number of clusters"},
	ClusterSync:   {"cluster_sync", 0, false, dtype.Invalid, false, "all threads of the cluster meet; orders shared and global memory"},
	ClusterArrive: {"cluster_arrive", 0, false, dtype.Invalid, false, "arrives at a barrier of the cluster; what came before is ordered before what follows the others' wait"},
	ClusterWait:   {"cluster_wait", 0, false, dtype.Invalid, false, "waits until all threads of the cluster have arrived"},
	CpAsync:       {"cp_async_16", 3, false, dtype.Invalid, false, "copies 16 bytes from global to shared memory, asynchronously"},
	CpCommit:      {"cp_async_commit", 0, false, dtype.Invalid, false, "makes a group of the thread's copies since the last one"},
	CpWait:        {"cp_async_wait", 1, false, dtype.Invalid, false, "waits until at most so many of the thread's groups are in flight"},
}

// String is the built-in's name; the printer uses it for prelude functions too.
func (f Fn) String() string { return Fns[f].Name }
