package tile

import "github.com/gotile/gotile/internal/ir"

// Order makes blocks of a launch wait for each other's memory: an option of atomics, of LoadScalar and of a Store of
// one value, at gpu scope. What the whole scope of a release did before it is seen by the whole scope of an acquire
// that reads what the release (or an atomic on it since) wrote; the planner places the barriers that make it true of
// the scope and not of the one thread that executes the access. Without an order an access is relaxed: it says nothing
// about other memory.
//
// The last block of a grid adds up what all have stored; Count is 0 before the first launch, and after each:
//
//	tile.Store(block, a.Part.Row(k.BlockID()), sum)
//	old := tile.AtomicAdd(block, a.Count, tile.U32(1), tile.AcqRel)
//	last := k.NumBlocks().SubInt(1).Int()
//	tile.If(block, tile.Cast[tile.I32](old).Eq(last), func() {
//		...
//		tile.Store(block, a.Count, tile.U32(0))
//	})
//
// With the cluster as the scope of all of it, ClusterID and NumClusters take the place of BlockID and NumBlocks.
type Order uint8

// The orders.
const (
	Acquire Order = Order(ir.Acquire) // of LoadScalar and atomics: what the scope does next comes after
	Release Order = Order(ir.Release) // of Store and atomics: what the scope did comes before
	AcqRel  Order = Order(ir.AcqRel)  // of atomics: both
)

// AccessOption is an option of LoadScalar and Store: a cache Hint or an Order.
type AccessOption interface{ accessOption() }

func (Hint) accessOption()  {}
func (Order) accessOption() {}

// how sorts the options of an access; false where a mistake spoils it.
func how(b *ir.Builder, op ir.Op, opts []AccessOption) (ir.How, bool) {
	var hints []Hint
	var orders []Order
	for _, o := range opts {
		switch o := o.(type) {
		case Hint:
			hints = append(hints, o)
		case Order:
			orders = append(orders, o)
		default:
			b.Errorf(op, ErrTarget, "%s with a nil option; drop it", ir.Table[op].Go)
			return ir.How{}, false
		}
	}
	o, ok := order(b, op, orders)
	return ir.How{Cache: cache(b, op, hints), Order: o}, ok
}

func order(b *ir.Builder, op ir.Op, orders []Order) (ir.Order, bool) {
	switch {
	case len(orders) == 0:
		return ir.Relaxed, true
	case len(orders) > 1:
		b.Errorf(op, ErrTarget, "%s with %d orders: an access has one; use AcqRel for both", ir.Table[op].Go, len(orders))
		return ir.Relaxed, false
	case orders[0] > AcqRel:
		b.Errorf(op, ErrTarget, "%s with unknown order %d; use Acquire, Release or AcqRel", ir.Table[op].Go, orders[0])
		return ir.Relaxed, false
	}
	return ir.Order(orders[0]), true
}
