package tile

import "github.com/gotile/gotile/internal/ir"

// Cluster is the scope of all threads of the blocks of a cluster, in the order of the blocks: spans spread tiles over
// all of them, and reductions combine what all of them hold, by way of one another's shared memory. Ops of the cluster
// stand where all its blocks come. A kernel has clusters with the option ClusterSize.
type Cluster struct {
	_ [0]func()
	b *ir.Builder
}

// Cluster is the kernel's cluster scope.
func (k *Builder) Cluster() Cluster {
	b := k.kernel()
	if b.Kernel.Cluster == 0 {
		b.Errorf(ir.Invalid, ErrScope, "Cluster of a kernel without clusters: give Define tile.ClusterSize(2), 4 or %d", ir.MaxCluster)
		b.Kernel.Cluster = 2 // for the mistakes in what follows
	}
	return Cluster{b: b}
}

func (s Cluster) scope() (*ir.Builder, ir.Scope) { return s.kernel(), ir.ScopeCluster }

func (s Cluster) kernel() *ir.Builder {
	if s.b == nil {
		ir.Fail(ErrScope, "the Cluster was never assigned: it is the zero value of its type; take the Builder's Cluster()")
	}
	return s.b
}

// Size is the number of blocks of the cluster.
func (s Cluster) Size() int { return s.kernel().Kernel.Cluster }

// Rank is the block's number in its cluster, i32; it differs among the blocks of a cluster.
func (s Cluster) Rank() Index { return position(s.kernel(), ir.ClusterRank) }

// Sync is a barrier of the cluster: what its blocks did to shared and global memory before it, they all see after it.
// Reductions and tiles of peers need none; accesses to an argument at block scope, which the planner does not relate
// to those of other blocks, do.
func (s Cluster) Sync() { s.kernel().ClusterSync() }

// Striped spreads a vector over the threads of the cluster: vec consecutive elements a thread of block 0, then those of
// block 1 and so on, then the next size*threads*vec.
func (s Cluster) Striped(capacity, vec int) Span {
	k := s.kernel().Kernel
	return striped(s.b, ir.ScopeCluster, k.Cluster*k.Threads, capacity, vec)
}

// Striped2 spreads a tile over the threads of the cluster as Block.Striped2 does over those of a block. With more
// threads across than a block has, several blocks share a row.
func (s Cluster) Striped2(rows, cols, vec, across int) Span {
	k := s.kernel().Kernel
	return striped2(s.b, ir.ScopeCluster, k.Cluster*k.Threads, rows, cols, vec, across)
}

// ClusterID is the cluster's number in the grid, i32.
func (k *Builder) ClusterID() Index { return clusterPosition(k, ir.ClusterID) }

// NumClusters is the number of clusters in the grid, i32.
func (k *Builder) NumClusters() Index { return clusterPosition(k, ir.NumClusters) }

// clusterPosition is a position that only a kernel with clusters has.
func clusterPosition(k *Builder, op ir.Op) Index {
	b := k.kernel()
	if b.Kernel.Cluster == 0 {
		b.Errorf(op, ErrScope, "%s of a kernel without clusters: give Define tile.ClusterSize(2), 4 or %d", ir.Table[op].Go, ir.MaxCluster)
		return Index{b: b}
	}
	return position(b, op)
}

// Peer is the tile src, a Shared or a view of one, in the shared memory of the block of the cluster with a rank: what
// Load reads from and Store writes to, at block or warp scope, in the memory of another block. The planner orders such
// accesses with all that the other blocks do with the tile, and sees to it that the block has started and has not left;
// where only one block comes, in a branch on its rank, put a Cluster.Sync before. Which block writes what is between
// the blocks: two that write one element race. A rank outside the cluster is refused where it is a Go number, and
// otherwise reported by the simulator.
func Peer[T Number, R Int](src Source[T], rank R) View[T] {
	var t T
	if src == nil {
		ir.Fail(ErrScope, "the tile of Peer is nil: give a Shared")
	}
	v := src.view(t)
	if v.p == nil {
		return v
	}
	p, ok := v.b.Peer(*v.p, indexOf(v.b, ir.Invalid, "the rank of Peer", rank))
	if !ok {
		return View[T]{b: v.b}
	}
	return View[T]{b: v.b, p: &p}
}
