package waitfor

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Site is a statement of a kernel that waits, as the watchdog numbers them, from 1 on, in the order in which they are
// printed.
type Site struct {
	Fn      thr.Fn // InvalidFn: a loop that does nothing but ask
	Pos     ir.Pos
	Bar     *thr.SharedBuf // the array of an mbarrier
	Threads int            // of a barrier
	Regs    int            // that RegsInc asks for
}

// The numbers of sites that are none.
const (
	Running = 0
	Ended   = 0xffffffff // the warp has left the kernel
)

// The layout of what a watchdog writes: Reports reports of ReportBytes each, one for each block that had a warp wait for
// too long, in the order in which they were begun. codegen/cuda prints the same as structs of C:
//
//	report: u32 block, ready, base, come; u64 waited (ns); then a record for each of 32 warps
//	record: u32 site, bar; u64 want, state
//
// ready is 1 once the rest is there. bar is the address in shared memory of what the warp waits for, 0: nothing there. An
// mbarrier's want is its parity or token, its state the barrier's 64 bits. Of barriers of warps, which the watchdog
// counts itself from address come on, 8 bytes a barrier, want is the count that opens it and state the count so far.
// base is the address at which the kernel's own shared memory begins.
const (
	Reports     = 64
	Warps       = 32
	headBytes   = 24
	recordBytes = 24
	ReportBytes = headBytes + Warps*recordBytes
)

// SharedBytes is what a watchdog takes of a block's shared memory.
const SharedBytes = 784

// LimitBytes is the size of the variable Limits of a module, which the runtime sets before the first launch: u64 address
// of the reports, u64 bound, u64 grace (both in ns), u64 number of reports there is room for.
const (
	Limits     = "watchdog_limits"
	LimitBytes = 32
)

// ClusterBarrier is the number of the barrier of the cluster among those that the watchdog counts; 0 is that of the
// block, 1 to 15 are the named ones.
const ClusterBarrier = 16
