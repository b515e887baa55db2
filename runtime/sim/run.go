package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Options of a run; the zero value is fine.
type Options struct {
	Workers    int        // host threads; 0: one a core
	Seed       uint64     // permutes the order of warps and blocks; race-free results do not depend on it
	MaxReports int        // distinct reports returned; 0: 20
	StepLimit  int64      // instructions a warp may execute in loops; 0: 2^31, minutes
	Copies     Completion // when asynchronous copies arrive
	// GlobalRaces reports conflicting accesses to global memory by two threads of the launch. The blocks then run one
	// after the other. Blocks are ordered by acquires that read what was released, in the order in which they run.
	GlobalRaces bool
	// Launch is this launch's number, for those after it that may overlap with it; Overlaps is the number of the launch
	// ahead that this one may begin before the end of: what it does before its WaitPrerequisites is then checked. 0: none.
	Launch, Overlaps Launch
}

// Stats is what a run counted. It does not depend on Workers.
type Stats struct {
	Blocks, Warps int64
	LaneOps       int64 // operations of lanes; one that is uniform in its warp counts once
	BankPasses    int64 // passes over the banks of shared memory beyond the least possible
	Banks         []BankConflict
}

// BankConflict is a shared-memory access that took more passes over the banks than it had to.
type BankConflict struct {
	Pos      ir.Pos
	What     string // "load of shared memory"
	Accesses int64  // by warps
	Extra    int64  // passes beyond the least possible
}

// ErrLaunch is wrapped by errors of a launch that no block was run for.
var ErrLaunch = errors.New("sim: invalid launch")

// Run executes grid blocks, a multiple of the kernel's cluster; args is the kernel's argument struct in C layout, ArgBytes long. It returns *Errors if
// the kernel did something wrong (its other effects stand), an error that wraps ErrLaunch for a bad grid or args, or
// ctx's cause if that ended first. Runs on one Memory may overlap as on a device: their accesses are then unordered.
func (p *Program) Run(ctx context.Context, mem *Memory, grid int, args []byte, o Options) (Stats, error) {
	if len(args) != p.kernel.ArgBytes {
		return Stats{}, fmt.Errorf("%w: kernel %s takes %d bytes of arguments, not %d", ErrLaunch, p.kernel.Name, p.kernel.ArgBytes, len(args))
	}
	if grid < 0 || int64(grid) > 1<<31-1 {
		return Stats{}, fmt.Errorf("%w: a grid of %d blocks", ErrLaunch, grid)
	}
	size := max(p.kernel.Cluster, 1)
	if grid%size != 0 {
		return Stats{}, fmt.Errorf("%w: a grid of %d blocks in clusters of %d", ErrLaunch, grid, size)
	}
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	maps, err := p.tensorMaps(args)
	if err != nil {
		return Stats{}, err
	}
	var global *globalShadow
	if o.GlobalRaces {
		global = newGlobalShadow(p.word, size)
	}
	if p.serial || global != nil {
		workers = 1
	}
	workers = min(workers, grid/size)
	if o.MaxReports <= 0 {
		o.MaxReports = 20
	}
	if o.StepLimit <= 0 {
		o.StepLimit = 1 << 31
	}
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	if ctx.Err() != nil {
		return Stats{}, context.Cause(ctx)
	}
	order := permutation(grid/size, o.Seed)
	var next atomic.Int64
	var wg sync.WaitGroup
	clusters := make([]*cluster, workers)
	logs := make([]map[int][]keyed, workers)
	for i := range workers {
		wg.Go(func() {
			c := newCluster(p, mem, func() pool { return p.pool(grid, args) }, launch{o.StepLimit, &stop, o.Copies, global, o.Launch, o.Overlaps, maps})
			clusters[i], logs[i] = c, map[int][]keyed{}
			for {
				n := next.Add(1) - 1
				if n >= int64(grid/size) || !c.run(order(int(n)), o.Seed) {
					return
				}
				for _, b := range c.blocks {
					if len(b.log.list) > 0 {
						logs[i][b.id] = b.log.list
					}
				}
			}
		})
	}
	wg.Wait()
	if stop.Load() {
		return Stats{}, context.Cause(ctx)
	}
	all := map[int][]keyed{}
	for _, l := range logs {
		for id, list := range l {
			all[id] = list
		}
	}
	stats := p.stats(grid, clusters)
	for _, c := range clusters {
		for _, b := range c.blocks {
			p.rooms.Put(&shared{data: b.shared.data, shadow: b.shared.shadow})
		}
	}
	return stats, merge(all, o.MaxReports)
}

// pool is the launch's values: constants, the grid, the arguments.
func (p *Program) pool(grid int, args []byte) pool {
	q := pool{make([]uint64, len(p.consts)), make([]lanes, len(p.consts))}
	for i, v := range p.consts {
		q.set(i, v)
	}
	q.set(poolGrid, uint64(grid))
	q.set(poolClusters, uint64(grid/max(p.kernel.Cluster, 1)))
	for l := range q.vec[poolLane] {
		q.vec[poolLane][l] = uint64(l)
	}
	for i, a := range p.kernel.Args {
		if a.Kind != thr.ArgMap {
			q.set(poolArgs+i, word(args[a.Offset:], a.Bytes()))
		}
	}
	return q
}

func (p *Program) stats(grid int, clusters []*cluster) Stats {
	s := Stats{Blocks: int64(grid), Warps: int64(grid) * int64(p.kernel.Threads/warpSize)}
	total := make([]bankCount, len(p.sites))
	for _, c := range clusters {
		for _, b := range c.blocks {
			for _, w := range b.warps {
				s.LaneOps += w.ops
			}
			for i, c := range b.banks.sites {
				total[i].accesses += c.accesses
				total[i].passes += c.passes
				total[i].least += c.least
			}
		}
	}
	for i, c := range total {
		if extra := c.passes - c.least; extra > 0 {
			s.BankPasses += extra
			s.Banks = append(s.Banks, BankConflict{p.sites[i].pos, p.sites[i].what, c.accesses, extra})
		}
	}
	sort.SliceStable(s.Banks, func(i, j int) bool { return s.Banks[i].Extra > s.Banks[j].Extra })
	return s
}

// permutation is a bijection of [0, n), computed and not stored since grids are large: a 4-round Feistel network over
// the next even power of two, walked until it lands inside.
func permutation(n int, seed uint64) func(int) int {
	half := 1
	for 1<<(2*half) < n {
		half++
	}
	var keys [4]uint64
	r := newRNG(seed, 0)
	for i := range keys {
		keys[i] = r.next()
	}
	low := uint64(1)<<half - 1
	return func(i int) int {
		x := uint64(i)
		for {
			a, b := x>>half, x&low
			for _, k := range keys {
				f := (b ^ k) * 0x9e3779b97f4a7c15
				a, b = b, a^(f^f>>29)*0xbf58476d1ce4e5b9>>(64-half)&low
			}
			if x = a<<half | b; x < uint64(n) {
				return int(x)
			}
		}
	}
}
