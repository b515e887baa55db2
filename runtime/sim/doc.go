// Package sim executes thread IR as the warps of a GPU would, 32 lanes at a time, on all cores of the host.
//
// It is the oracle for values (exact formats, one rounding an operation) and for hazards: out-of-bounds and misaligned
// accesses, reads of uninitialised memory, shared-memory races, barrier divergence, accesses to blocks of a cluster
// that may not run, non-uniform control flow. Every report carries the Go lines of both sides.
//
// # How a kernel runs
//
// Compile flattens the structured statements into one list of instructions; a warp is a program counter over it, so
// stepping a warp is a call that returns when the warp blocks, ends or has used its quantum. Nothing of a warp lives
// on a goroutine's stack: a switch between warps costs a call, not the 100 to 300 ns of a coroutine or a channel, and
// anything that can wait (at a barrier, for an mbarrier's phase, for a group of copies) is one more state of the warp
// with one more rule in the scheduler.
//
// A register is 32 lanes of 64 bits for every type: one register class, one signature for the meaning of an op, at
// the price of cache that simulated kernels do not miss. Values that are the same in all lanes by construction
// (arguments, loop variables, what is computed from them) take one scalar register and one scalar operation.
// Constants and arguments are shared by all warps of a block. Temporaries are a stack and are reused by the next
// statement.
//
// A cluster, or a block of a kernel without clusters, is run by one goroutine, which owns the shared memory, shadow
// memory and scheduler of its blocks. The scheduler picks among the warps that can run with a generator seeded by
// (seed, cluster); asynchronous agents (TMA, cp.async, wgmma) belong in the same list of candidates, so that a seed
// also decides when they complete. A block's barrier opens once none of the block's warps can run, the cluster's once
// no warp can. Clusters run in parallel, in an order that the seed permutes; a kernel with atomics runs them one after
// the other in that order, since their order is visible in its results.
//
// # How races are found
//
// Lanes, not warps, are the unit: lockstep execution would hide a missing WarpSync. All lanes of a warp pass each of
// its synchronisations together, so a warp has one epoch, counted up by BlockSync and WarpSync, and one vector clock:
// for each warp of the cluster the first epoch that is not known to be over. An earlier access is ordered before the
// current one when its epoch is below the clock's entry for its warp, or when the same lane made it. Each granule of
// shared memory remembers its last write and the reads since then (one record while the readers are one lane, or
// several lanes of one warp in one epoch; a record for each warp beyond that), as FastTrack does. This is exact for
// any synchronisation that joins clocks, which is why BlockSync does not use the simpler "generation" that would
// suffice for it alone: an mbarrier keeps a clock of its own that arriving joins into and waiting joins from, and an
// asynchronous agent is an entry in the clock like a warp.
//
// The granule is the size of the smallest shared access of the kernel, so that neighbouring bf16 elements written by
// different lanes are not mistaken for a race and 16-byte accesses still cost one check.
//
// A block's shared memory may be accessed by its peers while the block runs: after its start, so some epoch of one of
// its warps must be known to be over, and before its end, so that at the end the epoch of each peer's last access must
// be known to be over to one of its warps. Both are judged by clocks, not by what happened in the schedule at hand.
//
// Accesses to global memory by different threads are checked on request (Options.GlobalRaces): blocks are ordered by
// the barriers of their cluster and by acquires that read what was released, and by nothing else. A release publishes the clock of its warp, the accesses of
// its own lane and what that knows of other blocks; an acquire takes it over for its lane, WarpSync, BlockSync and
// ClusterSync pass it on. Threads of one block are ordered as they are for shared memory. A kernel whose blocks race is a race of the host program too, which
// Go's race detector sees when the blocks run in parallel.
//
// # Asynchronous copies
//
// A copy belongs to its warp, in the group that the warp's next commit closes. Its destination is poisoned at once and
// stays marked until the warp has waited for the group: any access until then is reported, whether the bytes have
// arrived (Options.Copies) or not. The copy is checked as a write where it is issued, and recorded again as one where it
// has been waited for, so that other threads need a barrier after the wait.
//
// # Mbarriers and bulk copies
//
// An mbarrier is an entry of the clock with an epoch a phase. An arrival adds to the barrier what its lanes know and did;
// a wait for the phase takes that over, and knows then that the phase's copies are over, too. A lane that arrives alone
// hands on what it did itself (seen.lanes), and what a lane learns alone the others learn at the next WarpSync
// (warp.private). A warp that waits is in state stalled until the phase ends; a copy that is under way completes at once,
// when nobody can run, or at random (Options.Copies). What it writes is poison until then. A bulk store is a read of shared
// memory by the warp's second entry of the clock, over when its group has been waited for, and a write of global memory by
// its third (stores.go), over when the wait was not for the reads alone. Bulk copies need more of what threads wrote
// than order: seen.fenced is a second clock, of what a proxy fence has followed.
//
// A named barrier hands on what those who came know and did, to those who wait. One that is left with a round open is
// reported.
//
// When nobody can run, or warps only ask for phases in vain, that is a deadlock: the report is the table of who waits for
// which phase and what it lacks. A phase that nobody has seen when the next one ends is reported, and so is a wait that
// comes two phases late, since parities cannot tell the two.
//
// # Floating point
//
// Every product is written float32(a*b), since Go may otherwise fuse it with a sum (arm64, GOAMD64=v3); Fma is float64
// arithmetic with rounding to odd, because float32(math.FMA(...)) rounds twice. NaN results are 0x7fffffff, as on
// the GPU, whatever the host makes of them. Functions (exp, log, tanh, ...) are computed in float64 and rounded once;
// approximate forms have the true value too, with subnormals flushed where their PTX says ftz. Comparisons with a GPU
// therefore need the ulp bounds of the op table for these, and none for the rest.
package sim
