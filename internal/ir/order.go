package ir

// Order is how an access of one element is ordered with those of other blocks, at gpu scope.
type Order uint8

// The orders, as PTX names them. A release orders all that its scope did before it ahead of what others do after an
// acquire that reads it.
const (
	Relaxed Order = iota
	Acquire
	Release
	AcqRel // of atomics: both
)

func (o Order) String() string { return [...]string{"relaxed", "acquire", "release", "acq_rel"}[o] }

// Acquires reports whether what follows the access in its scope is ordered after it.
func (o Order) Acquires() bool { return o == Acquire || o == AcqRel }

// Releases reports whether what precedes the access in its scope is ordered before it.
func (o Order) Releases() bool { return o == Release || o == AcqRel }

// How says in what way a memory op accesses its buffer; the zero value is the plain access.
type How struct {
	Cache Cache
	Order Order
}

// ordered checks that an access may have its order.
func (b *Builder) ordered(op Op, p Place, span *Span, how How) bool {
	name := Table[op].Go
	switch o := how.Order; {
	case o == Relaxed:
		return true
	case p.Shared != nil:
		b.Errorf(op, ErrTarget, "%s with order %v on %s: orders are for what blocks share, global memory; drop it, the planner places barriers", name, o, p.Name())
	case op == Load && o != Acquire:
		b.Errorf(op, ErrTarget, "%s with order %v: a load can acquire; release with a Store or an atomic", name, o)
	case op == Store && o != Release:
		b.Errorf(op, ErrTarget, "%s with order %v: a store can release; acquire with a LoadScalar or an atomic", name, o)
	case how.Cache != CacheDefault:
		b.Errorf(op, ErrTarget, "%s with order %v and cache hint %v: an ordered access has no hint; drop one of the two", name, o, how.Cache)
	case span != nil:
		b.Errorf(op, ErrShape, "%s with order %v of a tile of %s: an order belongs to one element; store the tile, then release with one", name, o, shape(span))
	default:
		return true
	}
	return false
}
