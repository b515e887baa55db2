package ir

// Named is one of the block's named barriers: the hardware has 16, of which the block's own is number 0.
type Named struct {
	ID      int
	Threads int // that come to it, of both kinds
	Pos     Pos
}

// MaxNamed is the highest number of a named barrier.
const MaxNamed = 15

// NewNamed takes the next named barrier, for so many threads.
func (b *Builder) NewNamed(threads int) *Named {
	switch n := len(b.Kernel.Named); {
	case b.cur != b.Kernel.Body:
		b.Errorf(NamedSync, ErrScope, "NewNamedBarrier in the %s at %s: a barrier belongs to the whole kernel; make it at the top level", Table[b.cur.Owner.Op].Go, b.cur.Owner.Pos)
		return nil
	case n == MaxNamed:
		b.Errorf(NamedSync, ErrLimit, "a named barrier beyond the %d that a block has; use one for several purposes, or mbarriers", MaxNamed)
		return nil
	case threads < 32 || threads%32 != 0 || threads > b.Kernel.Threads:
		b.Errorf(NamedSync, ErrLimit, "NewNamedBarrier for %d threads of a block of %d: warps come to it as a whole; use a multiple of 32 up to %d", threads, b.Kernel.Threads, b.Kernel.Threads)
		return nil
	}
	n := &Named{ID: len(b.Kernel.Named) + 1, Threads: threads, Pos: Here(0)}
	b.Kernel.Named = append(b.Kernel.Named, n)
	return n
}

// NamedBarrier records NamedSync or NamedArrive of each warp.
func (b *Builder) NamedBarrier(op Op, s Scope, n *Named) {
	switch {
	case n == nil || !b.executes(op, s):
	case s == ScopeCluster:
		b.Errorf(op, ErrScope, "%s at scope cluster: a named barrier belongs to one block; use the block as the scope", Table[op].Go)
	default:
		b.emit(&Value{Op: op, Scope: s, Attr: n})
	}
}

func (c *checker) named(v *Value) {
	if n, ok := v.Attr.(*Named); !ok || !contains(c.k.Named, n) || v.Scope > ScopeBlock {
		c.fail(v, "its barrier is not the kernel's, or belongs to the cluster")
	}
}
