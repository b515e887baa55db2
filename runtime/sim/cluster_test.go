package sim

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Hazards between the blocks of a cluster, each as a pair: the right program is silent, the same program without one
// barrier is reported.

var rank = call(thr.ClusterRank)

func clusterSync(a thr.At) thr.Stmt { return thr.Do{At: a, Fn: thr.ClusterSync} }

// peer makes an access one to the shared memory of a block of the cluster.
func peer(s thr.Stmt, rank thr.Expr) thr.Stmt {
	switch s := s.(type) {
	case thr.Load:
		s.Rank = rank
		return s
	case thr.Store:
		s.Rank = rank
		return s
	}
	panic("neither a load nor a store")
}

func clusterKernel(size, threads, shared int, args []*thr.Arg, body ...thr.Stmt) *thr.Kernel {
	k := kernel(threads, shared, args, body...)
	k.Cluster = size
	return k
}

// next is the rank of the next block of a cluster.
func next(size int) thr.Expr { return op(ir.Rem, op(ir.Add, rank, i32(1)), i32(size)) }

// reported runs a kernel under several seeds, each of which must report one of the kinds.
func reported(t *testing.T, k *thr.Kernel, grid int, kinds ...Kind) (all []*Report) {
	t.Helper()
	for seed := range uint64(8) {
		m := NewMemory(false)
		var args []uint64
		for range k.Args {
			a, _ := output(t, m, 4096)
			args = append(args, a)
		}
		_, e := run(t, k, m, grid, words(args...), Options{Seed: seed, GlobalRaces: true})
		if e == nil {
			t.Fatalf("seed %d: no report, want %v", seed, kinds)
		}
		found := false
		for _, kind := range kinds {
			found = found || e.Has(kind)
		}
		if !found {
			t.Fatalf("seed %d: want %v, got\n%v", seed, kinds, e)
		}
		all = append(all, e.Reports...)
	}
	return all
}

func TestPeerLoad(t *testing.T) {
	const size = 4
	x, out := local("x", tI), pointer("out", tI)
	me := op(ir.Add, op(ir.Mul, bid, i32(64)), tid)
	store := storeShared(at(), tid, me)
	load := peer(loadShared(at(), x, tid), next(size))
	body := []thr.Stmt{declare(x, nil), store, clusterSync(at()), load, storeGlobal(at(), out, me, ref(x)), clusterSync(at())}
	k := clusterKernel(size, 64, 256, []*thr.Arg{out}, body...)
	silent(t, trial(t, k, 2*size))

	m := NewMemory(false)
	addr, data := output(t, m, 2*size*64*4)
	if _, e := run(t, k, m, 2*size, words(addr), Options{}); e != nil {
		t.Fatal(e)
	}
	for i, v := range u32s(data) {
		block := i / 64
		if want := block/size*size + (block+1)%size; int(v) != want*64+i%64 {
			t.Fatalf("element %d is %d, of block %d, want block %d", i, v, v/64, want)
		}
	}

	for _, r := range reported(t, clusterKernel(size, 64, 256, []*thr.Arg{out}, without(body, 2)...), size, Race, Uninitialised) {
		if r.Kind == Race && !strings.Contains(r.Detail, " of block ") {
			t.Errorf("%s: the other block is not named", r)
		}
	}
	inBlock := append([]thr.Stmt{}, body...)
	inBlock[2] = barrier(at()) // orders the block's own threads only
	reported(t, clusterKernel(size, 64, 256, []*thr.Arg{out}, inBlock...), size, Race, Uninitialised)
	for _, r := range reported(t, clusterKernel(size, 64, 256, []*thr.Arg{out}, without(body, 5)...), size, NotRunning) {
		if r.Kind != NotRunning || r.Pos.Frame().Line != line(load) || !strings.Contains(r.Detail, "may have left") {
			t.Errorf("got %s, want that the block may have left", r)
		}
	}
}

func TestPeerStore(t *testing.T) {
	const size = 2
	x, out := local("x", tI), pointer("out", tI)
	store := peer(storeShared(at(), tid, bid), next(size))
	load := loadShared(at(), x, tid)
	body := []thr.Stmt{declare(x, nil), clusterSync(at()), store, clusterSync(at()), load, storeGlobal(at(), out, op(ir.Add, op(ir.Mul, bid, i32(32)), tid), ref(x))}
	silent(t, trial(t, clusterKernel(size, 32, 128, []*thr.Arg{out}, body...), size))
	for _, r := range reported(t, clusterKernel(size, 32, 128, []*thr.Arg{out}, without(body, 1)...), size, NotRunning) {
		if r.Kind != NotRunning || r.Pos.Frame().Line != line(store) || !strings.Contains(r.Detail, "start is not ordered before") {
			t.Errorf("got %s, want that the block may not have started", r)
		}
	}
	reported(t, clusterKernel(size, 32, 128, []*thr.Arg{out}, without(body, 3)...), size, Race, Uninitialised)

	all := []thr.Stmt{clusterSync(at()), peer(storeShared(at(), tid, bid), i32(0)), clusterSync(at())} // both blocks write block 0's
	reported(t, clusterKernel(size, 32, 128, nil, all...), size, Race)
	far := []thr.Stmt{clusterSync(at()), peer(storeShared(at(), tid, bid), op(ir.Add, rank, i32(1))), clusterSync(at())}
	for _, r := range reported(t, clusterKernel(size, 32, 128, nil, far...), size, OutOfBounds) {
		if !strings.Contains(r.Detail, "of block 2 of a cluster of 2") {
			t.Errorf("got %s", r)
		}
	}
	wide := []thr.Stmt{clusterSync(at()), peer(storeShared(at(), op(ir.Add, tid, i32(1)), bid), next(size)), clusterSync(at())}
	reported(t, clusterKernel(size, 32, 128, nil, wide...), size, OutOfBounds)
}

// Blocks that share a rank in different clusters share nothing.
func TestNoRaceAcrossClusters(t *testing.T) {
	x := local("x", tI)
	body := []thr.Stmt{declare(x, nil), storeShared(at(), tid, bid), clusterSync(at()), peer(loadShared(at(), x, tid), next(2)), clusterSync(at())}
	silent(t, trial(t, clusterKernel(2, 64, 256, nil, body...), 8))
}

func TestClusterBarrierDivergence(t *testing.T) {
	first := thr.If{At: at(), Cond: op(ir.Eq, rank, i32(0)), Then: []thr.Stmt{clusterSync(at())}}
	for _, r := range reported(t, clusterKernel(2, 64, 0, nil, first), 2, BarrierDivergence) {
		if !strings.Contains(r.Detail, "of block 0 waits here") || !strings.Contains(r.Detail, "of block 1 has left the kernel") {
			t.Errorf("got %s", r)
		}
	}
	two := thr.If{At: at(), Cond: op(ir.Eq, rank, i32(0)), Then: []thr.Stmt{clusterSync(at())}, Else: []thr.Stmt{clusterSync(at())}}
	reported(t, clusterKernel(2, 64, 0, nil, two), 2, BarrierDivergence)
	mixed := thr.If{At: at(), Cond: op(ir.Eq, warpID, i32(0)), Then: []thr.Stmt{clusterSync(at())}, Else: []thr.Stmt{barrier(at())}}
	reported(t, clusterKernel(2, 64, 0, nil, mixed), 2, BarrierDivergence)
}

// Global memory is ordered within a cluster by its barriers, and by nothing between clusters.
func TestGlobalRaceInCluster(t *testing.T) {
	x, out := local("x", tI), pointer("out", tI)
	write := storeGlobal(at(), out, op(ir.Add, op(ir.Mul, rank, i32(32)), tid), tid)
	read := loadGlobal(at(), x, out, op(ir.Add, op(ir.Mul, next(2), i32(32)), tid))
	body := []thr.Stmt{declare(x, nil), write, clusterSync(at()), read, clusterSync(at()), write}
	check := func(grid int, body ...thr.Stmt) *Errors {
		m := NewMemory(false)
		addr, _ := output(t, m, 4096)
		_, e := run(t, clusterKernel(2, 32, 0, []*thr.Arg{out}, body...), m, grid, words(addr), Options{GlobalRaces: true})
		return e
	}
	silent(t, check(2, body...))
	for _, i := range []int{2, 4} {
		if e := check(2, without(body, i)...); e == nil || !e.Has(GlobalRace) {
			t.Errorf("without the barrier at %d: %v", i, e)
		}
	}
	if e := check(4, body...); e == nil || !e.Has(GlobalRace) {
		t.Errorf("two clusters write one place: %v", e)
	}
	// Reads by both blocks since a barrier: the next write of either races with the other's.
	both := loadGlobal(at(), x, out, tid)
	silent(t, check(2, declare(x, nil), both, clusterSync(at()), write))
	if e := check(2, declare(x, nil), both, write); e == nil || !e.Has(GlobalRace) {
		t.Errorf("reads and a write: %v", e)
	}
}

func TestClusterLaunch(t *testing.T) {
	p, err := Compile(clusterKernel(4, 32, 0, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background(), NewMemory(false), 6, nil, Options{}); !errors.Is(err, ErrLaunch) || !strings.Contains(err.Error(), "6 blocks in clusters of 4") {
		t.Errorf("a grid of 6 blocks: %v", err)
	}
	s, err := p.Run(context.Background(), NewMemory(false), 8, nil, Options{})
	if err != nil || s.Blocks != 8 || s.Warps != 8 {
		t.Errorf("%+v, %v", s, err)
	}
	for what, k := range map[string]*thr.Kernel{
		"clusters of 16 blocks":                     clusterKernel(16, 32, 0, nil),
		"cluster_sync in a kernel without clusters": kernel(32, 0, nil, clusterSync(at())),
		"cluster_rank in a kernel without clusters": kernel(32, 4, nil, storeShared(at(), i32(0), rank)),
		"another block's memory, in a cluster of 0": kernel(32, 128, nil, peer(storeShared(at(), tid, tid), i32(0))),
		"a barrier for some lanes":                  clusterKernel(2, 32, 0, nil, thr.Do{At: at(), Fn: thr.ClusterSync, Pred: op(ir.Eq, tid, i32(0))}),
	} {
		if _, err := Compile(k); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
}

// A block that waits for its own barrier goes on while another block of its cluster spins.
func TestBlocksOfAClusterRunTogether(t *testing.T) {
	x, out := local("x", tI), pointer("out", tI)
	flag := storeGlobal(at(), out, i32(0), i32(1))
	spin := thr.While{At: at(), Head: []thr.Stmt{loadGlobal(at(), x, out, i32(0))}, Cond: op(ir.Ne, ref(x), i32(1))}
	body := []thr.Stmt{declare(x, nil), thr.If{At: at(), Cond: op(ir.Eq, rank, i32(0)), Then: []thr.Stmt{spin}, Else: []thr.Stmt{barrier(at()), flag}}}
	k := clusterKernel(2, 64, 0, []*thr.Arg{out}, body...)
	for seed := range uint64(8) {
		m := NewMemory(false)
		addr, _ := output(t, m, 4)
		if _, e := run(t, k, m, 2, words(addr), Options{Seed: seed, StepLimit: 1 << 20}); e != nil {
			t.Fatalf("seed %d: %v", seed, e)
		}
	}
}
