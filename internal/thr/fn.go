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
	Swizzle // (i32 offset, const mask) -> i32: offset ^ (offset >> 7 & mask) << 4, the swizzles of tensor copies

	// Pairs of 16-bit floats in a u32.
	BF16Lo   // (u32) -> f32
	BF16Hi   // (u32) -> f32
	BF16Pair // (f32 lo, f32 hi) -> u32, rounded to nearest even
	F16Lo
	F16Hi
	F16Pair
	RoundBF16 // (f32) -> f32: to bf16 and back
	RoundF16
	RoundTF32 // (f32) -> f32: to 10 bits of fraction, ties away from 0, as tensor cores take f32

	// 8-bit types: an element in the low 8 bits of a u32, the rest zero. To 8 bits floats round to nearest even, of what is
	// too large to the largest finite number, and NaN is 0x7f; integers saturate.
	E4M3ToF32 // (u32) -> f32
	E5M2ToF32
	I8ToI32   // (u32) -> i32
	F32ToE4M3 // (f32) -> u32
	F32ToE5M2
	I32ToI8  // (i32) -> u32
	E4M3Pair // (f32 lo, f32 hi) -> u32: two, in the low 16 bits
	E5M2Pair
	I8Pair // (i32 lo, i32 hi) -> u32

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
	CpAsync8 // CpAsync of 8 bytes
	CpAsync4 // CpAsync of 4 bytes
	CpCommit // closes the group of the copies since the last one
	CpWait   // (const groups): until at most so many are in flight

	// mbarriers. An operand bar is a u32 offset in shared memory; tokens and parities say which phase is meant.
	MBarInit      // (bar, i32 arrivals)
	MBarFence     // fence.mbarrier_init.release.cluster: inits are seen by the async proxy and the cluster
	MBarArrive    // (bar, i32 count); Dst, if any, gets the token, i64
	MBarArriveTx  // (bar, i32 bytes): one arrival, which expects bytes
	MBarExpectTx  // (bar, i32 bytes)
	MBarTest      // (bar, i32 parity); Dst bool: whether the phase is over
	MBarTestToken // (bar, i64 token); Dst bool
	MBarTry       // MBarTest that may suspend the thread for a while
	MBarTryToken
	MBarWait      // (bar, i32 parity): until the phase is over
	MBarWaitToken // (bar, i64 token)
	MBarTrack     // (bar): an arrival that comes, and is expected, when the thread's copies so far are there
	MBarArriveAt  // (bar, i32 rank): arrives at the same mbarrier of a block of the cluster
	MBarRelaxedAt // the same, ordering nothing
	MBarInval     // (bar)

	// Bulk copies, by the async proxy; groups are a thread's own.
	BulkLoad     // (pointer, u32 offset in shared memory, i32 bytes, bar): global to shared, completing bytes of a barrier
	BulkStore    // (pointer, u32 offset in shared memory, i32 bytes): shared to global, in a group
	BulkCommit   // closes the group of the bulk stores since the last one
	BulkWait     // (const groups): until at most so many are in flight
	BulkWaitRead // (const groups): until at most so many have yet to read shared memory
	FenceAsync   // fence.proxy.async.shared::cta: generic accesses before, async ones after

	// Tensor copies, by the async proxy: the box of a tensor map (Do.Map) from coordinates on, one i32 a dimension of the
	// map, innermost first. They follow the operands named here.
	TensorLoad      // (u32 offset in shared memory, bar): global to shared, completing the bytes of the whole box
	TensorMulticast // (u32 offset in shared memory, bar, i32 mask): the same into all blocks of the cluster that the mask names
	TensorStore     // (u32 offset in shared memory): shared to global, in a group
	TensorAdd       // the same, adding to global memory
	TensorMin
	TensorMax
	TensorPrefetch // (): global memory to the L2 cache

	StAsync          // (u32 offset in shared memory, value, i32 rank, bar): to a block of the cluster, completing bytes there
	FenceAsyncGlobal // fence.proxy.async.global
	FenceCluster     // fence.acq_rel.cluster
	FenceShared      // fence.release.sync_restrict::shared::cta.cluster
	FenceLoads       // fence.acq_rel.cta: loads before are over

	// Programmatic dependent launch.
	GridLaunch // griddepcontrol.launch_dependents
	GridWait   // griddepcontrol.wait

	// Named barriers of a block.
	NamedSync   // (number, const threads)
	NamedArrive // the same

	// Registers of a warpgroup, all of whose warps come; only in a kernel with MinBlocks.
	RegsDec // (const registers): setmaxnreg.dec
	RegsInc // (const registers): setmaxnreg.inc, which waits until so many are free

	Elect // bool: whether the lane is the one that its warp elects; all lanes take part

	// Tensor cores. All lanes of a warp take part; registers are in Do.Frags.
	LdMatrix      // (u32 offset in shared memory): 1, 2 or 4 matrices of 8 rows of 16 bytes to as many registers; lane 8j+i has the address of row i of matrix j
	LdMatrixTrans // the same, each matrix transposed: of 16-bit elements
	StMatrix      // (u32 offset in shared memory): registers to matrices, as LdMatrix
	StMatrixTrans
	MovMatrix // (u32) -> u32: the transposed matrix of 8x8 16-bit elements, of which each lane has two
	MMASync   // (): D = A B + D of m16n8k; Frags D, A, B; DT is the element type of A and B, f32 for tf32

	// The asynchronous multiply of a warpgroup, all of whose warps execute each of these. A group is a warp's own.
	WGMMADesc // (u32 offset in shared memory, const lbo, const sbo, const swizzle) -> i64: the matrix descriptor, all in bytes
	// (i64 descriptor of A, i64 of B, const whether A is MN-major, const whether B is, const whether it adds): m64nNk of 32
	// bytes; Frags D
	WGMMA
	WGMMARegs   // (i64 descriptor of B, const whether B is MN-major, const whether it adds): the same; Frags D, A
	WGMMAFence  // (): registers of Frags, whole locals, are written before the multiplies that follow
	WGMMACommit // (): closes the group of the multiplies since the last one
	// (const groups): until at most so many are in flight; Frags: whole locals that are accumulators no longer in flight.
	// With Buf, while the kernel is planned, it counts slots of that tile and not groups.
	WGMMAWait

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

	Swizzle: {"swizzle", 2, true, dtype.I32, true, "an offset in a swizzled tile: its 16-byte chunk moved by the number of its 128-byte line"},

	BF16Lo:    {"bf16_lo", 1, true, dtype.F32, true, "the lower bf16 of a pair"},
	BF16Hi:    {"bf16_hi", 1, true, dtype.F32, true, "the upper bf16 of a pair"},
	BF16Pair:  {"bf16_pair", 2, true, dtype.U32, true, "two floats rounded to bf16, the first in the lower half"},
	F16Lo:     {"f16_lo", 1, true, dtype.F32, true, "the lower f16 of a pair"},
	F16Hi:     {"f16_hi", 1, true, dtype.F32, true, "the upper f16 of a pair"},
	F16Pair:   {"f16_pair", 2, true, dtype.U32, true, "two floats rounded to f16, the first in the lower half"},
	RoundBF16: {"round_bf16", 1, true, dtype.F32, true, "rounded to bf16 and back"},
	RoundF16:  {"round_f16", 1, true, dtype.F32, true, "rounded to f16 and back"},
	RoundTF32: {"round_tf32", 1, true, dtype.F32, true, "rounded to tf32, ties away from 0"},

	E4M3ToF32: {"e4m3_f32", 1, true, dtype.F32, true, "an e4m3 as f32"},
	E5M2ToF32: {"e5m2_f32", 1, true, dtype.F32, true, "an e5m2 as f32"},
	I8ToI32:   {"i8_i32", 1, true, dtype.I32, true, "an i8 as i32"},
	F32ToE4M3: {"f32_e4m3", 1, true, dtype.U32, true, "rounded to e4m3, at most 448"},
	F32ToE5M2: {"f32_e5m2", 1, true, dtype.U32, true, "rounded to e5m2, at most 57344"},
	I32ToI8:   {"i32_i8", 1, true, dtype.U32, true, "saturated to i8"},
	E4M3Pair:  {"e4m3_pair", 2, true, dtype.U32, true, "two floats rounded and packed, in the low 16 bits"},
	E5M2Pair:  {"e5m2_pair", 2, true, dtype.U32, true, "two floats rounded and packed, in the low 16 bits"},
	I8Pair:    {"i8_pair", 2, true, dtype.U32, true, "two integers saturated and packed, in the low 16 bits"},

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
	CpAsync8:      {"cp_async_8", 3, false, dtype.Invalid, false, "copies 8 bytes from global to shared memory, asynchronously"},
	CpAsync4:      {"cp_async_4", 3, false, dtype.Invalid, false, "copies 4 bytes from global to shared memory, asynchronously"},
	CpCommit:      {"cp_async_commit", 0, false, dtype.Invalid, false, "makes a group of the thread's copies since the last one"},
	CpWait:        {"cp_async_wait", 1, false, dtype.Invalid, false, "waits until at most so many of the thread's groups are in flight"},

	MBarInit:      {"mbarrier_init", 2, false, dtype.Invalid, false, "makes an mbarrier that expects so many arrivals a phase"},
	MBarFence:     {"mbarrier_fence", 0, false, dtype.Invalid, false, "makes inits of mbarriers visible to the async proxy and the cluster"},
	MBarArrive:    {"mbarrier_arrive", 2, false, dtype.Invalid, false, "arrives, for so many arrivals"},
	MBarArriveTx:  {"mbarrier_arrive_expect_tx", 2, false, dtype.Invalid, false, "arrives once and expects so many bytes in this phase"},
	MBarExpectTx:  {"mbarrier_expect_tx", 2, false, dtype.Invalid, false, "expects so many bytes more in this phase"},
	MBarTest:      {"mbarrier_test", 2, false, dtype.Bool, false, "whether the phase of a parity is over"},
	MBarTestToken: {"mbarrier_test_token", 2, false, dtype.Bool, false, "whether the phase of a token is over"},
	MBarTry:       {"mbarrier_try", 2, false, dtype.Bool, false, "the same, after a wait of bounded time"},
	MBarTryToken:  {"mbarrier_try_token", 2, false, dtype.Bool, false, "the same, after a wait of bounded time"},
	MBarWait:      {"mbarrier_wait", 2, false, dtype.Invalid, false, "waits until the phase of a parity is over"},
	MBarWaitToken: {"mbarrier_wait_token", 2, false, dtype.Invalid, false, "waits until the phase of a token is over"},
	MBarTrack:     {"mbarrier_track", 1, false, dtype.Invalid, false, "the phase is not over before the thread's asynchronous copies are there"},
	MBarArriveAt:  {"mbarrier_arrive_at", 2, false, dtype.Invalid, false, "arrives once at an mbarrier of a block of the cluster"},
	MBarRelaxedAt: {"mbarrier_arrive_relaxed_at", 2, false, dtype.Invalid, false, "arrives once at an mbarrier of a block of the cluster, and orders nothing"},
	MBarInval:     {"mbarrier_inval", 1, false, dtype.Invalid, false, "ends an mbarrier; its memory is free"},

	BulkLoad:     {"bulk_load", 4, false, dtype.Invalid, false, "copies bytes from global to shared memory, asynchronously, and completes them at an mbarrier"},
	BulkStore:    {"bulk_store", 3, false, dtype.Invalid, false, "copies bytes from shared to global memory, asynchronously"},
	BulkCommit:   {"bulk_commit", 0, false, dtype.Invalid, false, "makes a group of the thread's bulk stores since the last one"},
	BulkWait:     {"bulk_wait", 1, false, dtype.Invalid, false, "waits until at most so many of the thread's bulk groups are in flight"},
	BulkWaitRead: {"bulk_wait_read", 1, false, dtype.Invalid, false, "waits until at most so many of the thread's bulk groups have yet to read shared memory"},
	FenceAsync:   {"fence_async", 0, false, dtype.Invalid, false, "orders generic accesses to shared memory before those of the async proxy"},

	TensorLoad:      {"tensor_load", 2, false, dtype.Invalid, false, "copies a box of a tensor to shared memory, asynchronously, and completes its bytes at an mbarrier"},
	TensorMulticast: {"tensor_multicast", 3, false, dtype.Invalid, false, "copies a box of a tensor to the shared memory of several blocks, and completes its bytes at an mbarrier of each"},
	TensorStore:     {"tensor_store", 1, false, dtype.Invalid, false, "copies shared memory to a box of a tensor, asynchronously"},
	TensorAdd:       {"tensor_add", 1, false, dtype.Invalid, false, "adds shared memory to a box of a tensor, asynchronously"},
	TensorMin:       {"tensor_min", 1, false, dtype.Invalid, false, "the minimum of shared memory and a box of a tensor, asynchronously"},
	TensorMax:       {"tensor_max", 1, false, dtype.Invalid, false, "the maximum of shared memory and a box of a tensor, asynchronously"},
	TensorPrefetch:  {"tensor_prefetch", 0, false, dtype.Invalid, false, "fetches a box of a tensor into the L2 cache"},

	StAsync:          {"st_async", 4, false, dtype.Invalid, false, "stores a value to shared memory of a block of the cluster, asynchronously, and completes its bytes at an mbarrier there"},
	FenceAsyncGlobal: {"fence_async_global", 0, false, dtype.Invalid, false, "orders generic accesses to global memory before those of the async proxy"},
	FenceShared:      {"fence_shared", 0, false, dtype.Invalid, false, "orders what came before in the block's own shared memory ahead of what follows, for the cluster"},
	FenceLoads:       {"fence_loads", 0, false, dtype.Invalid, false, "waits until the thread's loads are over"},
	FenceCluster:     {"fence_cluster", 0, false, dtype.Invalid, false, "orders what came before ahead of what follows, for the cluster"},

	GridLaunch: {"launch_dependents", 0, false, dtype.Invalid, false, "lets the next grid of the stream begin"},
	GridWait:   {"wait_prerequisites", 0, false, dtype.Invalid, false, "waits until the grids before this one are over, and sees what they wrote"},

	NamedSync:   {"named_sync", 2, false, dtype.Invalid, false, "waits until so many threads have come to a named barrier"},
	NamedArrive: {"named_arrive", 2, false, dtype.Invalid, false, "comes to a named barrier and goes on"},

	RegsDec: {"regs_dec", 1, false, dtype.Invalid, false, "gives registers of each thread of a warpgroup back to the block"},
	RegsInc: {"regs_inc", 1, false, dtype.Invalid, false, "takes registers of the block for each thread of a warpgroup, once they are free"},
	Elect:   {"elect", 0, true, dtype.Bool, false, "whether the lane is the one that its warp elects"},

	LdMatrix:      {"ldmatrix", 1, false, dtype.Invalid, false, "loads matrices of 8 rows of 16 bytes from shared memory, each lane 4 bytes of each"},
	LdMatrixTrans: {"ldmatrix_trans", 1, false, dtype.Invalid, false, "the same, each matrix of 8x8 16-bit elements transposed"},
	StMatrix:      {"stmatrix", 1, false, dtype.Invalid, false, "stores matrices of 8 rows of 16 bytes to shared memory, each lane 4 bytes of each"},
	StMatrixTrans: {"stmatrix_trans", 1, false, dtype.Invalid, false, "the same, each matrix of 8x8 16-bit elements transposed"},
	MovMatrix:     {"movmatrix", 1, true, dtype.U32, false, "a matrix of 8x8 16-bit elements, two a lane, transposed"},
	MMASync:       {"mma_sync", 0, false, dtype.Invalid, false, "multiplies a 16xk by a kx8 matrix and adds to an accumulator"},

	WGMMADesc:   {"wgmma_desc", 4, true, dtype.I64, true, "where a matrix lies in shared memory, for a warpgroup's multiply"},
	WGMMA:       {"wgmma", 5, false, dtype.Invalid, false, "multiplies 64 rows by a kxN matrix, asynchronously, both in shared memory"},
	WGMMARegs:   {"wgmma_regs", 3, false, dtype.Invalid, false, "the same with the 64 rows in registers"},
	WGMMAFence:  {"wgmma_fence", 0, false, dtype.Invalid, false, "orders accesses of registers before those of the multiplies that follow"},
	WGMMACommit: {"wgmma_commit", 0, false, dtype.Invalid, false, "makes a group of the warp's multiplies since the last one"},
	WGMMAWait:   {"wgmma_wait", 1, false, dtype.Invalid, false, "waits until at most so many of the warp's groups of multiplies are in flight"},
}

// FragUse is how a built-in uses a fragment of registers.
type FragUse struct {
	Reads, Writes bool
	Counts        []int // of registers that it may have
}

// Frags are the fragments of a statement, in the order of Do.Frags; nil: it has none, or any number of whole locals.
func (f Fn) Frags() []FragUse {
	switch f {
	case LdMatrix, LdMatrixTrans:
		return []FragUse{{Writes: true, Counts: []int{1, 2, 4}}}
	case StMatrix, StMatrixTrans:
		return []FragUse{{Reads: true, Counts: []int{1, 2, 4}}}
	case MMASync:
		return []FragUse{{Reads: true, Writes: true, Counts: []int{2, 4}}, {Reads: true, Counts: []int{2, 4}}, {Reads: true, Counts: []int{1, 2}}}
	case WGMMA:
		return []FragUse{{Reads: true, Writes: true, Counts: accumulators}}
	case WGMMARegs:
		return []FragUse{{Reads: true, Writes: true, Counts: accumulators}, {Reads: true, Counts: []int{4}}}
	}
	return nil
}

// accumulators are how many registers 64xN accumulators have: N/2 of f32 or i32, N/4 of f16 in pairs, N up to 256.
var accumulators = func() (out []int) {
	for n := 2; n <= 128; n += 2 {
		out = append(out, n)
	}
	return out
}()

// Whole reports whether a statement's fragments are whole locals, in any number.
func (f Fn) Whole() bool { return f == WGMMAFence || f == WGMMAWait }

// Warpgroup reports whether a statement is a multiply of a warpgroup.
func (f Fn) Warpgroup() bool { return f == WGMMA || f == WGMMARegs }

// Pointer reports whether a statement's first operand is a pointer to global memory.
func (f Fn) Pointer() bool {
	return f >= AtomicAdd && f <= AtomicCAS || f.CopyBytes() > 0 || f == BulkLoad || f == BulkStore
}

// CopyBytes is how many bytes a thread's asynchronous copy writes; 0: it is none.
func (f Fn) CopyBytes() int {
	switch f {
	case CpAsync:
		return 16
	case CpAsync8:
		return 8
	case CpAsync4:
		return 4
	}
	return 0
}

// Matrix reports whether a statement accesses matrices in shared memory, which all lanes name together.
func (f Fn) Matrix() bool { return f >= LdMatrix && f <= StMatrixTrans }

// Writes reports whether a statement that accesses matrices writes them.
func (f Fn) Writes() bool { return f == StMatrix || f == StMatrixTrans }

// Remote reports whether a built-in acts on another block of the cluster.
func (f Fn) Remote() bool {
	return f == MBarArriveAt || f == MBarRelaxedAt || f == StAsync || f == FenceCluster || f == FenceShared
}

// Tensor reports whether a statement copies a box of a tensor map; coordinates follow the operands of its row.
func (f Fn) Tensor() bool { return f >= TensorLoad && f <= TensorPrefetch }

// Arrives reports whether a statement arrives at the mbarrier that it names.
func (f Fn) Arrives() bool {
	return f == MBarArrive || f == MBarArriveTx || f == MBarArriveAt || f == MBarRelaxedAt
}

// Expects reports whether a statement says how many bytes a phase of its mbarrier has.
func (f Fn) Expects() bool { return f == MBarArriveTx || f == MBarExpectTx }

// Completes reports whether a statement's bytes are completed at the mbarrier that it names.
func (f Fn) Completes() bool {
	return f == TensorLoad || f == TensorMulticast || f == BulkLoad || f == StAsync
}

// Barrier is the operand that names an mbarrier; -1: none does.
func (f Fn) Barrier() int {
	switch {
	case f == TensorLoad || f == TensorMulticast:
		return 1
	case f == BulkLoad, f == StAsync:
		return 3
	case f >= MBarInit && f <= MBarInval && f != MBarFence:
		return 0
	}
	return -1
}

// String is the built-in's name; the printer uses it for prelude functions too.
func (f Fn) String() string { return Fns[f].Name }
