package sim

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Program is a kernel ready to run. It is immutable but for what it keeps for later runs: any number may use it at once.
type Program struct {
	kernel *thr.Kernel
	code   []instr
	sites  []site
	consts []uint64 // the pool; zero where a launch fills in
	vecs   int      // registers of 32 lanes a warp
	unis   int      // scalar registers a warp
	// granule is the size in bytes of a cell of shadow memory: the smallest shared access. word is the same for global
	// memory.
	granule, word int
	serial        bool  // blocks run one after the other
	copies        bool  // it copies asynchronously, by cp.async
	unit          int   // bytes of the smallest of these copies
	asyncReads    bool  // bulk copies read global memory that the kernel writes
	async         bool  // it has bulk copies
	bulkStores    bool  // some of them from shared memory
	multiplies    bool  // it has multiplies of warpgroups
	named         bool  // it has named barriers
	elects        bool  // warps elect lanes
	entryRegs     int   // registers of a thread at the start, where roles move them, and
	regsSite      int32 // where they do
	bars          []barSlot
	barAt         map[*thr.SharedBuf]int // the first slot of an array of mbarriers
	sharing       bool                   // some buffers of shared memory have bytes in common
	ordered       bool                   // blocks wait for each other's memory: some access has an order
	rooms         sync.Pool              // of *shared, of launches that are over
}

// Ordered reports whether the kernel has an access with an order, by which its blocks communicate.
func (p *Program) Ordered() bool { return p.ordered }

// instr is one instruction: what it does, and how many lane operations it counts as.
type instr struct {
	run func(w *warp)
	ops int64
}

// site is a place that can be reported: a memory access, a barrier, a branch.
type site struct {
	pos   ir.Pos
	what  string // "load of shared memory"
	bytes int
	buf   *thr.SharedBuf // of shared memory: the buffer that is meant, if known

	generic bool // an asynchronous write that is not by the asynchronous proxy
}

// operand says where a value is: in a register of lanes, in a scalar register that stands for 32 equal lanes, or in
// the pool of values that all warps of a block share (constants, arguments, the grid, the block), which has both forms.
type operand struct {
	i       int32 // register of the file that uniform says; negative: ^index in the pool
	uniform bool
}

func (o operand) pooled() bool { return o.i < 0 }

const (
	maxThreads = 1024
	warpSize   = 32
	allLanes   = ^uint32(0)
)

// Compile makes a program of a kernel. It fails for thread IR that breaks the rules of package thr: an unknown op or
// type, a register array indexed by a run-time value, a block that is not whole warps.
func Compile(k *thr.Kernel) (p *Program, err error) {
	c := &compiler{kernel: k, program: &Program{kernel: k, granule: 16, word: 16, unit: copyBytes, barAt: map[*thr.SharedBuf]int{}}, slots: map[*thr.Local]operand{},
		unrolled: map[*thr.Local]uint64{}, heldLocals: heldLocals(k.Body), pool: map[uint64]int32{}, args: map[*thr.Arg]int32{}, sites: map[site]int32{}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case compileError:
			p, err = nil, fmt.Errorf("sim: kernel %s: %w", k.Name, e.error)
		default:
			panic(e)
		}
	}()
	if k.Threads < warpSize || k.Threads > maxThreads || k.Threads%warpSize != 0 {
		c.fail("%d threads a block; a multiple of 32 from 32 to 1024 is needed", k.Threads)
	}
	if k.Cluster < 0 || k.Cluster > ir.MaxCluster {
		c.fail("clusters of %d blocks; at most %d are possible", k.Cluster, ir.MaxCluster)
	}
	c.varying = varyingLocals(k.Body)
	c.launchValues()
	c.vecs.take(1) // vecTID
	c.unis.take(1) // uniWarp
	c.body(k.Body)
	c.emit(0, func(w *warp) {
		w.leave()
		w.finish()
	})
	c.checkAgents()
	for i, a := range k.Shared {
		c.program.sharing = c.program.sharing || slices.ContainsFunc(k.Shared[:i], a.Overlaps)
	}
	c.program.vecs, c.program.unis = c.vecs.most, c.unis.most
	return c.program, nil
}

// Registers that every warp has.
const (
	vecTID  = 0
	uniWarp = 0
)

// launchValues numbers the pool: in front what a launch fills in, then the constants as the compiler meets them.
func (c *compiler) launchValues() {
	p := c.program
	p.consts = make([]uint64, poolArgs+len(c.kernel.Args))
	for i, a := range c.kernel.Args {
		if n := a.Bytes(); a.Offset < 0 || a.Offset+n > c.kernel.ArgBytes {
			c.fail("argument %s: bytes %d to %d of a struct of %d", a.Name, a.Offset, a.Offset+n, c.kernel.ArgBytes)
		}
		c.args[a] = int32(poolArgs + i)
	}
}

// Entries of the pool before the arguments.
const (
	poolGrid = iota
	poolBlock
	poolLane
	poolRank     // of the block in its cluster
	poolCluster  // the cluster's number
	poolClusters // in the grid
	poolArgs
)

type compileError struct{ error }

func (c *compiler) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if c.pos.Known() {
		err = fmt.Errorf("%s: %w", c.pos, err)
	}
	panic(compileError{err})
}

// bytesOf is the size of what a pointer expression points to.
func bytesOf(e thr.Expr) uint64 { return uint64(e.ExprType().DT.Size()) }

// isRegisterType reports whether thread IR computes with a type.
func isRegisterType(t dtype.Type) bool { return slices.Contains(registerTypes, t) }
