package ir

// MaxCluster is the most blocks of a cluster that every target with clusters can have.
const MaxCluster = 8

// Peer checks the place of another block's shared tile: the block's number in the cluster is rank, i32 of rank 0.
func (b *Builder) Peer(p Place, rank *Value) (Place, bool) {
	if b.poisoned(Invalid, rank) {
		return p, false
	}
	switch n, isConst := intConst(rank); {
	case p.Shared == nil:
		b.Errorf(Invalid, ErrScope, "Peer of %s: global memory belongs to all blocks alike; drop the call", p.Name())
	case p.Peer:
		b.Errorf(Invalid, ErrScope, "Peer of a peer's tile; give Peer the shared tile itself")
	case b.Kernel.Cluster == 0:
		b.Errorf(Invalid, ErrScope, "Peer in a kernel without clusters: a block has no peers; give Define tile.ClusterSize(2), 4 or 8")
	case isConst && (n < 0 || n >= b.Kernel.Cluster):
		b.Errorf(Invalid, ErrShape, "Peer of rank %d in a cluster of %d blocks: use a rank from 0 to %d", n, b.Kernel.Cluster, b.Kernel.Cluster-1)
	default:
		p.Peer, p.Rank = true, rank
		return p, true
	}
	return p, false
}
