package sim

import "fmt"

// state says why a warp does not run.
type state uint8

const (
	running  state = iota
	yielded        // its quantum is used up
	waiting        // at a barrier of the block
	meeting        // at a barrier of the cluster
	awaiting       // for the others' arrival at one
	stalled        // at an mbarrier
	exited
)

// quantum is how many instructions a warp may run before the scheduler chooses again; only loops are counted, so
// that a warp which spins on another's flag lets the other run.
const quantum = 20_000

// warp is 32 threads with one program counter.
type warp struct {
	block  *block
	id     int // in the block
	index  int // in the cluster, which is its clock's
	storer int // its number among the warps of the cluster that have bulk stores, from 1; 0: it has had none
	pc     int
	state  state
	waits  int32 // site of the barrier it waits at
	fuel   int64 // left of the quantum
	steps  int64 // instructions of loops so far
	ops    int64 // lane operations so far

	r []lanes  // registers
	u []uint64 // scalar registers, for values that all lanes share

	// Barriers of the cluster that the warp has arrived at, and waited for, in two halves.
	arrived, passed uint32

	// seen is what all lanes know to be over: seen.clock[index] is what lies before their last meeting. epoch is the
	// current one, which an arrival ends too; private is what single lanes know beyond that.
	seen
	epoch   uint32
	private map[int]*seen
	blocked *mbar     // what it waits for, in state stalled
	wants   int       // which phase of it
	meets   *namedBar // or the named barrier that it waits at
	regs    int       // registers of a thread, and
	lacks   int       // those that it waits for
	elected uint64    // the lane that it elects
	asked   *mbar     // what it asked for in vain in its last step

	toPeers toPeer // where it last stored to a peer's shared memory since it met the cluster

	ahead *seen // what its last FenceCluster has ordered before what follows; nil: there was none

	early bool // it may run before the kernel ahead is over

	bulks     map[int]*bulkLane // bulk stores by lane
	bulkEpoch uint32

	multiplies multiplies
	// over is a record that all records of epochs known to be over are below, whichever warp made them.
	over record

	open   []*copying   // copies of no group yet
	groups [][]*copying // groups that have not been waited for, the oldest first
	spare  []*copying   // copies that are over, to be used again

	ticks    uint32            // releases so far
	acquired map[int]knowledge // what single lanes know beyond that
}

// none is the other site of a report that has none.
const none = int32(-1)

// reset makes the warp ready to start the kernel.
func (w *warp) reset() {
	w.pc, w.state, w.steps = 0, running, 0
	w.regs, w.lacks = w.block.program.entryRegs, 0
	w.open, w.groups = nil, nil
	w.ticks = 0
	w.early = w.block.launch.overlaps != 0
	w.arrived, w.passed = 0, 0
	clear(w.private)
	w.bulkReset()
	if w.block.program.multiplies {
		w.multiplies.reset(len(w.r))
	}
	clear(w.acquired)
	w.u[uniWarp] = uint64(w.id)
	for l := range &w.r[vecTID] {
		w.r[vecTID][l] = uint64(w.id*warpSize + l)
	}
	w.seen.reset(len(w.block.cluster.warps), w.block.cluster.agents)
	w.epoch = firstEpoch
	w.settle()
}

// settle computes over after a change of the clock.
func (w *warp) settle() {
	least := w.clock[w.index]
	for _, c := range w.clock[:len(w.block.cluster.warps)] {
		least = min(least, c)
	}
	w.over = record(least) << 32
}

// step runs the warp until it blocks, ends or has used its quantum.
func (w *warp) step() {
	code := w.block.program.code
	w.state, w.fuel, w.asked = running, quantum, nil
	for w.state == running {
		in := &code[w.pc]
		w.pc++
		w.ops += in.ops
		in.run(w)
	}
}

func (w *warp) yield() { w.state = yielded }

// vec is the register of an operand, or the pool's entry as lanes.
func (w *warp) vec(i int32) *lanes {
	if i < 0 {
		return &w.block.pool.vec[^i]
	}
	return &w.r[i]
}

// uni is the scalar register of an operand, or the pool's entry.
func (w *warp) uni(i int32) uint64 {
	if i < 0 {
		return w.block.pool.uni[^i]
	}
	return w.u[i]
}

// fill sets a register in all lanes.
func (w *warp) fill(o operand, v uint64) {
	if o.uniform {
		w.u[o.i] = v
		return
	}
	r := &w.r[o.i]
	for l := range r {
		r[l] = v
	}
}

// mask is the lanes where a predicate, 0 or 1 in each lane, holds.
func mask(p *lanes) (m uint32) {
	for l := range p {
		m |= uint32(p[l]) << l
	}
	return m
}

// report records a defect that this warp ran into.
func (w *warp) report(k Kind, at, other int32, lane int, format string, args ...any) {
	b := w.block
	r := b.log.add(reportKey{k, at, other})
	if r == nil {
		return
	}
	r.Kernel, r.Block, r.Warp, r.Lane = b.program.kernel.Name, b.id, w.id, lane
	r.Pos = b.program.sites[at].pos
	if other != none {
		r.Other = b.program.sites[other].pos
	}
	r.Detail = fmt.Sprintf(format, args...)
}
